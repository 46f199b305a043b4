#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Zenith authors
# SPDX-License-Identifier: Apache-2.0
"""What does a second thread bring, beside what it brings to the multipliers alone?

    bench/threads.py [--op decode] [--dtype bf16] [--threads 2] [--rounds 40]

In a round: the probe with one thread and with N, Zenith with one and with N, in an order that turns
around. Gain: the time with one thread over the time with N; of the probe, the rate with N over the rate
with one, measured in the same round. The bar: a median of 0.92 of the probe's gain. Exit code 1 if it
is missed.
"""
import argparse
import contextlib
import copy
import pathlib
import statistics
import sys
import tempfile
import types

import compare


def probe_gain(probe, unit, threads):
    one = probe.ask(f"{unit}1")["gflops"]
    return probe.ask(f"{unit}{threads}")["gflops"] / one


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--op", choices=("decode", "encode"), default="decode")
    parser.add_argument("--size", type=int, default=512)
    parser.add_argument("--dtype", choices=tuple(compare.PEERS), default="bf16")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=40)
    parser.add_argument("--model", default="taesd")
    parser.add_argument("--weights", type=pathlib.Path, default=compare.ROOT.parent / "shared/weights")
    parser.add_argument("--build", type=pathlib.Path, default=compare.ROOT / "build/release")
    options = parser.parse_args()
    settings = types.SimpleNamespace(**vars(options), cpu=None, left_out=[])
    with tempfile.TemporaryDirectory() as folder, contextlib.ExitStack() as stack:
        settings.input = pathlib.Path(folder) / "input.raw"
        compare.write_input(settings)
        single = copy.copy(settings)
        single.threads = 1
        one, many = compare.start_zenith(single, stack), compare.start_zenith(settings, stack)
        probe = compare.Server([options.build / "bench_probe"], compare.environment(settings))
        stack.callback(probe.close)
        unit = "fma" if options.dtype == "f32" or probe.ask("amx")["gflops"] == 0 else "amx"
        gains, probes = [], []
        for index in range(options.rounds):
            probes.append(probe_gain(probe, unit, options.threads))
            order = (one, many) if index % 2 else (many, one)
            times = {contender: contender.turn()["wall"] for contender in order}
            gains.append(times[one] / times[many])
            probes[-1] = (probes[-1] + probe_gain(probe, unit, options.threads)) / 2
    shares = [gain / probed for gain, probed in zip(gains, probes)]
    low, high = compare.bootstrap(shares)
    print(f"{options.op} {options.dtype}, {options.threads} threads: gain {statistics.median(gains):.2f}, the "
          f"probe's {statistics.median(probes):.2f} ({unit}); share {statistics.median(shares):.2f} "
          f"[{low:.2f}, {high:.2f}] of {options.rounds} rounds")
    sys.exit(statistics.median(shares) < 0.92)


if __name__ == "__main__":
    main()
