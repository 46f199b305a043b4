#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Zenith authors
# SPDX-License-Identifier: Apache-2.0
"""What the training of a diffusion autoencoder is compared with: gradients and ten losses of a tiny one, in PyTorch.

    python tools/goldens/make_diffae_train_goldens.py        needs torch, numpy, safetensors, pillow

tests/golden/diffae_train, diffae_scan_train with an encoder of scans, diffae_patch_train with squares of pixels and
predicted velocities and diffae_linear_train with linear codes besides have
    model.safetensors, config.json  first weights, random, exact in bf16
    gradients.safetensors           the gradient of the first step, in float64, rounded
    ten_losses.json                 the loss and the gradient's norm, before each of ten steps of Adam
"""
import json
import pathlib

import make_diffae_goldens as diffae
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tools"))
import environment  # noqa: E402

environment.enter("numpy", "torch", "PIL", "safetensors", most=0)

import numpy as np
import torch
from make_kl_train_goldens import philox
from make_train_goldens import train
from PIL import Image
from safetensors.torch import save_file

ROOT = pathlib.Path(__file__).resolve().parents[2]
SEED, BATCH, STEPS = 5, 2, 10
SETTINGS = {"lr": 1e-3, "min_lr": 1e-4, "warmup": 2, "beta1": 0.9, "beta2": 0.999, "eps": 1e-8, "weight_decay": 0.0,
            "clip": 1.0, "ema": 0.9}
SHAPE = {"image_size": 32, "channels": 4, "channel_mult": [1, 2, 2], "encoder_mult": [1, 2, 2, 2], "res_blocks": 1,
         "attention_resolutions": [8], "code": 8, "prior_width": 12, "prior_layers": 3}


def words(seed, counters):
    """Numbers of the library's generator: four for each counter."""
    counters = np.asarray(counters, np.uint64)
    low = np.uint64(0xffffffff)
    counter = np.stack([counters & low, counters >> np.uint64(32), 0 * counters, 0 * counters], 1)
    return philox(counter, (seed & 0xffffffff, seed >> 32))


def sample_of(number, side):
    """Timestep and noise of a sample, by the run's seed and the sample's number."""
    first = words(~SEED & 0xffffffffffffffff, [number])[0].tolist()
    drawn = words(first[0] << 32 | first[1], np.arange(side * side * 3 // 4)).astype(np.float64).reshape(-1, 2)
    radius, angle = np.sqrt(-2 * np.log((drawn[:, 0] + 1) * 2.0**-32)), 6.283185307179586 * 2.0**-32 * drawn[:, 1]
    normal = np.stack([radius * np.cos(angle), radius * np.sin(angle)], 1).astype(np.float32)
    return first[2] * 1000 >> 32, torch.from_numpy(normal.reshape(side, side, 3)).permute(2, 0, 1)


def code_noise_of(number):
    """Of a linear code: normal numbers times 0 .. code_noise."""
    first = words(SEED + 0xc0de, [number])[0].tolist()
    drawn = words(first[0] << 32 | first[1], np.arange((diffae.CONFIG["code"] + 3) // 4)).astype(np.float64).reshape(-1, 2)
    radius, angle = np.sqrt(-2 * np.log((drawn[:, 0] + 1) * 2.0**-32)), 6.283185307179586 * 2.0**-32 * drawn[:, 1]
    normal = np.stack([radius * np.cos(angle), radius * np.sin(angle)], 1).astype(np.float32).reshape(-1)[:diffae.CONFIG["code"]]
    return torch.from_numpy(normal) * np.float32(diffae.CONFIG["code_noise"] * first[2] * 2.0**-32)


def guess(noisy, draft, kept, added):
    """The velocity that the noisy picture and the draft let expect."""
    error = diffae.CONFIG["draft_deviation"]**2 * kept**2
    trust = error / (error + added**2)
    start = (1 - trust) * draft + trust * noisy / kept
    return kept * (noisy - kept * start) / added - added * start


def losses_of(parameters, picture, first_gradients=None):
    shares = np.cumprod(1 - np.linspace(1e-4, 0.02, 1000))
    kept, added = (torch.from_numpy(np.sqrt(x).astype(np.float32)).to(picture.dtype) for x in (shares, 1 - shares))

    def gradient_of(step):
        samples = [sample_of(step * BATCH + i, picture.shape[-1]) for i in range(BATCH)]
        times = torch.tensor([time for time, _ in samples])
        noise = torch.stack([noise for _, noise in samples]).to(picture.dtype)
        pictures = picture.expand(BATCH, -1, -1, -1)
        noisy = kept[times][:, None, None, None] * pictures + added[times][:, None, None, None] * noise
        wanted = noise
        if diffae.CONFIG.get("prediction") == "velocity":
            wanted = kept[times][:, None, None, None] * noise - added[times][:, None, None, None] * pictures
        code, expected = diffae.encoder(pictures), 0
        if diffae.CONFIG.get("linear_code"):
            code = code + torch.stack([code_noise_of(step * BATCH + i) for i in range(BATCH)]).to(picture.dtype)
            expected = guess(noisy, diffae.draft(code), kept[times][:, None, None, None], added[times][:, None, None, None])
        loss = (diffae.denoiser(noisy, times, code) + expected - wanted).square().mean()
        loss.backward()
        if step == 0 and first_gradients is not None:
            first_gradients.update({name: value.grad.clone() for name, value in diffae.weights.items()})
        return loss.item()

    ema = [value.detach().clone() for value in parameters]
    return [{"loss": loss, "norm": norm}
            for loss, norm in train(parameters, gradient_of, SETTINGS, STEPS, SETTINGS["clip"], ema)]


def invent_components():
    """Random rows, exact in bf16, where training has singular vectors."""
    count, values = diffae.CONFIG["code"], diffae.CONFIG["image_size"]**2 * diffae.CONFIG["in_channels"]
    draws = {"weight": 0.1 * diffae.draw(count, values), "factor": 0.03 * (1 + 0.2 * diffae.draw(count)),
             "deviation": 3 * (1 + 0.2 * diffae.draw(count)), "offset": diffae.draw(count), "mean": 0.3 * diffae.draw(values)}
    diffae.solved.update({f"encoder.components.{name}": value.bfloat16().float() for name, value in draws.items()})


def make(out, shape):
    diffae.CONFIG.clear()
    diffae.CONFIG.update(shape)
    diffae.weights.clear()
    diffae.solved.clear()
    if shape.get("linear_code"):
        invent_components()
    side = diffae.CONFIG["image_size"]
    with torch.no_grad():  # the networks say which parameters there are
        diffae.denoiser(torch.zeros(1, 3, side, side), torch.tensor([1]), diffae.encoder(torch.zeros(1, 3, side, side)))
    out.mkdir(exist_ok=True)
    note = f"python tools/goldens/make_diffae_train_goldens.py; torch {torch.__version__}"
    first = {name: value.clone() for name, value in diffae.weights.items()}
    save_file({name: value.bfloat16() for name, value in (first | diffae.solved).items()}, out / "model.safetensors", {"golden": note})
    (out / "config.json").write_text(json.dumps(diffae.CONFIG, indent=1) + "\n")
    picture = torch.from_numpy(np.array(Image.open(ROOT / "tests/train/data/0.png"))).permute(2, 0, 1)[None]
    runs, gradients, features = [], {}, diffae.features
    for dtype in (torch.float64, torch.float32):
        diffae.features = lambda times, size, dtype=dtype: features(times, size).to(dtype)
        diffae.weights.update({name: value.to(dtype).requires_grad_() for name, value in first.items()})
        diffae.solved.update({name: value.to(dtype) for name, value in diffae.solved.items()})
        pixels = ((picture.float() / 255 - 0.5) / 0.5).to(dtype)
        runs.append(losses_of(list(diffae.weights.values()), pixels, gradients if dtype == torch.float64 else None))
    worst = {key: max(abs(a[key] - b[key]) / a[key] for a, b in zip(*runs)) for key in ("loss", "norm")}
    print(f"float32 and float64 differ by {worst}")
    save_file({name: value.float() for name, value in gradients.items()}, out / "gradients.safetensors", {"golden": note})
    golden = {"made_by": note, "seed": SEED, "batch": BATCH, "optimizer": SETTINGS, "rounding": worst, "steps": runs[1]}
    if shape.get("linear_code"):
        golden["code"] = diffae.linear_code(pixels)[0].tolist()
    (out / "ten_losses.json").write_text(json.dumps(golden, indent=1) + "\n")
    for path in out.iterdir():
        path.chmod(0o644)
    diffae.features = features
    print(json.dumps(runs[1][0]), json.dumps(runs[1][-1]), sum(value.numel() for value in first.values()), "parameters")


if __name__ == "__main__":
    torch.set_num_threads(1)
    SHAPE = diffae.CONFIG | SHAPE
    make(ROOT / "tests/golden/diffae_train", SHAPE)
    SETTINGS["lr"] = 2e-4  # from 1e-3 on a gradient of this tiny network is so steep that f32 and f64 part
    make(ROOT / "tests/golden/diffae_scan_train", SHAPE | {"scan_encoder": 1})
    make(ROOT / "tests/golden/diffae_patch_train", SHAPE | {"patch": 2, "prediction": "velocity"})
    make(ROOT / "tests/golden/diffae_linear_train", SHAPE | {"patch": 2, "prediction": "velocity", "linear_code": 1,
                                                             "code_noise": 0.3, "draft_deviation": 0.7})
