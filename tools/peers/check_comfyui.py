#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Zenith authors
# SPDX-License-Identifier: Apache-2.0
"""Zenith's nodes in the code of a ComfyUI that is there: its stock nodes for VAEs, its loader, its wrappers, its constants, its TAESD.

    PYTHONPATH=python ZENITH_LIBRARY=build/release tools/peers/check_comfyui.py COMFYUI [WEIGHTS]

Needs torch, numpy and pillow, and none of ComfyUI's other packages: classes of nodes.py and comfy/taesd/taesd.py are taken out of their
files and run. WEIGHTS: a folder with taesd_encoder.safetensors and so on (and needs safetensors then), to compare pictures with
ComfyUI's own TAESD. Exit code 1: something differs.
"""
import ast
import asyncio
import importlib
import importlib.util
import inspect
import logging
import math
import os
import pathlib
import sys
import types

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tools"))
import environment  # noqa: E402

environment.enter("torch", most=2)

import torch


ROOT = pathlib.Path(__file__).resolve().parents[2]
FORMATS = {"taesd": "SD15", "taesdxl": "SDXL", "taesd3": "SD3", "taef1": "Flux", "zenith-sd-fast": "SD15", "zenith-f1-fast": "Flux"}
failures = 0


def check(what, fine):
    global failures
    failures += not fine
    print(f"{'ok' if fine else 'FAILED'}: {what}")


def taken(path, wanted, **names):
    """Definitions of a file, without what it imports."""
    tree = ast.parse(path.read_text())
    tree.body = [node for node in tree.body if getattr(node, "name", None) in wanted]
    exec(compile(tree, str(path), "exec"), names)
    return types.SimpleNamespace(**names)


def stock_nodes(comfyui):
    wanted = {"VAEDecode", "VAEDecodeTiled", "VAEEncode", "VAEEncodeTiled", "VAEEncodeForInpaint", "load_custom_node", "get_module_name"}
    return taken(comfyui / "nodes.py", wanted, torch=torch, math=math, os=os, sys=sys, importlib=importlib, inspect=inspect,
                 logging=logging, LOADED_MODULE_DIRS={}, EXTENSION_WEB_DIRS={}, NODE_CLASS_MAPPINGS={}, NODE_DISPLAY_NAME_MAPPINGS={})


def check_stock(nodes, vae, name):
    pixels = torch.rand(2, 70, 101, 3)
    samples = nodes.VAEEncode().encode(vae, pixels)[0]
    images = nodes.VAEDecode().decode(vae, samples)[0]
    check(f"{name}: VAE Encode and VAE Decode", tuple(images.shape) == (2, 64, 96, 3) and images.dtype == torch.float32)
    tiled = nodes.VAEDecodeTiled().decode(vae, samples, 64)[0]
    check(f"{name}: VAE Decode (tiled) has the same bits", torch.equal(tiled, images))
    check(f"{name}: VAE Encode (tiled)", torch.equal(nodes.VAEEncodeTiled().encode(vae, pixels, 64, 16)[0]["samples"], samples["samples"]))
    mask = torch.zeros(2, 70, 101)
    painted = nodes.VAEEncodeForInpaint().encode(vae, pixels, mask)[0]
    check(f"{name}: VAE Encode (for inpainting)", painted["samples"].shape == samples["samples"].shape)


def check_constants(formats, load, weights):
    for name, kind in FORMATS.items():
        folder = ROOT / "models" if name.startswith("zenith") else weights
        if folder is None:
            continue
        vae, latent = load(name, "f32", weights=str(folder))[0], torch.randn(1, vae_channels(name), 8, 8)
        theirs = getattr(formats, kind)()
        ours = (latent - vae.model.shift) * vae.model.scale
        check(f"{name}: scale and shift of {kind}", torch.allclose(theirs.process_in(latent), ours, rtol=1e-6, atol=1e-7))


def vae_channels(name):
    return 16 if name in ("taesd3", "taef1", "zenith-f1-fast") else 4


def check_taesd(comfyui, load, weights):
    """The same pictures as ComfyUI's TAESD, which its VAE loader gives vae_scale and vae_shift."""
    from safetensors.torch import load_file
    ops = types.SimpleNamespace(disable_weight_init=torch.nn)
    comfy = types.SimpleNamespace(ops=ops, utils=types.SimpleNamespace(load_torch_file=lambda path, safe_load=True: load_file(path)))
    theirs = taken(comfyui / "comfy/taesd/taesd.py", {"conv", "Clamp", "Block", "Encoder", "Decoder", "TAESD"}, torch=torch,
                   nn=torch.nn, comfy=comfy)
    for name in ("taesd", "taesdxl", "taesd3", "taef1"):
        vae, channels = load(name, "f32", weights=str(weights))[0], vae_channels(name)
        model = theirs.TAESD(weights / f"{name}_encoder.safetensors", weights / f"{name}_decoder.safetensors", channels)
        model.vae_scale.data.fill_(vae.model.scale)
        model.vae_shift.data.fill_(vae.model.shift)
        pixels = torch.rand(1, 64, 96, 3)
        with torch.no_grad():
            samples = model.encode(pixels.movedim(-1, 1) * 2 - 1)
            images = ((model.decode(samples) + 1) / 2).clamp(0, 1).movedim(1, -1)
        ours = vae.encode(pixels)
        check(f"{name}: latents of ComfyUI's TAESD", float((ours - samples).norm() / samples.norm()) < 1e-4)
        check(f"{name}: pictures of ComfyUI's TAESD", float((vae.decode(samples) - images).abs().max()) < 1e-4)


def check_previews(comfyui, node):
    """Through ComfyUI's own executor of wrappers."""
    extension = taken(comfyui / "comfy/patcher_extension.py", {"WrapperExecutor", "WrappersMP"}, Callable=object)
    seen, heard = [], []
    bar = types.SimpleNamespace(update_absolute=lambda *said: seen.append(said))
    sys.modules["comfy.utils"] = types.SimpleNamespace(ProgressBar=lambda total: bar)
    patcher = types.SimpleNamespace(model=types.SimpleNamespace(latent_format=types.SimpleNamespace(latent_channels=4)), wrappers=[])
    patcher.clone = lambda: patcher
    patcher.add_wrapper_with_key = lambda kind, key, wrapper: patcher.wrappers.append((kind, wrapper))
    node().patch(patcher, "zenith-sd-fast", weights=str(ROOT / "models"))

    class Guider:
        def outer_sample(self, noise, latent_image, sampler, sigmas, denoise_mask=None, callback=None, disable_pbar=False, seed=None,
                         latent_shapes=None):
            callback(0, torch.zeros(1, 4, 8, 8), None, 1)
            return "sampled"
    guider = Guider()
    executor = extension.WrapperExecutor.new_class_executor(guider.outer_sample, guider, [w for _, w in patcher.wrappers])
    result = executor.execute(None, None, None, None, None, lambda *step: heard.append(step), False, 1, latent_shapes=[])
    check("previews are called where ComfyUI samples", patcher.wrappers[0][0] == extension.WrappersMP.OUTER_SAMPLE and result == "sampled")
    check("previews are pictures", len(heard) == 1 and seen[0][2][0] == "JPEG" and seen[0][2][1].size == (64, 64))


def main():
    comfyui = pathlib.Path(sys.argv[1])
    weights = pathlib.Path(sys.argv[2]) if len(sys.argv) > 2 else None
    nodes = stock_nodes(comfyui)
    check("ComfyUI's loader takes the folder", asyncio.run(nodes.load_custom_node(str(ROOT / "python/comfyui"))))
    load = nodes.NODE_CLASS_MAPPINGS["ZenithVAELoader"]().load
    for name in ("zenith-sd-fast", "zenith-f1-small"):
        check_stock(nodes, load(name, weights=str(ROOT / "models"))[0], name)
    formats = taken(comfyui / "comfy/latent_formats.py", {"LatentFormat", "SD15", "SDXL", "SD3", "Flux"}, torch=torch)
    check_constants(formats, load, weights)
    if weights:
        check_taesd(comfyui, load, weights)
    check_previews(comfyui, nodes.NODE_CLASS_MAPPINGS["ZenithPreviews"])
    print(f"{failures} failures")
    return failures != 0


if __name__ == "__main__":
    sys.exit(main())
