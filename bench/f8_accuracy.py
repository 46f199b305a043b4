#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Zenith authors
# SPDX-License-Identifier: Apache-2.0
"""Are weights stored as 8-bit floats what PyTorch makes of them? Full-size KL autoencoders.

    bench/f8_accuracy.py FOLDER [--kind e4m3|e5m2] [--side 32]

FOLDER holds config.json and diffusion_pytorch_model.safetensors in f32; bench/make_vae.py makes one. PyTorch rounds the
weights in three ways (a scale for each tensor under either set of names, a plain cast), and makes f32 weights of the
same numbers. `zenith` decodes a latent of noise, SIDE x SIDE, with each; diffusers decodes it with the f32 weights.
Then `zenith convert` writes the weights, and its numbers are compared with PyTorch's rounding by the same scales.
Needs torch, diffusers, safetensors and numpy. Exit code: 0 if all errors are at most 1e-5 and no number differs.
"""
import argparse
import pathlib
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tools"))
import environment  # noqa: E402

environment.enter("numpy", "torch", "diffusers", "safetensors")

import numpy as np
import torch
from diffusers import AutoencoderKL
from safetensors.torch import load_file, save_file

ROOT = pathlib.Path(__file__).resolve().parents[1]
FILE = "diffusion_pytorch_model.safetensors"
KINDS = {"e4m3": (torch.float8_e4m3fn, 448.0), "e5m2": (torch.float8_e5m2, 57344.0)}
BAR = 1e-5


def stored_forms(weights, kind):
    """The tensors of each file, by form; f32 ones have the same numbers as the form they are named after."""
    dtype, largest = KINDS[kind]
    forms = {form: {} for form in ("scaled", "scaled older", "scaled f32", "plain", "plain f32")}
    forms["scaled older"]["scaled_fp8"] = torch.zeros(0, dtype=dtype)
    for name, weight in weights.items():
        if weight.ndim < 2:
            for tensors in forms.values():
                tensors[name] = weight.clone()
            continue
        scale = weight.abs().max() / largest
        rounded = (weight / scale).to(dtype)
        forms["scaled"][name], forms["scaled"][name + "_scale"] = rounded, scale.clone()
        forms["scaled older"][name] = rounded
        forms["scaled older"][name.removesuffix("weight") + "scale_weight"] = scale.reshape(1).clone()
        forms["scaled f32"][name] = rounded.float() * scale
        forms["plain"][name] = weight.to(dtype)
        forms["plain f32"][name] = weight.to(dtype).float()
    return forms


def error(got, expected):
    return float(np.linalg.norm((got - expected).astype(np.float64)) / np.linalg.norm(expected.astype(np.float64)))


class Bench:
    def __init__(self, options, work):
        self.options, self.work, self.held = options, pathlib.Path(work), True
        noise = np.random.default_rng(0).standard_normal((1, 16, options.side, options.side))
        np.save(self.work / "latent.npy", noise.astype(np.float32))

    def folder(self, name, tensors=None):
        folder = self.work / name.replace(" ", "-")
        folder.mkdir(exist_ok=True)
        shutil.copy(self.options.folder / "config.json", folder)
        if tensors:
            save_file(tensors, folder / FILE)
        return folder

    def zenith(self, *arguments):
        subprocess.run([str(self.options.zenith), *map(str, arguments), "--model", self.options.model, "-q"], check=True)

    def decode(self, folder):
        self.zenith("decode", self.work / "latent.npy", "-o", self.work / "out.npy", "--weights", folder,
                    "--dtype", "f32", "--space", "raw")
        return np.load(self.work / "out.npy")

    def report(self, what, value, bar=BAR):
        self.held &= value <= bar
        print(f"{self.options.kind} {what}: {value:.3g}", flush=True)

    def rounded_by_pytorch(self, weights):
        forms = stored_forms(weights, self.options.kind)
        pictures = {form: self.decode(self.folder(form, tensors)) for form, tensors in forms.items()}
        self.report("scaled, against f32", error(pictures["scaled"], pictures["scaled f32"]))
        self.report("scaled, older names", error(pictures["scaled older"], pictures["scaled f32"]))
        self.report("plain, against f32", error(pictures["plain"], pictures["plain f32"]))
        model = AutoencoderKL.from_pretrained(str(self.folder("scaled f32")), torch_dtype=torch.float32)
        with torch.no_grad():
            expected = model.decode(torch.from_numpy(np.load(self.work / "latent.npy"))).sample.numpy()
        self.report("scaled, against diffusers", error(pictures["scaled"] * 2 - 1, expected))
        return pictures

    def converted(self, weights, pictures):
        dtype, _ = KINDS[self.options.kind]
        folder = self.folder("converted")
        self.zenith("convert", self.options.folder, "-o", folder / FILE, "--store", "f8_" + self.options.kind)
        different = total = 0
        for name, tensor in load_file(folder / FILE).items():
            if tensor.dtype != dtype:
                continue
            scale = load_scale(folder / FILE, name)
            expected = (weights[name].reshape(tensor.shape) / scale).to(dtype)
            different += int((expected.view(torch.uint8) != tensor.view(torch.uint8)).sum())
            total += tensor.numel()
        self.report(f"numbers of {total} that convert rounds otherwise", different, 0)
        bf16 = 2 * sum(tensor.numel() for tensor in weights.values())
        print(f"{self.options.kind} file: {(folder / FILE).stat().st_size} bytes; bf16 has {bf16}", flush=True)
        exact = self.decode(self.options.folder)
        for form, picture in (("converted", self.decode(folder)), ("scaled", pictures["scaled"]),
                              ("plain", pictures["plain"])):
            print(f"{self.options.kind} what rounding costs, {form}: {100 * error(picture, exact):.2f} %", flush=True)


def load_scale(path, name):
    from safetensors import safe_open
    with safe_open(path, "pt") as file:
        return file.get_tensor(name + "_scale") if name + "_scale" in file.keys() else torch.tensor(1.0)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--model", default="flux-vae")
    parser.add_argument("--kind", choices=KINDS, default="e4m3")
    parser.add_argument("--side", type=int, default=32)
    parser.add_argument("--zenith", type=pathlib.Path, default=ROOT / "build/release/zenith")
    options = parser.parse_args()
    weights = load_file(options.folder / FILE)
    with tempfile.TemporaryDirectory() as work:
        bench = Bench(options, work)
        bench.converted(weights, bench.rounded_by_pytorch(weights))
    return 0 if bench.held else 1


if __name__ == "__main__":
    sys.exit(main())
