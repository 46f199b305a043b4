#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Zenith authors
# SPDX-License-Identifier: Apache-2.0
"""Makes tests/golden/zenith-*.safetensors: narrow random networks of the zenith family, one for each number of
stages, as one file of weights each (with its layout), and beside it what PyTorch encodes and decodes with them.

    python tools/goldens/make_zenith_goldens.py
"""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tools"))
import environment  # noqa: E402

environment.enter("torch", "safetensors", most=0)

import torch
import torch.nn.functional as F
from safetensors.torch import save_file

ROOT = pathlib.Path(__file__).resolve().parents[2]
GOLDENS = {"one": ("zenith-sd-fast", 4, "8x2"), "two": ("zenith-f1-fast", 16, "8x1 16x0"), "three": ("zenith-sd-small", 4, "16x1 8x2 8x1")}


class Network:
    """Layers make their weights when they are first used."""

    def __init__(self, prefix, seed):
        self.prefix, self.weights, self.random = prefix, {}, torch.Generator().manual_seed(seed)

    def tensor(self, name, *shape, scale):
        value = torch.randn(*shape, generator=self.random) * scale
        return self.weights.setdefault(f"{self.prefix}.{name}", value)

    def conv(self, name, x, channels, stride=1, bias=True):
        weight = self.tensor(f"{name}.weight", channels, x.shape[1], 3, 3, scale=(1.5 / (9 * x.shape[1])) ** 0.5)
        return F.conv2d(x, weight, self.tensor(f"{name}.bias", channels, scale=0.1) if bias else None, stride=stride, padding=1)

    def block(self, name, x):
        y = F.relu(self.conv(f"{name}.conv.0", x, x.shape[1]))
        y = F.relu(self.conv(f"{name}.conv.2", y, x.shape[1]))
        return F.relu(x + self.conv(f"{name}.conv.4", y, x.shape[1]))

    def decode(self, x, stages):
        x = F.relu(self.conv("1", torch.tanh(x / 3) * 3, stages[0][0]))
        for s, (width, blocks) in enumerate(stages):
            if s > 0:
                x = self.conv(str(2 + 5 * s), F.interpolate(x, scale_factor=2), width, bias=False)
            for i in range(blocks):
                x = self.block(str(3 + 5 * s + i), x)
        side = 8 >> (len(stages) - 1)
        return F.pixel_shuffle(self.conv("head", x, 3 * side * side), side)

    def encode(self, x, stages, latent):
        x = self.conv("stem", F.pixel_unshuffle(x, 8 >> (len(stages) - 1)), stages[-1][0])
        for s in reversed(range(len(stages))):
            if s < len(stages) - 1:
                x = self.conv(str(10 - 4 * s), x, stages[s][0], stride=2, bias=False)
            for i in range(stages[s][1]):
                x = self.block(str(11 - 4 * s + i), x)
        return self.conv("14", x, latent)


def main():
    made = {"golden": f"remade by: python tools/goldens/make_zenith_goldens.py; torch {torch.__version__}"}
    for name, (model, channels, layout) in GOLDENS.items():
        stages = [tuple(map(int, stage.split("x"))) for stage in layout.split()]
        random = torch.Generator().manual_seed(3)
        latent, pixels = torch.randn(1, channels, 6, 8, generator=random), torch.rand(1, 3, 48, 64, generator=random)
        encoder, decoder = Network("encoder", 1), Network("decoder", 2)
        results = {"latent": latent, "decoded": decoder.decode(latent, stages).contiguous(),
                   "pixels": pixels, "encoded": encoder.encode(pixels, stages, channels).contiguous()}
        facts = {"zenith.model": model, "zenith.encoder": layout, "zenith.decoder": layout}
        save_file(encoder.weights | decoder.weights, ROOT / f"tests/golden/zenith-{name}.safetensors", metadata=made | facts)
        save_file(results, ROOT / f"tests/golden/zenith-{name}.io.safetensors", metadata=made)


if __name__ == "__main__":
    main()
