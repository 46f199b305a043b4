#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Zenith authors
# SPDX-License-Identifier: Apache-2.0
"""Bounded memory of the large autoencoders: does a limit hold, what does it cost, are the bits the same?

    bench/memory.py [--weights FOLDER] [--model flux-vae] [--runs 1024:1G 2048:2G] [--spill DIR] [--json]

For each SIDE:LIMIT a latent of noise is decoded without a limit (unless --no-unbounded: 4096 x 4096 would take 27 GB), under
the limit, and with --spill DIR once more under the limit with a spill file in DIR. Each run prints the limit, the
peak of resident memory as the kernel counted it, the working memory and the spill file that `zenith` reports, seconds
of computing and the processor's seconds, both also as a ratio to the run without a limit, and whether the bits of the
picture are equal to that run's. Bars: resident memory within the limit plus 64 MB, at most twice the time, equal bits.
With a machine that has other work the ratio of the processor's seconds is the one to look at. Exit code 1 if a bar is
missed.
"""
import argparse
import hashlib
import json
import os
import sys
import tempfile

from bounded_memory import UNITS, write_latent
from common import ROOT, measured, random_vae

ROOM = 64 << 20  # resident beyond the limit: code, threads, files that are read
SLOWEST = 2.0


def size_of(text):
    return int(text[:-1]) * UNITS[text[-1]] if text[-1] in UNITS else int(text)


def decode(options, folder, side, extra):
    """Facts of one run, with `rss`, `cpu` and the picture's `sha256`."""
    picture = f"{folder}/out.ppm"
    command = [options.zenith, "decode", f"{folder}/{side}.npy", "-o", picture, "--model", options.model,
               "--weights", options.weights, "--dtype", options.dtype, "--threads", options.threads,
               "--json", "--quiet", *extra]
    said, rss, cpu = measured(command)
    facts = json.loads(said)
    with open(picture, "rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    os.remove(picture)
    return {"rss": rss, "cpu": cpu, "seconds": facts["ms"] / 1e3,
            "arena": facts["arena_bytes"], "spill": facts.get("spill_bytes", 0), "sha256": digest}


def judge(run, whole, limit):
    """Adds ratios and equality to a run under a limit; returns the bars that it misses."""
    missed = []
    if run["rss"] > limit + ROOM:
        missed.append("resident memory")
    if whole:
        run["ratio"], run["cpu_ratio"] = run["seconds"] / whole["seconds"], run["cpu"] / whole["cpu"]
        run["equal"] = run["sha256"] == whole["sha256"]
        if min(run["ratio"], run["cpu_ratio"]) > SLOWEST:
            missed.append("time")
        if not run["equal"]:
            missed.append("bits")
    return missed


def show(side, name, run):
    ratio = f"{run['ratio']:.2f} | {run['cpu_ratio']:.2f} | {'yes' if run['equal'] else 'NO'}" if "ratio" in run else "| |"
    print(f"| {side} x {side} | {name} | {run['rss'] / 2**20:.0f} | {run['arena'] / 2**20:.0f} "
          f"| {run['spill'] / 2**20:.0f} | {run['seconds']:.1f} | {run['cpu']:.1f} | {ratio} |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--weights", help="default: random ones of FLUX.1's autoencoder, made on first use")
    parser.add_argument("--model", default="flux-vae")
    parser.add_argument("--channels", type=int, default=16, help="of the latent")
    parser.add_argument("--runs", nargs="+", default=["1024:1G", "2048:2G"], metavar="SIDE:LIMIT")
    parser.add_argument("--spill", metavar="DIR")
    parser.add_argument("--only-spill", action="store_true", help="no run under the limit without a file")
    parser.add_argument("--no-unbounded", action="store_true")
    parser.add_argument("--dtype", default="f32")
    parser.add_argument("--threads", default="2")
    parser.add_argument("--zenith", default=ROOT / "build/release/zenith")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    options.weights = options.weights or random_vae("flux")
    missed, rows = [], []
    print("| picture | limit | peak resident MB | arena MB | spill MB | seconds | CPU seconds | ratio | CPU ratio | equal |\n"
          "|---|---|---|---|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        for side, limit in (run.split(":") for run in options.runs):
            write_latent(f"{folder}/{side}.npy", int(side) // 8, options.channels)
            whole = None if options.no_unbounded else decode(options, folder, side, [])
            if whole:
                show(side, "none", whole)
            ways = [] if options.only_spill else [(limit, [])]
            ways += [(f"{limit} and a file", ["--spill", options.spill])] if options.spill else []
            for name, extra in ways:
                run = decode(options, folder, side, ["--max-memory", limit, *extra])
                missed += [f"{side} with {name}: {bar}" for bar in judge(run, whole, size_of(limit))]
                show(side, name, run)
                rows.append({"side": int(side), "limit": size_of(limit), **run})
    print("bars: " + ("; ".join(missed) or "held"))
    if options.json:
        print(json.dumps({"runs": rows, "missed": missed}))
    sys.exit(bool(missed))


if __name__ == "__main__":
    main()
