#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Zenith authors
# SPDX-License-Identifier: Apache-2.0
"""A contact sheet at 100 %: the same part of each photograph, the original and what models make of it, side by side.

    bench/notes/contact_sheet.py --images kodak --weights WEIGHTS --space sd -o docs/zenith-sd.jpg [--names 01 05 ..]
"""
import argparse
import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tools"))
import environment  # noqa: E402

environment.enter("PIL")

from PIL import Image, ImageDraw

ROOT = pathlib.Path(__file__).resolve().parents[2]
TEACHERS = {"sd": "taesd", "f1": "taef1"}
WIDTH, HEIGHT, TITLE = 384, 256, 18


def decode(options, model, weights, folder, pictures):
    """Each picture through the teacher's encoder and the model's decoder."""
    subprocess.run([options.zenith, "eval", "--model", model, "--weights", weights, "--against", TEACHERS[options.space],
                    "--against-weights", options.weights, "--dtype", "f32", "-t", "1", "-o", folder, "--quiet", *pictures],
                   check=True, stdout=subprocess.DEVNULL)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--zenith", type=pathlib.Path, default=ROOT / "build/release/zenith")
    parser.add_argument("--models", type=pathlib.Path, default=ROOT / "models")
    parser.add_argument("--weights", type=pathlib.Path, required=True, help="folder with the teachers' weights")
    parser.add_argument("--images", type=pathlib.Path, required=True)
    parser.add_argument("--space", choices=TEACHERS, default="sd")
    parser.add_argument("--names", nargs="*", default=["01", "04", "05", "08", "13", "15", "19", "23"])
    parser.add_argument("-o", "--output", type=pathlib.Path, required=True)
    options = parser.parse_args()
    pictures = [next(options.images.glob(f"*{name}.png")) for name in options.names]
    ours = [f"zenith-{options.space}-{size}" for size in ("fast", "small")]
    ours = [model for model in ours if (options.models / f"{model}_decoder.safetensors").exists()]
    columns = ["original", TEACHERS[options.space], *ours]
    sheet = Image.new("RGB", (len(columns) * WIDTH, TITLE + len(pictures) * HEIGHT), "white")
    draw = ImageDraw.Draw(sheet)
    with tempfile.TemporaryDirectory() as folder:
        for model in ours:
            decode(options, model, options.models / f"{model}_decoder.safetensors", folder, pictures)
        for x, column in enumerate(columns):
            draw.text((x * WIDTH + 4, 3), column, fill="black")
            for y, picture in enumerate(pictures):
                path = picture if column == "original" else pathlib.Path(folder) / column / picture.name
                with Image.open(path) as image:
                    left, top = (image.width - WIDTH) // 2, (image.height - HEIGHT) // 2
                    sheet.paste(image.convert("RGB").crop((left, top, left + WIDTH, top + HEIGHT)), (x * WIDTH, TITLE + y * HEIGHT))
    sheet.save(options.output, quality=92)


if __name__ == "__main__":
    main()
