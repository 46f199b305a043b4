#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Zenith authors
# SPDX-License-Identifier: Apache-2.0
"""What does a second thread bring, beside what it brings to the multipliers alone?

    bench/threads.py [--op decode] [--dtype bf16] [--threads 2] [--rounds 40]
    bench/threads.py --op step [--size 256]

`step` is one answer of the denoiser of a diffusion autoencoder of a published size, as in bench/diffae.py.

In a round: the probe with one thread and with N, Zenith with one and with N in an order that turns
around, and the probe again. Gain: the time with one thread over the time with N; of the probe, the best
rate with N over the best with one. Rounds in which a probe was more than 10 % below its best are
dropped, as in compare.py; if all were, none is. The bar: a median of 0.92 of the probe's gain. Exit
code 1 if it is missed.
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
import diffae


def run_round(one, many, rate, backwards):
    """(gain, the probe's rates with one thread, those with N)"""
    before = rate()
    times = {contender.name: contender.turn()["wall"] for contender in ((many, one) if backwards else (one, many))}
    return (times["one"] / times["many"], *zip(before, rate()))


def start(settings, stack):
    if settings.op == "step":
        line = [settings.build / "bench_diffae", *diffae.arguments(settings, settings.dtype)]
        return compare.start(settings, stack, "Zenith", "zenith", line)
    return compare.start_zenith(settings, stack)


def write_input(settings):
    if settings.op == "step":
        settings.weights = diffae.weights_of(settings)
        diffae.write_input(settings, settings.input)
    else:
        compare.write_input(settings)


def is_free(rates, best):
    return min(rates) >= (1 - compare.STEADY) * best


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--op", choices=("decode", "encode", "step"), default="decode")
    parser.add_argument("--size", type=int, help="default: 512, and of step, which has 64 and 256, 256")
    parser.add_argument("--dtype", choices=tuple(compare.PEERS), default="bf16")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=40)
    parser.add_argument("--model", default="taesd")
    parser.add_argument("--weights", type=pathlib.Path, default=compare.ROOT.parent / "shared/weights")
    parser.add_argument("--build", type=pathlib.Path, default=compare.ROOT / "build/release")
    parser.add_argument("--folder", type=pathlib.Path, default=diffae.FOLDER, help="of the random weights for step")
    parser.add_argument("--python", help="one that has torch, which makes these")
    options = parser.parse_args()
    options.size = options.size or (256 if options.op == "step" else 512)
    settings = types.SimpleNamespace(**vars(options), cpu=None, left_out=[])
    with tempfile.TemporaryDirectory() as folder, contextlib.ExitStack() as stack:
        settings.input = pathlib.Path(folder) / "input.raw"
        write_input(settings)
        single = copy.copy(settings)
        single.threads = 1
        one, many = start(single, stack), start(settings, stack)
        probe = compare.Server([options.build / "bench_probe"], compare.environment(settings))
        stack.callback(probe.close)
        unit = "fma" if options.dtype == "f32" or probe.ask("amx")["gflops"] == 0 else "amx"
        one.name, many.name = "one", "many"
        rate = lambda: tuple(probe.ask(f"{unit}{n}")["gflops"] for n in (1, options.threads))
        rounds = [run_round(one, many, rate, index % 2 == 1) for index in range(options.rounds)]
    best = [max(max(each[which]) for each in rounds) for which in (1, 2)]
    kept = [r[0] for r in rounds if is_free(r[1], best[0]) and is_free(r[2], best[1])]
    gains = kept or [r[0] for r in rounds]
    probed = best[1] / best[0]
    shares = [gain / probed for gain in gains]
    low, high = compare.bootstrap(shares)
    print(f"{options.op} {options.dtype}, {options.size}x{options.size}, {options.threads} threads: gain {statistics.median(gains):.2f}, the "
          f"probe's {probed:.2f} ({unit}); share {statistics.median(shares):.2f} [{low:.2f}, {high:.2f}]; "
          f"{len(kept)} of {options.rounds} rounds kept")
    sys.exit(statistics.median(shares) < 0.92)


if __name__ == "__main__":
    main()
