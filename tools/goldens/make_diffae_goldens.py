#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Zenith authors
# SPDX-License-Identifier: Apache-2.0
"""A small diffusion autoencoder with random weights, and what PyTorch computes with it.

It is as deep as the published ones are (two blocks in a level, attention inside, a level more in the encoder), which
tests the order of blocks and skips. Parameters are invented where the network asks for them, so the network alone says
which there are. Needs torch and safetensors.

    tools/goldens/make_diffae_goldens.py [FOLDER]        usually tests/golden/diffae
"""
import json
import os
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tools"))
import environment  # noqa: E402

environment.enter("torch", "safetensors", most=1)

import torch
import torch.nn.functional as F
from safetensors.torch import save_file

CONFIG = {
    "model": "diffae", "image_size": 16, "in_channels": 3, "channels": 8, "channel_mult": [1, 2, 2],
    "encoder_mult": [1, 2, 2, 3], "res_blocks": 2, "attention_resolutions": [8], "code": 24, "prior_width": 20,
    "prior_layers": 4, "timesteps": 1000, "betas": "linear 1e-4..0.02", "prior_betas": "const 0.008",
}
random = torch.Generator().manual_seed(20)
weights, solved = {}, {}  # what is trained; a linear encoder, which is not


def draw(*shape):
    return torch.randn(*shape, generator=random)


def parameter(name, *shape, gain=False):
    if name not in weights:
        fan = weights_of_one(shape)
        value = 1 + 0.1 * draw(*shape) if gain else draw(*shape) / fan**0.5 if fan else 0.1 * draw(*shape)
        weights[name] = value.bfloat16().float()  # so that a bf16 file holds it exactly
    return weights[name]


def weights_of_one(shape):
    return 0 if len(shape) == 1 else torch.Size(shape[1:]).numel()


def linear(name, x, outputs):
    return F.linear(x, parameter(name + ".weight", outputs, x.shape[-1]), parameter(name + ".bias", outputs))


def conv(name, x, outputs, side):
    weight = parameter(name + ".weight", outputs, x.shape[1], side, side)
    return F.conv2d(x, weight, parameter(name + ".bias", outputs), padding=side // 2)


def norm(name, x):
    c = x.shape[1]
    return F.group_norm(x, min(32, c), parameter(name + ".weight", c, gain=True), parameter(name + ".bias", c), 1e-5)


def resample(x, how):
    if how == "half":
        return F.avg_pool2d(x, 2)
    return F.interpolate(x, scale_factor=2) if how == "double" else x


def block(name, x, outputs, conditions, how=""):
    y = conv(name + ".in_layers.2", resample(F.silu(norm(name + ".in_layers.0", x)), how), outputs, 3)
    if conditions:
        time, code = (F.silu(condition) for condition in conditions)
        scale, shift = linear(name + ".emb_layers.1", time, 2 * outputs)[..., None, None].chunk(2, 1)
        y = norm(name + ".out_layers.0", y) * (1 + scale) + shift
        y = y * (1 + linear(name + ".cond_emb_layers.1", code, outputs)[..., None, None])
        y = conv(name + ".out_layers.3", F.silu(y), outputs, 3)
    x = resample(x, how)
    return y + (x if x.shape[1] == outputs else conv(name + ".skip_connection", x, outputs, 1))


def attention(name, x):
    n, c, h, w = x.shape
    tokens = norm(name + ".norm", x).flatten(2)
    qkv = F.conv1d(tokens, parameter(name + ".qkv.weight", 3 * c, c, 1), parameter(name + ".qkv.bias", 3 * c))
    q, k, v = (part * c**-0.25 if i < 2 else part for i, part in enumerate(qkv.chunk(3, 1)))
    y = v @ torch.softmax(q.transpose(1, 2) @ k, -1).transpose(1, 2)
    y = F.conv1d(y, parameter(name + ".proj_out.weight", c, c, 1), parameter(name + ".proj_out.bias", c))
    return x + y.reshape(n, c, h, w)


def scan(name, x, outputs):
    """Four scans of a map: what nn/diffae_blocks.h says of zn_nn_diffae_scan."""
    def walk(take, value, along, back):
        states, state = [], 0
        steps = range(x.shape[along])
        for i in reversed(steps) if back else steps:
            taken = torch.sigmoid(take.select(along, i))
            state = (1 - taken) * state + taken * value.select(along, i)
            states.append(state)
        return torch.stack(states[::-1] if back else states, along)
    value, gate, rows, columns = conv(name + ".in_proj", norm(name + ".norm", x), 4 * outputs, 1).chunk(4, 1)
    state = sum(walk(take, value, along, back) for take, along in ((rows, 3), (columns, 2)) for back in (False, True))
    y = conv(name + ".proj_out", F.silu(gate) * state, outputs, 1)
    return y + (x if x.shape[1] == outputs else conv(name + ".skip_connection", x, outputs, 1))


def down(prefix, x, multiples, conditions):
    number, made = 1, []
    scans = prefix == "encoder." and CONFIG.get("scan_encoder")
    same = scan if scans else (lambda name, x, outputs: block(name, x, outputs, conditions))
    mixed = (lambda name, x: scan(name, x, x.shape[1])) if scans else attention
    x = conv(prefix + "input_blocks.0.0", x, CONFIG["channels"] * multiples[0], 3)
    made.append(x)
    for level, multiple in enumerate(multiples):
        outputs = CONFIG["channels"] * multiple
        for _ in range(CONFIG["res_blocks"]):
            x = same(f"{prefix}input_blocks.{number}.0", x, outputs)
            if x.shape[2] in CONFIG["attention_resolutions"]:
                x = mixed(f"{prefix}input_blocks.{number}.1", x)
            made.append(x)
            number += 1
        if level < len(multiples) - 1:
            x = block(f"{prefix}input_blocks.{number}.0", x, outputs, conditions, "half")
            made.append(x)
            number += 1
    x = same(prefix + "middle_block.0", x, outputs)
    x = mixed(prefix + "middle_block.1", x)
    return same(prefix + "middle_block.2", x, outputs), made


def rows(x):
    """Maps as rows, by pieces of 16x16 places: the order that linear codes have."""
    n, channels, side, _ = x.shape
    piece = min(side, 16)
    x = x.reshape(n, channels, piece, side // piece, piece, side // piece)
    return x.permute(0, 2, 4, 3, 5, 1).reshape(n, -1)


def linear_code(x):
    return rows(x) @ solved["encoder.components.weight"].T * solved["encoder.components.factor"] + solved["encoder.components.offset"]


def draft(code):
    """What a linear code draws back."""
    side, channels = CONFIG["image_size"], CONFIG["in_channels"]
    piece = min(side, 16)
    x = code * solved["encoder.components.deviation"] @ solved["encoder.components.weight"] + solved["encoder.components.mean"]
    x = x.reshape(-1, piece, piece, side // piece, side // piece, channels)
    return x.permute(0, 5, 1, 3, 2, 4).reshape(-1, channels, side, side)


def encoder(x):
    if CONFIG.get("linear_code"):
        return linear_code(x)
    x, _ = down("encoder.", F.pixel_unshuffle(x, CONFIG.get("patch", 1)), CONFIG["encoder_mult"], None)
    x = F.silu(norm("encoder.out.0", x)).mean((2, 3), keepdim=True)
    return conv("encoder.out.3", x, CONFIG["code"], 1).flatten(1)


def features(times, size):
    angles = times[:, None].float() * torch.exp(-torch.log(torch.tensor(10000.0)) * torch.arange(size // 2) / (size // 2))
    return torch.cat([angles.cos(), angles.sin()], 1)


def embedding(name, times, size):
    return linear(name + ".2", F.silu(linear(name + ".0", features(times, size), CONFIG["code"])), CONFIG["code"])


def denoiser(x, times, code):
    conditions = embedding("time_embed.time_embed", times, CONFIG["channels"]), code
    patch = CONFIG.get("patch", 1)
    x = torch.cat([x, draft(code)], 1) if CONFIG.get("linear_code") else x
    x, made = down("", F.pixel_unshuffle(x, patch), CONFIG["channel_mult"], conditions)
    number = 0
    for level, multiple in reversed(list(enumerate(CONFIG["channel_mult"]))):
        outputs = CONFIG["channels"] * multiple
        for i in range(CONFIG["res_blocks"] + 1):
            place = 1
            x = block(f"output_blocks.{number}.0", torch.cat([x, made.pop()], 1), outputs, conditions)
            if x.shape[2] in CONFIG["attention_resolutions"]:
                x = attention(f"output_blocks.{number}.1", x)
                place = 2
            if level and i == CONFIG["res_blocks"]:
                x = block(f"output_blocks.{number}.{place}", x, outputs, conditions, "double")
            number += 1
    return F.pixel_shuffle(conv("out.2", F.silu(norm("out.0", x)), CONFIG["in_channels"] * patch**2, 3), patch)


def prior(codes, times):
    time, x = F.silu(embedding("latent_net.time_embed", times, 64)), codes
    for i in range(CONFIG["prior_layers"] - 1):
        name, width = f"latent_net.layers.{i}", CONFIG["prior_width"]
        x = linear(name + ".linear", x, width) * (1 + linear(name + ".cond_layers.1", time, width))
        gain, bias = parameter(name + ".norm.weight", width, gain=True), parameter(name + ".norm.bias", width)
        x = torch.cat([F.silu(F.layer_norm(x, [width], gain, bias)), codes], 1)
    return linear(f"latent_net.layers.{CONFIG['prior_layers'] - 1}.linear", x, CONFIG["code"])


def main():
    folder = sys.argv[1] if len(sys.argv) > 1 else os.path.join(os.path.dirname(__file__), "../../tests/golden/diffae")
    os.makedirs(folder, exist_ok=True)
    size, time = CONFIG["image_size"], torch.tensor([731])
    picture, noisy = draw(1, 3, size, size).clamp(-1, 1), draw(1, 3, size, size)
    code = encoder(picture)
    noise = draw(1, CONFIG["code"])
    results = {
        "picture": picture, "noisy": noisy, "time": time.float(), "code": code,
        "prediction": denoiser(noisy, time, code), "noise": noise, "prior": prior(noise, time),
    }
    save_file({name: value.bfloat16() for name, value in weights.items()}, os.path.join(folder, "model.safetensors"))
    save_file({name: value.contiguous() for name, value in results.items()}, os.path.join(folder, "io.safetensors"))
    with open(os.path.join(folder, "config.json"), "w", encoding="utf-8") as file:
        json.dump(CONFIG, file, indent=4)
        file.write("\n")


if __name__ == "__main__":
    torch.set_grad_enabled(False)
    torch.set_num_threads(1)
    main()
