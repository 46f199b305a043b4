#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Zenith authors
# SPDX-License-Identifier: Apache-2.0
"""What the training of a variational autoencoder is compared with: ten losses of a tiny one, in PyTorch and float32.

    python tools/goldens/make_kl_train_goldens.py        needs torch, numpy, safetensors, pillow

tests/golden/tiny_kl/diffusion_pytorch_model.safetensors, config.json
    first weights, as torch.nn's modules begin, rounded to f16; names and shapes of diffusers' AutoencoderKL
tests/golden/tiny_kl/ten_losses.json
    the loss, its two terms and the gradient's norm, before each of ten steps of AdamW
"""
import json
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tools"))
import environment  # noqa: E402

environment.enter("numpy", "torch", "PIL", "safetensors", most=0)

import numpy as np
import torch
import torch.nn.functional as F
from PIL import Image
from safetensors.torch import save_file
from torch import nn

from make_train_goldens import train

ROOT = pathlib.Path(__file__).resolve().parents[2]
OUT = ROOT / "tests/golden/tiny_kl"
WIDTHS, GROUPS, LATENT = (4, 8, 8, 8), 2, 4
SEED, BATCH, STEPS, KL_WEIGHT = 5, 2, 10, 0.1
SETTINGS = {"lr": 1e-3, "min_lr": 1e-4, "warmup": 2, "beta1": 0.9, "beta2": 0.999, "eps": 1e-8, "weight_decay": 0.01,
            "clip": 1.0, "ema": 0.9}


def norm(channels):
    return nn.GroupNorm(GROUPS, channels, eps=1e-6)


class Residual(nn.Module):
    def __init__(self, inputs, out):
        super().__init__()
        self.norm1, self.conv1 = norm(inputs), nn.Conv2d(inputs, out, 3, padding=1)
        self.norm2, self.conv2 = norm(out), nn.Conv2d(out, out, 3, padding=1)
        if inputs != out:
            self.conv_shortcut = nn.Conv2d(inputs, out, 1)

    def forward(self, x):
        y = self.conv2(F.silu(self.norm2(self.conv1(F.silu(self.norm1(x))))))
        return y + (self.conv_shortcut(x) if hasattr(self, "conv_shortcut") else x)


class Attention(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.group_norm = norm(channels)
        self.to_q, self.to_k, self.to_v = (nn.Linear(channels, channels) for _ in range(3))
        self.to_out = nn.ModuleList([nn.Linear(channels, channels)])

    def forward(self, x):
        y = self.group_norm(x).flatten(2).transpose(1, 2)
        q, k, v = self.to_q(y), self.to_k(y), self.to_v(y)
        y = torch.softmax(q @ k.transpose(1, 2) / q.shape[-1] ** 0.5, -1) @ v
        return x + self.to_out[0](y).transpose(1, 2).reshape(x.shape)


class Middle(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.resnets = nn.ModuleList([Residual(channels, channels) for _ in range(2)])
        self.attentions = nn.ModuleList([Attention(channels)])

    def forward(self, x):
        return self.resnets[1](self.attentions[0](self.resnets[0](x)))


class Sampler(nn.Module):
    def __init__(self, channels, up):
        super().__init__()
        self.up = up
        self.conv = nn.Conv2d(channels, channels, 3, stride=1 if up else 2, padding=1 if up else 0)

    def forward(self, x):
        return self.conv(F.interpolate(x, scale_factor=2.0) if self.up else F.pad(x, (0, 1, 0, 1)))


class Level(nn.Module):
    def __init__(self, inputs, out, blocks, sampler, up):
        super().__init__()
        self.resnets = nn.ModuleList([Residual(inputs if i == 0 else out, out) for i in range(blocks)])
        if sampler:
            name = "upsamplers" if up else "downsamplers"
            setattr(self, name, nn.ModuleList([Sampler(out, up)]))

    def forward(self, x):
        for block in self.resnets:
            x = block(x)
        for sampler in getattr(self, "upsamplers", getattr(self, "downsamplers", [])):
            x = sampler(x)
        return x


def levels(widths, blocks, up):
    before = (widths[0], *widths)
    return nn.ModuleList([Level(before[i], width, blocks, i + 1 < len(widths), up) for i, width in enumerate(widths)])


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv_in = nn.Conv2d(3, WIDTHS[0], 3, padding=1)
        self.down_blocks = levels(WIDTHS, 1, False)
        self.mid_block = Middle(WIDTHS[-1])
        self.conv_norm_out = norm(WIDTHS[-1])
        self.conv_out = nn.Conv2d(WIDTHS[-1], 2 * LATENT, 3, padding=1)

    def forward(self, x):
        x = self.conv_in(x)
        for level in self.down_blocks:
            x = level(x)
        return self.conv_out(F.silu(self.conv_norm_out(self.mid_block(x))))


class Decoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv_in = nn.Conv2d(LATENT, WIDTHS[-1], 3, padding=1)
        self.mid_block = Middle(WIDTHS[-1])
        self.up_blocks = levels(WIDTHS[::-1], 2, True)
        self.conv_norm_out = norm(WIDTHS[0])
        self.conv_out = nn.Conv2d(WIDTHS[0], 3, 3, padding=1)

    def forward(self, x):
        x = self.mid_block(self.conv_in(x))
        for level in self.up_blocks:
            x = level(x)
        return self.conv_out(F.silu(self.conv_norm_out(x)))


class Autoencoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder, self.decoder = Encoder(), Decoder()
        self.quant_conv, self.post_quant_conv = nn.Conv2d(2 * LATENT, 2 * LATENT, 1), nn.Conv2d(LATENT, LATENT, 1)

    def forward(self, image, noise):
        """The picture of a sampled latent, and the divergence of its distribution, a mean over all elements."""
        mean, logvar = self.quant_conv(self.encoder(2 * image - 1)).chunk(2, 1)
        logvar = logvar.clamp(-30, 20)
        latent = mean + torch.exp(0.5 * logvar) * noise
        return 0.5 * self.decoder(self.post_quant_conv(latent)) + 0.5, 0.5 * (mean.square() + logvar.exp() - 1 - logvar).mean()


def philox(counter, key):
    """Philox 4x32-10 of counters [n, 4]."""
    c, k = counter.astype(np.uint64).T.copy(), [np.uint64(x) for x in key]
    low = np.uint64(0xffffffff)
    for _ in range(10):
        left, right = np.uint64(0xd2511f53) * c[0], np.uint64(0xcd9e8d57) * c[2]
        c = np.stack([right >> np.uint64(32) ^ c[1] ^ k[0], right & low, left >> np.uint64(32) ^ c[3] ^ k[1], left & low])
        k = [(k[0] + np.uint64(0x9e3779b9)) & low, (k[1] + np.uint64(0xbb67ae85)) & low]
    return c.T


def noise_of(sample, side):
    """That of the operator gaussian_sample in a run of this seed: by seed, sample and place."""
    blocks = side * side * LATENT // 4
    bits = np.float32(0x800000 + sample).view(np.uint32)
    seed = ~SEED & 0xffffffffffffffff
    counter = np.stack([np.arange(blocks), np.zeros(blocks), np.full(blocks, bits), np.zeros(blocks)], 1)
    drawn = philox(counter, (seed & 0xffffffff, seed >> 32)).astype(np.float64).reshape(-1, 2)
    radius, angle = np.sqrt(-2 * np.log((drawn[:, 0] + 1) * 2.0**-32)), 6.283185307179586 * 2.0**-32 * drawn[:, 1]
    normal = np.stack([radius * np.cos(angle), radius * np.sin(angle)], 1).astype(np.float32)
    return torch.from_numpy(normal.reshape(side, side, LATENT)).permute(2, 0, 1)


def ten_losses(model, image):
    side = image.shape[-1] // 8
    parameters = list(model.parameters())

    def gradient_of(step):
        noise = torch.stack([noise_of(step * BATCH + i, side) for i in range(BATCH)]).to(image.dtype)
        picture, kl = model(image.expand(BATCH, -1, -1, -1), noise)
        mse = (picture - image).square().mean()
        (mse + KL_WEIGHT * kl).backward()
        return {"loss": (mse + KL_WEIGHT * kl).item(), "mse": mse.item(), "kl": kl.item()}

    averages = [parameter.detach().clone() for parameter in parameters]
    told = list(train(parameters, gradient_of, SETTINGS, STEPS, SETTINGS["clip"], averages))
    return [facts | {"norm": norm_of_step} for facts, norm_of_step in told]


def main():
    torch.set_num_threads(1)
    torch.manual_seed(1)
    model = Autoencoder()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.copy_(parameter.half().float())
    OUT.mkdir(exist_ok=True)
    note = f"python tools/goldens/make_kl_train_goldens.py; torch {torch.__version__}"
    save_file({name: value.half() for name, value in model.state_dict().items()},
              OUT / "diffusion_pytorch_model.safetensors", {"golden": note})
    (OUT / "diffusion_pytorch_model.safetensors").chmod(0o644)
    (OUT / "config.json").write_text(json.dumps(
        {"_class_name": "AutoencoderKL", "block_out_channels": WIDTHS, "latent_channels": LATENT, "layers_per_block": 1,
         "norm_num_groups": GROUPS, "scaling_factor": 0.18215}) + "\n")
    picture = np.array(Image.open(ROOT / "tests/train/data/0.png"))
    image = torch.from_numpy(picture).permute(2, 0, 1)[None].float().div(255)
    double = Autoencoder().double()
    double.load_state_dict(model.state_dict())
    steps, exact = ten_losses(model, image), ten_losses(double, image.double())
    worst = max(abs(a["loss"] - b["loss"]) / b["loss"] for a, b in zip(steps, exact))
    print(f"float32 and float64 differ by {worst:.1e}")
    (OUT / "ten_losses.json").write_text(json.dumps(
        {"made_by": note, "seed": SEED, "batch": BATCH, "kl_weight": KL_WEIGHT, "optimizer": SETTINGS, "steps": steps}, indent=1) + "\n")
    print(json.dumps(steps[0]), json.dumps(steps[-1]))


if __name__ == "__main__":
    main()
