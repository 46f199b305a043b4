#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Zenith authors
# SPDX-License-Identifier: Apache-2.0
"""diffusers' own remote_decode and remote_encode against a running `zenith serve`, with every option of theirs. Needs
diffusers, torch, requests and Pillow; the tests of CTest do without them.

    zenith serve taesd taef1 --port 8188 &
    tools/peers/check_remote_vae.py --address http://127.0.0.1:8188
"""
import argparse
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tools"))
import environment  # noqa: E402

environment.enter("numpy", "torch", "diffusers", "PIL")

import numpy
import requests
import torch
from diffusers.image_processor import VaeImageProcessor
from diffusers.utils.remote_utils import remote_decode, remote_encode
from PIL import Image

FAILURES = []


def check(condition, what):
    print("ok    " if condition else "FAILED", what)
    if not condition:
        FAILURES.append(what)


def near(a, b, bound, what):
    difference = float((a.float() - b.float()).abs().max())
    check(difference <= bound, f"{what}: {difference:.4g}")


def decode_all(endpoint, model, dtype):
    torch.manual_seed(1)
    channels, factor = model["latent_channels"], model["factor"]
    latents = torch.randn(1, channels, 24, 32).to(dtype)
    name = f"{model['id']} {str(dtype)[6:]}"
    processor = VaeImageProcessor(vae_scale_factor=factor)
    size = (32 * factor, 24 * factor)
    unscaled = {"do_scaling": True}
    plain = remote_decode(endpoint, latents, image_format="png", **unscaled)
    check(plain.size == size and plain.format == "png", f"{name}: pil, png")
    jpeg = remote_decode(endpoint, latents, image_format="jpg", **unscaled)
    check(jpeg.size == size and jpeg.format == "jpeg", f"{name}: pil, jpg")
    pixels = torch.from_numpy(numpy.array(plain))
    partial = remote_decode(endpoint, latents, output_type="pt", return_type="pt", partial_postprocess=True, **unscaled)
    check(partial.dtype == torch.uint8 and torch.equal(partial[0], pixels), f"{name}: pt, partial, to pt")
    picture = remote_decode(endpoint, latents, output_type="pt", return_type="pil", partial_postprocess=True, **unscaled)
    check(numpy.array_equal(numpy.array(picture), numpy.array(plain)), f"{name}: pt, partial, to pil")
    signed = remote_decode(endpoint, latents, output_type="pt", return_type="pt", **unscaled)
    check(signed.dtype == dtype and signed.shape == (1, 3, size[1], size[0]), f"{name}: pt")
    back = ((signed.float() / 2 + 0.5).clamp(0, 1) * 255).round()
    near(back[0].permute(1, 2, 0), pixels, 2, f"{name}: pt is the picture")
    picture = remote_decode(endpoint, latents, processor=processor, output_type="pt", return_type="pil", **unscaled)
    near(torch.from_numpy(numpy.array(picture)), pixels, 2, f"{name}: pt, processor, to pil")
    pictures = remote_decode(endpoint, latents, processor=processor, output_type="pil", return_type="pil", **unscaled)
    near(torch.from_numpy(numpy.array(pictures[0])), pixels, 2, f"{name}: pil, processor, to pil")
    unit = remote_decode(endpoint, latents, processor=processor, output_type="pil", return_type="pt", **unscaled)
    check(0 <= float(unit.min()) and float(unit.max()) <= 1, f"{name}: pil, processor, to pt")
    scale, shift = model.get("scaling_factor"), model.get("shift_factor")
    if scale is not None:
        factors = {"scaling_factor": scale, "shift_factor": shift}
        same = remote_decode(endpoint, latents, image_format="png", **factors)
        check(numpy.array_equal(numpy.array(same), numpy.array(plain)), f"{name}: scaling_factor, shift_factor")
        raw = latents.float() / scale + shift
        done = remote_decode(endpoint, raw, image_format="png", do_scaling=False)
        near(torch.from_numpy(numpy.array(done)), pixels, 3, f"{name}: scaled by the client")
    several = remote_decode(endpoint, latents.repeat(2, 1, 1, 1), output_type="pt", return_type="pt",
                            partial_postprocess=True, **unscaled)
    check(torch.equal(several[0], several[1]) and torch.equal(several[0], pixels), f"{name}: two at once")
    if channels == 16:
        tokens = latents.view(1, 16, 12, 2, 16, 2).permute(0, 2, 4, 1, 3, 5).reshape(1, 12 * 16, 64)
        done = remote_decode(endpoint, tokens.contiguous(), image_format="png", height=size[1], width=size[0], **unscaled)
        check(numpy.array_equal(numpy.array(done), numpy.array(plain)), f"{name}: packed")
    try:
        remote_decode(endpoint, latents, output_type="mp4", return_type="mp4", **unscaled)
        check(False, f"{name}: mp4 is refused")
    except RuntimeError as error:
        check("unprocessable" in str(error), f"{name}: mp4 is refused")


def encode_all(endpoint, model, dtype):
    name = f"{model['id']} {str(dtype)[6:]} encode"
    factor = model["factor"]
    x = numpy.arange(256)[None, :, None] + numpy.arange(192)[:, None, None] * numpy.array([1, 2, 3])[None, None]
    image = Image.fromarray((x % 256).astype("uint8"))
    processor = VaeImageProcessor(vae_scale_factor=factor)
    shape = (1, model["latent_channels"], 192 // factor, 256 // factor)
    scale, shift = model.get("scaling_factor"), model.get("shift_factor")
    if scale is None:
        scaled = remote_encode(endpoint + "?do_scaling=true", image)
        check(scaled.shape == shape, f"{name}: a picture, scaled by the server")
        return
    scaled = remote_encode(endpoint, image, scaling_factor=scale, shift_factor=shift)
    check(scaled.shape == shape and scaled.dtype == torch.float32, f"{name}: a picture")
    raw = remote_encode(endpoint, image)
    near((raw - shift) * scale, scaled, 1e-3, f"{name}: without factors")
    # Contiguous by ourselves: of others remote_encode sends a copy that is freed before it is read.
    tensor = processor.preprocess(image).to(dtype).contiguous()
    latent = remote_encode(endpoint, tensor, scaling_factor=scale, shift_factor=shift)
    check(latent.shape == shape and latent.dtype == dtype, f"{name}: a tensor")
    wide = remote_encode(endpoint, tensor.float(), scaling_factor=scale, shift_factor=shift)
    check(torch.equal(latent, wide.to(dtype)), f"{name}: a tensor as the same numbers in float32")
    if dtype == torch.float32:
        near(latent, scaled, 0.05, f"{name}: a tensor as the picture")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--address", default="http://127.0.0.1:8188")
    address = parser.parse_args().address
    for model in requests.get(f"{address}/v1/models", timeout=10).json()["data"]:
        for dtype in (torch.float32, torch.float16, torch.bfloat16):
            decode_all(f"{address}/remote/{model['id']}/decode", model, dtype)
            encode_all(f"{address}/remote/{model['id']}/encode", model, dtype)
    print(f"{len(FAILURES)} failures")
    return bool(FAILURES)


if __name__ == "__main__":
    sys.exit(main())
