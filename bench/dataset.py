#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Zenith authors
# SPDX-License-Identifier: Apache-2.0
"""How fast do photographs become shards of latents, and what limits it?

    bench/dataset.py [--models zenith-sd-fast taesd] [--pictures 480] [--rounds 3] [--json]

Photographs (../shared/data/kodak, 768x512, here JPEG of quality 90) in tar shards become latents of 256x256 by `zenith dataset
encode`, on one thread and on two, in turns. Of each run: images per second; and the share of its time that the network took,
which is what the whole is of its slowest stage alone, since one core does one thing at a time. Beside it, in the same rounds,
Pillow opens and scales the same files (Lanczos), one thread. Needs Pillow. With --json the last line is one object.
"""
import argparse
import io
import json
import os
import pathlib
import statistics
import subprocess
import tarfile
import tempfile
import time

from common import ROOT, environment

environment.enter("PIL")

from PIL import Image

SIDE, SHARDS = 256, 4


def make_shards(options, folder):
    """Tar shards of JPEG files; the photographs again and again, each time a little darker, so that no two files are equal."""
    photographs = [Image.open(path).convert("RGB") for path in sorted(options.photos.glob("*.png"))]
    if not photographs:
        raise SystemExit(f"dataset.py: no photographs in {options.photos}")
    files = []
    for number in range(options.pictures):
        data = io.BytesIO()
        darker = 1 - 0.01 * (number // len(photographs))
        photographs[number % len(photographs)].point(lambda v: int(v * darker)).save(data, "JPEG", quality=90)
        files.append(data.getvalue())
    for shard in range(SHARDS):
        with tarfile.open(folder / f"{shard:06d}.tar", "w") as archive:
            for number in range(shard, len(files), SHARDS):
                member = tarfile.TarInfo(f"{number:06d}.jpg")
                member.size = len(files[number])
                archive.addfile(member, io.BytesIO(files[number]))
    return files


def encode(options, shards, model, threads):
    """(images per second, shares of stages)"""
    with tempfile.TemporaryDirectory() as out:
        said = subprocess.run([options.zenith, "dataset", "encode", shards, out, "-m", model, "--size",
                               f"{SIDE}x{SIDE}", "--threads", str(threads), "--dtype", options.dtype, "--json", "--quiet"],
                              capture_output=True, text=True, check=True, cwd=ROOT,
                              env=os.environ | {"ZENITH_MODELS": str(options.weights)}).stdout
    facts = json.loads(said.splitlines()[-1])
    return facts["pictures"] / facts["seconds"], facts["shares"]


def by_pillow(files):
    """Images per second of what comes before the network."""
    begin = time.perf_counter()
    for data in files:
        picture = Image.open(io.BytesIO(data)).convert("RGB")
        edge = (picture.width - picture.height) // 2
        picture.crop((edge, 0, edge + picture.height, picture.height)).resize((SIDE, SIDE), Image.Resampling.LANCZOS).tobytes()
    return len(files) / (time.perf_counter() - begin)


def spread(values):
    return f"{statistics.median(values):.1f} [{min(values):.1f}, {max(values):.1f}]"


def measure(options, shards, files):
    found = {}
    for model in options.models:
        one, two, share, inputs, pillow = [], [], [], [], []
        for _ in range(options.rounds):
            rate, shares = encode(options, shards, model, 1)
            one.append(rate)
            two.append(encode(options, shards, model, 2)[0])
            share.append(shares["encode"])
            inputs.append(rate / max(shares["read"] + shares["decode"], 1e-9))
            pillow.append(by_pillow(files[:96]))
        gain = [b / a for a, b in zip(one, two)]
        ahead = [ours / theirs for ours, theirs in zip(inputs, pillow)]
        print(f"{model}: one core {spread(one)} images/s, network {100 * statistics.median(share):.0f} % of the time; two cores "
              f"{statistics.median(gain):.2f} times; reading, decoding and scaling {spread(inputs)} images/s, Pillow {spread(pillow)}: "
              f"{statistics.median(ahead):.2f} times")
        found[model] = {"images_per_second_core": round(statistics.median(one), 1),
                        "share_of_slowest_stage": round(statistics.median(share), 3), "two_cores": round(statistics.median(gain), 2),
                        "input_ratio_to_pillow": round(statistics.median(ahead), 2)}
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models", nargs="+", default=["zenith-sd-fast", "taesd"])
    parser.add_argument("--pictures", type=int, default=480)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--dtype", default="bf16")
    parser.add_argument("--photos", type=pathlib.Path, default=ROOT.parent / "shared/data/kodak")
    parser.add_argument("--zenith", type=pathlib.Path, default=ROOT / "build/release/zenith")
    parser.add_argument("--weights", type=pathlib.Path, default=ROOT.parent / "shared/weights")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        shards = pathlib.Path(folder)
        found = measure(options, shards, make_shards(options, shards))
    if options.json:
        print(json.dumps(found[options.models[0]] | {"models": found}))


if __name__ == "__main__":
    main()
