#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Zenith authors
# SPDX-License-Identifier: Apache-2.0
"""Makes tests/golden/gradients_MODEL.safetensors: every gradient tensor of an encoder and a decoder.

    python tools/goldens/make_gradient_goldens.py [--weights DIR] [NAME..]       default: taesd taef2
    needs torch, numpy, safetensors

The losses are means of squared differences, computed in float64 on a picture of 32x32:
    encoder   of encoder(image) and 0.9 * encoder(image) + 0.05
    decoder   of decoder(latent) and the image, where latent is encoder(image) in float32
The files have
    image_u8        U8  [32,32,3]
    latent          F32 [1,C,4,4]
    target          F32 [1,C,4,4]    the encoder's
    PART.loss       F64 [1]
    PART.bf16_error F64 [1]          rms over the tensors of PyTorch's own bf16, of each the
                                     worst projection as part of the gradient's length
and for each parameter PART.NAME, and for PART.input (a map, in the order h, w, c), of its gradient g:
    PART.NAME.gradient  F64 [5]      its length, and sum(g[i] * cos((i + 1) * k)) for k = 1, 2, 3, 4
which any wrong element changes: a file of some kilobytes stands for millions of values.
"""
import argparse
import copy
import os
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tools"))
import environment  # noqa: E402

environment.enter("torch", "safetensors")

import torch
from safetensors.torch import save_file

import make_goldens
import taesd_reference

SIZE = 32
PROJECTIONS = (1, 2, 3, 4)


def summary(gradient):
    flat = gradient.detach().double().flatten()
    index = torch.arange(1, flat.numel() + 1, dtype=torch.float64)
    numbers = [flat.norm()] + [(flat * torch.cos(index * k)).sum() for k in PROJECTIONS]
    return torch.stack(numbers)


def bf16_error(part, network, x, target, out):
    """The rms error over the tensors of PyTorch's own bf16 (autocast), measured as the test does ours."""
    network.requires_grad_(True)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        y = network(x)
    torch.nn.functional.mse_loss(y.float(), target).backward()
    errors = []
    for name, parameter in network.named_parameters():
        exact = out[f"{part}.{name}.gradient"]
        errors.append((summary(parameter.grad) - exact).abs().max() / exact[0])
    return torch.stack(errors).square().mean().sqrt().reshape(1)


def gradients(part, network, x, target, out):
    network32 = copy.deepcopy(network)
    x32 = x
    network = network.double().requires_grad_(True)
    x = x.double().clone().requires_grad_(True)
    loss = torch.nn.functional.mse_loss(network(x), target.double())
    loss.backward()
    out[f"{part}.loss"] = loss.detach().reshape(1)
    out[f"{part}.input.gradient"] = summary(x.grad[0].permute(1, 2, 0))
    for name, parameter in network.named_parameters():
        out[f"{part}.{name}.gradient"] = summary(parameter.grad)
    out[f"{part}.bf16_error"] = bf16_error(part, network32, x32, target, out)


def make(name, weights):
    encoder, decoder = taesd_reference.load(name, weights)
    picture = make_goldens.draw_picture(SIZE, SIZE)
    image = make_goldens.to_tensor(picture)
    with torch.no_grad():
        latent = encoder(image)
    target = 0.9 * latent + 0.05
    out = {"image_u8": torch.from_numpy(picture), "latent": latent, "target": target}
    gradients("encoder", encoder, image, target, out)
    gradients("decoder", decoder, latent, image, out)
    path = make_goldens.OUT / f"gradients_{name}.safetensors"
    note = f"remade by: python tools/goldens/make_gradient_goldens.py {name}; torch {torch.__version__}"
    save_file({k: v.contiguous() for k, v in out.items()}, path, metadata={"golden": note})
    path.chmod(0o644)
    print(path, path.stat().st_size)


def main():
    weights = os.environ.get("ZENITH_TEST_WEIGHTS", make_goldens.ROOT.parent / "shared" / "weights")
    parser = argparse.ArgumentParser(description="Makes tests/golden/gradients_MODEL.safetensors.")
    parser.add_argument("names", nargs="*", metavar="NAME", default=["taesd", "taef2"])
    parser.add_argument("--weights", type=pathlib.Path, default=weights)
    options = parser.parse_args()
    torch.set_num_threads(1)
    for name in options.names:
        make(name, options.weights)


if __name__ == "__main__":
    main()
