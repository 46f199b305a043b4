#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Zenith authors
# SPDX-License-Identifier: Apache-2.0
"""Goldens of the families in tests/model/families: first weights, samples, and ten losses of AdamW in PyTorch.

    python tools/goldens/make_family_goldens.py        writes tests/golden/toy-denoiser.safetensors, toy-sequence.safetensors

Computed in double, from f32 weights and samples, so that the losses are those of the mathematics.
"""
import json
import math
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tools"))
import environment  # noqa: E402

environment.enter("torch", "safetensors", most=0)

import torch
import torch.nn.functional as F
from safetensors.torch import save_file

STEPS, LR, BETAS, EPS, DECAY = 10, 1e-2, (0.9, 0.99), 1e-8, 0.01
HEIGHT, WIDTH, TOKENS = 6, 8, 5
GOLDEN = pathlib.Path(__file__).resolve().parents[2] / "tests" / "golden"


def features(time, size=16, period=10000.0):
    half = size // 2
    angles = time * torch.exp(-math.log(period) * torch.arange(half, dtype=torch.float64) / half)
    return torch.cat([torch.cos(angles), torch.sin(angles)])


def attend(q, k, v, heads, causal=False):
    """q [tokens, heads * width]; k and v [keys, .. * width], shared by groups of heads"""
    width = q.shape[-1] // heads
    split = lambda x: x.reshape(x.shape[0], -1, width).transpose(0, 1)
    q, k, v = split(q), split(k), split(v)
    k, v = (x.repeat_interleave(heads // x.shape[0], 0) for x in (k, v))
    return F.scaled_dot_product_attention(q, k, v, is_causal=causal).transpose(0, 1).reshape(-1, heads * width)


def denoise(w, latent, text, style, time):
    line = lambda name, x: F.linear(x, w[f"{name}.weight"], w[f"{name}.bias"])
    conv = lambda name, x: F.conv2d(x, w[f"{name}.weight"], w[f"{name}.bias"], padding=1)
    condition = F.silu(line("time.0", features(time))) * line("style", style)
    x = conv("in", latent.permute(2, 0, 1)[None]).permute(0, 2, 3, 1)
    norm = lambda x: F.layer_norm(x, (16,), eps=1e-6)
    looked = attend(line("query", norm(x)).reshape(-1, 16), line("key", text), line("value", text), 2)
    x = x + line("said", looked).reshape(x.shape)
    y = norm(x) * (1 + line("scale", condition)) + line("shift", condition)
    y = line("down", F.gelu(line("up", y), approximate="tanh"))
    x = x + line("gate", condition) * y
    return conv("out", x.permute(0, 3, 1, 2))[0].permute(1, 2, 0)


def turn(x, angles, heads=2):
    tokens, channels = x.shape
    x = x.reshape(tokens, heads, channels // heads)
    half = channels // heads // 2
    cos, sin = angles[:, None, :half], angles[:, None, half:]
    a, b = x[..., :half], x[..., half:]
    return torch.cat([a * cos - b * sin, a * sin + b * cos], -1).reshape(tokens, channels)


def read(w, ids, angles):
    norm = lambda name, x: x / torch.sqrt((x * x).mean(-1, keepdim=True) + 1e-6) * w[f"{name}.weight"]
    x = w["embed.weight"][ids]
    h = norm("norm1", x)
    line = lambda name, x: F.linear(x, w[f"{name}.weight"])
    looked = attend(turn(line("query", h), angles), turn(line("key", h), angles, 1), line("value", h), 2, causal=True)
    x = x + line("mix", looked) + w["mix.bias"]
    h = norm("norm2", x)
    x = x + F.linear(F.silu(F.linear(h, w["gate.weight"])) * F.linear(h, w["up.weight"]), w["down.weight"])
    return F.linear(norm("norm3", x), w["head.weight"], w["head.bias"])


def begin(shapes, generator):
    weights = {}
    for name, shape in shapes.items():
        values = torch.randn(shape, generator=generator, dtype=torch.float32)
        if len(shape) > 1:
            values /= math.sqrt(math.prod(shape[1:]))
        elif name.startswith("norm"):
            values = 1 + 0.1 * values
        else:
            values *= 0.1
        weights[name] = values
    return weights


def train(name, part, weights, samples, target, run):
    parameters = {key: value.double().requires_grad_() for key, value in weights.items()}
    optimizer = torch.optim.AdamW(parameters.values(), lr=LR, betas=BETAS, eps=EPS, weight_decay=DECAY)
    losses = []
    for step in range(STEPS):
        optimizer.zero_grad()
        loss = F.mse_loss(run(parameters, *[s[step].double() if s.is_floating_point() else s[step] for s in samples.values()]),
                          target[step].double())
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    tensors = {f"{part}.{key}": value.contiguous() for key, value in weights.items()}
    save_file(tensors, GOLDEN / f"{name}.safetensors", {"zenith.model": name, "command": "python tools/goldens/make_family_goldens.py"})
    given = {key: value.float().contiguous() for key, value in samples.items()} | {"target": target.contiguous(), "losses": torch.tensor(losses, dtype=torch.float64).float()}
    save_file(given, GOLDEN / f"{name}.io.safetensors", {"command": "python tools/goldens/make_family_goldens.py"})
    print(name, json.dumps([round(x, 6) for x in losses]))


def main():
    generator = torch.Generator().manual_seed(1)
    normal = lambda *shape: torch.randn(shape, generator=generator)
    pair = lambda out, inputs: {"weight": (out, inputs), "bias": (out,)}
    layers = {"in": {"weight": (16, 4, 3, 3), "bias": (16,)}, "out": {"weight": (4, 16, 3, 3), "bias": (4,)},
              "time.0": pair(16, 16), "style": pair(16, 8), "query": pair(16, 16), "key": pair(16, 12), "value": pair(16, 12), "said": pair(16, 16),
              "shift": pair(16, 16), "scale": pair(16, 16), "gate": pair(16, 16),
              "up": pair(32, 16), "down": pair(16, 32)}
    shapes = {f"{layer}.{what}": shape for layer, both in layers.items() for what, shape in both.items()}
    samples = {"latent": normal(STEPS, HEIGHT, WIDTH, 4), "text": normal(STEPS, TOKENS, 12), "style": normal(STEPS, 8),
               "time": (torch.rand(STEPS, generator=generator) * 1000).round()}
    train("toy-denoiser", "denoiser", begin(shapes, generator), samples, normal(STEPS, HEIGHT, WIDTH, 4), denoise)

    shapes = {"embed.weight": (11, 16), "norm1.weight": (16,), "norm2.weight": (16,), "norm3.weight": (16,),
              "query.weight": (16, 16), "key.weight": (8, 16), "value.weight": (8, 16), "mix.weight": (16, 16), "mix.bias": (16,), "gate.weight": (24, 16), "up.weight": (24, 16),
              "down.weight": (16, 24), "head.weight": (11, 16), "head.bias": (11,)}
    positions = torch.arange(TOKENS * 2)[:, None] * torch.exp(-math.log(10000) * torch.arange(4) / 4)[None]
    angles = torch.cat([torch.cos(positions), torch.sin(positions)], -1).float()
    samples = {"ids": torch.randint(0, 11, (STEPS, TOKENS * 2), generator=generator), "angles": angles.expand(STEPS, -1, -1).contiguous()}
    train("toy-sequence", "text", begin(shapes, generator), samples, normal(STEPS, TOKENS * 2, 11), read)


main()
