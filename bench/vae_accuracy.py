#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Zenith authors
# SPDX-License-Identifier: Apache-2.0
"""How exact are the full-size autoencoders of images and of Wan? Compares `zenith` with diffusers f32 on the same weights.

    bench/vae_accuracy.py FOLDER                        512x512, encode and decode, f32 and bf16
    bench/vae_accuracy.py FOLDER --image photo.png --size 256 --dtypes f32 --json

FOLDER holds config.json and diffusion_pytorch_model.safetensors; bench/make_vae.py makes one with random weights.
Encoding starts from the picture, decoding from diffusers' latent, so that the two are judged apart. diffusers'
results are slow to make and are kept in FOLDER/reference, under a digest of weights and picture.

A row for each operation and type: relative L2 of the result (raw mean; picture on -1 .. 1), its largest difference,
and the bar (f32 2e-5, bf16 2e-2). Exit code: 0 all bars held, 1 one was missed, 2 something could not be run.
With --json the last line is one JSON object with the rows.
"""
import argparse
import hashlib
import json
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tools"))
import environment  # noqa: E402

environment.enter("numpy", "torch", "PIL", "diffusers")

BARS = {"f32": 2e-5, "bf16": 2e-2}


def picture(options):
    """uint8 [size, size, 3]: a photograph, cropped, or shapes with noise."""
    import numpy as np
    from PIL import Image
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
    with open(folder / "diffusion_pytorch_model.safetensors", "rb") as file:
        while block := file.read(1 << 24):
            text.update(block)
    return text.hexdigest()[:16]


def run_diffusers(folder, pixels):
    """Wan's pictures are clips of one frame, and clamped: its last convolution's results are taken instead."""
    import diffusers
    import torch
    video = is_video(folder)
    kind = diffusers.AutoencoderKLWan if video else diffusers.AutoencoderKL
    model = kind.from_pretrained(str(folder), torch_dtype=torch.float32)
    with torch.no_grad():
        x = torch.from_numpy(pixels.copy()).permute(2, 0, 1)[None].float() / 255 * 2 - 1
        mean = model.encode(x[:, :, None] if video else x).latent_dist.mean
        if not video:
            return mean.numpy(), model.decode(mean).sample.numpy()
        model.clear_cache()
        decoded = model.decoder(model.post_quant_conv(mean), feat_cache=model._feat_map, feat_idx=[0], first_chunk=True)
        if model.config.patch_size:
            decoded = diffusers.models.autoencoders.autoencoder_kl_wan.unpatchify(decoded, model.config.patch_size)
    return mean[:, :, 0].numpy(), decoded[:, :, 0].numpy()


def is_video(folder):
    return json.loads((folder / "config.json").read_text())["_class_name"] == "AutoencoderKLWan"


def reference(folder, pixels):
    """Raw mean [1, C, h, w] and picture [1, 3, h, w] on -1 .. 1, by diffusers in f32."""
    import numpy as np
    path = folder / "reference" / f"{digest(folder, pixels)}.npz"
    if not path.exists():
        mean, decoded = run_diffusers(folder, pixels)
        path.parent.mkdir(exist_ok=True)
        np.savez(path, mean=mean, decoded=decoded)
    stored = np.load(path)
    return stored["mean"], stored["decoded"]


def run(options, *arguments):
    command = [str(options.zenith), *map(str, arguments), "--weights", str(options.folder), "--quiet"]
    subprocess.run(command, check=True)


def compare(operation, dtype, got, expected):
    import numpy as np
    difference = got.astype(np.float64) - expected
    error = float(np.linalg.norm(difference) / np.linalg.norm(expected))
    return {"operation": operation, "dtype": dtype, "relative_l2": error,
            "largest": float(np.abs(difference).max()), "held": bool(error <= BARS[dtype])}


def measure(options, pixels, mean, decoded):
    import numpy as np
    from PIL import Image
    rows = []
    with tempfile.TemporaryDirectory() as temporary:
        work = pathlib.Path(temporary)
        Image.fromarray(pixels).save(work / "picture.png")
        np.save(work / "mean.npy", mean)
        for dtype in options.dtypes:
            how = ("--dtype", dtype, "--space", "raw", *(("--model", options.model) if options.model else ()))
            run(options, "encode", work / "picture.png", "-o", work / "latent.npy", *how)
            rows.append(compare("encode", dtype, np.load(work / "latent.npy"), mean))
            run(options, "decode", work / "mean.npy", "-o", work / "decoded.npy", *how)
            rows.append(compare("decode", dtype, np.load(work / "decoded.npy") * 2 - 1, decoded))
    return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--model", help="where config.json does not tell: sd-vae, sdxl-vae, sd3-vae, flux-vae")
    parser.add_argument("--image", type=pathlib.Path, help="a photograph; default: a made-up picture")
    parser.add_argument("--size", type=int, default=512)
    parser.add_argument("--dtypes", type=lambda text: text.split(","), default=list(BARS))
    parser.add_argument("--zenith", type=pathlib.Path, default=ROOT / "build/release/zenith")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    try:
        pixels = picture(options)
        rows = measure(options, pixels, *reference(options.folder, pixels))
    except (OSError, subprocess.CalledProcessError) as failure:
        print(f"vae_accuracy: {failure}", file=sys.stderr)
        return 2
    print("| operation | type | relative L2 | largest | bar |\n|---|---|---|---|---|")
    for row in rows:
        print(f"| {row['operation']} | {row['dtype']} | {row['relative_l2']:.2e} | {row['largest']:.2e} "
              f"| {'held' if row['held'] else 'missed'} |")
    if options.json:
        print(json.dumps({"folder": str(options.folder), "size": options.size, "rows": rows}))
    return 0 if all(row["held"] for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
