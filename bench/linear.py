#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Zenith authors
# SPDX-License-Identifier: Apache-2.0
"""Linear layers at the shapes of Z-Image's networks, in each type of weights, beside oneDNN and the register probe.

    bench/linear.py [--dtypes f32 bf16 int8 q8 q8r q4 q4r] [--shapes 3840x10240:1088 ...] [--rounds 5] [--json]

A shape is INPUTSxOUTPUTS:TOKENS. Of each, one process for each type (bench_linear) takes its turn in every round, on
one thread: the probe of its unit, its own product, oneDNN's matmul of the same type, memory as large as its weights, the probe
again. Seconds are those of the thread. Columns: milliseconds; share of the unit's probe (FMA for f32 and bf16 without AMX,
VNNI for 8 bits and less); oneDNN's time over ours in the same round; the time of f32 over ours in the same round; and how long it would take to
read the weights alone, over ours: near 1, memory is what is waited for. Medians, with [least, most] for ratios to oneDNN.
int8 is packed when a model is loaded; q8 and q4 are the panels of files that `zenith convert` writes, multiplied as they lie, and
q8r and q4r those that are rotated. oneDNN's matmul is that of s8 for all of them, with tokens that are rounded already.
A type that bench_linear refuses is left out, and named.

With --json the last line is one JSON object. Only the standard library is needed.
"""
import argparse
import json
import os
import pathlib
import statistics

from common import ROOT, Server

DTYPES = ("f32", "bf16", "int8", "q8", "q8r", "q4", "q4r")
SHAPES = ("3840x3840:1088", "3840x10240:1088", "10240x3840:1088", "2560x9728:64")


def shape_of(text):
    sides, tokens = text.split(":")
    inputs, outputs = sides.split("x")
    return int(inputs), int(outputs), int(tokens)


def start(options, shape):
    """The types that there are, each with its warm process."""
    servers = {}
    for dtype in options.dtypes:
        inputs, outputs, tokens = shape
        server = Server([options.build / "bench_linear", dtype, inputs, outputs, tokens],
                        os.environ | {"OMP_NUM_THREADS": "1"})
        if server.try_ask(f"ours {tokens}"):
            take_turn(server, shape)  # oneDNN packs its weights
            servers[dtype] = server
        else:
            server.close()
            options.left_out.add(dtype)
    return servers


def take_turn(server, shape):
    inputs, outputs, tokens = shape
    probe = server.ask("probe")
    seconds = server.ask(f"ours {tokens}")["seconds"]
    onednn = server.ask(f"onednn {tokens}")
    read, again = server.ask("read")["gb_per_s"], server.ask("probe")
    rate = max(probe["gflops"], again["gflops"]) * 1e9
    return {"seconds": seconds, "share": 2 * inputs * outputs * tokens / seconds / rate, "unit": probe["unit"],
            "onednn": onednn["seconds"] / seconds,
            "reading": probe["bytes"] / read / 1e9 / seconds}


def measure(options, text):
    shape, rows = shape_of(text), []
    servers = start(options, shape)
    turns = {dtype: [] for dtype in servers}
    for turn in range(options.rounds):
        for dtype in servers if turn % 2 == 0 else list(servers)[::-1]:
            turns[dtype].append(take_turn(servers[dtype], shape))
    for dtype, taken in turns.items():
        servers[dtype].close()
        row = {"shape": text, "dtype": dtype, "unit": taken[0]["unit"]}
        for key in ("seconds", "share", "reading"):
            row[key] = statistics.median(turn[key] for turn in taken)
        ratios = [turn["onednn"] for turn in taken]
        row["onednn"] = [statistics.median(ratios), min(ratios), max(ratios)]
        if "f32" in turns:
            row["f32"] = statistics.median(f["seconds"] / t["seconds"] for f, t in zip(turns["f32"], taken))
        rows.append(row)
    return rows


def show(row):
    onednn = "{:.2f} [{:.2f}, {:.2f}]".format(*row["onednn"])
    gain = f"{row['f32']:.2f}" if "f32" in row else ""
    print(f"| {row['shape']} | {row['dtype']} | {1e3 * row['seconds']:.1f} | {row['share']:.2f} of {row['unit']} | "
          f"{onednn} | {gain} | {row['reading']:.2f} |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dtypes", nargs="+", choices=DTYPES, default=DTYPES)
    parser.add_argument("--shapes", nargs="+", default=SHAPES, metavar="INPUTSxOUTPUTS:TOKENS")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build/release")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    options.left_out = set()
    rows = []
    print("| shape | weights | ms | share of the probe | oneDNN / ours | f32 / ours | reading / ours |\n"
          "|---|---|---|---|---|---|---|")
    for text in options.shapes:
        for row in measure(options, text):
            show(row)
            rows.append(row)
    if options.left_out:
        print("left out, since bench_linear does not have it: " + ", ".join(sorted(options.left_out)))
    if options.json:
        print(json.dumps({"rows": rows, "left_out": sorted(options.left_out)}))


if __name__ == "__main__":
    main()
