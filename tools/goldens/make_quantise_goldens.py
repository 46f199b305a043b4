#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Zenith authors
# SPDX-License-Identifier: Apache-2.0
"""What training with rounding is compared with: ten losses of a narrow network of the zenith family, in PyTorch and float32.

    python tools/goldens/make_quantise_goldens.py        needs torch, numpy, safetensors, pillow

tests/golden/quantise.json   for int8 the ranges of maps, and the layers that are in 8 bits; for int8 and f8_e4m3 the loss and the
                             gradient's norm before each of ten steps of AdamW, on one picture

The network is tests/golden/zenith-three.safetensors. Some of its layers are in 8 bits, and which maps are then rounded is written
down here by hand. A value that falls on the edge between two levels goes to either side by the last bit of a sum, and then
the loss differs by up to 1e-3. So ranges are taken, as a share of the true ones that also cuts some values off, with which no value
of the ten steps is that near to an edge. The rate is low and eps high, so that weights have the same bits everywhere.
"""
import json
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tools"))
import environment  # noqa: E402

environment.enter("numpy", "torch", "PIL", "safetensors", most=0)

import numpy as np
import torch
import torch.nn.functional as F
from PIL import Image
from safetensors.torch import load_file

from make_train_goldens import train

ROOT = pathlib.Path(__file__).resolve().parents[2]
STEPS, BLOCKS, MARGIN = 10, [1, 2, 1], 1e-4
SETTINGS = {"lr": 3e-5, "min_lr": 3e-6, "warmup": 2, "beta1": 0.9, "beta2": 0.999, "eps": 1e-4, "weight_decay": 0.01,
            "clip": 1.0, "ema": 0.9}
INT8 = {"encoder.11.conv.1", "encoder.11.conv.3", "encoder.11", "encoder.14", "decoder.2", "decoder.3.conv.1", "decoder.3",
        "decoder.7", "decoder.8.conv.1"}
# Rounded where it is stored: made by a layer in 8 bits, and all that read it are such layers, perhaps through upsampling.
STORED = {"encoder.11.conv.1", "encoder.11.conv.3", "encoder.11", "decoder.2", "decoder.3"}
# Stored in floating point, and rounded for the layer in 8 bits that reads it; a skip takes it as it is.
TAKEN = {"encoder.10", "decoder.0", "decoder.3.conv.3", "decoder.7"}


class Edge(Exception):
    """A value is too near to the edge between two levels."""


class Through(torch.autograd.Function):
    """Rounded to whole multiples of scale within low .. high; the gradient of what is cut off is zero."""

    @staticmethod
    def forward(ctx, x, scale, low, high):
        q = x / scale
        if ((q - q.floor() - 0.5).abs() < MARGIN)[(q > low - 1) & (q < high + 1)].any():
            raise Edge
        q = torch.round(q)
        ctx.save_for_backward((q >= low) & (q <= high))
        return q.clamp(low, high) * scale

    @staticmethod
    def backward(ctx, gradient):
        return gradient * ctx.saved_tensors[0], None, None, None


def rounded_weight(weight, kind):
    with torch.no_grad():
        if kind == "int8":
            scale = weight.abs().amax((1, 2, 3), keepdim=True) / 127
            result = torch.round(weight / scale) * scale
        else:
            scale = 2.0 ** torch.ceil(torch.log2(weight.abs().max() / 448))
            result = (weight / scale).to(torch.float8_e4m3fn).float() * scale
    return weight + (result - weight).detach()


class Part:
    """Encoder or decoder. Maps have the names of Zenith's values: a layer with its skip and relu is one. ranges None: no rounding."""

    def __init__(self, name, weights, kind, ranges):
        self.name, self.weights, self.kind, self.ranges, self.seen = name, weights, kind, ranges, {}

    def rounded(self, value, x):
        if self.kind != "int8" or not self.ranges:
            return x
        largest, positive = self.ranges[value]["largest"], self.ranges[value]["positive"]
        return Through.apply(x, *((largest / 255, 0, 255) if positive else (largest / 127, -128, 127)))

    def stored(self, value, x):
        value = f"{self.name}.{value}"
        self.seen[value] = {"largest": x.abs().max().item(), "positive": bool(x.min() >= 0)}
        return self.rounded(value, x) if value in STORED else x

    def taken(self, value, x):
        value = f"{self.name}.{value}"
        return self.rounded(value, x) if value in TAKEN else x

    def layer(self, name, value, x, stride=1, skip=None, relu=True):
        weight = self.weights[f"{self.name}.{name}.weight"]
        if self.kind != "int8" or (self.ranges and f"{self.name}.{value}" in INT8):
            weight = rounded_weight(weight, self.kind)
        y = F.conv2d(x, weight, self.weights.get(f"{self.name}.{name}.bias"), stride=stride, padding=1)
        y = y if skip is None else y + skip
        return self.stored(value, F.relu(y) if relu else y)

    def block(self, name, before, x):
        y = self.layer(f"{name}.conv.0", f"{name}.conv.1", self.taken(before, x))
        y = self.layer(f"{name}.conv.2", f"{name}.conv.3", self.taken(f"{name}.conv.1", y))
        return self.layer(f"{name}.conv.4", name, self.taken(f"{name}.conv.3", y), skip=x)

    def blocks(self, first, count, before, x):
        for i in range(first, first + count):
            x, before = self.block(str(i), before, x), str(i)
        return x, before

    def decode(self, x):
        x = self.stored("0", torch.tanh(x / 3) * 3)
        x, before = self.layer("1", "2", self.taken("0", x)), "2"
        for s, count in enumerate(BLOCKS):
            if s > 0:
                before = str(2 + 5 * s)
                x = self.layer(before, before, F.interpolate(x, scale_factor=2), relu=False)
            x, before = self.blocks(3 + 5 * s, count, before, x)
        return F.pixel_shuffle(self.layer("head", "head", x, relu=False), 2)

    def encode(self, x):
        x, before = self.layer("stem", "stem", F.pixel_unshuffle(x, 2), relu=False), "stem"
        for s, count in reversed(list(enumerate(BLOCKS))):
            if s < len(BLOCKS) - 1:
                before = str(10 - 4 * s)
                x = self.layer(before, before, x, stride=2, relu=False)
            x, before = self.blocks(11 - 4 * s, count, before, x)
        return self.layer("14", "14", x, relu=False)


def read_weights():
    return load_file(ROOT / "tests/golden/zenith-three.safetensors")


def reconstruct(weights, picture, kind, ranges):
    encoder, decoder = (Part(name, weights, kind, ranges) for name in ("encoder", "decoder"))
    return decoder.decode(encoder.encode(picture)), encoder.seen | decoder.seen


def ten_losses(picture, kind, ranges):
    weights = {name: value.requires_grad_() for name, value in read_weights().items()}

    def gradient_of(_):
        difference = reconstruct(weights, picture, kind, ranges)[0] - picture
        loss = difference.square().add(0.001 ** 2).sqrt().mean() + 0.5 * difference.square().mean()
        loss.backward()
        return loss.item()

    parameters = list(weights.values())
    ema = [value.detach().clone() for value in parameters]
    return [{"loss": loss, "norm": norm} for loss, norm in train(parameters, gradient_of, SETTINGS, STEPS, SETTINGS["clip"], ema)]


def main():
    torch.set_num_threads(1)
    picture = torch.from_numpy(np.asarray(Image.open(ROOT / "tests/train/data/0.png").convert("RGB"), np.float32) / 255)
    picture = picture.permute(2, 0, 1).unsqueeze(0).contiguous()
    with torch.no_grad():
        true = reconstruct(read_weights(), picture, "int8", None)[1]
    losses = {"f8_e4m3": ten_losses(picture, "f8_e4m3", None)}
    for tried in range(3000):
        share = 0.9 - 0.0001 * tried
        ranges = {name: {"largest": float(np.float32(share * value["largest"])), "positive": value["positive"]}
                  for name, value in true.items()}
        try:
            losses["int8"] = ten_losses(picture, "int8", ranges)
            break
        except Edge:
            pass
    print(f"share {share:.4f} of the ranges")
    made = {"golden": f"remade by: python tools/goldens/make_quantise_goldens.py; torch {torch.__version__}", "optimizer": SETTINGS,
            "values": ranges, "int8": sorted(INT8), "losses": losses}
    (ROOT / "tests/golden/quantise.json").write_text(json.dumps(made, indent=1) + "\n")


if __name__ == "__main__":
    main()
