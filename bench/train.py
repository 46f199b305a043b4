#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Zenith authors
# SPDX-License-Identifier: Apache-2.0
"""How fast does `zenith train` train TAESD's decoder, beside PyTorch (bf16 autocast, channels last)?

    bench/train.py --photos DIR [--rounds 3] [--crop 128] [--batch 16] [--threads 2]

Twice: with the latents given, and with a frozen encoder that makes them from the pictures in every step.
Zenith always has an encoder; "given" is one of width 8 (tests/golden/tiny_diffusers), which takes next to no
time. PyTorch's data lie in memory; ours are decoded ahead by the same threads. Rounds are interleaved: some
steps of the one, some of the other. The bar, with the latents given: 1.5 times PyTorch's images per second
and 0.7 of its memory. Exit code 1 if it is missed.
"""
import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

from common import ROOT, environment

SPEED_BAR, MEMORY_BAR = 1.5, 0.7
WARM_STEPS = 2


def parser_of(description, steps, steps_help):
    """The options of this script and of words_train.py."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--python", help="an interpreter that has PyTorch")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--steps", type=int, default=steps, help=steps_help)
    parser.add_argument("--batch", type=int, default=16)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--compile", action="store_true", help="torch.compile, where that works")
    parser.add_argument("--zenith", default=ROOT / "build/release/zenith")
    return parser


def parse():
    parser = parser_of(__doc__, 8, "of Zenith in a round; PyTorch takes a third")
    parser.add_argument("--photos", required=True)
    parser.add_argument("--crop", type=int, default=128)
    parser.add_argument("--weights", default=ROOT.parent / "shared/weights")
    return parser.parse_args()


def decoder_config(options, dtype):
    """What a config says of TAESD's decoder, its data and its losses."""
    return {"model": "taesd", "part": "decoder", "init": {"weights": str(options.weights)},
            "data": {"sources": [options.photos], "crop": options.crop, "flip": True, "seed": 1},
            "losses": [{"kind": "mse", "weight": 1}], "optimizer": {"lr": 1e-4, "ema": 0}, "dtype": dtype,
            "batch": options.batch, "steps": options.steps + WARM_STEPS, "checkpoint_every": 100000}


class Peer:
    """PyTorch in a process of its own: the script of this name, with these words."""

    def __init__(self, options, steps, script, *words):
        command = [options.python or environment.python(), ROOT / "bench" / script, "--batch", options.batch, "--threads", options.threads,
                   *words, *(["--compile"] if options.compile else [])]
        self.steps, self.speeds = steps, []
        self.process = subprocess.Popen([str(part) for part in command], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, text=True)
        self.process.stdout.readline()  # it has trained some steps

    def round(self):
        self.process.stdin.write(f"{self.steps}\n")
        self.process.stdin.flush()
        self.speeds.append(float(self.process.stdout.readline()))

    def end(self):
        """The peak of its memory in MB."""
        self.process.stdin.close()
        memory = float(self.process.stdout.readline())
        self.process.wait()
        return memory


def step_times(output):
    """Seconds at the end of each step, of a run's log."""
    lines = [json.loads(line) for line in (output / "train.jsonl").read_text().splitlines()]
    return [line["seconds"] for line in lines if "images_per_second" in line]


class Zenith:
    """A run of `zenith train` for each round."""

    def __init__(self, options, folder, encoder):
        self.options, self.folder, self.encoder = options, folder, encoder
        self.speeds, self.memory = [], 0

    def network(self):
        return decoder_config(self.options, "bf16") | {"frozen": {"weights": str(self.encoder)}}

    def config(self):
        o, number = self.options, len(self.speeds)
        config = self.network() | {"batch": o.batch, "steps": o.steps + WARM_STEPS, "threads": o.threads,
                                   "checkpoint_every": 100000, "output": str(self.folder / f"run{number}")}
        path = self.folder / f"run{number}.json"
        path.write_text(json.dumps(config))
        return path

    def round(self):
        command = [str(self.options.zenith), "train", str(self.config()), "--quiet"]
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode != 0:
            sys.exit(f"{' '.join(command)}: exit code {process.returncode}")
        times = step_times(self.folder / f"run{len(self.speeds)}")
        taken = times[-1] - times[WARM_STEPS - 1]
        self.speeds.append(self.options.batch * (len(times) - WARM_STEPS) / taken)
        self.memory = max(self.memory, usage.ru_maxrss / 1024)


def describe(name, speeds, memory):
    middle = statistics.median(speeds)
    print(f"  {name:8} {middle:6.1f} images/s ({min(speeds):.1f} .. {max(speeds):.1f}), {memory:.0f} MB")


def compare(title, zenith, peer):
    """Shows both, and says whether the bar is met."""
    memory = peer.end()
    ratios = [a / b for a, b in zip(zenith.speeds, peer.speeds)]
    print(title)
    describe("zenith", zenith.speeds, zenith.memory)
    describe("PyTorch", peer.speeds, memory)
    print(f"  {statistics.median(ratios):.2f} times its speed ({min(ratios):.2f} .. {max(ratios):.2f}), "
          f"{zenith.memory / memory:.2f} of its memory")
    return statistics.median(ratios) >= SPEED_BAR and zenith.memory <= MEMORY_BAR * memory


def main():
    options = parse()
    with tempfile.TemporaryDirectory() as folder:
        folders = [pathlib.Path(folder, name) for name in ("given", "encoded")]
        for each in folders:
            each.mkdir()
        peer = (options, max(1, options.steps // 3), "train_peer.py", "--weights", options.weights, "--crop", options.crop)
        given = (Zenith(options, folders[0], ROOT / "tests/golden/tiny_diffusers"), Peer(*peer))
        encoded = (Zenith(options, folders[1], options.weights), Peer(*peer, "--encoder"))
        for _ in range(options.rounds):
            for contender in (*given, *encoded):
                contender.round()
    met = compare("latents given", *given)
    compare("latents made by the encoder", *encoded)
    sys.exit(not met)


if __name__ == "__main__":
    main()
