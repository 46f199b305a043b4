#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Zenith authors
# SPDX-License-Identifier: Apache-2.0
"""The zenith family in int8 beside its own bf16 and f32: quality on whole photographs, and time, as Markdown.

    bench/notes/int8.py --images kodak --squeezenet squeezenet1_0_dc.safetensors [--models models] [--only zenith-sd-fast ..]

Both parts are the model's own. Time is a thread's CPU time for one 512x512 picture: the difference of runs of `zenith bench`
with nine pictures and with one, the lowest of --rounds in which the types take turns. It bears a busy machine better than a
clock does, but not well: use an idle one.
"""
import argparse
import json
import pathlib
import resource
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
MODELS = ("zenith-sd-fast", "zenith-sd-small", "zenith-f1-fast", "zenith-f1-small")
TYPES = ("f32", "bf16", "int8")


def run(options, *arguments):
    done = subprocess.run([options.zenith, *map(str, arguments)], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"zenith {' '.join(map(str, arguments))}: {done.stderr.strip()}")
    return json.loads(done.stdout)


def quality(options, model, dtype):
    return run(options, "eval", "--model", model, "--weights", options.models, "--squeezenet", options.squeezenet, "--images",
               options.images, "--dtype", dtype, "--json", "-q")[model]


def cpu_seconds(options, model, op, dtype, count):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    run(options, "bench", "--model", model, "--weights", options.models, "--op", op, "--dtype", dtype, "-t", 1, "-n", count, "--json")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def times(options, model, op):
    lowest = dict.fromkeys(TYPES, float("inf"))
    for _ in range(options.rounds):
        for dtype in TYPES:
            seconds = cpu_seconds(options, model, op, dtype, 9) - cpu_seconds(options, model, op, dtype, 1)
            lowest[dtype] = min(lowest[dtype], seconds / 8 * 1e3)
    return lowest


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--zenith", type=pathlib.Path, default=ROOT / "build/release/zenith")
    parser.add_argument("--models", type=pathlib.Path, default=ROOT / "models")
    parser.add_argument("--squeezenet", type=pathlib.Path, required=True)
    parser.add_argument("--images", type=pathlib.Path, required=True)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", nargs="*", default=MODELS)
    options = parser.parse_args()
    print("| model | PSNR bf16 | int8 | | SqueezeNet bf16 | int8 | | encode ms f32 / bf16 / int8 | over bf16 | decode ms | over bf16 |")
    print("|---" * 11 + "|")
    for model in options.only:
        bf16, int8 = (quality(options, model, dtype) for dtype in ("bf16", "int8"))
        cells = [f"{bf16['psnr']:.3f}", f"{int8['psnr']:.3f}", f"{int8['psnr'] - bf16['psnr']:+.3f} dB", f"{bf16['squeezenet']:.4f}",
                 f"{int8['squeezenet']:.4f}", f"{int8['squeezenet'] / bf16['squeezenet'] - 1:+.2%}"]
        for op in ("encode", "decode"):
            ms = times(options, model, op)
            cells += [" / ".join(f"{ms[dtype]:.0f}" for dtype in TYPES), f"{ms['bf16'] / ms['int8']:.2f}"]
        print(f"| {model} | " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
