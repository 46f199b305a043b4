#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Zenith authors
# SPDX-License-Identifier: Apache-2.0
"""The zenith family beside its teachers: quality on whole photographs, and speed, as Markdown.

    bench/notes/family.py --images kodak --weights WEIGHTS [--models models] [--json FILE] [--only zenith-sd-fast ..]

Decoders take the latents of the real encoder, encoders have their pictures made by the real decoder (docs/EVALUATION.md).
"to the teacher" is the mean PSNR between the two models' pictures. Speed: one thread, 512x512, bf16; rounds in which the
teacher and ours take turns on one core, the ratio of their lowest times in a round, median and range over the rounds.
"""
import argparse
import json
import math
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tools"))
import environment  # noqa: E402

environment.enter("PIL")

from PIL import Image, ImageChops, ImageStat

ROOT = pathlib.Path(__file__).resolve().parents[2]
TEACHERS = {"sd": "taesd", "f1": "taef1"}
MEASURES = (("psnr", "PSNR", 2), ("ssim", "SSIM", 4), ("squeezenet", "SqueezeNet", 3), ("gmsd", "GMSD", 4), ("hf", "HF", 3),
            ("hf_correlation", "HFcorr", 3), ("mesh4", "mesh4", 2), ("latent_distance", "latents", 3))


def run(options, *arguments):
    done = subprocess.run([options.zenith, *map(str, arguments)], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"zenith {' '.join(map(str, arguments))}: {done.stderr.strip()}")
    return json.loads(done.stdout)


def distance(ours, theirs):
    """Mean over pictures of the PSNR between two folders' files."""
    values = []
    for path in sorted(ours.iterdir()):
        with Image.open(path) as a, Image.open(theirs / path.name) as b:
            squares = ImageStat.Stat(ImageChops.difference(a, b)).sum2
            values.append(10 * math.log10(255 ** 2 * 3 * a.width * a.height / max(sum(squares), 1e-9)))
    return statistics.mean(values)


def quality(options, model, teacher, part):
    with tempfile.TemporaryDirectory() as folder:
        weights = options.models / f"{model}_{part}.safetensors"
        found = run(options, "eval", "--model", model, "--weights", weights, "--against", teacher, "--against-weights", options.weights,
                    "--squeezenet", options.squeezenet, "--images", options.images, "--dtype", options.dtype, "-t", "1",
                    "-o", folder, "--json")
        apart = distance(pathlib.Path(folder) / model, pathlib.Path(folder) / teacher)
    return {"ours": found[model], "teacher": found[teacher], "to_teacher": apart}


def lowest(options, model, weights, part):
    op = "encode" if part == "encoder" else "decode"
    return run(options, "bench", "--model", model, "--weights", weights, "--op", op, "--dtype", "bf16", "-t", "1",
               "-n", "10", "--json")[op]["lowest_ms"]


def speed(options, model, teacher, part):
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    rounds = []
    for _ in range(options.rounds):
        theirs = lowest(options, teacher, options.weights, part)
        ours = lowest(options, model, options.models / f"{model}_{part}.safetensors", part)
        rounds.append((theirs, ours, theirs / ours))
    ratios = [ratio for _, _, ratio in rounds]
    return {"teacher_ms": min(r[0] for r in rounds), "ms": min(r[1] for r in rounds), "ratio": statistics.median(ratios),
            "lowest": min(ratios), "highest": max(ratios)}


def print_table(part, rows):
    print(f"\n{part}s\n\n| model | " + " | ".join(title for _, title, _ in MEASURES) + " | to the teacher, dB | ms | faster |")
    print("|---" * (len(MEASURES) + 4) + "|")
    seen = set()
    for model, teacher, facts in rows:
        lines = [(model, "ours", f"{facts['to_teacher']:.2f} | {facts['speed']['ms']:.1f} | {facts['speed']['ratio']:.2f} "
                                 f"({facts['speed']['lowest']:.2f} to {facts['speed']['highest']:.2f})")]
        if teacher not in seen:
            lines.insert(0, (teacher, "teacher", f"| {facts['speed']['teacher_ms']:.1f} | 1"))
        seen.add(teacher)
        for name, key, rest in lines:
            print(f"| {name} | " + " | ".join(f"{facts[key][measure]:.{digits}f}" for measure, _, digits in MEASURES) + f" | {rest} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--zenith", type=pathlib.Path, default=ROOT / "build/release/zenith")
    parser.add_argument("--models", type=pathlib.Path, default=ROOT / "models")
    parser.add_argument("--weights", type=pathlib.Path, required=True, help="folder with the teachers' weights")
    parser.add_argument("--squeezenet", type=pathlib.Path, required=True)
    parser.add_argument("--images", type=pathlib.Path, required=True)
    parser.add_argument("--dtype", default="f32", help="of the quality figures")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--only", nargs="*", default=[f"zenith-{space}-{size}" for space in TEACHERS for size in ("fast", "small")])
    parser.add_argument("--json", type=pathlib.Path)
    options = parser.parse_args()
    found = {}
    for part in ("decoder", "encoder"):
        rows = []
        for model in options.only:
            if not (options.models / f"{model}_{part}.safetensors").exists():
                continue
            teacher = TEACHERS[model.split("-")[1]]
            facts = quality(options, model, teacher, part) | {"speed": speed(options, model, teacher, part)}
            for side in ("ours", "teacher"):
                facts[side].pop("images")
            rows.append((model, teacher, facts))
            found[f"{model}_{part}"] = facts
        if rows:
            print_table(part, rows)
    if options.json:
        options.json.write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
