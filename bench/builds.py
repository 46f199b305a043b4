#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Zenith authors
# SPDX-License-Identifier: Apache-2.0
"""Is this build as fast as another one? Both run in turn, in one run.

    bench/builds.py OLD [--build build/release] [--rounds 30] [--json]

OLD is the build folder of another checkout (`cmake --preset release` there). TAESD at 512x512, one thread:
decode in bf16, int8 and f32, encode in bf16. The ratio is the old time over the new one: above 1 the new
build is faster. A median under 0.98 is a failure, exit code 1.
"""
import argparse
import contextlib
import json
import pathlib
import statistics
import sys
import tempfile
import types

import compare

CASES = (("decode", "bf16"), ("decode", "int8"), ("decode", "f32"), ("encode", "bf16"))
BAR = 0.98


def measure(options, op, dtype):
    """Old time over new, one number for each round."""
    settings = types.SimpleNamespace(**vars(options), op=op, dtype=dtype, threads=1, cpu=None, left_out=[])
    with tempfile.TemporaryDirectory() as folder, contextlib.ExitStack() as stack:
        settings.input = pathlib.Path(folder) / "input.raw"
        compare.write_input(settings)
        new = compare.start_zenith(settings, stack)
        settings.build = options.old
        old = compare.start_zenith(settings, stack)
        ratios = []
        for index in range(options.rounds):
            first, second = (old, new) if index % 2 else (new, old)
            times = {id(first): first.turn()["cpu"], id(second): second.turn()["cpu"]}
            ratios.append(times[id(old)] / times[id(new)])
    return ratios


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("old", type=pathlib.Path)
    parser.add_argument("--build", type=pathlib.Path, default=compare.ROOT / "build/release")
    parser.add_argument("--rounds", type=int, default=30)
    parser.add_argument("--size", type=int, default=512)
    parser.add_argument("--model", default="taesd")
    parser.add_argument("--weights", type=pathlib.Path, default=compare.ROOT.parent / "shared/weights")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    found = {}
    for op, dtype in CASES:
        ratios = measure(options, op, dtype)
        low, high = compare.bootstrap(ratios)
        found[f"{op}_{dtype}"] = {"ratio": statistics.median(ratios), "low": low, "high": high}
        print(f"{op} {dtype}: old / new {statistics.median(ratios):.3f} [{low:.3f}, {high:.3f}], {options.rounds} rounds")
    if options.json:
        print(json.dumps(found))
    sys.exit(any(each["ratio"] < BAR for each in found.values()))


if __name__ == "__main__":
    main()
