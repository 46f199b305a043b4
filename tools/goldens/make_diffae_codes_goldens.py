#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Zenith authors
# SPDX-License-Identifier: Apache-2.0
"""What the training of a diffusion autoencoder's prior and classifier is compared with: gradients and ten losses of tiny
ones, in PyTorch.

    python tools/goldens/make_diffae_codes_goldens.py        needs torch, numpy, safetensors, pillow

tests/golden/diffae_codes/codes.safetensors, labels.json
    codes of pictures that are not there, and labels of them
tests/golden/diffae_codes/prior, classifier
    model.safetensors, config.json    first weights, random, exact in bf16
    gradients.safetensors             the gradient of the first step, in float64, rounded
    ten_losses.json                   the loss and the gradient's norm, before each of ten steps of AdamW
"""
import json
import pathlib

import make_diffae_goldens as diffae
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tools"))
import environment  # noqa: E402

environment.enter("numpy", "torch", "safetensors", most=0)

import numpy as np
import torch
import torch.nn.functional as F
from make_diffae_train_goldens import words
from make_kl_train_goldens import philox
from make_train_goldens import train
from safetensors.torch import save_file

ROOT = pathlib.Path(__file__).resolve().parents[2]
OUT = ROOT / "tests/golden/diffae_codes"
SEED, BATCH, STEPS, CODES, NUMBERS = 5, 6, 10, 17, 8
ATTRIBUTES = ["glasses", "smiling", "hair=dark", "hair=red"]
SETTINGS = {"lr": 2e-3, "min_lr": 1e-4, "warmup": 2, "beta1": 0.9, "beta2": 0.999, "eps": 1e-8, "weight_decay": 0.01,
            "clip": 1.0, "ema": 0.9}
SHAPE = {"image_size": 32, "channels": 4, "channel_mult": [1, 2, 2], "encoder_mult": [1, 2, 2, 2], "res_blocks": 1,
         "attention_resolutions": [8], "code": NUMBERS, "prior_width": 12, "prior_layers": 4}
NOTE = f"python tools/goldens/make_diffae_codes_goldens.py; torch {torch.__version__}"


def place(number):
    """Which code a number of the run is: place number % CODES of the order of its epoch (src/train/data/permutation.c)."""
    half, epoch, value = 4, number // CODES, number % CODES
    while 1 << (2 * half) < CODES:
        half += 1
    mask = (1 << half) - 1
    while True:
        left, right = value >> half, value & mask
        for turn in range(6):
            drawn = philox(np.array([[right, turn, epoch & 0xffffffff, epoch >> 32]], np.uint64), (SEED & 0xffffffff, SEED >> 32))
            left, right = right, left ^ (int(drawn[0][0]) & mask)
        value = left << half | right
        if value < CODES:
            return value


def noise_of(number):
    """Timestep and noise of a row, by the run's seed and the row's number."""
    first = words(~SEED & 0xffffffffffffffff, [number])[0].tolist()
    drawn = words(first[0] << 32 | first[1], np.arange(NUMBERS // 4)).astype(np.float64).reshape(-1, 2)
    radius, angle = np.sqrt(-2 * np.log((drawn[:, 0] + 1) * 2.0**-32)), 6.283185307179586 * 2.0**-32 * drawn[:, 1]
    return first[2] * 1000 >> 32, torch.from_numpy(np.stack([radius * np.cos(angle), radius * np.sin(angle)], 1)
                                                   .astype(np.float32).reshape(NUMBERS))


def prior_loss(codes, numbers):
    shares = np.cumprod(1 - np.full(1000, 0.008))
    kept, added = (torch.from_numpy(np.sqrt(x).astype(np.float32)).to(codes.dtype) for x in (shares, 1 - shares))
    rows = [noise_of(number) for number in numbers]
    times = torch.tensor([time for time, _ in rows])
    noise = torch.stack([noise for _, noise in rows]).to(codes.dtype)
    clean = codes[[place(number) for number in numbers]]
    noisy = kept[times][:, None] * clean + added[times][:, None] * noise
    return (diffae.prior(noisy, times) - noise).abs().mean()


def classifier_loss(codes, numbers):
    rows = [place(number) for number in numbers]
    scores = diffae.linear("classifier", codes[rows], len(ATTRIBUTES))
    return F.binary_cross_entropy_with_logits(scores, LABELS[rows].to(codes.dtype))


def run(loss_of, codes, gradients):
    parameters = list(diffae.weights.values())

    def gradient_of(step):
        loss = loss_of(codes, range(step * BATCH, step * BATCH + BATCH))
        loss.backward()
        if step == 0:
            gradients.update({name: value.grad.clone() for name, value in diffae.weights.items()})
        return loss.item()

    ema = [value.detach().clone() for value in parameters]
    return [{"loss": loss, "norm": norm} for loss, norm in train(parameters, gradient_of, SETTINGS, STEPS, SETTINGS["clip"], ema)]


def make(name, loss_of, codes, config, statistics):
    folder = OUT / name
    folder.mkdir(parents=True, exist_ok=True)
    diffae.weights.clear()
    with torch.no_grad():  # the network says which parameters there are
        loss_of(codes, range(2))
    first = {name: value.clone() for name, value in diffae.weights.items()}
    save_file({name: value.bfloat16() for name, value in (first | statistics).items()}, folder / "model.safetensors", {"golden": NOTE})
    (folder / "config.json").write_text(json.dumps(config, indent=1) + "\n")
    runs, gradients, features = [], {}, diffae.features
    for dtype in (torch.float64, torch.float32):
        diffae.features = lambda times, size, dtype=dtype: features(times, size).to(dtype)
        diffae.weights.update({name: value.to(dtype).requires_grad_() for name, value in first.items()})
        runs.append(run(loss_of, codes.to(dtype), gradients if dtype == torch.float64 else {}))
    diffae.features = features
    worst = max(abs(a["loss"] - b["loss"]) / a["loss"] for a, b in zip(*runs))
    print(f"{name}: float32 and float64 differ by {worst:.1e};", json.dumps(runs[1][0]), json.dumps(runs[1][-1]))
    save_file({name: value.float() for name, value in gradients.items()}, folder / "gradients.safetensors", {"golden": NOTE})
    (folder / "ten_losses.json").write_text(json.dumps(
        {"made_by": NOTE, "seed": SEED, "batch": BATCH, "optimizer": SETTINGS, "steps": runs[1]}, indent=1) + "\n")
    for path in folder.iterdir():
        path.chmod(0o644)


def main():
    global LABELS
    diffae.CONFIG |= SHAPE
    OUT.mkdir(parents=True, exist_ok=True)
    codes = diffae.draw(CODES, NUMBERS) * torch.linspace(0.1, 3, NUMBERS) + torch.linspace(-1, 1, NUMBERS)
    mean, deviation = codes.mean(0), codes.std(0)
    names = [f"pictures/{i}.png" for i in range(CODES)]
    save_file({"z": codes, "conds_mean": mean, "conds_std": deviation}, OUT / "codes.safetensors",
              {"golden": NOTE, "zenith.model": "diffae", "zenith.weights": "0" * 64, "zenith.size": "[32,32]",
               "zenith.pictures": json.dumps(names)})
    (OUT / "codes.safetensors").chmod(0o644)
    normalised = (codes - mean) / deviation
    hair = ["dark" if z[2] > 0.4 else "red" if z[2] < -0.4 else None for z in normalised]
    labels = {name: [int(z[0] > 0), int(z[1] + z[3] > 0), value] for name, z, value in zip(names, normalised, hair)}
    (OUT / "labels.json").write_text(json.dumps({"attributes": ["glasses", "smiling", "hair"], "labels": labels}) + "\n")
    LABELS = torch.tensor([[a, b, value == "dark", value == "red"] for a, b, value in labels.values()]).float()
    make("prior", prior_loss, normalised, diffae.CONFIG, {})
    make("classifier", classifier_loss, normalised, diffae.CONFIG | {"attributes": ATTRIBUTES},
         {"conds_mean": mean, "conds_std": deviation})


if __name__ == "__main__":
    torch.set_num_threads(1)
    main()
