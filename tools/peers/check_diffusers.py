#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Zenith authors
# SPDX-License-Identifier: Apache-2.0
"""Autoencoders of the diffusers that is installed, by Zenith and by PyTorch, on the same random weights.

    PYTHONPATH=python ZENITH_LIBRARY=build/release tools/peers/check_diffusers.py

Needs torch, diffusers and numpy. Each class, each form: latents and pictures within f32's rounding; then what must fall back to
PyTorch. Exit code 1: something differs.
"""
import copy
import pathlib
import sys
import types

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tools"))
import environment  # noqa: E402

environment.enter("torch", "diffusers", most=0)

import torch
from diffusers import AutoencoderKL, AutoencoderTiny
from zenith_latents.diffusers import patch

BOUND = 1e-5  # relative, of f32 through 30 to 60 layers
BLOCKS = {"block_out_channels": (32, 64, 64, 64), "down_block_types": ("DownEncoderBlock2D",) * 4,
          "up_block_types": ("UpDecoderBlock2D",) * 4, "layers_per_block": 1, "norm_num_groups": 8}
FORMS = {
    "AutoencoderTiny, 4 channels": lambda: AutoencoderTiny(),
    "AutoencoderTiny, 16 channels": lambda: AutoencoderTiny(latent_channels=16),
    "AutoencoderKL, as Stable Diffusion": lambda: AutoencoderKL(**BLOCKS, latent_channels=4, scaling_factor=0.18215),
    "AutoencoderKL, as FLUX": lambda: AutoencoderKL(**BLOCKS, latent_channels=16, use_quant_conv=False, use_post_quant_conv=False,
                                                    scaling_factor=0.3611, shift_factor=0.1159),
}
failures = 0


def check(name, ours, theirs, bound=BOUND):
    global failures
    difference = float((ours - theirs).norm() / theirs.norm())
    failures += not difference <= bound or ours.dtype != theirs.dtype
    print(f"{name}: relative difference {difference:.1e}")


def latents_of(answer):
    return answer.latents if hasattr(answer, "latents") else answer.latent_dist.parameters


for form, make in FORMS.items():
    torch.manual_seed(1)
    theirs = make().eval()
    ours = patch(types.SimpleNamespace(vae=copy.deepcopy(theirs))).vae
    pictures, latents = torch.rand(2, 3, 64, 96) * 2 - 1, torch.randn(2, theirs.config.latent_channels, 8, 12)
    with torch.no_grad():
        check(f"{form}, encode", latents_of(ours.encode(pictures)), latents_of(theirs.encode(pictures)))
        check(f"{form}, decode", ours.decode(latents).sample, theirs.decode(latents).sample)
        check(f"{form}, decode as a tuple", ours.decode(latents, return_dict=False)[0], theirs.decode(latents).sample)
        half = ours.decode(latents.bfloat16()).sample
        check(f"{form}, decode of bfloat16", half.float(), theirs.decode(latents.bfloat16().float()).sample, 1e-2)
        failures += half.dtype != torch.bfloat16
    with_gradient = ours.decode(latents.clone().requires_grad_()).sample
    failures += not with_gradient.requires_grad
    check(f"{form}, with a gradient", with_gradient.detach(), theirs.decode(latents).sample.detach(), 0)
print(f"{failures} failures")
sys.exit(failures != 0)
