#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Zenith authors
# SPDX-License-Identifier: Apache-2.0
"""How much faster do two processes train than one? TAESD's decoder under MPI, beside runs that know nothing of
each other.

    cmake --preset release -B build/mpi -DZENITH_MPI=ON && cmake --build build/mpi
    bench/train_ranks.py --photos DIR [--ranks 2] [--rounds 5] [--steps 12] [--crop 128] [--batch 16] [--dtype f32]

A round is a run under mpirun and then as many independent ones at the same time, all with one thread each, on
the same cores: process i is bound to core i, either way; which comes first alternates. Every process takes the
same number of crops a step. A run's speed is that of its median step, without the first ones. The bar: the images per
second of the ranks are at least 0.9 of the sum of the independent runs. Exit code 1 if it is missed. In bf16 a machine
that holds the tiles of one core back makes both ranks wait for it; independent runs do not wait.
"""
import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

from common import ROOT
from train import WARM_STEPS, decoder_config, step_times

BAR = 0.9


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--photos", required=True)
    parser.add_argument("--ranks", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--steps", type=int, default=12)
    parser.add_argument("--crop", type=int, default=128)
    parser.add_argument("--batch", type=int, default=16)
    parser.add_argument("--dtype", default="f32")
    parser.add_argument("--zenith", default=ROOT / "build/mpi/zenith")
    parser.add_argument("--weights", default=ROOT.parent / "shared/weights")
    return parser.parse_args()


def write_config(options, folder, name):
    config = decoder_config(options, options.dtype) | {"optimizer": {"lr": 1e-4}, "threads": 1, "output": str(folder / name)}
    path = folder / f"{name}.json"
    path.write_text(json.dumps(config))
    return path


def speed_of(folder, name, images):
    """Images a second of a run that takes so many a step."""
    times = step_times(folder / name)
    steps = [after - before for before, after in zip(times, times[1:])]
    return images / statistics.median(steps[WARM_STEPS - 1:])


def wait_for(processes):
    codes = [process.wait() for process in processes]
    if any(codes):
        sys.exit(f"train_ranks: a run ended with code {max(codes, key=abs)}")


def run_ranks(options, folder, number):
    name = f"ranks{number}"
    bound = 'exec taskset -c "$OMPI_COMM_WORLD_LOCAL_RANK" "$@"'
    wait_for([subprocess.Popen(["mpirun", "--allow-run-as-root", "--oversubscribe", "--bind-to", "none", "-n",
                                str(options.ranks), "sh", "-c", bound, "sh", str(options.zenith), "train",
                                str(write_config(options, folder, name)), "--quiet"])])
    return speed_of(folder, name, options.batch * options.ranks)


def run_alone(options, folder, number):
    names = [f"alone{number}.{core}" for core in range(options.ranks)]
    wait_for([subprocess.Popen(["taskset", "-c", str(core), str(options.zenith), "train",
                                str(write_config(options, folder, name)), "--quiet"])
              for core, name in enumerate(names)])
    return sum(speed_of(folder, name, options.batch) for name in names)


def main():
    options = parse()
    if (os.cpu_count() or 1) < options.ranks:
        sys.exit("train_ranks: there are fewer cores than ranks")
    ranks, alone = [], []
    with tempfile.TemporaryDirectory() as name:
        for number in range(options.rounds):
            turns = [(ranks, run_ranks), (alone, run_alone)]
            for speeds, run in turns if number % 2 == 0 else turns[::-1]:
                speeds.append(run(options, pathlib.Path(name), number))
    ratios = [a / b for a, b in zip(ranks, alone)]
    for label, speeds in ((f"{options.ranks} ranks", ranks), (f"{options.ranks} independent runs", alone)):
        print(f"{label:20} {statistics.median(speeds):6.1f} images/s ({min(speeds):.1f} .. {max(speeds):.1f})")
    ratio = statistics.median(ratios)
    print(f"{ratio:.2f} of the independent runs ({min(ratios):.2f} .. {max(ratios):.2f})")
    sys.exit(ratio < BAR)


if __name__ == "__main__":
    main()
