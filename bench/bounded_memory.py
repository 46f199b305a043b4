#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Zenith authors
# SPDX-License-Identifier: Apache-2.0
"""Does a limit on memory hold, and what does it cost? Decodes and encodes a very large picture.

    bench/bounded_memory.py [--side 16384] [--limit 1G] [--dtype bf16] [--threads 1]

A latent of noise is decoded at --side squared under --limit, the picture is encoded again, and both are
done at 2048 x 2048 for comparison: several times, half of them before the large run and half after it,
because a machine's speed changes in the minutes that the large one takes. For each run: seconds of computing, nanoseconds per pixel, the peak of
resident memory as the kernel counted it, and what `zenith` says it used. Bars: resident memory within
the limit plus 64 MB, time per pixel within 1.3 times that of 2048 x 2048. Exit code 1 if one is missed.
Only the standard library is needed.
"""
import argparse
import json
import random
import statistics
import struct
import sys
import tempfile

from common import ROOT, measured

SMALL, REPEATS = 2048, 6  # the picture to compare with; runs of it on either side of a large one
UNITS = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30}


def write_latent(path, side, channels=4):
    """An npy of noise, uniform with the variance of real latents; one random row, rotated."""
    noise = random.Random(1)
    row = [noise.uniform(-1.7, 1.7) for _ in range(side)]
    header = f"{{'descr': '<f4', 'fortran_order': False, 'shape': (1, {channels}, {side}, {side}), }}"
    header += " " * (-(len(header) + 11) % 64) + "\n"
    with open(path, "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode())
        for y in range(channels * side):
            shift = (y * 7919) % side
            file.write(struct.pack(f"<{side}f", *(row[shift:] + row[:shift])))


def measure(options, common, folder, call, side, limit, missed):
    """Nanoseconds per pixel of one run, which is printed; a missed bar on memory is noted."""
    latent, picture, back = f"{folder}/{side}.npy", f"{folder}/{side}.png", f"{folder}/out.safetensors"
    source, target = (latent, picture) if call == "decode" else (picture, back)
    said, resident, _ = measured([options.zenith, call, source, "-o", target, *common])
    facts = json.loads(said)
    pixel = facts["ms"] * 1e6 / side ** 2
    print(f"| {side} x {side} | {call} | {facts['ms'] / 1e3:.1f} | {pixel:.0f} | {resident / 2**20:.0f} "
          f"| {facts['arena_bytes'] / 2**20:.0f} | {facts['band_rows']} |", flush=True)
    if resident > limit + (64 << 20):
        missed.append(f"{call} {side}: {resident / 2**20:.0f} MB resident")
    return pixel


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--side", type=int, default=16384)
    parser.add_argument("--limit", default="1G")
    parser.add_argument("--model", default="taesd")
    parser.add_argument("--dtype", default="bf16")
    parser.add_argument("--threads", default="1")
    parser.add_argument("--zenith", default=ROOT / "build/release/zenith")
    parser.add_argument("--weights", default=ROOT.parent / "shared/weights")
    options = parser.parse_args()
    limit = int(options.limit[:-1]) * UNITS[options.limit[-1]]
    common = ["--model", options.model, "--weights", options.weights, "--dtype", options.dtype,
              "--threads", options.threads, "--max-memory", options.limit, "--json", "--quiet"]
    missed = []
    print("| picture | call | seconds | ns per pixel | peak resident MB | arena MB | band |\n|---|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        for side in (SMALL, options.side):
            write_latent(f"{folder}/{side}.npy", side // 8)
        for call in ("decode", "encode"):
            before = [measure(options, common, folder, call, SMALL, limit, missed) for _ in range(REPEATS)]
            large = measure(options, common, folder, call, options.side, limit, missed)
            after = [measure(options, common, folder, call, SMALL, limit, missed) for _ in range(REPEATS)]
            ratio = large / statistics.mean(before + after)
            print(f"{call}: {ratio:.2f} times the time per pixel of {SMALL} x {SMALL} (mean of {2 * REPEATS})")
            if ratio > 1.3:
                missed.append(f"{call}: {ratio:.2f} times the time per pixel")
    print("bars: " + ("; ".join(missed) or "held"))
    sys.exit(bool(missed))


if __name__ == "__main__":
    main()
