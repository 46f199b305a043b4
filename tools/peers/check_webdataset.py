#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Zenith authors
# SPDX-License-Identifier: Apache-2.0
"""Shards of `zenith dataset encode` read by the `webdataset` package as they are: pictures with captions in a tar become latents with
the same captions, and each latent is that of `zenith encode`. Needs webdataset, torch and Pillow; the tests of CTest do without them.

    tools/peers/check_webdataset.py [--photos FOLDER] [--model zenith-sd-fast]
"""
import argparse
import io
import json
import os
import pathlib
import subprocess
import sys
import tarfile
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tools"))
import environment  # noqa: E402

environment.enter("numpy", "torch", "webdataset", "PIL")

import numpy
import torch
import webdataset
from PIL import Image

ROOT = pathlib.Path(__file__).resolve().parents[2]
SIZE = "128x128"


def run(options, *arguments):
    subprocess.run([str(options.build / "zenith"), *(str(a) for a in arguments), "-m", options.model, "--size", SIZE, "--dtype", "f32", "--quiet"],
                   check=True, env=os.environ | {"ZENITH_MODELS": str(ROOT / "models")})


def make_shard(options, path):
    """{key: caption}"""
    captions = {}
    with tarfile.open(path, "w") as archive:
        for number, photo in enumerate(sorted(options.photos.glob("*.png"))[:8]):
            data, key = io.BytesIO(), f"{number:04}"
            Image.open(photo).convert("RGB").save(data, "JPEG", quality=90)
            captions[key] = f"photograph {photo.stem}"
            for ending, content in (("jpg", data.getvalue()), ("txt", captions[key].encode()), ("json", json.dumps({"n": number}).encode())):
                member = tarfile.TarInfo(f"{key}.{ending}")
                member.size = len(content)
                archive.addfile(member, io.BytesIO(content))
    return captions


def encode_alone(options, shard, folder):
    """{key: latent} by `zenith encode` of each picture."""
    latents = {}
    with tarfile.open(shard) as archive:
        archive.extractall(folder, filter="data")
    for picture in sorted(folder.glob("*.jpg")):
        run(options, "encode", picture, "-o", picture.with_suffix(".npy"))
        latents[picture.stem] = numpy.load(picture.with_suffix(".npy"))[0].astype(numpy.float16)
    return latents


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--photos", type=pathlib.Path, default=ROOT.parent / "shared/data/kodak")
    parser.add_argument("--model", default="zenith-sd-fast")
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build" / "release")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        for name in ("in", "alone"):
            (folder / name).mkdir()
        captions = make_shard(options, folder / "in/000000.tar")
        run(options, "dataset", "encode", folder / "in", folder / "out")
        alone = encode_alone(options, folder / "in/000000.tar", folder / "alone")
        read = list(webdataset.WebDataset(str(folder / "out/000000.tar"), shardshuffle=False).decode())
        batch = next(iter(torch.utils.data.DataLoader([torch.from_numpy(sample["npy"]) for sample in read], batch_size=len(read))))
    wrong = [s["__key__"] for s in read if s["txt"] != captions[s["__key__"]] or s["npy"].tobytes() != alone[s["__key__"]].tobytes()]
    if wrong or {s["__key__"] for s in read} != set(captions) or "latent.json" not in read[0] or "json" not in read[0]:
        print(f"failed: {wrong or sorted(read[0])}")
        return 1
    print(f"{len(read)} samples, a batch of {tuple(batch.shape)} {batch.dtype}; each latent is that of `zenith encode`, each caption its own")
    return 0


if __name__ == "__main__":
    sys.exit(main())
