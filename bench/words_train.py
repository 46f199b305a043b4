#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Zenith authors
# SPDX-License-Identifier: Apache-2.0
"""How fast does `zenith train` train a model of words and pictures, beside PyTorch?

    bench/words_train.py [CONFIG] [--rounds 3] [--batch 16] [--stack 4] [--threads 2]

CONFIG is models/training/zenith-words.json where it is left out; of it the two networks count. Latents and captions are random. Both sides
train in bf16 and in f32, in turns, some steps of one and some of the next. The best of each side is compared, and bf16 with
bf16. The bar is 1.5 times PyTorch's samples per second and 0.7 of its memory, in bf16. Exit code 1 if it is missed.
"""
import json
import pathlib
import statistics
import sys
import tempfile

from common import ROOT, environment, safetensors

environment.enter("numpy")

import numpy as np

import train as train_bench

TYPES = ("bf16", "f32")


def write_data(folder, text, image, count=64):
    """Latents and captions as `zenith train` takes them."""
    random = np.random.default_rng(1)
    side, channels = image["sample_size"], image["in_channels"]
    numbers = random.standard_normal((count, channels, side, side), dtype=np.float32)
    (folder / "latents.safetensors").write_bytes(safetensors.pack({"latent": ("F32", numbers.shape, numbers.tobytes())}))
    lines = [{"empty": [1]}] + [{"ids": random.integers(text["vocab_size"], size=random.integers(12, 25)).tolist()} for _ in range(count)]
    (folder / "captions.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))


class Zenith(train_bench.Zenith):
    def __init__(self, options, folder, dtype):
        folder.mkdir()
        super().__init__(options, folder, None)
        self.dtype = dtype

    def network(self):
        o = self.options
        return {"model": "z-image", "task": "words", "text": o.text, "network": o.image, "stack": o.stack, "dtype": self.dtype,
                "data": {"latents": str(o.data / "latents.safetensors"), "captions": str(o.data / "captions.jsonl"), "seed": 1},
                "optimizer": {"lr": 1e-4, "ema": 0.999, "clip": 1}, "log_every": 1}


def parse():
    parser = train_bench.parser_of(__doc__, 6, "of a round")
    parser.add_argument("config", nargs="?", type=pathlib.Path, default=ROOT / "models/training/zenith-words.json")
    parser.add_argument("--stack", type=int, default=4)
    return parser.parse_args()


def main():
    options = parse()
    config = json.loads(options.config.read_text())
    options.text, options.image = config["text"], config["network"]
    with tempfile.TemporaryDirectory() as folder:
        options.data = pathlib.Path(folder)
        write_data(options.data, options.text, options.image)
        ours = {dtype: Zenith(options, options.data / dtype, dtype) for dtype in TYPES}
        theirs = {dtype: train_bench.Peer(options, options.steps, "words_peer.py", options.config, "--dtype", dtype) for dtype in TYPES}
        for _ in range(options.rounds):
            for dtype in TYPES:
                ours[dtype].round()
                theirs[dtype].round()
    fastest = {side: max(TYPES, key=lambda t: statistics.median(all_[t].speeds)) for side, all_ in (("ours", ours), ("theirs", theirs))}
    met = train_bench.compare("bf16", ours["bf16"], theirs["bf16"])
    if fastest != {"ours": "bf16", "theirs": "bf16"}:
        its = theirs[fastest["theirs"]]
        if fastest["theirs"] == "bf16":
            ratios = [a / b for a, b in zip(ours[fastest["ours"]].speeds, its.speeds)]
            print(f"Zenith in {fastest['ours']}: {statistics.median(ratios):.2f} times PyTorch in bf16")
        else:
            train_bench.compare(f"the best of both: Zenith in {fastest['ours']}, PyTorch in f32", ours[fastest["ours"]], its)
    sys.exit(not met)


if __name__ == "__main__":
    main()
