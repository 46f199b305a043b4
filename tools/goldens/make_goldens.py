#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Zenith authors
# SPDX-License-Identifier: Apache-2.0
"""Makes the committed golden files in tests/golden, so that a plain checkout tests something real.

    python tools/goldens/make_goldens.py [--weights DIR] [NAME..]       default: everything
    needs torch, numpy, safetensors; for tiny_diffusers also diffusers

tests/golden/MODEL.safetensors, for each of the five tiny autoencoders, computed in float32:
    image_u8   U8  [48,64,3]    a picture drawn by formula
    latent     F32 [1,C,6,8]    encoder(image_u8 / 255), raw
    decoded    F32 [1,3,48,64]  decoder(latent), scale 0 to 1, not clamped
and for every layer N of encoder and decoder that is a convolution or a residual block, of its
output [1,c,h,w] before any activation that is a layer of its own:
    encoder.N.sample  F32 [64]  the values at flat positions (k * 7919) % size, k = 0..63
    encoder.N.stat    F32 [2]   mean and root mean square of all values, summed in float64
Tensor names begin with encoder. or decoder.; layers are counted as in tools/goldens/taesd_reference.py.

tests/golden/tiny_diffusers: a random AutoencoderTiny of width 8 as diffusers saves it, with
io.safetensors: image (scale -1 to 1), latent, decoded (scale -1 to 1), latent_01 (the latent as
diffusers scales it into 0 to 1). Its weights are exact in bfloat16.
"""
import argparse
import os
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tools"))
import environment  # noqa: E402

environment.enter("numpy", "torch", "safetensors")

import numpy as np
import torch
from safetensors.torch import save_file

import taesd_reference

ROOT = pathlib.Path(__file__).resolve().parents[2]
OUT = ROOT / "tests" / "golden"
TINY = "tiny_diffusers"
SAMPLES = 64
SAMPLE_STEP = 7919  # a prime that divides no layer's size, so that positions do not repeat


def draw_picture(height, width, seed=1):
    """[h,w,3] u8: gradients, a bright disc with a sharp edge, diagonal stripes and some noise."""
    y, x = np.mgrid[0:height, 0:width] / float(height)
    picture = np.stack([40 + 150 * x, 60 + 120 * y, 200 - 90 * (x + y) / 2], axis=-1)
    disc = (x - 0.45) ** 2 + (y - 0.4) ** 2 < 0.06
    picture[disc] = (235, 190, 60)
    stripes = (np.floor((x + y) * 12) % 2 == 0) & (x > 0.9)
    picture[stripes] *= 0.35
    noise = np.random.default_rng(seed).integers(-10, 11, picture.shape)
    return np.clip(np.rint(picture + noise), 0, 255).astype(np.uint8)


def to_tensor(picture):
    return torch.from_numpy(picture).permute(2, 0, 1)[None].float().div(255).contiguous()


def save(tensors, path, name):
    """One metadata entry only: safetensors writes several in an order that changes between runs."""
    note = f"remade by: python tools/goldens/make_goldens.py {name}; torch {torch.__version__}"
    save_file(tensors, path, metadata={"golden": note})
    path.chmod(0o644)


def run_sampled(network, x, prefix, store):
    """Runs a sequence of layers and notes samples and statistics of convolutions and blocks."""
    for index, layer in enumerate(network):
        x = layer(x)
        if isinstance(layer, (torch.nn.Conv2d, taesd_reference.Block)):
            values = x.contiguous().flatten()
            positions = torch.arange(SAMPLES) * SAMPLE_STEP % values.numel()
            wide = values.double()
            stat = torch.stack([wide.mean(), wide.square().mean().sqrt()])
            store[f"{prefix}.{index}.sample"] = values[positions].clone()
            store[f"{prefix}.{index}.stat"] = stat.float()
    return x.contiguous()


def make_model(name, weights):
    encoder, decoder = taesd_reference.load(name, weights)
    picture = draw_picture(48, 64)
    golden = {"image_u8": torch.from_numpy(picture)}
    golden["latent"] = run_sampled(encoder, to_tensor(picture), "encoder", golden)
    golden["decoded"] = run_sampled(decoder, golden["latent"], "decoder", golden)
    save(golden, OUT / f"{name}.safetensors", name)


def randomise(model, seed):
    """Values of sane scale in every parameter, rounded to bfloat16."""
    generator = torch.Generator().manual_seed(seed)
    for _, parameter in sorted(model.named_parameters()):
        scale = parameter[0].numel() ** -0.5 if parameter.ndim > 1 else 0.1
        values = torch.randn(parameter.shape, generator=generator) * scale
        parameter.copy_(values.bfloat16().float())


def make_tiny():
    os.environ["HF_HUB_OFFLINE"] = "1"  # nothing is downloaded
    from diffusers import AutoencoderTiny
    model = AutoencoderTiny(latent_channels=4, encoder_block_out_channels=(8,) * 4,
                            decoder_block_out_channels=(8,) * 4).eval()
    randomise(model, seed=2)
    image = to_tensor(draw_picture(32, 24)) * 2 - 1
    latent = model.encode(image).latents
    io = {"image": image, "latent": latent, "decoded": model.decode(latent).sample.contiguous(),
          "latent_01": model.scale_latents(latent)}
    model.save_pretrained(OUT / TINY, safe_serialization=True)
    (OUT / TINY / "diffusion_pytorch_model.safetensors").chmod(0o644)
    save(io, OUT / TINY / "io.safetensors", TINY)


def main():
    names = (*taesd_reference.MODELS, TINY)
    weights = os.environ.get("ZENITH_TEST_WEIGHTS", ROOT.parent / "shared" / "weights")
    parser = argparse.ArgumentParser(description="Makes the golden files in tests/golden.")
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(names)}")
    parser.add_argument("--weights", type=pathlib.Path, default=weights,
                        help="directory with MODEL_encoder / MODEL_decoder.safetensors")
    options = parser.parse_args()
    unknown = set(options.names) - set(names)
    if unknown:
        parser.error(f"unknown: {', '.join(sorted(unknown))}")
    torch.set_grad_enabled(False)
    torch.set_num_threads(1)
    OUT.mkdir(parents=True, exist_ok=True)
    for name in options.names or names:
        if name == TINY:
            make_tiny()
        else:
            make_model(name, options.weights)
        print(f"made {name}")


if __name__ == "__main__":
    main()
