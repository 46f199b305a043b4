#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Zenith authors
# SPDX-License-Identifier: Apache-2.0
"""Designs of a diffusion autoencoder at equal CPU time: which one learns the better codes?

    bench/notes/diffae_next.py latents --data avatars256 [--seconds 600] [--seeds 1 2 3] [--json]
    bench/notes/diffae_next.py scan    --data avatars64  ...
    bench/notes/diffae_next.py sparse  --data avatars64  ...

DATA is a set of tools/models/avatars.mjs: train/, test/ and labels.json.

    latents  the same networks on 256x256 pictures as squares of 8x8 pixels, and on latents of zenith-f1-fast, both 32x32
    scan     an encoder of convolutions and attention, and one of four-way selective scans
    sparse   the encoder of convolutions, trained on all pixels, and one on 5 % to all of them; the latter's codes of 5, 10, 25 and 100 %

Each design is trained by `zenith train` for so many seconds of CPU time (a short run says how many steps those are). Latents are made
once, by that short run, and are not counted. Then `zenith diffae features` makes codes of 2,000 pictures of train/
and of all of test/, and a linear classifier is trained on them. The tables have, for each design, the mean over seeds and [least, most]:

    attributes  share of attributes of test/ that the classifier reads from codes (beside: always the commoner value)
    own noise   dB of held-out pictures by their code and their own noise
    other noise dB of held-out pictures by their code and other noise
    swap        how far a picture becomes the other by its code: 0 not at all, 1 wholly (validation of `zenith train`)

An encoder of some pixels sees any share in that validation; its attributes and dB by other noise are of codes of the share that the row names
(needs numpy and pillow).

--work keeps what was trained; a command that was stopped goes on there, and a design of two tables is trained once. Exit code: 0 measured, 2 could not.
"""
import argparse
import json
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
NETWORK = {"model": "diffae", "in_channels": 3, "channels": 32, "channel_mult": [1, 2, 3], "encoder_mult": [1, 2, 3], "res_blocks": 1,
           "attention_resolutions": [8], "code": 128, "timesteps": 1000, "prediction": "velocity", "clip": False}
CONTRAST = 6  # of pixels; half of it of latents, whose deviation is twice theirs. The code matters sooner (docs/DIFFAE.md)
PIXELS_64 = NETWORK | {"image_size": 64, "patch": 4, "contrast": CONTRAST}
DESIGNS = {
    "latents": {"pixels": NETWORK | {"image_size": 256, "patch": 8, "contrast": CONTRAST, "channel_mult": [1, 2, 2, 3], "encoder_mult": [1, 2, 2, 3]},
                "latents": NETWORK | {"image_size": 256, "autoencoder": "zenith-f1-fast", "in_channels": 16, "contrast": CONTRAST / 2,
                                      "channel_mult": [1, 2, 2, 3], "encoder_mult": [1, 2, 2, 3]}},
    "scan": {"convolutions": PIXELS_64, "scans": PIXELS_64 | {"scan_encoder": 1}},
    "sparse": {"convolutions": PIXELS_64, "some pixels": PIXELS_64 | {"sparse_encoder": 1}},
}
SHARES = {"some pixels": (0.05, 0.1, 0.25, 1)}
HELD, WALK = 32, 50  # held-out pictures, and steps to them


class Failure(Exception):
    pass


def run(options, *arguments):
    done = subprocess.run([options.zenith, *map(str, arguments)], capture_output=True, text=True)
    if done.returncode:
        raise Failure(f"zenith {' '.join(map(str, arguments))}: {done.stderr}")


def log_of(folder):
    return [json.loads(line) for line in (folder / "train.jsonl").read_text().splitlines()]


def train_config(options, network, seed, steps, output):
    return {"model": "diffae", "task": "diffae", "network": network, "init": {"seed": seed},
            "data": {"sources": [str(options.data / "train")], "crop": network["image_size"], "flip": False,
                     "seed": 1 if "autoencoder" in network else seed},  # latents are kept by it
            "validation": {"sources": [str(options.data / "test")], "count": HELD}, "batch": 16, "steps": steps,
            "optimizer": {"lr": 8e-4, "min_lr": 2e-5, "warmup": min(100, steps // 4), "ema": 0.99}, "log_every": 1, "checkpoint_every": 50,
            "validate_every": steps, "sample_every": 0, "eval_steps": WALK, "output": str(output)}


def train(options, config, *more):
    path = pathlib.Path(config["output"]).with_suffix(".json")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(config, indent=1))
    run(options, "train", path, *more)


def seconds_used(folder):
    return [line["cpu_seconds"] for line in log_of(folder) if "cpu_seconds" in line]


def steps_for(options, network, folder):
    """How many steps fit, by what steps take after the very first one, which also prepares."""
    probe = folder / "probe"
    if not (probe / "ema").exists():
        train(options, train_config(options, network, 1, 8, probe) | {"validate_every": 0})
    used = seconds_used(probe)
    return max(16, int(options.seconds / ((used[-1] - used[0]) / (len(used) - 1))))


def share_latents(probe, folder):
    """What the short run has encoded, so that no seed does it again."""
    folder.mkdir(parents=True, exist_ok=True)
    for file in probe.glob("latents-*.safetensors"):
        if not (folder / file.name).exists():
            (folder / file.name).hardlink_to(file)


def codes_of(options, folder, share):
    """Codes of both halves, made once."""
    names = []
    for half in ("train", "test"):
        names.append(folder / f"{half}-{share}.safetensors")
        pictures = sorted((options.data / half).glob("*.png"))[:options.pictures]
        seen = [] if share == 1 else ["--seen", share]
        if not names[-1].exists():
            run(options, "diffae", "features", *pictures, "-m", folder / "ema", "-o", names[-1], "-q", *seen)
    return names


def accuracy_of(options, folder, share):
    first, second = codes_of(options, folder, share)
    output = folder / f"classifier-{share}"
    config = {"model": "diffae", "task": "diffae-classifier", "autoencoder": str(folder / "ema"), "init": {"seed": 1},
              "data": {"codes": str(first), "labels": str(options.data / "labels.json"), "seed": 1},
              "validation": {"codes": str(second)}, "batch": 32, "steps": 3000, "validate_every": 3000, "output": str(output)}
    if not (output / "ema/accuracy.json").exists():
        train(options, config)
    said = json.loads((output / "ema/accuracy.json").read_text())
    return {key: sum(said[key]) / len(said[key]) for key in ("accuracy", "commoner")}


def psnr_seen(options, folder, share):
    """dB of held-out pictures by codes of a share of their pixels, and other noise."""
    import numpy as np
    from PIL import Image
    codes, made = folder / f"codes-{share}", folder / f"made-{share}"
    pictures = sorted((options.data / "test").glob("*.png"))[:HELD]
    run(options, "diffae", "encode", *pictures, "-m", folder / "ema", "-o", f"{codes}/", "--no-noise", "-q", *(["--seen", share] if share < 1 else []))
    run(options, "diffae", "decode", *sorted(codes.glob("*.safetensors")), "-m", folder / "ema", "-o", f"{made}/", "--random", "--seed", 1,
        "--steps", WALK, "-q")
    pixels = lambda path: np.asarray(Image.open(path).convert("RGB"), np.float64) / 255
    errors = [((pixels(path) - pixels(made / path.name))**2).mean() for path in pictures]
    return float(np.mean(-10 * np.log10(errors)))


def measure(options, design, network, seed):
    folder = options.work / design.replace(" ", "-") / str(seed)
    steps = steps_for(options, network, folder.parent)
    share_latents(folder.parent / "probe", folder)
    if not (folder / "ema").exists():
        train(options, train_config(options, network, seed, steps, folder), "--resume")
    lines = log_of(folder)
    judged = [line["validation"] for line in lines if "validation" in line][-1]
    rows = []
    for share in SHARES.get(design, (1,)):
        code_psnr = psnr_seen(options, folder, share) if design in SHARES else judged["code_psnr"]
        rows.append({"design": design if len(SHARES.get(design, (1,))) == 1 else f"{design}, {share:.0%} seen", "seed": seed,
                     "steps": steps, "seconds": seconds_used(folder)[-1], "psnr": judged["psnr"], "code_psnr": code_psnr,
                     "swap": judged["swap"], **accuracy_of(options, folder, share)})
    return rows


def spread(values, form):
    return f"{sum(values) / len(values):{form}} [{min(values):{form}}, {max(values):{form}}]"


def show(rows):
    print("| design | steps | CPU s | attributes | commoner | own noise, dB | other noise, dB | swap |\n|---|---|---|---|---|---|---|---|")
    for design in dict.fromkeys(row["design"] for row in rows):
        own = [row for row in rows if row["design"] == design]
        cells = [spread([row[key] for row in own], form) for key, form in
                 (("steps", ".0f"), ("seconds", ".0f"), ("accuracy", ".1%"), ("commoner", ".1%"), ("psnr", ".1f"), ("code_psnr", ".1f"), ("swap", ".2f"))]
        print("| " + " | ".join([design, *cells]) + " |")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("table", choices=DESIGNS)
    parser.add_argument("--data", type=pathlib.Path, required=True)
    parser.add_argument("--seconds", type=float, default=600)
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2, 3])
    parser.add_argument("--pictures", type=int, default=2000)
    parser.add_argument("--work", type=pathlib.Path, default=pathlib.Path("runs/diffae_next"))
    parser.add_argument("--zenith", default=str(ROOT / "build/release/zenith"))
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    rows = []
    try:
        for seed in options.seeds:  # designs in turns, so that a slow hour is both designs' hour
            for design, network in DESIGNS[options.table].items():
                rows += measure(options, design, network, seed)
    except Failure as failure:
        print(failure, file=sys.stderr)
        return 2
    if options.json:
        print(json.dumps(rows))
    else:
        show(rows)
    return 0


if __name__ == "__main__":
    sys.exit(main())
