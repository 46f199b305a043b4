#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Zenith authors
# SPDX-License-Identifier: Apache-2.0
"""Makes what a diffusion autoencoder with a linear code draws by: known pictures, and which cells of a picture depend on which.

    python3 tools/diffae_recall.py codes.safetensors --model runs/faces/ema -o recall [--count 6000]
    zenith diffae join runs/faces/ema recall runs/faces-classifier/ema -o model.safetensors --store f8_e4m3

CODES is what `zenith diffae features` made of known pictures, by the weights of MODEL. src/model/diffae_recall.h explains what is
written: the codes of the first --count pictures; looks, how much each of 8x8 cells depends on each other; and norms.

Two cells depend on each other as far as the first numbers of one (its own directions of largest variance) can be told from those of the other:
the mean square of their canonical correlations. --depends and --sharply say from where on that counts: cells look at cells by a logistic
curve of it. Known pictures are rounded as 8-bit floats are, so that norms are those of what is stored. It needs numpy.
"""
import argparse
import json
import pathlib

import numpy as np
import plain_safetensors

CELLS, PIECE, NUMBERS, JUDGED = 8, 16, 10, 2500  # cells of a side; as src/model/diffae.c; numbers of a cell; pictures that are judged


def rounded(x):
    """As f8 e4m3: four significant bits."""
    mantissa, exponent = np.frexp(x)
    return np.ldexp(np.round(mantissa * 16) / 16, exponent).astype(np.float32)


def cell_of_values(side, channels):
    """The cell of each number of a row of components: zn_diffae_cell_of."""
    pieces = min(side, PIECE)
    piece = np.arange(side * side * channels) // (side * side * channels // pieces**2)
    return piece // pieces * CELLS // pieces * CELLS + piece % pieces * CELLS // pieces


def dependence(maps, cell):
    """[cells, cells], 0 .. 1."""
    own = []
    for i in range(CELLS**2):
        x = maps[:, cell == i]
        if not x.shape[1]:
            own.append(np.zeros((len(maps), NUMBERS), np.float32))
            continue
        u, s, _ = np.linalg.svd(x - x.mean(0), full_matrices=False)
        wide = np.zeros((len(maps), NUMBERS), np.float32)
        wide[:, :min(NUMBERS, len(s))] = u[:, :NUMBERS] * (s[:NUMBERS] > 0.02 * s[0])
        own.append(wide)
    own = np.stack(own)
    n = len(own)
    flat = own.transpose(1, 0, 2).reshape(len(maps), -1)
    both = ((flat.T @ flat)**2).reshape(n, NUMBERS, n, NUMBERS).sum((1, 3))
    self_ = np.sqrt(np.maximum(both.diagonal(), 1e-12))
    return both / (self_[:, None] * self_)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("codes", type=pathlib.Path)
    parser.add_argument("--model", type=pathlib.Path, required=True, help="folder of the autoencoder that made the codes")
    parser.add_argument("-o", "--output", type=pathlib.Path, required=True)
    parser.add_argument("--count", type=int, default=6000, help="known pictures to keep (default: %(default)s)")
    parser.add_argument("--depends", type=float, default=0.15, help="where cells count as half dependent (default: %(default)s)")
    parser.add_argument("--sharply", type=float, default=0.03, help="width of the curve (default: %(default)s)")
    o = parser.parse_args()
    found, facts = plain_safetensors.read(o.codes)
    weights, _ = plain_safetensors.read(o.model / "model.safetensors")
    config = json.loads((o.model / "config.json").read_text())
    part = {key: weights[f"encoder.components.{key}"] for key in ("weight", "deviation")}
    side = config["image_size"]
    channels = config["in_channels"]
    side = int(round((part["weight"].shape[1] / channels)**0.5))
    codes, components = rounded(found["z"][:o.count]), rounded(part["weight"])
    cell = cell_of_values(side, channels)
    spread = part["deviation"]
    judged = (found["z"][:JUDGED] * spread) @ part["weight"]
    looks = rounded(1 / (1 + np.exp(-(dependence(judged, cell) - o.depends) / o.sharply)))
    norms = np.empty((CELLS**2, len(codes)), np.float32)
    for i in range(0, len(codes), 500):
        squares = ((codes[i:i + 500] * spread) @ components)**2
        of_cells = np.stack([squares[:, cell == c].sum(1) for c in range(CELLS**2)])
        norms[:, i:i + 500] = looks @ of_cells / 2
    print(f"{len(codes)} known pictures; a cell looks at {looks.sum(1).mean():.1f} of {CELLS**2} cells ({looks.sum(1).min():.1f} to {looks.sum(1).max():.1f})")
    o.output.mkdir(parents=True, exist_ok=True)
    (o.output / "config.json").write_text(json.dumps(config | {"recall": len(codes)}, indent=1) + "\n")
    plain_safetensors.write(o.output / "model.safetensors", {
        "recall.codes.weight": codes, "recall.looks.weight": looks, "recall.norms": norms.reshape(-1)},
        {"zenith.autoencoder": facts["zenith.weights"]})


if __name__ == "__main__":
    main()
