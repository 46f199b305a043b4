#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Zenith authors
# SPDX-License-Identifier: Apache-2.0
"""PyTorch's side of diffae.py, run with the interpreter of its virtual environment.

    diffae_peer.py make FOLDER CONFIG       random weights of CONFIG's shapes, and the operations of each part
    diffae_peer.py serve --weights FOLDER --op encode|step|decode|train --size N --dtype T --threads N --input FILE [--batch N]

The network is that of tools/goldens/make_diffae_goldens.py, channels last. `serve` speaks contender.h's protocol; its commands are in
peers.py. An iteration of `train` is one step of Adam in bf16 autocast (or f32) on encoder and denoiser.
"""
import argparse
import json
import pathlib
import sys

from common import ROOT, environment

environment.enter("numpy", "torch", "safetensors")

import numpy
import torch
from safetensors.torch import load_file, save_file

import peers

sys.path.insert(0, str(ROOT / "tools/goldens"))
import make_diffae_goldens as network  # noqa: E402

STEPS, TIMESTEP, TIMESTEPS = 20, 500, 1000  # as diffae_server.c
KINDS = {"f32": torch.float32, "bf16": torch.bfloat16}


def configure(config):
    network.CONFIG.clear()
    network.CONFIG.update(config)


def operations(call):
    from torch.utils.flop_counter import FlopCounterMode
    with FlopCounterMode(display=False) as counter:
        call()
    return counter.get_total_flops()


def make(folder, config):
    torch.set_grad_enabled(False)
    configure(json.loads(config.read_text()))
    side = network.CONFIG["image_size"]
    picture, code = torch.randn(1, 3, side, side), torch.randn(1, network.CONFIG["code"])
    counts = {"encode": operations(lambda: network.encoder(picture)),
              "step": operations(lambda: network.denoiser(picture, torch.tensor([TIMESTEP]), code))}
    network.prior(code, torch.tensor([TIMESTEP]))
    folder.mkdir(parents=True, exist_ok=True)
    save_file({name: value.bfloat16() for name, value in network.weights.items()}, folder / "model.safetensors")
    (folder / "operations.json").write_text(json.dumps(counts))
    (folder / "config.json").write_text(json.dumps(network.CONFIG))


def alphas():
    return numpy.cumprod(1 - numpy.linspace(1e-4, 0.02, TIMESTEPS))


class PyTorch:
    note = f"torch {torch.__version__}, channels last"

    def __init__(self, options):
        torch.set_num_threads(options.threads)
        torch.set_grad_enabled(options.op == "train")
        configure(json.loads((options.weights / "config.json").read_text()))
        self.options, self.result = options, None
        self.kind = torch.float32 if options.op == "train" else KINDS[options.dtype]
        network.weights.update({name: self.place(value) for name, value in load_file(options.weights / "model.safetensors").items()})
        values = torch.from_numpy(numpy.fromfile(options.input, numpy.float32))
        size = network.CONFIG["code"]
        self.picture = self.place(values[:-size].reshape(1, 3, options.size, options.size))
        self.code = self.place(values[-size:].reshape(1, size))
        plain = network.features
        network.features = lambda times, width: plain(times, width).to(self.kind)  # else time alone would be f32
        if options.op == "train":
            self.begin_training()

    def place(self, tensor):
        tensor = tensor.to(self.kind)
        return tensor.contiguous(memory_format=torch.channels_last) if tensor.dim() == 4 else tensor

    def begin_training(self):
        trained = [value for name, value in network.weights.items() if not name.startswith("latent_net")]
        for value in trained:
            value.requires_grad_(True)
        self.optimizer = torch.optim.Adam(trained, lr=1e-4, fused=True)
        shape = (self.options.batch, 3, self.options.size, self.options.size)
        self.pictures, self.noise = (self.place(torch.randn(shape)) for _ in range(2))
        self.times = torch.randint(0, TIMESTEPS, (self.options.batch,))
        kept = torch.from_numpy(alphas()).float()[self.times][:, None, None, None]
        self.noisy = self.place(kept.sqrt() * self.pictures + (1 - kept).sqrt() * self.noise)

    def train(self):
        self.optimizer.zero_grad(set_to_none=True)
        with torch.autocast("cpu", dtype=torch.bfloat16, enabled=self.options.dtype == "bf16"):
            made = network.denoiser(self.noisy, self.times, network.encoder(self.pictures))
        (made.float() - self.noise).square().mean().backward()
        self.optimizer.step()

    def decode(self):
        x, kept = self.picture.float(), alphas()
        times = [step * TIMESTEPS // STEPS for step in reversed(range(STEPS))]
        for time, after in zip(times, [*times[1:], None]):
            eps = network.denoiser(self.place(x), torch.tensor([time]), self.code).float()
            a, b = kept[time], kept[after] if after is not None else 1.0
            start = ((x - (1 - a) ** 0.5 * eps) / a ** 0.5).clamp(-1, 1)
            eps = (x - a ** 0.5 * start) / (1 - a) ** 0.5
            x = b ** 0.5 * start + (1 - b) ** 0.5 * eps
        return x

    def run(self):
        op = self.options.op
        if op == "train":
            self.train()
        elif op == "decode":
            self.result = self.decode()
        elif op == "encode":
            self.result = network.encoder(self.picture)
        else:
            self.result = network.denoiser(self.picture, torch.tensor([TIMESTEP]), self.code)

    def output(self):
        return self.result.detach().float().contiguous().numpy()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ways = parser.add_subparsers(dest="way", required=True)
    making = ways.add_parser("make")
    making.add_argument("folder", type=pathlib.Path)
    making.add_argument("config", type=pathlib.Path)
    serving = ways.add_parser("serve")
    serving.add_argument("--weights", type=pathlib.Path, required=True)
    serving.add_argument("--op", choices=("encode", "step", "decode", "train"), required=True)
    serving.add_argument("--size", type=int, required=True)
    serving.add_argument("--dtype", choices=tuple(KINDS), required=True)
    serving.add_argument("--threads", type=int, required=True)
    serving.add_argument("--input", type=pathlib.Path, required=True)
    serving.add_argument("--batch", type=int, default=16)
    options = parser.parse_args()
    if options.way == "make":
        make(options.folder, options.config)
    else:
        peers.serve(PyTorch(options))


if __name__ == "__main__":
    main()
