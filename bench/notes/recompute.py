#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Zenith authors
# SPDX-License-Identifier: Apache-2.0
"""What does recomputation save in training, and what does it cost? Trains TAESD's decoder with and without.

    bench/notes/recompute.py [--crop 256] [--batch 8] [--dtype bf16] [--threads 2] [--steps 4] [--rounds 2]

Runs with and without "recompute" take turns, each for a few steps on pictures made here. For each kind: the
peak of resident memory as the kernel counted it, and the median seconds of a step, the first of each run left
out. Bars: at most half the memory, at most 1.35 times the time, and the same weights to the bit. Exit code 1
if one is missed. Only the standard library is needed.

A thread has the maps of one image at a time: with as many threads as images the whole batch is in memory at
once. What the program takes beside maps (its code, weights, optimiser) is known from a run with tiny crops.
"""
import argparse
import json
import os
import pathlib
import random
import statistics
import struct
import subprocess
import sys
import tempfile
import zlib

ROOT = pathlib.Path(__file__).resolve().parents[2]
MEMORY, TIME = 0.5, 1.35  # the bars
TINY = 16


def write_picture(path, side, seed):
    """A PNG of coarse random squares."""
    chance = random.Random(seed)
    colours = [[bytes(chance.randrange(256) for _ in range(3)) * 16 for _ in range(side // 16)]
               for _ in range(side // 16)]
    rows = b"".join((b"\0" + b"".join(line)) * 16 for line in colours)

    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    size = side // 16 * 16
    path.write_bytes(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", size, size, 8, 2, 0, 0, 0))
                     + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))


def train(options, folder, name, recompute, crop):
    """Peak bytes of one run, the seconds of its steps but the first, and its weights."""
    config = {"model": "taesd", "part": "decoder", "init": {"weights": str(options.weights)},
              "data": {"sources": [str(folder / "pictures")], "crop": crop, "seed": 1},
              "batch": options.batch, "steps": options.steps, "optimizer": {"lr": 1e-4},
              "losses": [{"kind": "l1", "weight": 1}], "dtype": options.dtype, "threads": options.threads,
              "recompute": recompute, "output": str(folder / name)}
    path = folder / f"{name}.json"
    path.write_text(json.dumps(config))
    with subprocess.Popen([options.zenith, "train", path, "--quiet"]) as process:
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        sys.exit(f"recompute: training failed with code {process.returncode}")
    log = [json.loads(line) for line in (folder / name / "train.jsonl").read_text().splitlines()]
    times = [line["seconds"] for line in log if "loss" in line]
    seconds = [after - before for before, after in zip(times, times[1:])]
    weights = [file.read_bytes() for file in sorted((folder / name / "weights").glob("*.safetensors"))]
    return usage.ru_maxrss * 1024, seconds, weights


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--crop", type=int, default=256)
    parser.add_argument("--batch", type=int, default=8)
    parser.add_argument("--dtype", default="bf16")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--steps", type=int, default=4)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--zenith", default=ROOT / "build/release/zenith")
    parser.add_argument("--weights", default=ROOT.parent / "shared/weights")
    options = parser.parse_args()
    bytes_of, seconds_of, weights_of = {}, {False: [], True: []}, {}
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "pictures").mkdir()
        for i in range(4):
            write_picture(folder / "pictures" / f"{i}.png", options.crop + 64, i)
        beside = train(options, folder, "beside", False, TINY)[0]
        for number in range(options.rounds):
            for recompute in (False, True):
                peak, seconds, weights = train(options, folder, f"{number}{recompute}", recompute, options.crop)
                bytes_of[recompute] = max(peak, bytes_of.get(recompute, 0))
                seconds_of[recompute] += seconds
                weights_of[recompute] = weights
    step = {kind: statistics.median(seconds) for kind, seconds in seconds_of.items()}
    memory, time = bytes_of[True] / bytes_of[False], step[True] / step[False]
    print("| | peak resident MB | seconds a step |\n|---|---|---|")
    for kind, label in ((False, "all maps kept"), (True, "recomputed")):
        print(f"| {label} | {bytes_of[kind] / 2**20:.0f} | {step[kind]:.3f} |")
    maps = (bytes_of[True] - beside) / (bytes_of[False] - beside)
    print(f"\n{memory:.2f} of the memory, {time:.2f} times the time; without the {beside / 2**20:.0f} MB "
          f"beside maps, {maps:.2f} of the memory")
    missed = [text for bad, text in ((memory > MEMORY, "memory"), (time > TIME, "time"),
                                     (weights_of[True] != weights_of[False], "the same weights")) if bad]
    if missed:
        sys.exit(f"recompute: missed: {', '.join(missed)}")


if __name__ == "__main__":
    main()
