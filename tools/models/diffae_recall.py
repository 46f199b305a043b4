#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Zenith authors
# SPDX-License-Identifier: Apache-2.0
"""Makes what a diffusion autoencoder with a linear code draws by: known pictures, and which parts of a picture tell of which.

    python3 tools/models/diffae_recall.py codes.safetensors --model runs/faces/ema -o recall [--count 5000]
    zenith diffae join runs/faces/ema recall runs/faces-classifier/ema -o model.safetensors --store f8_e4m3

CODES is what `zenith diffae features` made of known pictures, by the weights of MODEL. src/model/diffae/recall.h explains what is
written: the codes of the first --count pictures; the views, the first 16 numbers of each of 8x8 cells; what tells of each cell; and
norms.

Two cells are compared by the canonical correlations r of their views. All views of a cell tell of another as far as the mean r^2 is above
--depends, and a single direction of them as far as its r^2 is above --direction; both by a logistic curve. Higher numbers put faces
together more freely, of parts that fit less well; with lower ones, more of what is drawn is a known face. Weights are rounded as 8-bit floats are, so that norms are those of what is
stored. It needs numpy.
"""
import argparse
import json
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tools"))
import environment  # noqa: E402

environment.enter("numpy")

import numpy as np
import plain_safetensors
from diffae_components import PIECE, rounded

CELLS, VIEWS = 8, 16  # cells of a side; numbers of a cell
WIDTHS = {"depends": 0.03, "direction": 0.05}  # of the logistic curves


def cell_of_values(side, channels):
    """The cell of each number of a row of components: cell_of in src/model/diffae/recall.c."""
    pieces = min(side, PIECE)
    piece = np.arange(side * side * channels) // (side * side * channels // pieces**2)
    return piece // pieces * CELLS // pieces * CELLS + piece % pieces * CELLS // pieces


def curve(x, middle, width):
    return 1 / (1 + np.exp(-np.maximum((x - middle) / width, -80)))


def views_of_cells(spread, components, cell):
    """Of each cell its directions as rows of codes [cells, VIEWS, code], and the deviation along each (0: there is none)."""
    views = np.zeros((CELLS**2, VIEWS, components.shape[0]), np.float32)
    deviations = np.zeros((CELLS**2, VIEWS), np.float32)
    middle = spread.mean(0)
    for c in range(CELLS**2):
        columns = components[:, cell == c]
        if not columns.shape[1]:
            continue
        x = (spread - middle) @ columns
        squares, v = np.linalg.eigh(x.T @ x / len(x))
        count = min(VIEWS, len(squares))
        of_cell = np.sqrt(np.maximum(squares[::-1][:count], 0))
        views[c, :count] = (columns @ v[:, ::-1][:, :count]).T
        deviations[c, :count] = of_cell * (of_cell > 0.02 * of_cell[0])
    return views, deviations


def what_tells(seen, deviations, o):
    """[cells, VIEWS, cells, VIEWS]: of each cell, a matrix for the views of each."""
    n = CELLS**2
    there = deviations > 0
    white = (seen - seen.mean(0)) / np.where(there, deviations, np.inf)
    tells = np.zeros((n, VIEWS, n, VIEWS), np.float32)
    counts = np.sqrt(there.sum(1)[:, None] * there.sum(1) + 1e-9)
    for i in range(n):
        for k in range(n):
            if i == k:
                tells[i, :, k] = np.eye(VIEWS)
                continue
            _, r, v = np.linalg.svd(white[:, i].T @ white[:, k] / len(white))
            tells[i, :, k] = curve((r**2).sum() / counts[i, k], o.depends, WIDTHS["depends"]) * np.eye(VIEWS)
            much = curve(r**2, o.direction, WIDTHS["direction"])
            kept = much > 0.05
            if kept.any() and there[k].any():
                along = np.linalg.qr((v[kept] / np.where(there[k], deviations[k], np.inf)).T)[0]
                tells[i, :, k] += (along * much[kept]) @ along.T
    return tells


def norms_of(seen, tells):
    """[cells, pictures]: half of what each picture agrees with itself."""
    out = np.empty((CELLS**2, len(seen)), np.float32)
    flat = seen.transpose(1, 0, 2)  # [cells, pictures, VIEWS]
    for i in range(CELLS**2):
        out[i] = sum((flat[k] @ tells[i, :, k] * flat[k]).sum(1) for k in range(CELLS**2)) / 2
    return out


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("codes", type=pathlib.Path)
    parser.add_argument("--model", type=pathlib.Path, required=True, help="folder of the autoencoder that made the codes")
    parser.add_argument("-o", "--output", type=pathlib.Path, required=True)
    parser.add_argument("--count", type=int, default=5000, help="known pictures to keep (default: %(default)s)")
    parser.add_argument("--depends", type=float, default=0.16, help="mean r^2 from which all views of a cell tell half of another (default: %(default)s)")
    parser.add_argument("--direction", type=float, default=0.14, help="r^2 from which a direction does (default: %(default)s)")
    o = parser.parse_args()
    found, facts = plain_safetensors.read(o.codes)
    weights, _ = plain_safetensors.read(o.model / "model.safetensors")
    config = json.loads((o.model / "config.json").read_text())
    components, deviation = rounded(weights["encoder.components.weight"]), np.asarray(weights["encoder.components.deviation"])
    side = int(round((components.shape[1] / config["in_channels"])**0.5))
    codes = rounded(found["z"][:o.count])
    spread = codes * deviation
    views, deviations = views_of_cells(spread, components, cell_of_values(side, config["in_channels"]))
    views = rounded(views)
    seen = (spread @ views.reshape(-1, len(deviation)).T).reshape(len(codes), CELLS**2, VIEWS)
    tells = rounded(what_tells(seen, deviations, o))
    o.output.mkdir(parents=True, exist_ok=True)
    (o.output / "config.json").write_text(json.dumps(config | {"recall": len(codes)}, indent=1) + "\n")
    plain_safetensors.write(o.output / "model.safetensors", {
        "recall.codes.weight": codes, "recall.views.weight": views.reshape(-1, len(deviation)),
        "recall.tells.weight": tells.reshape(CELLS**2 * VIEWS, -1), "recall.norms": norms_of(seen, tells).reshape(-1)},
        {"zenith.autoencoder": facts["zenith.weights"]})
    print(f"{len(codes)} known pictures of {len(found['z'])}")


if __name__ == "__main__":
    main()
