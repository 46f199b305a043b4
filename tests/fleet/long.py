#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Zenith authors
# SPDX-License-Identifier: Apache-2.0
"""The long run of tests/fleet/faults.py: 10,000 pictures in 100 shards on three hosts, 20 faults, three times with other seeds.

    tests/fleet/long.py [--times 3] [--faults 20] [--pictures 10000] [--shards 100] [--json]

Each run must end complete, with the bytes of an undisturbed run, no shard committed twice and nothing left in the queue; the
first that does not ends this with its seed. With --json the last line is one object, which bench/notes/scale.py --check takes; with
--faults 0 it is a measurement of three undisturbed hosts.
"""
import argparse
import json
import pathlib
import random
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--times", type=int, default=3)
    parser.add_argument("--faults", type=int, default=20)
    parser.add_argument("--pictures", type=int, default=10000)
    parser.add_argument("--shards", type=int, default=100)
    parser.add_argument("--size", type=int, default=128)
    parser.add_argument("--seed", type=int, default=None)
    parser.add_argument("--zenith", type=pathlib.Path, default=ROOT / "build/release/zenith")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    first, runs = random.randrange(1 << 30) if options.seed is None else options.seed, []
    for number in range(options.times):
        words = [sys.executable, ROOT / "tests/fleet/faults.py", "--zenith", options.zenith, "--pictures", options.pictures, "--shards",
                 options.shards, "--faults", options.faults, "--size", options.size, "--patience", 3600, "--seed", first + number, "--json"]
        done = subprocess.run([str(word) for word in words], stdout=subprocess.PIPE, text=True)
        if done.returncode != 0:
            raise SystemExit(f"long.py: seed {first + number}: it failed")
        runs.append(json.loads(done.stdout.splitlines()[-1]))
        print(f"seed {first + number}: {options.shards} shards, {len(runs[-1]['faults'])} faults, {runs[-1]['seconds']} s: {runs[-1]['results']}",
              flush=True)
    if options.json:
        print(json.dumps({"runs": runs}))


if __name__ == "__main__":
    main()
