#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Zenith authors
# SPDX-License-Identifier: Apache-2.0
"""How exact are the full-size autoencoders of images and of Wan? Compares `zenith` with diffusers f32 on the same weights.

    bench/vae_accuracy.py FOLDER                        512x512, encode and decode, f32 and bf16
    bench/vae_accuracy.py FOLDER --image photo.png --size 256 --dtypes f32 --json
    bench/vae_accuracy.py FOLDER --stored e4m3 --model flux-vae --size 256

FOLDER holds config.json and diffusion_pytorch_model.safetensors; bench/make_vae.py makes one with random weights.
Encoding starts from the picture, decoding from diffusers' latent, so that the two are judged apart. diffusers'
results are slow to make and are kept in FOLDER/reference, under a digest of weights and picture.

A row for each operation and type: relative L2 of the result (raw mean; picture on -1 .. 1), its largest difference,
and the bar (f32 2e-5, bf16 2e-2). With --json the last line is one JSON object with the rows.

--stored: are weights stored as 8-bit floats what PyTorch makes of them? PyTorch rounds the weights in three ways (a scale for
each tensor under either set of names, a plain cast), and makes f32 weights of the same numbers. `zenith` decodes a latent of noise
with each; diffusers decodes it with the f32 weights. Then `zenith convert` writes the weights, and its numbers are compared with
PyTorch's rounding by the same scales. The bar is 1e-5, and that no number differs.

Exit code: 0 all bars held, 1 one was missed, 2 something could not be run.
"""
import argparse
import hashlib
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile

from common import ROOT, environment

environment.enter("numpy", "torch", "PIL", "diffusers", "safetensors")

import diffusers  # noqa: E402
import numpy as np  # noqa: E402
import torch  # noqa: E402
from PIL import Image  # noqa: E402
from safetensors.torch import load_file, save_file  # noqa: E402

BARS = {"f32": 2e-5, "bf16": 2e-2}
FILE = "diffusion_pytorch_model.safetensors"
KINDS = {"e4m3": (torch.float8_e4m3fn, 448.0), "e5m2": (torch.float8_e5m2, 57344.0)}
STORED_BAR = 1e-5


def zenith(options, *arguments):
    model = ("--model", options.model) if options.model else ()
    subprocess.run([str(options.zenith), *map(str, arguments), *model, "--quiet"], check=True)


def relative(got, expected):
    difference = got.astype(np.float64) - expected
    return float(np.linalg.norm(difference) / np.linalg.norm(expected.astype(np.float64)))


# --- against diffusers


def picture(options):
    """uint8 [size, size, 3]: a photograph, cropped, or shapes with noise."""
    if options.image:
        image = Image.open(options.image).convert("RGB")
        side = min(image.size)
        left, top = (image.width - side) // 2, (image.height - side) // 2
        image = image.crop((left, top, left + side, top + side)).resize((options.size, options.size))
        return np.asarray(image)
    y, x = np.mgrid[0:options.size, 0:options.size] / options.size
    waves = [np.sin(20 * x + 3 * i) * np.cos(11 * y * (i + 1)) for i in range(3)]
    noise = np.random.default_rng(3).standard_normal((options.size, options.size, 3))
    return np.clip(127.5 + 90 * np.stack(waves, -1) + 20 * noise, 0, 255).astype(np.uint8)


def digest(folder, pixels):
    text = hashlib.sha256(pixels.tobytes())
    with open(folder / FILE, "rb") as file:
        while block := file.read(1 << 24):
            text.update(block)
    return text.hexdigest()[:16]


def run_diffusers(folder, pixels):
    """Wan's pictures are clips of one frame, and clamped: its last convolution's results are taken instead."""
    video = json.loads((folder / "config.json").read_text())["_class_name"] == "AutoencoderKLWan"
    kind = diffusers.AutoencoderKLWan if video else diffusers.AutoencoderKL
    model = kind.from_pretrained(str(folder), torch_dtype=torch.float32)
    x = torch.from_numpy(pixels.copy()).permute(2, 0, 1)[None].float() / 255 * 2 - 1
    mean = model.encode(x[:, :, None] if video else x).latent_dist.mean
    if not video:
        return mean.numpy(), model.decode(mean).sample.numpy()
    model.clear_cache()
    decoded = model.decoder(model.post_quant_conv(mean), feat_cache=model._feat_map, feat_idx=[0], first_chunk=True)
    if model.config.patch_size:
        decoded = diffusers.models.autoencoders.autoencoder_kl_wan.unpatchify(decoded, model.config.patch_size)
    return mean[:, :, 0].numpy(), decoded[:, :, 0].numpy()


def reference(folder, pixels):
    """Raw mean [1, C, h, w] and picture [1, 3, h, w] on -1 .. 1, by diffusers in f32."""
    path = folder / "reference" / f"{digest(folder, pixels)}.npz"
    if not path.exists():
        mean, decoded = run_diffusers(folder, pixels)
        path.parent.mkdir(exist_ok=True)
        np.savez(path, mean=mean, decoded=decoded)
    stored = np.load(path)
    return stored["mean"], stored["decoded"]


def compare(operation, dtype, got, expected):
    error = relative(got, expected)
    return {"operation": operation, "dtype": dtype, "relative_l2": error,
            "largest": float(np.abs(got.astype(np.float64) - expected).max()), "held": bool(error <= BARS[dtype])}


def against_diffusers(options, work):
    pixels = picture(options)
    mean, decoded = reference(options.folder, pixels)
    rows = []
    Image.fromarray(pixels).save(work / "picture.png")
    np.save(work / "mean.npy", mean)
    for dtype in options.dtypes:
        how = ("--dtype", dtype, "--space", "raw", "--weights", options.folder)
        zenith(options, "encode", work / "picture.png", "-o", work / "latent.npy", *how)
        rows.append(compare("encode", dtype, np.load(work / "latent.npy"), mean))
        zenith(options, "decode", work / "mean.npy", "-o", work / "decoded.npy", *how)
        rows.append(compare("decode", dtype, np.load(work / "decoded.npy") * 2 - 1, decoded))
    print("| operation | type | relative L2 | largest | bar |\n|---|---|---|---|---|")
    for row in rows:
        print(f"| {row['operation']} | {row['dtype']} | {row['relative_l2']:.2e} | {row['largest']:.2e} "
              f"| {'held' if row['held'] else 'missed'} |")
    if options.json:
        print(json.dumps({"folder": str(options.folder), "size": options.size, "rows": rows}))
    return all(row["held"] for row in rows)


# --- weights stored as 8-bit floats


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


class Stored:
    def __init__(self, options, work):
        self.options, self.work, self.held = options, work, True
        self.kind, (self.dtype, _) = options.stored, KINDS[options.stored]
        side = options.size // 8
        noise = np.random.default_rng(0).standard_normal((1, 16, side, side))
        np.save(work / "latent.npy", noise.astype(np.float32))

    def folder(self, name, tensors=None):
        folder = self.work / name.replace(" ", "-")
        folder.mkdir(exist_ok=True)
        shutil.copy(self.options.folder / "config.json", folder)
        if tensors:
            save_file(tensors, folder / FILE)
        return folder

    def decode(self, folder):
        zenith(self.options, "decode", self.work / "latent.npy", "-o", self.work / "out.npy", "--weights", folder,
               "--dtype", "f32", "--space", "raw")
        return np.load(self.work / "out.npy")

    def report(self, what, value, bar=STORED_BAR):
        self.held &= value <= bar
        print(f"{self.kind} {what}: {value:.3g}", flush=True)

    def rounded_by_pytorch(self, weights):
        forms = stored_forms(weights, self.kind)
        pictures = {form: self.decode(self.folder(form, tensors)) for form, tensors in forms.items()}
        self.report("scaled, against f32", relative(pictures["scaled"], pictures["scaled f32"]))
        self.report("scaled, older names", relative(pictures["scaled older"], pictures["scaled f32"]))
        self.report("plain, against f32", relative(pictures["plain"], pictures["plain f32"]))
        model = diffusers.AutoencoderKL.from_pretrained(str(self.folder("scaled f32")), torch_dtype=torch.float32)
        expected = model.decode(torch.from_numpy(np.load(self.work / "latent.npy"))).sample.numpy()
        self.report("scaled, against diffusers", relative(pictures["scaled"] * 2 - 1, expected))
        return pictures

    def converted(self, weights, pictures):
        folder = self.folder("converted")
        zenith(self.options, "convert", self.options.folder, "-o", folder / FILE, "--store", "f8_" + self.kind)
        different = total = 0
        made = load_file(folder / FILE)
        for name, tensor in made.items():
            if tensor.dtype != self.dtype:
                continue
            scale = made.get(name + "_scale", torch.tensor(1.0))
            expected = (weights[name].reshape(tensor.shape) / scale).to(self.dtype)
            different += int((expected.view(torch.uint8) != tensor.view(torch.uint8)).sum())
            total += tensor.numel()
        self.report(f"numbers of {total} that convert rounds otherwise", different, 0)
        bf16 = 2 * sum(tensor.numel() for tensor in weights.values())
        print(f"{self.kind} file: {(folder / FILE).stat().st_size} bytes; bf16 has {bf16}", flush=True)
        exact = self.decode(self.options.folder)
        for form, made in (("converted", self.decode(folder)), ("scaled", pictures["scaled"]), ("plain", pictures["plain"])):
            print(f"{self.kind} what rounding costs, {form}: {100 * relative(made, exact):.2f} %", flush=True)


def against_pytorch(options, work):
    weights, stored = load_file(options.folder / FILE), Stored(options, work)
    stored.converted(weights, stored.rounded_by_pytorch(weights))
    return stored.held


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--model", help="where config.json does not tell: sd-vae, sdxl-vae, sd3-vae, flux-vae")
    parser.add_argument("--image", type=pathlib.Path, help="a photograph; default: a made-up picture")
    parser.add_argument("--size", type=int, default=512)
    parser.add_argument("--dtypes", type=lambda text: text.split(","), default=list(BARS))
    parser.add_argument("--stored", choices=KINDS)
    parser.add_argument("--zenith", type=pathlib.Path, default=ROOT / "build/release/zenith")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    try:
        with tempfile.TemporaryDirectory() as work, torch.no_grad():
            return 0 if (against_pytorch if options.stored else against_diffusers)(options, pathlib.Path(work)) else 1
    except (OSError, subprocess.CalledProcessError) as failure:
        print(f"vae_accuracy: {failure}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
