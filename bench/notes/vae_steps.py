#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Zenith authors
# SPDX-License-Identifier: Apache-2.0
"""What layout, fusion, attention, plan and type each give on the decoder of a large autoencoder.

    bench/notes/vae_steps.py FOLDER [--size 512] [--rounds 3] [--threads 1]

FOLDER holds a KL autoencoder as diffusers keeps it (bench/make_vae.py writes one with random weights). First PyTorch in
f32: planes with stored scores of attention, planes, channels last. Then the steps of build/release/bench_vae_steps, which
take turns in one process. Times are medians: CPU time for one thread, wall time for more. docs/VAE.md keeps the table.

PyTorch and diffusers live in the virtual environment of bench/compare.py, made on first use.
"""
import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "bench"))
import compare  # noqa


def torch_rows(options):
    """Runs in the virtual environment: [[name, seconds], ...], the ways in turns."""
    import torch
    from torch.nn.attention import SDPBackend, sdpa_kernel
    import peers
    torch.set_num_threads(options.threads)
    torch.set_grad_enabled(False)
    plain = peers.load_folder(options.folder)[1]
    last = peers.load_folder(options.folder)[1].to(memory_format=torch.channels_last)
    x = torch.randn(1, json.loads((options.folder / "config.json").read_text())["latent_channels"],
                    options.size // 8, options.size // 8)
    every = [SDPBackend.FLASH_ATTENTION, SDPBackend.EFFICIENT_ATTENTION, SDPBackend.MATH]
    ways = [("PyTorch f32, planes, scores of attention stored", plain, x, [SDPBackend.MATH]),
            ("PyTorch f32, planes", plain, x, every),
            ("PyTorch f32, channels last", last, x.to(memory_format=torch.channels_last), every)]
    clock = time.process_time if options.threads == 1 else time.perf_counter
    times = {name: [] for name, *_ in ways}
    for _ in range(options.rounds + 1):  # the first warms up
        for name, network, latent, backends in ways:
            with sdpa_kernel(backends):
                start = clock()
                network(latent)
                times[name].append(clock() - start)
    return [[name, statistics.median(values[1:])] for name, values in times.items()]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--size", type=int, default=512)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--torch", action="store_true", help=argparse.SUPPRESS)  # the part in the environment
    options = parser.parse_args()
    options.weights = options.folder
    if options.torch:
        print(json.dumps(torch_rows(options)))
        return 0
    if options.threads == 1:
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    python = compare.packages.python()
    done = subprocess.run([python, __file__, *sys.argv[1:], "--torch"], check=True, capture_output=True, text=True)
    print("| step | s |\n|---|---|")
    for name, seconds in json.loads(done.stdout.splitlines()[-1]):
        print(f"| {name} | {seconds:.2f} |", flush=True)
    print(flush=True)
    return subprocess.run([ROOT / "build/release/bench_vae_steps", options.folder, str(options.size),
                           str(options.rounds), str(options.threads)], check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
