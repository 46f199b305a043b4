#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Zenith authors
# SPDX-License-Identifier: Apache-2.0
"""Latents from picture to picture by diffusers' transformer and scheduler, of the golden pipeline (ZENITH_TEST_GOLDEN).

    python tools/goldens/make_img2img_golden.py GOLDEN/pipeline        writes tests/golden/img2img.safetensors

Which steps are left out, how the noise is mixed in and how steps are made is what diffusers' ZImageImg2ImgPipeline
does with them (get_timesteps, scale_noise, step). The picture is a latent, so that nothing but the noise is drawn from
the seed. Made with diffusers 0.42.1 and torch 2.13.0 on a CPU, in f32.
"""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tools"))
import environment  # noqa: E402

environment.enter("torch", "diffusers", "safetensors", most=1)

import torch
from diffusers import FlowMatchEulerDiscreteScheduler, ZImageTransformer2DModel
from safetensors.torch import load_file, save_file

GOLDEN = pathlib.Path(__file__).resolve().parents[2] / "tests" / "golden"
HEIGHT, WIDTH, STEPS, SEED = 8, 12, 8, 42


def picture():
    """A latent as an encoder could give it: smooth, within a few units."""
    c, y, x = torch.meshgrid(torch.arange(16.0), torch.arange(HEIGHT * 1.0), torch.arange(WIDTH * 1.0), indexing="ij")
    return (torch.sin(0.7 * c + 0.5 * y) + torch.cos(0.3 * c - 0.4 * x)).to(torch.float32)[None]


@torch.no_grad()
def run(folder, transformer, embeds, strength, out):
    scheduler = FlowMatchEulerDiscreteScheduler.from_pretrained(folder / "scheduler")
    scheduler.set_timesteps(sigmas=torch.linspace(1.0, 1 / STEPS, STEPS).tolist())
    start = int(max(STEPS - min(STEPS * strength, STEPS), 0))
    timesteps = scheduler.timesteps[start:]
    scheduler.set_begin_index(start)
    noise = torch.randn(1, 16, HEIGHT, WIDTH, generator=torch.Generator().manual_seed(SEED))
    latents = scheduler.scale_noise(picture(), timesteps[:1], noise)
    for i, t in enumerate(timesteps):
        answer = transformer([latents[0].unsqueeze(1)], ((1000 - t) / 1000).expand(1), [embeds])[0]
        velocity = -torch.stack([one.float() for one in answer]).squeeze(2)
        latents = scheduler.step(velocity, t, latents, return_dict=False)[0]
        out[f"{strength}.latents.{i + 1}"] = latents.contiguous().clone()
    print(strength, len(timesteps), "steps")


def main():
    folder = pathlib.Path(sys.argv[1])
    transformer = ZImageTransformer2DModel.from_pretrained(folder / "transformer", torch_dtype=torch.float32)
    embeds = load_file(folder / "io_turbo.safetensors")["prompt_embeds"]
    out = {"picture": picture()}
    for strength in (0.6, 0.125):
        run(folder, transformer, embeds, strength, out)
    save_file(out, GOLDEN / "img2img.safetensors")


if __name__ == "__main__":
    main()
