# SPDX-FileCopyrightText: 2026 The Zenith authors
# SPDX-License-Identifier: Apache-2.0
"""The tiny autoencoders (TAESD, TAESDXL, TAESD3, TAEF1, TAEF2) in PyTorch: the truth that Zenith's
own implementation is measured against.

A checkpoint is two flat sequences of layers, whose index is the first part of every tensor's name:

    encoder  0 conv 3->w | 1 block | 3 x (conv w->w /2, no bias; 3 blocks) | 14 conv w->latent
    decoder  0 clamp | 1 conv latent->w | 2 relu | 3-5 blocks
             | 6 up x2, 7 conv w->w, no bias | 8-10 blocks
             | 11 up x2, 12 conv | 13-15 blocks | 16 up x2, 17 conv | 18 block | 19 conv w->3

    clamp    tanh(x / 3) * 3
    block    relu(x + conv(relu(conv(relu(conv(x))))))
    pooled   the same with x + pool(x) in place of x; pool = 1x1 w->4w, group norm, relu, 1x1 4w->w

Every convolution but those in `pool` is 3x3 with padding 1. Pooled blocks are what TAEF2 has at
latent resolution; a file has them where it has tensors named N.pool.*. Their group norm has 4
groups, which no file says.

Images are [n,3,h,w] in [0,1]. The encoder gives the raw latent [n,c,h/8,w/8], the decoder an image
that is not clamped. Weights of any float type are widened to float32, which loses nothing.

    python tools/goldens/taesd_reference.py --check GOLDEN_DIR    compares with goldens made by diffusers
"""
import argparse
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tools"))
import environment  # noqa: E402

environment.enter("torch", "safetensors")

import torch
from safetensors.torch import load_file
from torch import nn

MODELS = ("taesd", "taesdxl", "taesd3", "taef1", "taef2")
POOL_GROUPS = 4
POOL_EPSILON = 1e-5


class Clamp(nn.Module):
    def forward(self, x):
        return torch.tanh(x / 3) * 3


class Block(nn.Module):
    """Residual block; `pooled` ones first add what the group-normed bottleneck says."""

    def __init__(self, width, pooled):
        super().__init__()
        self.conv = nn.Sequential(conv3(width, width), nn.ReLU(), conv3(width, width), nn.ReLU(),
                                  conv3(width, width))
        self.pool = None
        if pooled:
            self.pool = nn.Sequential(nn.Conv2d(width, 4 * width, 1, bias=False),
                                      nn.GroupNorm(POOL_GROUPS, 4 * width, eps=POOL_EPSILON),
                                      nn.ReLU(),
                                      nn.Conv2d(4 * width, width, 1, bias=False))

    def forward(self, x):
        if self.pool is not None:
            x = x + self.pool(x)
        return torch.relu(x + self.conv(x))


def conv3(n_in, n_out, stride=1, bias=True):
    return nn.Conv2d(n_in, n_out, 3, stride=stride, padding=1, bias=bias)


def build_encoder(width, latent, pooled):
    layers = [conv3(3, width), Block(width, 1 in pooled)]
    for _ in range(3):
        layers.append(conv3(width, width, stride=2, bias=False))
        layers += [Block(width, len(layers) + i in pooled) for i in range(3)]
    return nn.Sequential(*layers, conv3(width, latent))


def build_decoder(width, latent, pooled):
    layers = [Clamp(), conv3(latent, width), nn.ReLU()]
    for blocks in (3, 3, 3):
        layers += [Block(width, len(layers) + i in pooled) for i in range(blocks)]
        layers += [nn.Upsample(scale_factor=2, mode="nearest"), conv3(width, width, bias=False)]
    layers.append(Block(width, len(layers) in pooled))
    return nn.Sequential(*layers, conv3(width, 3))


def pooled_layers(state):
    return {int(name.split(".")[0]) for name in state if ".pool." in name}


def fill(network, state):
    """Copies a checkpoint into a network; every tensor must be used and none may be missing."""
    network.load_state_dict({name: tensor.float() for name, tensor in state.items()}, strict=True)
    return network.eval().requires_grad_(False)


def encoder_from(state):
    width, latent = state["0.weight"].shape[0], state["14.weight"].shape[0]
    return fill(build_encoder(width, latent, pooled_layers(state)), state)


def decoder_from(state):
    width, latent = state["1.weight"].shape[:2]
    return fill(build_decoder(width, latent, pooled_layers(state)), state)


def load(name, weights_dir):
    """The pair (encoder, decoder) of one of MODELS from NAME_encoder / NAME_decoder.safetensors."""
    folder = pathlib.Path(weights_dir)
    return (encoder_from(load_file(folder / f"{name}_encoder.safetensors")),
            decoder_from(load_file(folder / f"{name}_decoder.safetensors")))


def load_diffusers(folder):
    """The pair from a directory in the layout of diffusers' AutoencoderTiny.

    Its sequences are `encoder.layers` and `decoder.layers`; the decoder's lacks layer 0, the clamp,
    so that its indices are one lower.
    """
    state = load_file(pathlib.Path(folder) / "diffusion_pytorch_model.safetensors")
    encoder, decoder = {}, {}
    for name, tensor in state.items():
        part, _, index, rest = name.split(".", 3)
        if part == "encoder":
            encoder[f"{index}.{rest}"] = tensor
        else:
            decoder[f"{int(index) + 1}.{rest}"] = tensor
    return encoder_from(encoder), decoder_from(decoder)


def check(folder):
    """Largest differences (latent, image) from io.safetensors, whose images are in [-1,1]."""
    encoder, decoder = load_diffusers(folder)
    io = load_file(pathlib.Path(folder) / "io.safetensors")
    latent = encoder((io["image"] + 1) / 2)
    decoded = decoder(io["latent"]) * 2 - 1
    return ((latent - io["latent"]).abs().max().item(),
            (decoded - io["decoded"]).abs().max().item())


def main():
    parser = argparse.ArgumentParser(description="Compares this rebuild with diffusers' goldens.")
    parser.add_argument("--check", metavar="GOLDEN_DIR", required=True, type=pathlib.Path,
                        help="directory with tiny_* directories (model and io.safetensors)")
    folders = sorted(parser.parse_args().check.glob("tiny_*"))
    torch.set_num_threads(1)
    worst = 0.0
    for folder in folders:
        latent, decoded = check(folder)
        worst = max(worst, latent, decoded)
        print(f"{folder.name}: latent {latent:.1e}, decoded {decoded:.1e} max abs")
    sys.exit(0 if folders and worst < 1e-5 else 1)


if __name__ == "__main__":
    main()
