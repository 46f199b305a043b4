#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Zenith authors
# SPDX-License-Identifier: Apache-2.0
"""Makes tests/golden/taew2_*: small random networks built as the tiny video autoencoders taew2_1 and taew2_2 are (top of
src/model/video/taehv.c), five frames through both parts, by PyTorch. Weights are bf16 numbers, so bf16 files hold them."""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tools"))
import environment  # noqa: E402

environment.enter("torch", "safetensors", most=0)

import torch
from safetensors.torch import save_file
from torch import nn
from torch.nn import functional as F

OUT = pathlib.Path(__file__).resolve().parents[2] / "tests" / "golden"
ENCODER, DECODER, FRAMES = 8, [16, 8, 8, 8], 5


class Clamp(nn.Module):
    def forward(self, x):
        return 3 * torch.tanh(x / 3)


class Block(nn.Module):
    """Frames x, and each frame's past beside it."""

    def __init__(self, n):
        super().__init__()
        self.conv = nn.Sequential(conv(2 * n, n), nn.ReLU(), conv(n, n), nn.ReLU(), conv(n, n))

    def forward(self, x):
        past = torch.cat([torch.zeros_like(x[:1]), x[:-1]])
        return F.relu(self.conv(torch.cat([x, past], 1)) + x)


class Pool(nn.Module):
    def __init__(self, n, stride):
        super().__init__()
        self.conv = nn.Conv2d(n * stride, n, 1, bias=False)
        self.stride = stride

    def forward(self, x):
        return self.conv(x.reshape(-1, self.stride * x.shape[1], *x.shape[2:]))


class Grow(nn.Module):
    def __init__(self, n, stride):
        super().__init__()
        self.conv = nn.Conv2d(n, n * stride, 1, bias=False)

    def forward(self, x):
        return self.conv(x).reshape(-1, *x.shape[1:])


def conv(n, m, **more):
    return nn.Conv2d(n, m, 3, padding=1, **more)


def encoder(patch, latent):
    n, layers = ENCODER, [conv(3 * patch**2, ENCODER), nn.ReLU()]
    for stride in (2, 2, 1):
        layers += [Pool(n, stride), conv(n, n, stride=2, bias=False), Block(n), Block(n), Block(n)]
    return nn.Sequential(*layers, conv(n, latent))


def decoder(patch, latent):
    layers = [Clamp(), conv(latent, DECODER[0]), nn.ReLU()]
    for n, m, stride in zip(DECODER, DECODER[1:], (1, 2, 2)):
        layers += [Block(n), Block(n), Block(n), nn.Upsample(scale_factor=2), Grow(n, stride), conv(n, m, bias=False)]
    return nn.Sequential(*layers, nn.ReLU(), conv(DECODER[-1], 3 * patch**2))


def main():
    torch.manual_seed(5)
    torch.set_grad_enabled(False)
    for name, patch, latent in (("taew2_1", 1, 16), ("taew2_2", 2, 48)):
        parts = {"encoder": encoder(patch, latent), "decoder": decoder(patch, latent)}
        weights = {}
        for part, network in parts.items():
            for key, p in network.named_parameters():
                p.copy_((1.4 * torch.randn(p.shape) / p[0].numel() ** 0.5 if p.ndim > 1 else 0.1 * torch.randn(p.shape)).bfloat16())
                weights[f"{part}.{key}"] = p.bfloat16().contiguous()
        frames = torch.rand(FRAMES, 3, 16 * patch, 24 * patch)
        padded = torch.cat([frames, frames[-1:].repeat(-FRAMES % 4, 1, 1, 1)])
        latents = parts["encoder"](F.pixel_unshuffle(padded, patch))
        decoded = F.pixel_shuffle(parts["decoder"](latents), patch)[3:]
        alone = parts["encoder"](F.pixel_unshuffle(frames[:1].repeat(4, 1, 1, 1), patch))
        save_file(weights, OUT / f"{name}.safetensors")
        save_file({"frames": frames, "latents": latents, "decoded": decoded.contiguous(), "alone": alone},
                  OUT / f"{name}.io.safetensors")
        print(name, {k: list(v.shape) for k, v in (("latents", latents), ("decoded", decoded))}, file=sys.stderr)


if __name__ == "__main__":
    main()
