#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Zenith authors
# SPDX-License-Identifier: Apache-2.0
"""Makes tests/golden/sd_v1.safetensors and sd_v1b.safetensors: a latent and what PyTorch decodes from it.

    python tools/make_fast_goldens.py [WEIGHTS]      default: ../shared/weights/prototypes
"""
import pathlib
import sys

import torch
import torch.nn.functional as F
from safetensors.torch import load_file, save_file

ROOT = pathlib.Path(__file__).resolve().parents[1]


def block(w, n, x):
    y = x
    for i in (0, 2, 4):
        y = F.conv2d(y, w[f"{n}.conv.{i}.weight"], w[f"{n}.conv.{i}.bias"], padding=1)
        y = y if i == 4 else F.relu(y)
    return F.relu(x + y)


def decode(w, z, stages, head, shuffle):
    x = F.relu(F.conv2d(torch.tanh(z / 3) * 3, w["1.weight"], w["1.bias"], padding=1))
    for up, blocks in stages:
        if up is not None:
            x = F.conv2d(F.interpolate(x, scale_factor=2), w[f"{up}.c.weight"], padding=1)
        for n in blocks:
            x = block(w, n, x)
    x = F.conv2d(x, w[f"{head}.c.weight"], w[f"{head}.c.bias"], padding=1)
    return F.pixel_shuffle(x, shuffle)


def main():
    folder = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "../shared/weights/prototypes")
    low = [(None, (3, 4, 5)), (6, (7, 8, 9))]
    latent = torch.randn(1, 4, 6, 8, generator=torch.Generator().manual_seed(3))
    for name, stages, head, shuffle in (("sd_v1", [*low, (10, (11,))], 12, 2), ("sd_v1b", low, 10, 4)):
        weights = load_file(folder / f"{name}_decoder.safetensors")
        golden = {"latent": latent, "decoded": decode(weights, latent, stages, head, shuffle).contiguous()}
        save_file(golden, ROOT / "tests/golden" / f"{name}.safetensors",
                  metadata={"golden": f"remade by: python tools/make_fast_goldens.py; torch {torch.__version__}"})


if __name__ == "__main__":
    main()
