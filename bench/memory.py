#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Zenith authors
# SPDX-License-Identifier: Apache-2.0
"""Does a limit on memory hold, and what does it cost?

    bench/memory.py limits [--weights FOLDER] [--model flux-vae] [--runs 1024:1G 2048:2G] [--spill DIR] [--json]
    bench/memory.py large [--side 16384] [--limit 1G] [--dtype bf16] [--threads 1]

limits: for each SIDE:LIMIT a latent of noise is decoded without a limit (unless --no-unbounded: 4096 x 4096 would take 27 GB),
under the limit, and with --spill DIR once more under the limit with a spill file in DIR. Each run prints the limit, the peak of
resident memory as the kernel counted it, the working memory and the spill file that `zenith` reports, seconds of computing and the
processor's seconds, both also as a ratio to the run without a limit, and whether the bits of the picture are equal to that run's.
Bars: at most twice the time, equal bits. With a machine that has other work the ratio of the processor's seconds is the one to look at.

large: a latent of noise is decoded at --side squared under --limit, the picture is encoded again, and both are done at 2048 x 2048
for comparison: several times, half of them before the large run and half after it, because a machine's speed changes in the minutes
that the large one takes. Bar: time per pixel within 1.3 times that of 2048 x 2048.

In both, resident memory must be within the limit plus 64 MB. Exit code 1 if a bar is missed.
"""
import argparse
import hashlib
import json
import os
import random
import statistics
import struct
import sys
import tempfile

from common import ROOT, measured, npy, random_vae

ROOM = 64 << 20  # resident beyond the limit: code, threads, files that are read
SLOWEST, SLOWEST_PIXEL = 2.0, 1.3
SMALL, REPEATS = 2048, 6  # the picture to compare with; runs of it on either side of a large one
UNITS = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30}


def size_of(text):
    return int(text[:-1]) * UNITS[text[-1]] if text[-1] in UNITS else int(text)


def write_latent(path, side, channels):
    """An npy of noise, uniform with the variance of real latents; one random row, rotated."""
    noise = random.Random(1)
    row = [noise.uniform(-1.7, 1.7) for _ in range(side)]
    with open(path, "wb") as file:
        file.write(npy.head((1, channels, side, side)))
        for y in range(channels * side):
            shift = (y * 7919) % side
            file.write(struct.pack(f"<{side}f", *(row[shift:] + row[:shift])))


def run(options, call, source, target, *more):
    """Facts of one run, with its peak of resident bytes and its CPU seconds."""
    said, rss, cpu = measured([options.zenith, call, source, "-o", target, "--model", options.model, "--weights", options.weights,
                               "--dtype", options.dtype, "--threads", options.threads, "--json", "--quiet", *more])
    return {**json.loads(said), "rss": rss, "cpu": cpu}


# --- limits


def decode(options, folder, side, extra):
    picture = f"{folder}/out.ppm"
    facts = run(options, "decode", f"{folder}/{side}.npy", picture, *extra)
    with open(picture, "rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    os.remove(picture)
    return {"rss": facts["rss"], "cpu": facts["cpu"], "seconds": facts["ms"] / 1e3,
            "arena": facts["arena_bytes"], "spill": facts.get("spill_bytes", 0), "sha256": digest}


def judge(one, whole, limit):
    """Adds ratios and equality to a run under a limit; returns the bars that it misses."""
    missed = []
    if one["rss"] > limit + ROOM:
        missed.append("resident memory")
    if whole:
        one["ratio"], one["cpu_ratio"] = one["seconds"] / whole["seconds"], one["cpu"] / whole["cpu"]
        one["equal"] = one["sha256"] == whole["sha256"]
        if min(one["ratio"], one["cpu_ratio"]) > SLOWEST:
            missed.append("time")
        if not one["equal"]:
            missed.append("bits")
    return missed


def show(side, name, one):
    ratio = f"{one['ratio']:.2f} | {one['cpu_ratio']:.2f} | {'yes' if one['equal'] else 'NO'}" if "ratio" in one else "| |"
    print(f"| {side} x {side} | {name} | {one['rss'] / 2**20:.0f} | {one['arena'] / 2**20:.0f} "
          f"| {one['spill'] / 2**20:.0f} | {one['seconds']:.1f} | {one['cpu']:.1f} | {ratio} |", flush=True)


def limits(options, folder):
    options.weights = options.weights or random_vae("flux")
    missed, rows = [], []
    print("| picture | limit | peak resident MB | arena MB | spill MB | seconds | CPU seconds | ratio | CPU ratio | equal |\n"
          "|---|---|---|---|---|---|---|---|---|---|")
    for side, limit in (each.split(":") for each in options.runs):
        write_latent(f"{folder}/{side}.npy", int(side) // 8, options.channels)
        whole = None if options.no_unbounded else decode(options, folder, side, [])
        if whole:
            show(side, "none", whole)
        ways = [] if options.only_spill else [(limit, [])]
        ways += [(f"{limit} and a file", ["--spill", options.spill])] if options.spill else []
        for name, extra in ways:
            one = decode(options, folder, side, ["--max-memory", limit, *extra])
            missed += [f"{side} with {name}: {bar}" for bar in judge(one, whole, size_of(limit))]
            show(side, name, one)
            rows.append({"side": int(side), "limit": size_of(limit), **one})
    if options.json:
        print(json.dumps({"runs": rows, "missed": missed}))
    return missed


# --- large


def pixel_time(options, folder, call, side, missed):
    """Nanoseconds per pixel of one run, which is printed; a missed bar on memory is noted."""
    latent, picture, back = f"{folder}/{side}.npy", f"{folder}/{side}.png", f"{folder}/out.safetensors"
    facts = run(options, call, *((latent, picture) if call == "decode" else (picture, back)), "--max-memory", options.limit)
    pixel = facts["ms"] * 1e6 / side ** 2
    print(f"| {side} x {side} | {call} | {facts['ms'] / 1e3:.1f} | {pixel:.0f} | {facts['rss'] / 2**20:.0f} "
          f"| {facts['arena_bytes'] / 2**20:.0f} | {facts['band_rows']} |", flush=True)
    if facts["rss"] > size_of(options.limit) + ROOM:
        missed.append(f"{call} {side}: {facts['rss'] / 2**20:.0f} MB resident")
    return pixel


def large(options, folder):
    missed = []
    options.weights = options.weights or ROOT.parent / "shared/weights"
    print("| picture | call | seconds | ns per pixel | peak resident MB | arena MB | band |\n|---|---|---|---|---|---|---|")
    for side in (SMALL, options.side):
        write_latent(f"{folder}/{side}.npy", side // 8, options.channels)
    for call in ("decode", "encode"):
        sides = [SMALL] * REPEATS + [options.side] + [SMALL] * REPEATS
        times = [pixel_time(options, folder, call, side, missed) for side in sides]
        ratio = times.pop(REPEATS) / statistics.mean(times)
        print(f"{call}: {ratio:.2f} times the time per pixel of {SMALL} x {SMALL} (mean of {2 * REPEATS})")
        if ratio > SLOWEST_PIXEL:
            missed.append(f"{call}: {ratio:.2f} times the time per pixel")
    return missed


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parts = parser.add_subparsers(required=True)
    for part, defaults in ((limits, ("flux-vae", 16, "f32", "2")), (large, ("taesd", 4, "bf16", "1"))):
        its = parts.add_parser(part.__name__)
        its.set_defaults(part=part)
        its.add_argument("--weights", help="default of limits: random ones of FLUX.1's autoencoder, made on first use")
        for name, value in zip(("--model", "--channels", "--dtype", "--threads"), defaults, strict=True):
            its.add_argument(name, type=type(value), default=value)
        its.add_argument("--zenith", default=ROOT / "build/release/zenith")
        if part is large:
            its.add_argument("--side", type=int, default=16384)
            its.add_argument("--limit", default="1G")
            continue
        its.add_argument("--runs", nargs="+", default=["1024:1G", "2048:2G"], metavar="SIDE:LIMIT")
        its.add_argument("--spill", metavar="DIR")
        its.add_argument("--only-spill", action="store_true", help="no run under the limit without a file")
        its.add_argument("--no-unbounded", action="store_true")
        its.add_argument("--json", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        missed = options.part(options, folder)
    print("bars: " + ("; ".join(missed) or "held"))
    sys.exit(bool(missed))


if __name__ == "__main__":
    main()
