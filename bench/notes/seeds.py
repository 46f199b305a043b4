#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Zenith authors
# SPDX-License-Identifier: Apache-2.0
"""The tables of the two Zenith documents, measured: docs/ZENITH.md says what they mean.

    bench/notes/seeds.py [--part models|training|blocks|sparse ..] [--program build/release/bench_seeds] [--json]

One thread, CPU time, the best of some runs. Each model stands beside the convolutional one as plain loops
(an estimate from one row in sixteen) and as Zenith runs it, on oneDNN and its own kernels. Without --part all
parts are measured, in about two minutes.
"""
import argparse
import json
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
PARTS = ("models", "training", "blocks", "sparse")
FIRST = ("zenith_vanilla", "zenith_taesd", "zenith_taesd_lite", "zenith_spectral")
SECOND = ("conv_baseline", "zenith_hierarchical", "zenith_prune")
TYPES = ("f32", "bf16")


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--part", action="append", choices=PARTS)
    parser.add_argument("--program", default=ROOT / "build/release/bench_seeds", type=pathlib.Path)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--json", action="store_true", help="the measurements too, a line each")
    return parser.parse_args()


class Program:
    def __init__(self, options):
        self.options = options

    def __call__(self, *arguments):
        done = subprocess.run([str(self.options.program), *map(str, arguments)], stdout=subprocess.PIPE, text=True)
        if done.returncode != 0:
            sys.exit(f"seeds.py: {' '.join(map(str, arguments))} failed")
        if self.options.json:
            print(done.stdout, end="")
        return [json.loads(line) for line in done.stdout.splitlines()]


def table(head, rows):
    print("| " + " | ".join(head) + " |")
    print("|" + " --- |" * len(head))
    for row in rows:
        print("| " + " | ".join(str(cell) for cell in row) + " |")
    print()


def models(run, options):
    """Document 000: four autoencoders at 512x512."""
    naive = run("naive", FIRST[0], 512, 16)[0]
    loops = {part: naive[f"{part}_ms"] for part in ("encode", "decode")}
    print("Document 000 at 512x512. Plain loops of zenith_vanilla: "
          f"encode {loops['encode']:.0f} ms, decode {loops['decode']:.0f} ms.\n")
    rows = []
    for kind in TYPES:
        conv = None
        for name in FIRST:
            got = run("model", name, 512, kind, options.runs)[0]
            conv = conv or got
            for part in ("encode", "decode"):
                ms, work = got[f"{part}_ms"], got[f"{part}_gflop"]
                rows.append((name, kind, part, f"{ms:.1f}", f"{work:.1f}", f"{work / ms * 1e3:.0f}",
                             f"{loops[part] / ms:.1f}", f"{conv[f'{part}_ms'] / ms:.2f}"))
    table(("model", "type", "what", "ms", "GFLOP", "GFLOP/s", "x plain loops", "x zenith_vanilla"), rows)


def training(run, options):
    """Document 001: three autoencoders at 128x128, forwards and backwards."""
    naive = run("naive-train", SECOND[0], 128, 16)[0]
    forward = naive["encode_ms"] + naive["decode_ms"]
    total = forward + naive["backward_ms"]
    print(f"Document 001 at 128x128. Plain loops of conv_baseline: forward {forward:.0f} ms, backward "
          f"{naive['backward_ms']:.0f} ms.\n")
    rows = []
    for kind in TYPES:
        conv = None
        for name in SECOND:
            got = run("train", name, 128, kind, options.runs)[0]
            conv = conv or got
            rows.append((name, kind, f"{got['forward_ms']:.2f}", f"{got['total_ms'] - got['forward_ms']:.2f}",
                         f"{got['total_ms']:.2f}", f"{total / got['total_ms']:.0f}",
                         f"{conv['forward_ms'] / got['forward_ms']:.2f}",
                         f"{conv['total_ms'] / got['total_ms']:.2f}"))
    table(("model", "type", "forward ms", "backward ms", "total ms", "x plain loops", "forward x conv", "total x conv"),
          rows)


def blocks(run, options):
    """One block at 64x256x256, and what part of it is arithmetic between channels."""
    rows = []
    for kind in TYPES:
        got = {line["block"]: line for line in run("block", kind, 3 * options.runs)}
        lite, taesd, mixing = (got[name]["ms"] for name in ("zenith_lite", "taesd", "mixing"))
        rows.append((kind, f"{lite:.2f}", f"{taesd:.2f}", f"{taesd / lite:.2f}", f"{mixing:.2f}"))
    print("One block at 64x256x256, four in a row.\n")
    table(("type", "ZenithLite ms", "TAESD's ms", "ratio", "channel mixing alone ms"), rows)
    steps = run("steps", 3 * options.runs)[0]
    moved = steps["copy_ms"] + steps["put_ms"]
    whole = sum(value for key, value in steps.items() if key.endswith("_ms"))
    table(("step of the f32 block", "ms", "%"),
          [(key[:-3], f"{value:.2f}", f"{100 * value / whole:.0f}") for key, value in steps.items()
           if key.endswith("_ms")] + [("arithmetic / movement", "", f"{100 * (1 - moved / whole):.0f} / "
                                                                    f"{100 * moved / whole:.0f}")])


def sparse(run, options):
    """Blocks of document 001 with parts pruned."""
    rows = []
    for kind in TYPES:
        for line in run("sparse", kind, 6 * options.runs):
            rows.append((kind, f"{line['side']}x{line['side']}x{line['channels']}", f"{100 * line['pruned']:.0f} %",
                         f"{line['ms']:.3f}", f"{line['part']:.2f}"))
    print("A ZenithBlock with tile groups pruned.\n")
    table(("type", "map", "pruned", "ms", "of the dense block"), rows)


def main():
    options = parse()
    run = Program(options)
    for part in options.part or PARTS:
        {"models": models, "training": training, "blocks": blocks, "sparse": sparse}[part](run, options)


if __name__ == "__main__":
    main()
