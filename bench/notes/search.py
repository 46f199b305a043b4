#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Zenith authors
# SPDX-License-Identifier: Apache-2.0
"""Networks and losses of the zenith family, trained for the same number of pictures and judged alike, as a Markdown table.

    search.py --config RUN.json --pictures DIR --weights DIR [--steps 400] [--batch 8] [--crop 64] [--out DIR]
              [--only NAME ..] [--prepare]

Each point is the config with another layout or other losses (POINTS), begun with the teacher's layers. Runs stay in --out:
a point that is there is not made again, so the script can be stopped and started. --prepare leaves out the times, which
want a machine that does nothing else. Choose by pictures held back from training, not by those of the last judgement.
"""
import argparse
import json
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
TEACHERS = {"sd": "taesd", "f1": "taef1"}
MEASURES = (("psnr", "PSNR", 2), ("ssim", "SSIM", 4), ("squeezenet", "SqueezeNet", 3), ("gmsd", "GMSD", 4), ("hf", "HF", 3),
            ("hf_correlation", "HFcorr", 3), ("mesh4", "mesh4", 2))


def losses(**weights):
    """L1 to the photograph and to the teacher's picture, and more distances to the latter."""
    chosen = {"stages": 0.02, "squeezenet": 0.016} | weights
    pixels = [{"kind": "l1", "weight": 0.3}, {"kind": "l1", "weight": 0.7, "target": "teacher"}]
    return pixels + [{"kind": kind, "weight": weight, "target": "teacher"} for kind, weight in chosen.items() if weight]


SMALL = "64x3 64x3 32x1"
POINTS = {
    "shuffle 4": ("64x3 64x3", losses()),
    "shuffle 4, lattice loss": ("64x3 64x3", losses(lattice=1)),
    "16 channels at x4": ("64x3 64x3 16x1", losses()),
    "32 channels at x4": (SMALL, losses()),
    "48 channels at x4": ("64x3 64x3 48x1", losses()),
    "64 channels at x4": ("64x3 64x3 64x1", losses()),
    "two blocks of 32 at x4": ("64x3 64x3 32x2", losses()),
    "fewer blocks below": ("64x2 64x2 32x1", losses()),
    "32, L1 alone": (SMALL, losses(stages=0, squeezenet=0)),
    "32, without stages": (SMALL, losses(stages=0)),
    "32, without SqueezeNet": (SMALL, losses(squeezenet=0)),
    "32, lattice loss": (SMALL, losses(lattice=1)),
    "32, discriminator": (SMALL, losses(adversarial=0.01)),
    "32, Walsh skips 8x8": ("64x3w8 64x3w8 32x1", losses()),
    "32, Walsh skips 16x16": ("64x3w16 64x3w16 32x1", losses()),
}


def run(options, *arguments):
    done = subprocess.run([options.zenith, *map(str, arguments)], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"zenith {' '.join(map(str, arguments))}: {done.stderr.strip()}")
    return done.stdout


def train(options, name):
    """The file of a point's averaged weights."""
    layout, wanted = POINTS[name]
    config = json.loads(options.config.read_text())
    folder = options.out / name.replace(" ", "-").replace(",", "")
    weights = folder / "ema" / f"{config['model']}_decoder.safetensors"
    if not weights.exists():
        config |= {"init": {"model": options.teacher, "weights": str(options.weights), "layout": layout}, "losses": wanted,
                   "frozen": {"model": options.teacher, "weights": str(options.weights)}, "steps": options.steps,
                   "batch": options.batch, "output": str(folder), "checkpoint_every": options.steps, "validate_every": 0,
                   "sample_every": 0}
        config["data"] |= {"crop": options.crop}
        config["optimizer"] |= {"lr": options.rate, "warmup": 20, "ema": 0.99}
        config.pop("validation", None)
        config.pop("discriminator", None)
        path = folder.with_suffix(".json")
        path.write_text(json.dumps(config, indent=1) + "\n")
        run(options, "train", path, "--resume", "--quiet", "--threads", options.threads)
    return config["model"], weights


def judge(options, model, weights):
    result = weights.parent / "judged.json"
    if not result.exists():
        result.write_text(run(options, "eval", "-m", model, "-w", weights, "-i", options.pictures, "--against", options.teacher,
                              "--against-weights", options.weights, "--squeezenet", options.squeezenet, "--dtype", "bf16",
                              "-t", options.threads, "--json"))
    return json.loads(result.read_text())


def milliseconds(options, model, weights):
    facts = run(options, "bench", "-m", model, "-w", weights, "--op", "decode", "--dtype", "bf16", "-t", "1", "-n", "10", "--json")
    return json.loads(facts)["decode"]["lowest_ms"]


def print_row(name, layout, times, measured):
    cells = [name, layout, f"{min(times):.1f}" if times else ""]
    cells += [f"{measured[key]:.{digits}f}" for key, _, digits in MEASURES]
    print(f"| {' | '.join(cells)} |")


def main():
    parser = argparse.ArgumentParser(description="Networks and losses trained for the same number of pictures.")
    parser.add_argument("--zenith", type=pathlib.Path, default=ROOT / "build/release/zenith")
    parser.add_argument("--config", type=pathlib.Path, required=True, help="a decoder's training config: model, data, types")
    parser.add_argument("--pictures", type=pathlib.Path, required=True, help="to judge by; none that were trained on")
    parser.add_argument("--weights", type=pathlib.Path, required=True, help="the teacher's")
    parser.add_argument("--squeezenet", type=pathlib.Path, required=True)
    parser.add_argument("--steps", type=int, default=400)
    parser.add_argument("--batch", type=int, default=8)
    parser.add_argument("--crop", type=int, default=64)
    parser.add_argument("--rate", type=float, default=1e-3)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--only", nargs="*", help="names of points")
    parser.add_argument("--prepare", action="store_true", help="no times")
    parser.add_argument("--out", type=pathlib.Path, default=ROOT / "build/search")
    options = parser.parse_args()
    options.teacher = TEACHERS[json.loads(options.config.read_text())["model"].split("-")[1]]
    options.out.mkdir(parents=True, exist_ok=True)

    names = [name for name in POINTS if not options.only or name in options.only]
    trained = {name: train(options, name) for name in names}
    judged = {name: judge(options, *trained[name]) for name in names}
    times = {name: [] for name in names}
    for _ in range(0 if options.prepare else options.rounds):
        for name in names:
            times[name].append(milliseconds(options, *trained[name]))

    print("| point | layout | ms | " + " | ".join(title for _, title, _ in MEASURES) + " |")
    print("|---" * (3 + len(MEASURES)) + "|")
    print_row(options.teacher, "", [], judged[names[0]][options.teacher])
    for name in names:
        print_row(name, POINTS[name][0], times[name], judged[name][trained[name][0]])
    images = options.steps * options.batch
    print(f"\n{images} crops of {options.crop}x{options.crop} each; ms: decoding 512x512 in bf16, one thread, the lowest of {options.rounds} rounds.")


if __name__ == "__main__":
    main()
