#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Zenith authors
# SPDX-License-Identifier: Apache-2.0
"""Solves for the linear code of a diffusion autoencoder: the directions in which pictures differ most.

    python3 tools/diffae_components.py avatars64/train --network models/training/diffae-avatars64.json -o components
        --held avatars64/test

NETWORK is a config of 'zenith train' whose "network" has "linear_code": 1; its "draft" names the folder that is written here
(docs/TRAINING.md, "Diffusion autoencoders"). The code of a picture is n numbers, how far it lies from the mean picture in each of
the n directions with the largest variance, over the deviation there; "draft" is the mean picture plus these. Directions are the
singular vectors of all pictures, found by the randomised method of Halko, Martinsson and Tropp. With --held, it says how near
drafts of other pictures are. Latents of a model on latents are read from a folder of safetensors that 'zenith encode' writes. It
needs numpy and pillow.
"""
import argparse
import json
import pathlib
import struct

import numpy as np

PIECE = 16  # maps are taken apart by pieces so high and wide, as src/model/diffae.c does it


def pixels(path):
    from PIL import Image
    return np.asarray(Image.open(path).convert("RGB"), np.float32) / 127.5 - 1


def latent(path):
    """[height, width, channels] of a file with one latent."""
    with open(path, "rb") as file:
        header = json.loads(file.read(struct.unpack("<Q", file.read(8))[0]))
        start = file.tell()
        entry = next(value for name, value in header.items() if name != "__metadata__")
        file.seek(start + entry["data_offsets"][0])
        raw = file.read(entry["data_offsets"][1] - entry["data_offsets"][0])
    kinds = {"F16": np.float16, "F32": np.float32}
    x = np.frombuffer(raw, kinds[entry["dtype"]]).astype(np.float32).reshape(entry["shape"])
    return x.reshape(x.shape[-3:]).transpose(1, 2, 0)


def read(folder):
    """[pictures, height, width, channels], by name."""
    paths = sorted(p for p in folder.iterdir() if p.suffix in (".png", ".safetensors"))
    if not paths:
        raise SystemExit(f"diffae_components.py: '{folder}' has no .png and no .safetensors")
    first = (pixels if paths[0].suffix == ".png" else latent)(paths[0])
    out = np.empty((len(paths), *first.shape), np.float32)
    for row, path in zip(out, paths):
        row[:] = (pixels if path.suffix == ".png" else latent)(path)
    return out


def rows(maps):
    """Each map as a row, in the order that the network has."""
    n, side, _, channels = maps.shape
    piece = min(side, PIECE)
    inner = side // piece
    return maps.reshape(n, piece, inner, piece, inner, channels).transpose(0, 1, 3, 2, 4, 5).reshape(n, -1)


def directions(x, count, rounds=4):
    """The first right singular vectors of x, [count, columns], and the deviation of x along each."""
    random = np.random.default_rng(1)
    more = min(count + 16, *x.shape)
    q = np.linalg.qr(x @ random.standard_normal((x.shape[1], more), np.float32))[0]
    for _ in range(rounds):
        q = np.linalg.qr(x @ np.linalg.qr(x.T @ q)[0])[0]
    _, s, v = np.linalg.svd(q.T @ x, full_matrices=False)
    return v[:count], s[:count] / len(x)**0.5


def write_safetensors(path, tensors):
    header, at, data = {}, 0, []
    for name, value in tensors.items():
        value = np.ascontiguousarray(value, np.float32)
        header[name] = {"dtype": "F32", "shape": list(value.shape), "data_offsets": [at, at + value.nbytes]}
        data.append(value.tobytes())
        at += value.nbytes
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    path.write_bytes(struct.pack("<Q", len(text)) + text + b"".join(data))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=pathlib.Path, help="folder of pictures of the network's size, or of latents")
    parser.add_argument("--network", type=pathlib.Path, required=True)
    parser.add_argument("--held", type=pathlib.Path, help="folder of others to judge by")
    parser.add_argument("-o", "--output", type=pathlib.Path, required=True)
    options = parser.parse_args()
    network = json.loads(options.network.read_text())["network"]
    maps = read(options.data)
    side, channels = maps.shape[1], maps.shape[3]
    if maps.shape[2] != side or (side > PIECE and side % PIECE):
        raise SystemExit(f"diffae_components.py: maps of {maps.shape[2]}x{side} cannot be taken apart")
    on_latents = "autoencoder" in network
    mean, deviation = (maps.mean((0, 1, 2)), maps.std((0, 1, 2))) if on_latents else (0, 1 / network.get("contrast", 1))
    x = rows((maps - mean) / deviation)
    middle = x.mean(0)
    x -= middle
    v, spread = directions(x, network["code"])
    print(f"{1 - (spread**2).sum() / x.var(0).sum():.4f} of the variance is left of {len(x)} maps of {side}x{side}x{channels}")
    if options.held:
        y = rows((read(options.held) - mean) / deviation) - middle
        left = y - (y @ v.T) @ v
        print(f"{(left**2).sum() / (y**2).sum():.4f} is left of {len(y)} others", end="")
        if not on_latents:
            error = (np.clip((y - left + middle) * deviation, -1, 1) - np.clip((y + middle) * deviation, -1, 1))**2
            print(f", whose drafts have {(-10 * np.log10(error.mean(1) / 4)).mean():.2f} dB", end="")
        print()
    options.output.mkdir(parents=True, exist_ok=True)
    config = dict(network)
    if on_latents:
        config |= {"latent_mean": mean.tolist(), "latent_std": deviation.tolist()}
        print(json.dumps({key: config[key] for key in ("latent_mean", "latent_std")}))
    (options.output / "config.json").write_text(json.dumps(config, indent=1) + "\n")
    matrix = v * spread[:, None]
    write_safetensors(options.output / "model.safetensors", {
        "encoder.components.weight": matrix, "encoder.components.factor": spread**-2.0,
        "encoder.components.offset": -(v @ middle) / spread, "encoder.components.mean": middle})


if __name__ == "__main__":
    main()
