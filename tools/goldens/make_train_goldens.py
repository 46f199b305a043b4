#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Zenith authors
# SPDX-License-Identifier: Apache-2.0
"""Makes what the tests of training compare with, in PyTorch and float32.

    python tools/goldens/make_train_goldens.py [--weights DIR]        needs torch, numpy, safetensors, pillow

tests/train/data/N.png         pictures of 32x32, drawn by formula
tests/golden/adamw.json        torch.optim.AdamW on 40 numbers: weights, norms and averages
tests/golden/ten_losses.json   losses of TAESD's decoder on those pictures, before each of ten steps
"""
import argparse
import json
import math
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tools"))
import environment  # noqa: E402

environment.enter("numpy", "torch", "PIL")

import numpy as np
import torch
from PIL import Image

import make_goldens
import taesd_reference

ROOT = pathlib.Path(__file__).resolve().parents[2]
GOLDEN = ROOT / "tests" / "golden"
PICTURES = ROOT / "tests" / "train" / "data"
SIDE, COUNT = 32, 4


def rate(step, lr, min_lr, warmup, steps):
    """Linear rise, then half a cosine: what zn_optimizer_rate does."""
    if step < warmup:
        return lr * (step + 1) / warmup
    done = (step - warmup) / (steps - warmup)
    return min_lr + (lr - min_lr) * 0.5 * (1 + math.cos(math.pi * done))


def train(parameters, gradient_of, settings, steps, clip, ema):
    """Yields (what gradient_of returned, norm) of each step; averages go into ema."""
    optimizer = torch.optim.AdamW(parameters, lr=settings["lr"], betas=(settings["beta1"], settings["beta2"]),
                                  eps=settings["eps"], weight_decay=settings["weight_decay"])
    for step in range(steps):
        for group in optimizer.param_groups:
            group["lr"] = rate(step, settings["lr"], settings["min_lr"], settings["warmup"], steps)
        optimizer.zero_grad()
        told = gradient_of(step)
        norm = torch.nn.utils.clip_grad_norm_(parameters, clip)
        optimizer.step()
        with torch.no_grad():
            for average, parameter in zip(ema, parameters):
                average.lerp_(parameter, max(1 - settings["ema"], 9 / (step + 10)))
        yield told, norm.item()


def write(path, text):
    path.write_text(json.dumps(text, indent=1) + "\n")
    print(path.relative_to(ROOT))


def make_adamw():
    settings = {"lr": 0.02, "min_lr": 0.001, "warmup": 2, "beta1": 0.9, "beta2": 0.99, "eps": 1e-6, "weight_decay": 0.1,
                "clip": 2.0, "ema": 0.8}
    count, steps = 40, 8
    index = np.arange(count)
    weights = torch.from_numpy(np.cos(index * 0.7).astype(np.float32)).requires_grad_()
    ema = [weights.detach().clone()]

    def gradient_of(step):
        weights.grad = torch.from_numpy(np.sin(index * 0.37 + step).astype(np.float32) * np.float32(0.25 + 0.25 * step))

    norms = [norm for _, norm in train([weights], gradient_of, settings, steps, settings["clip"], ema)]
    write(GOLDEN / "adamw.json", {"made_by": f"tools/goldens/make_train_goldens.py, torch {torch.__version__}", **settings,
                                  "count": count, "steps": steps, "norms": norms, "weights": weights.tolist(),
                                  "averages": ema[0].tolist()})


def make_pictures():
    PICTURES.mkdir(parents=True, exist_ok=True)
    pictures = []
    for i in range(COUNT):
        whole = make_goldens.draw_picture(64, 64, seed=10 + i)
        picture = np.ascontiguousarray(whole[16 * (i // 2):, 16 * (i % 2):][:SIDE, :SIDE])
        Image.fromarray(picture).save(PICTURES / f"{i}.png")
        pictures.append(picture)
    return torch.cat([make_goldens.to_tensor(picture) for picture in pictures])


def make_losses(weights, images):
    """At ten times this rate PyTorch's own float32 is 5e-4 away from its float64 after ten steps, since AdamW's first
    steps go by the signs of gradients; at this one 1e-6."""
    settings = {"lr": 1e-5, "min_lr": 1e-6, "warmup": 2, "beta1": 0.9, "beta2": 0.999, "eps": 1e-8, "weight_decay": 0.01,
                "clip": 1.0, "ema": 0.9}
    steps = 10
    encoder, decoder = taesd_reference.load("taesd", weights)
    decoder.requires_grad_(True)
    parameters = list(decoder.parameters())
    with torch.no_grad():
        latents = encoder(images)

    def gradient_of(_):
        output = decoder(latents)
        mse = (output - images).square().mean()
        loss = torch.sqrt((output - images).square() + 1e-6).mean() + 0.5 * mse
        loss.backward()
        return loss.item()

    ema = [parameter.detach().clone() for parameter in parameters]
    told = list(train(parameters, gradient_of, settings, steps, settings["clip"], ema))
    write(GOLDEN / "ten_losses.json", {"made_by": f"tools/goldens/make_train_goldens.py, torch {torch.__version__}",
                                       "optimizer": settings, "losses": [loss for loss, _ in told],
                                       "norms": [norm for _, norm in told]})


def main():
    parser = argparse.ArgumentParser(description="Makes the goldens of training.")
    parser.add_argument("--weights", type=pathlib.Path, default=ROOT.parent / "shared" / "weights")
    options = parser.parse_args()
    torch.set_num_threads(1)
    make_adamw()
    make_losses(options.weights, make_pictures())


if __name__ == "__main__":
    main()
