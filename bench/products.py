#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Zenith authors
# SPDX-License-Identifier: Apache-2.0
"""Products of tokens beside oneDNN and PyTorch, on one thread, in rounds that take turns in one run.

    bench/products.py --what linear|attention|norm --dtype f32|bf16|int8 [--rounds 3] [--python PYTHON] [--json]

The last line is one JSON object: `what dtype share_of_probe ratio_to_onednn ratio_to_pytorch` for the
largest number of tokens (medians; a ratio above 1: ours is faster; null: there is no such peer), and
`tokens`: for each smaller number GB/s of weights read, of memory read in the same round, their share,
and the share of the roofline of both (the time that memory or the probe's multipliers need at least,
whichever is longer, over ours). ZENITH_CPU=avx2 measures as on an older CPU (PyTorch does not follow it).
Seconds are those of the thread, so that other programs' do not count.

Of attention and norm, attention.py and norms.py measure; the `ratio_to_pass` of norm is to one pass that reads and
writes the map.
"""
import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
INPUTS, OUTPUTS, TOKENS, FEW = 3840, 10240, 1088, (1, 32, 64)


class Server:
    """A program that answers each line by a line of JSON; one that cannot start answers None."""

    def __init__(self, command, environment):
        self.process = subprocess.Popen([str(part) for part in command], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
                                        env=environment)

    def ask(self, line):
        try:
            self.process.stdin.write(f"{line}\n")
            self.process.stdin.flush()
            answer = self.process.stdout.readline()
        except BrokenPipeError:
            answer = ""
        return json.loads(answer) if answer else None

    def close(self):
        try:
            self.process.stdin.close()
        except BrokenPipeError:  # it could not start, or has ended
            pass
        self.process.wait()


def median(rounds, key):
    values = [r[key] for r in rounds if r.get(key)]
    return statistics.median(values) if values else None


def measure_linear(options, environment):
    ours = Server([options.build / "bench_linear", options.dtype, INPUTS, OUTPUTS, TOKENS], environment)
    torch = Server([options.python, ROOT / "bench/products_peer.py", options.dtype, INPUTS, OUTPUTS], environment)
    operations = 2.0 * INPUTS * OUTPUTS
    rounds, few = [], {tokens: [] for tokens in FEW}
    error = ours.ask("compare 64")
    if error is None:
        sys.exit("products.py: bench_linear does not run; is it built?")
    for turn in range(options.rounds + 1):
        probe, seconds = ours.ask("probe"), ours.ask(f"ours {TOKENS}")["seconds"]
        onednn, peer = ours.ask(f"onednn {TOKENS}"), torch.ask(TOKENS)
        again = ours.ask("probe")["gflops"]
        rate = max(probe["gflops"], again) * 1e9
        entry = {"share": operations * TOKENS / seconds / rate, "onednn": onednn["seconds"] / seconds,
                 "pytorch": peer["seconds"] / seconds if peer else None, "seconds": seconds, "rate": rate}
        if turn:  # the first one wakes memory and caches
            rounds.append(entry)
        for tokens in FEW:
            before = ours.ask("read")["gb_per_s"]
            took = ours.ask(f"ours {tokens}")["seconds"]
            read = max(before, ours.ask("read")["gb_per_s"])
            rate_read, least = probe["bytes"] / took / 1e9, max(probe["bytes"] / read / 1e9, operations * tokens / rate)
            if turn:
                few[tokens].append({"gb_per_s": rate_read, "read_gb_per_s": read, "share": rate_read / read,
                                    "roofline_share": least / took})
    ours.close()
    torch.close()
    return {"what": "linear", "dtype": options.dtype, "share_of_probe": median(rounds, "share"),
            "ratio_to_onednn": median(rounds, "onednn"), "ratio_to_pytorch": median(rounds, "pytorch"),
            "unit": probe["unit"], "gflops_of_probe": median(rounds, "rate") / 1e9,
            "seconds": median(rounds, "seconds"), "difference_to_onednn": error["error"],
            "tokens": {str(tokens): {key: median(entries, key) for key in entries[0]}
                       for tokens, entries in few.items()}}


def measure_attention(options, _environment):
    import attention  # pylint: disable=import-outside-toplevel

    return attention.measure(options.build, options.dtype, options.python, rounds=options.rounds)


def measure_norm(options, _environment):
    import norms  # pylint: disable=import-outside-toplevel

    try:
        return norms.measure(options.build, options.dtype, options.python)
    except ValueError as wrong:
        sys.exit(f"products.py: {wrong}")


WHAT = {"linear": measure_linear, "attention": measure_attention, "norm": measure_norm}


def python_with_torch():
    """compare.py makes this one."""
    python = ROOT / ".venv-bench/bin/python"
    return python if python.exists() else sys.executable


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--what", choices=sorted(WHAT), default="linear")
    parser.add_argument("--dtype", choices=("f32", "bf16", "int8"), default="f32")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--python", default=python_with_torch(), help="one that has PyTorch")
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build/release")
    parser.add_argument("--json", action="store_true", help="only the last line")
    options = parser.parse_args()
    environment = dict(os.environ, OMP_NUM_THREADS="1")
    result = WHAT[options.what](options, environment)
    if not options.json:
        for key, value in result.items():
            print(f"{key:22} {value}")
    print(json.dumps(result))


if __name__ == "__main__":
    main()
