#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Zenith authors
# SPDX-License-Identifier: Apache-2.0
"""Products of tokens, attention and group norm beside oneDNN and PyTorch, on one thread, in rounds that take turns in one run.

    bench/products.py --what linear|attention|norm --dtype f32|bf16|int8 [--rounds 3] [--cases 1x512x4096,30x128x4160] [--json]

The last line is one JSON object: `what dtype share_of_probe ratio_to_onednn ratio_to_pytorch` (medians; a ratio above 1: ours is
faster; null: there is no such peer) and

linear: of the largest number of tokens; `tokens`: for each smaller number GB/s of weights read, of memory read in the same round,
their share, and the share of the roofline of both (the time that memory or the probe's multipliers need at least, whichever is
longer, over ours). ZENITH_CPU=avx2 measures as on an older CPU (PyTorch does not follow it). Seconds are those of the thread, so
that other programs' do not count.

attention: of the first case, heads x width x tokens; `cases`: the same of each, beside PyTorch's scaled_dot_product_attention. Ours is
a whole run of a plan: it packs keys and values, and it copies its inputs and its result. All times are CPU time. share_of_probe is that
of the FMA units, in both types, where the kernel has no tiles; the probe runs right before and after ours, and the better of both
counts.

norm: group norm with SiLU over a map of 1024x1024x128; `ratio_to_pass` is to one pass that reads and writes the map (bench_norms).
ratio_to_pytorch is of the best times, statistics included on both sides.
"""
import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys

from common import ROOT, Server, environment

INPUTS, OUTPUTS, TOKENS, FEW = 3840, 10240, 1088, (1, 32, 64)
CASES = "1x512x4096,30x128x4160"
SIDE, CHANNELS, GROUPS, ROUNDS = 1024, 128, 32, 4  # of the map, and how often the norm runs
ALONE = {"OMP_NUM_THREADS": "1"}


def peer(options, *words):
    return Server([options.python, ROOT / "bench/products_peer.py", options.what, options.dtype, *words], os.environ | ALONE)


def median(rounds, key):
    values = [r[key] for r in rounds if r.get(key)]
    return statistics.median(values) if values else None


def measure_linear(options):
    ours = Server([options.build / "bench_linear", options.dtype, INPUTS, OUTPUTS, TOKENS], os.environ | ALONE)
    torch = peer(options, INPUTS, OUTPUTS)
    operations = 2.0 * INPUTS * OUTPUTS
    rounds, few = [], {tokens: [] for tokens in FEW}
    error = ours.try_ask("compare 64")
    if error is None:
        sys.exit("products.py: bench_linear does not run; is it built?")
    for turn in range(options.rounds + 1):
        probe, seconds = ours.ask("probe"), ours.ask(f"ours {TOKENS}")["seconds"]
        onednn, its = ours.ask(f"onednn {TOKENS}"), torch.try_ask(TOKENS)
        again = ours.ask("probe")["gflops"]
        rate = max(probe["gflops"], again) * 1e9
        entry = {"share": operations * TOKENS / seconds / rate, "onednn": onednn["seconds"] / seconds,
                 "pytorch": its["seconds"] / seconds if its else None, "seconds": seconds, "rate": rate}
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


def attention_round(ours, torch, operations):
    probe, run, again, its = ours.try_ask("probe"), ours.try_ask("ours"), ours.try_ask("probe"), torch.try_ask("run")
    if run is None:
        sys.exit("products.py: bench_attention does not run; is it built?")
    rate = max(probe["gflops"], again["gflops"])
    return {"gflops": operations / run["seconds"] / 1e9, "gflops_of_probe": rate, "seconds": run["seconds"],
            "share_of_probe": operations / run["seconds"] / 1e9 / rate,
            "ratio_to_pytorch": its["seconds"] / run["seconds"] if its else None, "pytorch_seconds": its["seconds"] if its else None}


def attention_case(options, case):
    heads, width, tokens = sizes = [int(part) for part in case.split("x")]
    ours = Server([options.build / "bench_attention", options.dtype, *sizes], os.environ | ALONE)
    torch = peer(options, *sizes)
    operations = 4.0 * heads * width * tokens * tokens
    turns = [attention_round(ours, torch, operations) for _ in range(options.rounds + 1)][1:]  # the first one warms up
    ours.close()
    torch.close()
    return {key: median(turns, key) for key in turns[0]} | {"ratio_to_onednn": None}


def measure_attention(options):
    cases = {case: attention_case(options, case) for case in options.cases.split(",")}
    first = next(iter(cases.values()))
    return {"what": "attention", "dtype": options.dtype, "share_of_probe": first["share_of_probe"], "ratio_to_onednn": None,
            "ratio_to_pytorch": first["ratio_to_pytorch"], "unit": "fma", "cases": cases}


def measure_norm(options):
    said = subprocess.run([str(word) for word in (options.build / "bench_norms", SIDE, CHANNELS, ROUNDS)], check=True,
                          stdout=subprocess.PIPE, text=True, env=os.environ | ALONE).stdout
    row = next((row for row in map(json.loads, said.splitlines()) if row["type"] == options.dtype), None)
    if row is None:
        sys.exit(f"products.py: there is no norm in {options.dtype}")
    torch = peer(options, SIDE, CHANNELS, GROUPS)
    torch_s = min((its["seconds"] for its in (torch.try_ask("run") for _ in range(ROUNDS)) if its), default=None)
    torch.close()
    return {"what": "norm", "dtype": options.dtype, "share_of_probe": None, "ratio_to_onednn": None,
            "ratio_to_pytorch": torch_s / (row["norm_silu_s"] + row["moments_s"]) if torch_s else None,
            "ratio_to_pass": row["ratio"], "scratch_bytes": row["scratch_bytes"], "pass_s": row["pass_s"],
            "norm_silu_s": row["norm_silu_s"], "moments_s": row["moments_s"], "pytorch_s": torch_s}


WHAT = {"linear": measure_linear, "attention": measure_attention, "norm": measure_norm}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--what", choices=sorted(WHAT), default="linear")
    parser.add_argument("--dtype", choices=("f32", "bf16", "int8"), default="f32")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--cases", default=CASES, help="of attention")
    parser.add_argument("--python", help="one that has PyTorch; default: that of tools/environment.py")
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build/release")
    parser.add_argument("--json", action="store_true", help="only the last line")
    options = parser.parse_args()
    options.python = options.python or environment.python()
    result = WHAT[options.what](options)
    if not options.json:
        for key, value in result.items():
            print(f"{key:22} {value}")
    print(json.dumps(result))


if __name__ == "__main__":
    main()
