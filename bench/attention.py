#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Zenith authors
# SPDX-License-Identifier: Apache-2.0
"""Attention beside PyTorch's scaled_dot_product_attention, on one thread, in rounds that take turns in one run.

    bench/attention.py --dtype f32|bf16 [--cases 1x512x4096,30x128x4160] [--rounds 3] [--python PYTHON] [--json]

A case is heads x width x tokens. The last line is one JSON object: `what dtype share_of_probe ratio_to_onednn
ratio_to_pytorch` of the first case (medians; a ratio above 1: ours is faster; null: there is no such peer), and
`cases` with the same of each. Ours is a whole run of a plan: it packs keys and values, and it copies its inputs
and its result. All times are CPU time. share_of_probe is that of the FMA units in f32, in both types, where
the kernel has no tiles; the probe runs right before and after ours, and the better of both counts.
"""
import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
CASES = ("1x512x4096", "30x128x4160")


def start(command, environment):
    return subprocess.Popen([str(part) for part in command], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                            text=True, env=environment)


def ask(process, line):
    """The answer to one line; None from a program that could not start."""
    try:
        process.stdin.write(f"{line}\n")
        process.stdin.flush()
        answer = process.stdout.readline()
    except BrokenPipeError:
        answer = ""
    return json.loads(answer) if answer else None


def one_round(ours, torch, operations):
    probe, run, again = ask(ours, "probe"), ask(ours, "ours"), ask(ours, "probe")
    peer = ask(torch, "run")
    if run is None:
        sys.exit("attention.py: bench_attention does not run; is it built?")
    rate = max(probe["gflops"], again["gflops"])
    return {"gflops": operations / run["seconds"] / 1e9, "gflops_of_probe": rate, "seconds": run["seconds"],
            "share_of_probe": operations / run["seconds"] / 1e9 / rate,
            "ratio_to_pytorch": peer["seconds"] / run["seconds"] if peer else None,
            "pytorch_seconds": peer["seconds"] if peer else None}


def measure_case(build, dtype, case, python, rounds, environment):
    sizes = [int(part) for part in case.split("x")]
    heads, width, tokens = sizes
    ours = start([build / "bench_attention", dtype, *sizes], environment)
    torch = start([python, ROOT / "bench/attention_peer.py", dtype, *sizes], environment)
    operations = 4.0 * heads * width * tokens * tokens
    turns = [one_round(ours, torch, operations) for _ in range(rounds + 1)][1:]  # the first one warms up
    for process in (ours, torch):
        process.stdin.close()
        process.wait()
    found = {}
    for key in turns[0]:
        values = [turn[key] for turn in turns if turn[key] is not None]
        found[key] = statistics.median(values) if values else None
    return dict(found, ratio_to_onednn=None)


def measure(build, dtype, python=sys.executable, cases=CASES, rounds=3):
    """What products.py wants to know of attention."""
    environment = dict(os.environ, OMP_NUM_THREADS="1")
    results = {case: measure_case(pathlib.Path(build), dtype, case, python, rounds, environment) for case in cases}
    first = results[cases[0]]
    return {"what": "attention", "dtype": dtype, "share_of_probe": first["share_of_probe"], "ratio_to_onednn": None,
            "ratio_to_pytorch": first["ratio_to_pytorch"], "unit": "fma", "cases": results}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dtype", choices=("f32", "bf16"), default="f32")
    parser.add_argument("--cases", default=",".join(CASES))
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--python", default=sys.executable, help="one that has PyTorch")
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build/release")
    parser.add_argument("--json", action="store_true", help="only the last line")
    options = parser.parse_args()
    result = measure(options.build, options.dtype, options.python, options.cases.split(","), options.rounds)
    for case, found in result["cases"].items() if not options.json else ():
        print(case, " ".join(f"{key} {value:.4g}" for key, value in found.items() if value is not None))
    print(json.dumps(result))


if __name__ == "__main__":
    main()
