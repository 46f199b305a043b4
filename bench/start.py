#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Zenith authors
# SPDX-License-Identifier: Apache-2.0
"""How long does a person wait for a picture? From the start of `zenith decode` to the file on disk.

    bench/start.py [--size 512] [--dtype bf16] [--threads 1] [--runs 15]

Each run is a new process with a warm file cache: it opens the weights, compiles, computes, and writes
a PNG, a JPEG or a WebP. Computing is what the program itself says it spent on it. The bar: twice the
computing plus 150 ms, for PNG. Exit code 1 if it is missed.
"""
import argparse
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

import bounded_memory

ROOT = pathlib.Path(__file__).resolve().parents[1]


def run(command):
    """(milliseconds from start to end, milliseconds of computing)"""
    begin = time.perf_counter()
    done = subprocess.run([str(part) for part in command], stdout=subprocess.PIPE, check=True)
    return (time.perf_counter() - begin) * 1e3, json.loads(done.stdout)["ms"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--size", type=int, default=512)
    parser.add_argument("--dtype", default="bf16")
    parser.add_argument("--threads", default="1")
    parser.add_argument("--runs", type=int, default=15)
    parser.add_argument("--zenith", default=ROOT / "build/release/zenith")
    parser.add_argument("--weights", default=ROOT.parent / "shared/weights")
    options = parser.parse_args()
    missed = False
    with tempfile.TemporaryDirectory() as folder:
        latent = f"{folder}/latent.npy"
        bounded_memory.write_latent(latent, options.size // 8)
        for kind in ("png", "jpg", "webp"):
            command = [options.zenith, "decode", latent, "-o", f"{folder}/picture.{kind}", "--model", "taesd",
                       "--weights", options.weights, "--dtype", options.dtype, "--threads",
                       options.threads, "--json", "--quiet"]
            run(command)
            runs = [run(command) for _ in range(options.runs)]
            total, computing = (statistics.median(times) for times in zip(*runs))
            beyond = statistics.median(whole - (2 * inside + 150) for whole, inside in runs)
            print(f"{kind:5} {total:6.0f} ms in all, {computing:6.0f} computing; "
                  f"{abs(beyond):.0f} ms {'over' if beyond > 0 else 'under'} 2 x computing + 150")
            missed |= kind == "png" and beyond > 0
    sys.exit(missed)


if __name__ == "__main__":
    main()
