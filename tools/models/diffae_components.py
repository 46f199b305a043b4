#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Zenith authors
# SPDX-License-Identifier: Apache-2.0
"""Solves for the linear code of a diffusion autoencoder: the directions in which pictures differ most.

    python3 tools/models/diffae_components.py faces/train --network faces.json -o components --held faces/test

NETWORK is a config of 'zenith train' whose "network" has "linear_code": 1; its "draft" names the folder that is written here
(docs/TRAINING.md, "Diffusion autoencoders"). The code of a picture is n numbers, how far it lies from the mean picture in each of
the n directions with the largest variance, over the deviation there; "draft" is the mean picture plus these. Directions are the
singular vectors of all pictures, found by the randomised method of Halko, Martinsson and Tropp. With --held, it says how near
drafts of other pictures are. With --rounded, directions are rounded as `zenith diffae join --store f8_e4m3` rounds them, so that the
U-Net is trained with the drafts that such a file makes. For a model on latents DATA is latents-KEY.safetensors, which a run keeps in
its folder (one step of a config without "linear_code" makes it); the last tenth is held back instead. It prints what the network's
config says besides.
It needs numpy and pillow.
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

PIECE = 16  # maps are taken apart by pieces so high and wide, as src/model/diffae/diffae.c does it


def pixels(path):
    from PIL import Image
    return np.asarray(Image.open(path).convert("RGB"), np.float32) / 127.5 - 1


def latents(path):
    """[pictures, height, width, channels] of the file that a run on latents keeps."""
    return plain_safetensors.read(path)[0]["latents"].astype(np.float32)


def read(path):
    """[pictures, height, width, channels]: a folder's PNG files, by name, or latents."""
    if path.is_file():
        return latents(path)
    paths = sorted(path.glob("*.png"))
    if not paths:
        raise SystemExit(f"diffae_components.py: '{path}' has no .png")
    first = pixels(paths[0])
    out = np.empty((len(paths), *first.shape), np.float32)
    for row, file in zip(out, paths):
        row[:] = pixels(file)
    return out


def rows(maps):
    """Each map as a row, in the order that the network has."""
    n, side, _, channels = maps.shape
    piece = min(side, PIECE)
    inner = side // piece
    return maps.reshape(n, piece, inner, piece, inner, channels).transpose(0, 1, 3, 2, 4, 5).reshape(n, -1)


def rounded(x):
    """As f8 e4m3: four significant bits."""
    mantissa, exponent = np.frexp(x)
    return np.ldexp(np.round(mantissa * 16) / 16, exponent).astype(np.float32)


def directions(x, count, rounds=4):
    """The first right singular vectors of x, [count, columns], and the deviation of x along each."""
    random = np.random.default_rng(1)
    more = min(count + 16, *x.shape)
    q = np.linalg.qr(x @ random.standard_normal((x.shape[1], more), np.float32))[0]
    for _ in range(rounds):
        q = np.linalg.qr(x @ np.linalg.qr(x.T @ q)[0])[0]
    _, s, v = np.linalg.svd(q.T @ x, full_matrices=False)
    return v[:count], s[:count] / len(x)**0.5


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=pathlib.Path, help="folder of pictures of the network's size, or a file of latents")
    parser.add_argument("--network", type=pathlib.Path, required=True)
    parser.add_argument("--held", type=pathlib.Path, help="folder of others to judge by")
    parser.add_argument("--rounded", action="store_true", help="directions as 8-bit floats")
    parser.add_argument("-o", "--output", type=pathlib.Path, required=True)
    options = parser.parse_args()
    network = json.loads(options.network.read_text())["network"]
    on_latents = "autoencoder" in network
    maps = read(options.data)
    others = read(options.held) if options.held else maps[:0]
    if on_latents:
        maps, others = np.split(maps, [len(maps) * 9 // 10])
    side, channels = maps.shape[1], maps.shape[3]
    if maps.shape[2] != side or (side > PIECE and side % PIECE):
        raise SystemExit(f"diffae_components.py: maps of {maps.shape[2]}x{side} cannot be taken apart")
    mean, deviation = (maps.mean((0, 1, 2)), maps.std((0, 1, 2))) if on_latents else (0, 1 / network.get("contrast", 1))
    x = rows((maps - mean) / deviation)
    middle = x.mean(0)
    x -= middle
    v, spread = directions(x, network["code"])
    if options.rounded:
        v = rounded(v)
    print(f"{1 - (spread**2).sum() / x.var(0).sum():.4f} of the variance is left of {len(x)} maps of {side}x{side}x{channels}")
    if len(others):
        y = rows((others - mean) / deviation) - middle
        left = y - (y @ v.T) @ v
        print(f"{(left**2).sum() / (y**2).sum():.4f} is left of {len(y)} others: \"draft_deviation\": {(left**2).mean()**0.5:.3f}")
        if not on_latents:
            error = (np.clip((y - left + middle) * deviation, -1, 1) - (y + middle) * deviation)**2
            print(f"their drafts have {(-10 * np.log10(error.mean(1) / 4)).mean():.2f} dB")
    options.output.mkdir(parents=True, exist_ok=True)
    config = dict(network)
    if on_latents:
        config |= {"latent_mean": mean.tolist(), "latent_std": deviation.tolist()}
        print(json.dumps({key: config[key] for key in ("latent_mean", "latent_std")}))
    (options.output / "config.json").write_text(json.dumps(config, indent=1) + "\n")
    plain_safetensors.write(options.output / "model.safetensors", {
        "encoder.components.weight": v, "encoder.components.factor": 1 / spread, "encoder.components.deviation": spread,
        "encoder.components.offset": -(v @ middle) / spread, "encoder.components.mean": middle})


if __name__ == "__main__":
    main()
