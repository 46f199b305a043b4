#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Zenith authors
# SPDX-License-Identifier: Apache-2.0
"""Restoration and convergence: the spectral autoencoders beside convolutions trained for the same CPU time, and beside filters.

    restore.py --photos DIR --choose DIR --held-out DIR [--out DIR] [--seconds 120] [--curve-seconds 90] [--seeds 1 2 3]

Learning rates are chosen first, for each model, on the pictures of --choose; these short runs also tell what a step costs, so
that every later run has as many steps as fit into its CPU seconds. Then models are trained on each kind of spoiled crop
(`data.corrupt`): wide ones with their input added to their result (--parts residual), and the autoencoders as they are
(autoencoder), these also on the wavelet task with several seeds (convergence), where half of the spectral blocks is left
out on the way by a schedule; one more run has no schedule and scores that begin at 0. Crops of --held-out judge. Runs stay in --out: what is there is not made again, so the script
can be stopped and started. Filters are judged on the very crops of the runs (the left side of their sample pictures), each with
the parameter that is best for these crops. Prints Markdown tables, and writes the curves with --svg. Needs numpy and Pillow.
"""
import argparse
import json
import os
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from common import environment, safetensors  # noqa: E402

environment.enter("numpy", "PIL")

import numpy
from PIL import Image

ROOT = pathlib.Path(__file__).resolve().parents[2]
CROP, GAP = 128, 4  # GAP: white pixels of a sample picture
TASKS = ("gaussian", "shot", "blur")
RATES = (3e-4, 1e-3, 3e-3)
PRUNE, CONVOLUTION = AUTOENCODERS = ("zenith_prune", "conv_baseline")
WIDE = ("zenith_wide", "conv_linear", "conv_wide")  # whose latent holds as much as noise has, so that it can be taken away


# --- runs


def config_of(options, name, model, kind, rate, steps, seed=1, residual=False, score=None, prune=None,
              pictures=None):
    """What a run is. A batch is one crop: so few seconds are better spent on many steps."""
    config = {
        "model": model, "part": "both", "init": {"seed": 100 * seed} | ({} if score is None else {"score": score}),
        "data": {"sources": [str(options.photos)], "crop": CROP, "flip": True, "seed": seed, "cache_mb": options.cache_mb,
                 "corrupt": {"kind": kind}},
        "validation": {"sources": [str(pictures or options.held_out)], "count": options.crops},
        "validate_every": max(steps // 6, 1), "batch": 1, "steps": steps,
        "optimizer": {"lr": rate, "warmup": min(20, steps), "ema": 0}, "losses": [{"kind": "mse", "weight": 1}],
        "dtype": "bf16", "threads": 1, "checkpoint_every": 500, "sample_every": steps, "samples": options.crops,
        "output": str(options.out / name)}
    if prune:
        config["prune"] = {"target": prune, "begin": steps // 6, "end": steps // 2}
    return config | ({"residual": True} if residual else {})


def train(options, name, *what, **more):
    """Trains unless the run is there, and tells what became of it."""
    folder, path = options.out / name, options.out / f"{name}.json"
    if not path.exists():
        path.write_text(json.dumps(config_of(options, name, *what, **more), indent=1) + "\n")
    config = json.loads(path.read_text())
    if not any((folder / "weights").glob("*.safetensors")):
        print(f"{name}: {config['steps']} steps", file=sys.stderr, flush=True)
        done = subprocess.run([options.zenith, "train", path, "--resume", "--quiet", "--threads", "1"], stderr=subprocess.PIPE,
                              env={"OMP_WAIT_POLICY": "passive"} | os.environ, text=True)
        if done.returncode != 0:
            sys.exit(f"{name}: {done.stderr}")
    lines = [json.loads(line) for line in (folder / "train.jsonl").read_text().splitlines()]
    seconds = {line["step"]: line["cpu_seconds"] for line in lines if "cpu_seconds" in line}
    curve = [(seconds[line["step"]], line["validation"]["mse"]) for line in lines if "validation" in line]
    return {"name": name, "steps": config["steps"], "seconds": seconds[config["steps"]], "mse": curve[-1][1], "curve": curve}


def tune(options, model):
    """The better of the learning rates (the lower, where they are within a twentieth), and the CPU seconds of a step."""
    kind, residual = ("gaussian", True) if model in WIDE else ("haar", False)
    runs = {rate: train(options, f"tune-{model}-{rate:g}", model, kind, rate, options.tune_steps, residual=residual,
                        pictures=options.choose) for rate in RATES}
    least = min(run["mse"] for run in runs.values())
    best = min(rate for rate, run in runs.items() if run["mse"] <= 1.05 * least)
    for rate, run in runs.items():
        print(f"{model}, learning rate {rate:g}: MSE {run['mse']:.5f}, {run['seconds']:.0f} s", file=sys.stderr, flush=True)
    return best, min(run["seconds"] / run["steps"] for run in runs.values())


# --- weights and pictures


def pruned_share(options, name):
    """Of the rectangles of all blocks, those that are left out."""
    scores = [values for path in (options.out / name / "weights").iterdir()
              for tensor, values in safetensors.floats(path).items() if tensor.endswith("score")]
    return float(numpy.mean(numpy.concatenate(scores) < 0)) if scores else 0.0


def crops_of(options, name):
    path = max((options.out / name / "samples").glob("*.png"))
    with Image.open(path) as picture:
        pixels = numpy.asarray(picture.convert("RGB"), numpy.float32) / 255
    return numpy.stack([pixels[y:y + CROP, :CROP] for y in range(0, len(pixels), CROP + GAP)])


# --- filters


def spoil(kind, crops):
    """As src/train/data/corrupt.c does, with other random numbers."""
    chance = numpy.random.default_rng(1)
    if kind == "blur":
        return sum(shifted(crops, y, x) for y in range(3) for x in range(3)) / 9
    if kind == "shot":
        hit = chance.random(crops.shape[:3] + (1,)) < 0.05
        return numpy.where(hit, chance.integers(0, 2, hit.shape), crops).astype(numpy.float32)
    noise = chance.normal(0, 0.3, crops.shape).astype(numpy.float32)
    if kind == "haar":  # without the means of 2x2 pixels
        noise -= noise.reshape(-1, CROP // 2, 2, CROP // 2, 2, 3).mean((2, 4)).repeat(2, 1).repeat(2, 2)
    return crops + noise


def shifted(crops, y, x):
    return numpy.pad(crops, ((0, 0), (1, 1), (1, 1), (0, 0)), "edge")[:, y:y + CROP, x:x + CROP]


def gaussian(crops, sigma):
    reach = int(4 * sigma + 0.5)
    weights = numpy.exp(-0.5 * (numpy.arange(-reach, reach + 1) / sigma) ** 2)
    for axis in (1, 2):
        padded = numpy.pad(crops, [(reach, reach) if i == axis else (0, 0) for i in range(4)], "symmetric")
        crops = sum(weight / weights.sum() * padded.take(range(i, i + CROP), axis) for i, weight in enumerate(weights))
    return crops


def median(crops):
    return numpy.median(numpy.stack([shifted(crops, y, x) for y in range(3) for x in range(3)]), 0)


def filters(kind, spoiled):
    """Name of each filter and what it makes."""
    if kind == "shot":
        yield "3x3 median", median(spoiled)
    elif kind == "blur":
        for sigma in (0.6, 0.8, 1.0, 1.5):
            detail = spoiled - gaussian(spoiled, sigma)
            for amount in (0.5, 1, 1.5, 2, 3, 4):
                yield f"unsharp mask, sigma {sigma}, {amount}", spoiled + amount * detail
    else:
        for sigma in numpy.arange(0.5, 3.05, 0.1):
            yield f"Gaussian, sigma {sigma:.1f}", gaussian(spoiled, sigma)


def best_filter(kind, crops):
    """MSE of the spoiled crops, and name and MSE of the best filter."""
    spoiled = spoil(kind, crops)
    results = [(float(numpy.mean((made - crops) ** 2)), name) for name, made in filters(kind, spoiled)]
    return float(numpy.mean((spoiled - crops) ** 2)), *min(results)


# --- tables


def table(head, rows):
    print(f"| {' | '.join(head)} |\n|{'---|' * len(head)}")
    for row in rows:
        print(f"| {' | '.join(row)} |")
    print(flush=True)


def restoration(options, models):
    """Trains each model on each task."""
    tuned = {model: tune(options, model) for model in models}
    for kind in options.tasks:
        for model, (rate, cost) in tuned.items():
            train(options, f"{kind}-{model}", model, kind, rate, round(options.seconds / cost), residual=model in WIDE)


def restoration_table(options):
    """Of the runs that are there."""
    shown = []
    for kind in TASKS:
        runs = [(model, train(options, f"{kind}-{model}")) for model in AUTOENCODERS + WIDE
                if any((options.out / f"{kind}-{model}/weights").glob("*"))]
        if not runs:
            continue
        spoiled, filtered, name = best_filter(kind, crops_of(options, runs[0][1]["name"]))
        bar = {"gaussian": 0.6 * filtered, "shot": 0.5 * filtered, "blur": 0.5 * spoiled}[kind]
        shown.append((kind, "input", f"{spoiled:.5f}", "", ""))
        shown.append((kind, name, f"{filtered:.5f}", f"{filtered / bar:.2f}", ""))
        for what, run in runs:
            shown.append((kind, what, f"{run['mse']:.5f}", f"{run['mse'] / bar:.2f}", f"{run['steps']} / {run['seconds']:.0f}"))
    table(("task", "what", "MSE", "of the bar", "steps / CPU s"), shown)


def convergence(options):
    tuned = {model: tune(options, model) for model in AUTOENCODERS}
    labels = {PRUNE: f"{PRUNE}, {options.pruned:.0%} left out", CONVOLUTION: CONVOLUTION}
    groups = {label: [] for label in labels.values()}
    for seed in options.seeds:
        for model in AUTOENCODERS:
            rate, cost = tuned[model]
            run = train(options, f"haar-{model}-{seed}", model, "haar", rate, round(options.curve_seconds / cost), seed=seed,
                        prune=options.pruned if model == PRUNE else None)
            groups[labels[model]].append(run)
    rate, cost = tuned[PRUNE]
    seed = options.seeds[0]
    run = train(options, f"haar-zero-{seed}", PRUNE, "haar", rate, round(options.curve_seconds / cost), seed=seed, score=0)
    groups[f"{PRUNE}, no schedule"] = [run]
    rows = []
    for label, runs in groups.items():
        for seed, run in zip(options.seeds, runs):
            base = groups[CONVOLUTION][options.seeds.index(seed)]["mse"]
            rows.append((label, str(seed), str(run["steps"]), f"{run['seconds']:.0f}", f"{run['mse']:.5f}",
                         f"{run['mse'] / base:.2f}", f"{100 * pruned_share(options, run['name']):.0f} %"))
    spoiled, filtered, name = best_filter("haar", crops_of(options, groups[CONVOLUTION][0]["name"]))
    base = groups[CONVOLUTION][0]["mse"]
    rows.append((name, str(options.seeds[0]), "", "", f"{filtered:.5f}", f"{filtered / base:.2f}", ""))
    rows.append(("input", str(options.seeds[0]), "", "", f"{spoiled:.5f}", f"{spoiled / base:.2f}", ""))
    table(("model", "seed", "steps", "CPU s", "MSE", "x convolution", "left out"), rows)
    return groups


# --- curves


def svg(groups, title):
    """Loss against CPU seconds, logarithmic upwards."""
    width, height, left, top, right, bottom = 720, 400, 60, 40, 230, 45
    points = [point for runs in groups.values() for run in runs for point in run["curve"]]
    last = max(seconds for seconds, _ in points)
    low, high = (numpy.log10(edge([mse for _, mse in points])) for edge in (min, max))
    low, high = numpy.floor(low * 5) / 5, numpy.ceil(high * 5) / 5

    def place(seconds, mse):
        x = left + (width - left - right) * seconds / last
        return f"{x:.1f},{top + (height - top - bottom) * (high - numpy.log10(mse)) / (high - low):.1f}"

    colours = ("#c0392b", "#1f618d", "#1e8449", "#7d6608")
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" font-family="sans-serif" font-size="12">',
           f'<rect width="{width}" height="{height}" fill="white"/><text x="{left}" y="22" font-size="14">{title}</text>']
    for step in range(round((high - low) * 5) + 1):
        mse = 10 ** (low + step / 5)
        y = place(0, mse).split(",")[1]
        out.append(f'<path d="M{left} {y}H{width - right}" stroke="#ddd"/><text x="{left - 6}" y="{y}" dy="4" text-anchor="end">{mse:.4f}</text>')
    for step in range(7):
        seconds = last * step / 6
        x = place(seconds, 10 ** low).split(",")[0]
        out.append(f'<text x="{x}" y="{height - bottom + 18}" text-anchor="middle">{seconds:.0f}</text>')
    out.append(f'<text x="{(left + width - right) / 2}" y="{height - 8}" text-anchor="middle">CPU seconds of training</text>')
    for colour, (number, (label, runs)) in zip(colours, enumerate(groups.items())):
        for run in runs:
            line = " ".join(place(*point) for point in run["curve"])
            out.append(f'<polyline points="{line}" fill="none" stroke="{colour}" stroke-width="1.5"/>')
        y = top + 12 + 18 * number
        out.append(f'<path d="M{width - right + 10} {y - 4}h18" stroke="{colour}" stroke-width="2"/><text x="{width - right + 34}" y="{y}">{label}</text>')
    return "\n".join(out) + "\n</svg>\n"


def main():
    parser = argparse.ArgumentParser(description="Restoration and convergence beside convolutions and filters.")
    parser.add_argument("--zenith", type=pathlib.Path, default=ROOT / "build/release/zenith")
    parser.add_argument("--photos", type=pathlib.Path, required=True, help="to train on")
    parser.add_argument("--choose", type=pathlib.Path, required=True, help="to choose learning rates by")
    parser.add_argument("--held-out", type=pathlib.Path, required=True, help="to judge by")
    parser.add_argument("--seconds", type=float, default=120, help="of CPU time for each restoration")
    parser.add_argument("--curve-seconds", type=float, default=90, help="of CPU time for each curve")
    parser.add_argument("--pruned", type=float, default=0.5, help="share of the spectral blocks that is left out on the wavelet task")
    parser.add_argument("--tune-steps", type=int, default=300, help="of each run that chooses a learning rate")
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2, 3], help="of the curves")
    parser.add_argument("--crops", type=int, default=48, help="to judge by")
    parser.add_argument("--cache-mb", type=int, default=2000, help="of decoded photographs")
    parser.add_argument("--parts", nargs="+", choices=("residual", "convergence", "autoencoder"),
                        default=["residual", "convergence", "autoencoder"])
    parser.add_argument("--wide", nargs="+", choices=WIDE, default=WIDE, help="models of --parts residual")
    parser.add_argument("--autoencoders", nargs="+", choices=AUTOENCODERS, default=AUTOENCODERS, help="models of --parts autoencoder")
    parser.add_argument("--tasks", nargs="+", choices=TASKS, default=TASKS)
    parser.add_argument("--svg", type=pathlib.Path, help="file for the curves")
    parser.add_argument("--out", type=pathlib.Path, default=ROOT / "build/restore")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    if "residual" in options.parts:
        restoration(options, options.wide)
    if "convergence" in options.parts:
        groups = convergence(options)
        if options.svg:
            options.svg.write_text(svg(groups, "Wavelet task: MSE of held-out crops"))
    if "autoencoder" in options.parts:
        restoration(options, options.autoencoders)
    restoration_table(options)


if __name__ == "__main__":
    main()
