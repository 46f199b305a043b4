#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Zenith authors
# SPDX-License-Identifier: Apache-2.0
"""How fast are diffusion autoencoders of the published sizes, beside PyTorch (channels last)?

    bench/diffae.py [--size 256] [--op step|encode|decode] [--dtype bf16] [--threads 1] [--json]
    bench/diffae.py --train [--size 64] [--batch 16] [--threads 2] [--json]

Weights are random, of the shapes of models/diffae/ffhq256.json or ffhq64.json (--size); the first use writes them below
--folder (~/.cache/zenith-bench/diffae: 0.4 GB). `step` is one answer of the denoiser, `decode` 20 of them from noise to a picture.
Rounds are those of compare.py, and so are the figures: the other's time over Zenith's, the median and an interval; PyTorch
also runs in f32 where that is faster than bf16, and the best of both counts. `--train` lets both take steps of Adam on encoder
and denoiser in turns, Zenith by `zenith train` on pictures of noise.

The share of the probe is operations, counted from shapes as 2 for a multiplication with its sum, over the time and the rate of the multipliers
on registers alone. With --json the last line is one JSON object with step_share_of_probe, step_ratio_to_pytorch and, of
--train, train_ratio_to_pytorch. Exit code: 0 measured, 2 could not.
"""
import argparse
import contextlib
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

from common import CACHE, ROOT, environment

environment.enter("numpy")

import numpy as np

import compare
import train as train_bench

FOLDER = CACHE / "diffae"


def weights_of(options):
    """The folder of the random weights of this size, which is made where it is missing."""
    folder = options.folder / f"ffhq{options.size}"
    if not (folder / "config.json").exists():
        subprocess.run([options.python or environment.python(), ROOT / "bench/diffae_peer.py", "make", folder,
                        ROOT / f"models/diffae/ffhq{options.size}.json"], check=True)
    return folder


def write_input(options, path):
    code = json.loads((options.weights / "config.json").read_text())["code"]
    np.random.default_rng(1).standard_normal(3 * options.size ** 2 + code, dtype=np.float32).tofile(path)


def arguments(options, dtype):
    return ["--op", options.op, "--size", options.size, "--dtype", dtype, "--threads", options.threads, "--weights",
            options.weights, "--input", options.input]


def start_all(options, stack):
    found = [compare.start(options, stack, "Zenith", "zenith", [options.build / "bench_diffae", *arguments(options, options.dtype)])]
    for dtype in dict.fromkeys((options.dtype, "f32")):
        found.append(compare.try_start(options, stack, f"PyTorch {dtype}", "peer",
                                       [options.python or environment.python(), ROOT / "bench/diffae_peer.py", "serve", *arguments(options, dtype)]))
    return [contender for contender in found if contender]


def measure(options, folder, stack):
    if options.threads == 1:
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    options.input, options.reference = folder / "input.raw", folder / "reference.raw"
    write_input(options, options.input)
    contenders, probe = start_all(options, stack), compare.Probe(options, stack)
    compare.run_rounds(options, contenders, probe)
    contenders[-1].server.ask(f"dump {options.reference}")  # PyTorch in f32
    compare.add_rss_and_errors(options, contenders)
    result = compare.summarise(options, contenders, probe)
    compare.print_table(options, result)
    if options.op != "decode":
        count = json.loads((options.weights / "operations.json").read_text())[options.op]
        share = count / (result["ms"] * 1e6) / result["probe"]["median_gflops"]
        print(f"{count / 1e9:.1f} GFLOP: {share:.2f} of the probe")
        result |= {"gflop": count / 1e9, f"{options.op}_share_of_probe": share}
    return result | {f"{options.op}_ratio_to_pytorch": result["ratio_to_best_peer"]}


# --- training


class Zenith(train_bench.Zenith):
    """Rounds of `zenith train` with another task."""

    def __init__(self, options, folder):
        super().__init__(options, folder, None)
        photos = folder / "pictures"
        photos.mkdir()
        noise = np.random.default_rng(2)
        for number in range(2 * options.batch):
            pixels = noise.integers(0, 256, (options.size, options.size, 3), dtype=np.uint8)
            (photos / f"{number:03}.ppm").write_bytes(b"P6\n%d %d\n255\n" % (options.size, options.size) + pixels.tobytes())

    def network(self):
        size = self.options.size
        return {"model": "diffae", "task": "diffae", "network": json.loads((ROOT / f"models/diffae/ffhq{size}.json").read_text()),
                "data": {"sources": [str(self.folder / "pictures")], "crop": size, "flip": True, "seed": 1},
                "optimizer": {"lr": 1e-4, "ema": 0.999}, "dtype": self.options.dtype}


class Peer:
    def __init__(self, options, stack):
        self.options, self.speeds = options, []
        command = [options.python or environment.python(), ROOT / "bench/diffae_peer.py", "serve", *arguments(options, options.dtype), "--batch", options.batch]
        self.server = compare.Server(command, compare.environment(options))
        stack.callback(self.server.close)
        self.server.read()
        self.server.ask("run 1")

    def round(self):
        times = self.server.ask(f"run {self.options.steps}")["wall_ms"]
        self.speeds.append(self.options.batch * len(times) / sum(times) * 1e3)


def train(options, folder, stack):
    options.op, options.input = "train", folder / "input.raw"
    write_input(options, options.input)
    zenith, peer = Zenith(options, folder), Peer(options, stack)
    for _ in range(options.rounds):
        zenith.round()
        peer.round()
    memory = peer.server.ask("rss")["rss_mb"]
    ratios = [own / its for own, its in zip(zenith.speeds, peer.speeds)]
    print(f"training, {options.size}x{options.size}, batch {options.batch}, {options.dtype}, {options.threads} threads, images/s\n"
          f"  Zenith  {statistics.median(zenith.speeds):.2f} ({min(zenith.speeds):.2f} .. {max(zenith.speeds):.2f}), {zenith.memory:.0f} MB\n"
          f"  PyTorch {statistics.median(peer.speeds):.2f} ({min(peer.speeds):.2f} .. {max(peer.speeds):.2f}), {memory:.0f} MB\n"
          f"  {statistics.median(ratios):.2f} times its speed ({min(ratios):.2f} .. {max(ratios):.2f})")
    return {"train_ratio_to_pytorch": statistics.median(ratios), "images_per_second": statistics.median(zenith.speeds),
            "rss_mb": zenith.memory, "peer_rss_mb": memory}


# --- the program


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--op", choices=("step", "encode", "decode"), default="step")
    parser.add_argument("--train", action="store_true")
    parser.add_argument("--size", type=int, choices=(64, 256))
    parser.add_argument("--dtype", choices=("f32", "bf16"), default="bf16")
    parser.add_argument("--threads", type=int)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--minutes", type=float, default=4, help="after which it ends with what it has")
    parser.add_argument("--batch", type=int, default=16, help="of training")
    parser.add_argument("--steps", type=int, default=4, help="of training, in a round")
    parser.add_argument("--folder", type=pathlib.Path, default=FOLDER)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build/release")
    parser.add_argument("--python", help="one that has torch")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    options.size = options.size or (64 if options.train else 256)
    options.threads = options.threads or (2 if options.train else 1)
    options.zenith = options.build / "zenith"
    options.clock = "cpu" if options.threads == 1 else "wall"
    options.cpu, options.model, options.bare_only, options.photos, options.left_out = None, f"ffhq{options.size}", False, None, []
    return options


def main():
    options = parse()
    try:
        options.weights = weights_of(options)
        with tempfile.TemporaryDirectory() as folder, contextlib.ExitStack() as stack:
            result = (train if options.train else measure)(options, pathlib.Path(folder), stack)
    except (compare.Failure, OSError, subprocess.CalledProcessError) as failure:
        print(f"diffae: {failure}", file=sys.stderr)
        sys.exit(2)
    if options.json:
        print(json.dumps({"dtype": options.dtype, "threads": options.threads, "size": options.size, **result}))


if __name__ == "__main__":
    main()
