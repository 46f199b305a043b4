#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Zenith authors
# SPDX-License-Identifier: Apache-2.0
"""How exact is `zenith`? Compares it with PyTorch f32 on the same weights and photographs.

    bench/accuracy.py                               all models, all photographs, f32, bf16 and int8
    bench/accuracy.py --models taesd --images 3 --dtypes bf16 --json

Encoding starts from the photograph, decoding from PyTorch's latent, so that the two are judged
apart. PyTorch's results are slow to make and kept in --cache; a file's name holds a digest of the
photograph and its folder's name one of the weights, so a stale result is never used.

Per model and type, one row of a Markdown table:
    encode max     largest difference of a latent value from PyTorch
    encode L2      worst |z - z'| / |z'| of an image, z' from PyTorch
    decode max     largest difference of an output value (scale 0 to 1, not clamped) from PyTorch
    vs f32         PSNR of the output against zenith's own f32 output: lowest / mean of the images
    vs PyTorch     the same against PyTorch's f32 output
    photo f32, T   mean PSNR of the output, rounded to 8 bits, against the photograph
    bars           what was missed of the table BARS below, or "ok"
With --json the last line is one JSON object with the rows and every image's figures.
Exit code: 0 all bars held, 1 a bar missed, 2 something could not be run.
"""
import argparse
import dataclasses
import hashlib
import json
import math
import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "tools"), str(ROOT / "tools/goldens")]
import environment  # noqa: E402

environment.enter("numpy", "torch", "PIL", "safetensors")

import numpy as np  # noqa: E402
import torch  # noqa: E402
from PIL import Image  # noqa: E402

import taesd_reference  # noqa: E402

DTYPES = ("f32", "bf16", "int8")
BARS = {  # dtype -> (figure of a row, "max" or "min" allowed, bound)
    "f32": (("decode_max_abs", "max", 2e-5),
            ("encode_max_abs", "max", 5e-5)),
    "bf16": (("decode_psnr_min", "min", 55.0),
             ("encode_rel_l2_max", "max", 0.01)),
    "int8": (("decode_psnr_mean", "min", 44.0),
             ("photo_psnr_loss", "max", 0.1),
             ("encode_rel_l2_max", "max", 0.03)),
}
NO_INT8 = {"taef2"}  # its group norm has no 8-bit path


class Failure(Exception):
    """Something could not be run; the message says what to do."""


@dataclasses.dataclass
class Photo:
    path: pathlib.Path
    key: str            # name and digest: the stem of PyTorch's files for it
    pixels: np.ndarray  # [h,w,3] u8


def digest(*paths):
    sha = hashlib.sha256()
    for path in paths:
        sha.update(path.read_bytes())
    return sha.hexdigest()[:8]


def load_photo(path):
    with Image.open(path) as image:
        pixels = np.asarray(image.convert("RGB"))
    if pixels.shape[0] % 8 or pixels.shape[1] % 8:
        raise Failure(f"{path}: width and height must be multiples of 8")
    return Photo(path, f"{path.stem}-{digest(path)}", pixels)


def save_atomically(path, array):
    """An interrupted run must not leave half a file in the cache."""
    partial = path.with_suffix(".partial")
    with partial.open("wb") as file:
        np.save(file, array)
    partial.replace(path)


class Reference:
    """PyTorch's f32 latents and decodes of one model, made when missing and kept as .npy files."""

    def __init__(self, model, weights, cache):
        self.model, self.weights = model, weights
        files = [weights / f"{model}_{part}.safetensors" for part in ("encoder", "decoder")]
        for file in files:
            if not file.exists():
                raise Failure(f"{file}: no such file (give the directory with --weights)")
        self.folder = cache / f"{model}-{digest(*files)}"
        self.networks = None

    def latent_path(self, photo):
        return self.folder / "latent" / f"{photo.key}.npy"

    def decoded_path(self, photo):
        return self.folder / "decoded" / f"{photo.key}.npy"

    def make(self, photo):
        latent_path, decoded_path = self.latent_path(photo), self.decoded_path(photo)
        if latent_path.exists() and decoded_path.exists():
            return
        if self.networks is None:  # loaded late: a full cache needs no network
            self.networks = [network.to(memory_format=torch.channels_last)
                             for network in taesd_reference.load(self.model, self.weights)]
            latent_path.parent.mkdir(parents=True, exist_ok=True)
            decoded_path.parent.mkdir(parents=True, exist_ok=True)
        encoder, decoder = self.networks
        image = torch.from_numpy(photo.pixels.copy()).permute(2, 0, 1)[None].float() / 255
        latent = encoder(image).contiguous()
        save_atomically(latent_path, latent.numpy())
        save_atomically(decoded_path, decoder(latent).contiguous().numpy())


def run_zenith(options, op, model, dtype, files, folder):
    """`zenith encode` or `decode` of all files into folder, as .npy named after them."""
    command = [options.zenith, op, *files, "--model", model, "--weights", options.weights,
               "--dtype", dtype, "-o", folder, "--format", "npy"]
    if options.threads:
        command += ["--threads", options.threads]
    try:
        done = subprocess.run([str(word) for word in command], stdout=subprocess.DEVNULL,
                              stderr=subprocess.PIPE, text=True, check=False)
    except OSError as error:
        raise Failure(f"{options.zenith}: {error.strerror} (build it, or give --zenith)") from error
    if done.returncode:
        raise Failure(f"zenith {op} --model {model} --dtype {dtype} failed with exit code "
                      f"{done.returncode}: {done.stderr.strip()}")


def read_result(folder, stem, shape):
    path = folder / f"{stem}.npy"
    if not path.exists():
        raise Failure(f"zenith wrote no {path.name}")
    array = np.load(path)
    if array.shape != shape or array.dtype != np.float32:
        raise Failure(f"{path.name}: zenith wrote {array.dtype} {array.shape}, not float32 {shape}")
    return array.astype(np.float64)


def psnr(got, wanted):
    """Peak 1; equal arrays have infinite PSNR, and a NaN stays a NaN, which misses every bar."""
    error = np.mean((got - wanted) ** 2)
    return math.inf if error == 0 else float(-10 * np.log10(error))


def photo_psnr(decoded, photo):
    """Of the 8-bit picture that a user would get, [1,3,h,w] against [h,w,3]."""
    rounded = np.rint(np.clip(decoded[0].transpose(1, 2, 0), 0, 1) * 255)
    return psnr(rounded / 255, photo.pixels / 255)


def encode_figures(got, wanted):
    difference = got - wanted
    return {"encode_max_abs": float(np.abs(difference).max()),
            "encode_rel_l2": float(np.linalg.norm(difference) / np.linalg.norm(wanted))}


def decode_figures(got, own_f32, wanted, photo):
    return {"decode_max_abs": float(np.abs(got - wanted).max()),
            "psnr_vs_f32": psnr(got, own_f32),
            "psnr_vs_pytorch": psnr(got, wanted),
            "photo_psnr_f32": photo_psnr(own_f32, photo),
            "photo_psnr": photo_psnr(got, photo)}


def measure(options, reference, photos, dtypes, scratch):
    """All figures of one model: {dtype: [figures of an image]}."""
    model = reference.model
    out = {(op, dtype): pathlib.Path(scratch) / f"{model}-{op}-{dtype}"
           for op in ("encode", "decode") for dtype in DTYPES}
    for dtype in sorted({"f32", *dtypes}):
        run_zenith(options, "decode", model, dtype, map(reference.latent_path, photos),
                   out["decode", dtype])
    for dtype in dtypes:
        run_zenith(options, "encode", model, dtype, [photo.path for photo in photos],
                   out["encode", dtype])
    figures = {dtype: [] for dtype in dtypes}
    for photo in photos:
        latent = np.load(reference.latent_path(photo))
        decoded = np.load(reference.decoded_path(photo))
        own_f32 = read_result(out["decode", "f32"], photo.key, decoded.shape)
        for dtype in dtypes:
            got_latent = read_result(out["encode", dtype], photo.path.stem, latent.shape)
            got = read_result(out["decode", dtype], photo.key, decoded.shape)
            figures[dtype].append({"image": photo.path.name, **encode_figures(got_latent, latent),
                                   **decode_figures(got, own_f32, decoded, photo)})
    return figures


def summarise(model, dtype, figures):
    """One row of the table. numpy's max and min, unlike Python's, hand a NaN on."""
    column = {name: np.array([image[name] for image in figures])
              for name in figures[0] if name != "image"}
    row = {"model": model, "dtype": dtype, "images": len(figures)}
    row["encode_max_abs"] = float(column["encode_max_abs"].max())
    row["encode_rel_l2_max"] = float(column["encode_rel_l2"].max())
    row["decode_max_abs"] = float(column["decode_max_abs"].max())
    for name in ("psnr_vs_f32", "psnr_vs_pytorch"):
        row[f"{name}_min"] = float(column[name].min())
        row[f"{name}_mean"] = float(column[name].mean())
    # Bars apply to the worse of the two, so that neither a wrong f32 nor luck can hide a loss.
    for kind in ("min", "mean"):
        row[f"decode_psnr_{kind}"] = float(np.minimum(row[f"psnr_vs_f32_{kind}"],
                                                      row[f"psnr_vs_pytorch_{kind}"]))
    row["photo_psnr_f32"] = float(column["photo_psnr_f32"].mean())
    row["photo_psnr"] = float(column["photo_psnr"].mean())
    row["photo_psnr_loss"] = float((column["photo_psnr_f32"] - column["photo_psnr"]).mean())
    row["missed"] = [f"{name} {row[name]:.3g}, allowed {kind} {bound:g}"
                     for name, kind, bound in BARS[dtype]
                     if not (row[name] <= bound if kind == "max" else row[name] >= bound)]
    return row


def print_header():
    names = ("model", "type", "encode max", "encode L2", "decode max", "vs f32 min / mean dB",
             "vs PyTorch min / mean dB", "photo f32 dB", "photo T dB", "bars")
    print("| " + " | ".join(names) + " |")
    print("|" + "---|" * len(names), flush=True)


def print_row(row):
    own = f"{row['psnr_vs_f32_min']:.1f} / {row['psnr_vs_f32_mean']:.1f}"
    cells = (row["model"], row["dtype"], f"{row['encode_max_abs']:.1e}",
             f"{100 * row['encode_rel_l2_max']:.2g} %", f"{row['decode_max_abs']:.1e}",
             own if row["dtype"] != "f32" else "-",
             f"{row['psnr_vs_pytorch_min']:.1f} / {row['psnr_vs_pytorch_mean']:.1f}",
             f"{row['photo_psnr_f32']:.3f}", f"{row['photo_psnr']:.3f}",
             "; ".join(row["missed"]) or "ok")
    print("| " + " | ".join(cells) + " |", flush=True)


def finite(value):
    """JSON has no infinity and no NaN: they become null."""
    if isinstance(value, dict):
        return {name: finite(item) for name, item in value.items()}
    if isinstance(value, list):
        return [finite(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def chosen(allowed):
    """An argparse type: a comma-separated choice from `allowed`."""
    def parse(text):
        names = text.split(",")
        unknown = [name for name in names if name not in allowed]
        if unknown:
            raise argparse.ArgumentTypeError(f"unknown {', '.join(unknown)}: one or more of "
                                             f"{','.join(allowed)}")
        return names
    return parse


def parse_options():
    shared = ROOT.parent / "shared"
    weights = pathlib.Path(os.environ.get("ZENITH_TEST_WEIGHTS", shared / "weights"))
    photos = pathlib.Path(os.environ.get("ZENITH_TEST_DATA", shared / "data")) / "kodak"
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--models", type=chosen(taesd_reference.MODELS), metavar="M,..",
                        default=list(taesd_reference.MODELS), help="default: all five")
    parser.add_argument("--dtypes", type=chosen(DTYPES), metavar="T,..", default=list(DTYPES),
                        help="default: f32,bf16,int8")
    parser.add_argument("--images", type=int, metavar="N", help="only the first N photographs")
    parser.add_argument("--photos", type=pathlib.Path, metavar="DIR", default=photos,
                        help="photographs, *.png (default: Kodak in the test data)")
    parser.add_argument("--weights", type=pathlib.Path, metavar="DIR", default=weights)
    parser.add_argument("--zenith", type=pathlib.Path, metavar="PROGRAM",
                        default=ROOT / "build" / "release" / "zenith")
    parser.add_argument("--cache", type=pathlib.Path, metavar="DIR",
                        default=ROOT / "build" / "accuracy", help="PyTorch's results are kept here")
    parser.add_argument("--threads", type=int, metavar="N", help="for zenith and PyTorch")
    parser.add_argument("--json", action="store_true", help="one JSON object as the last line")
    parser.add_argument("--reference-only", action="store_true", help="fill the cache and stop")
    return parser.parse_args()


def run(options):
    photos = [load_photo(path) for path in sorted(options.photos.glob("*.png"))[:options.images]]
    if not photos:
        raise Failure(f"{options.photos}: no photographs (*.png)")
    options.cache.mkdir(parents=True, exist_ok=True)
    rows, images = [], {}
    if not options.reference_only:
        print_header()
    for model in options.models:
        reference = Reference(model, options.weights, options.cache)
        for photo in photos:
            reference.make(photo)
        if options.reference_only:
            continue
        dtypes = [dtype for dtype in options.dtypes if dtype != "int8" or model not in NO_INT8]
        with tempfile.TemporaryDirectory(dir=options.cache) as scratch:
            figures = measure(options, reference, photos, dtypes, scratch)
        for dtype in dtypes:
            rows.append(summarise(model, dtype, figures[dtype]))
            images[f"{model}/{dtype}"] = figures[dtype]
            print_row(rows[-1])
    if not rows and not options.reference_only:
        raise Failure("nothing was compared: these models have no path of that type")
    passed = not any(row["missed"] for row in rows)
    if options.json:
        print(json.dumps(finite({"passed": passed, "rows": rows, "images": images})))
    return 0 if passed else 1


def main():
    options = parse_options()
    torch.set_grad_enabled(False)
    if options.threads:
        torch.set_num_threads(options.threads)
    try:
        sys.exit(run(options))
    except Failure as failure:
        print(f"accuracy: {failure}", file=sys.stderr)
        sys.exit(2)


if __name__ == "__main__":
    main()
