#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Zenith authors
# SPDX-License-Identifier: Apache-2.0
"""Speed against quality of a model pruned at several ratios, as a Markdown table.

    prune_curve.py --model zenith-sd-fast --weights DIR --pictures DIR [--config RUN.json] [--steps N] [--out DIR]
                   [--channels 0.9 0.75 0.5] [--blocks 1 2] [--together] [--prepare]

Each point is pruned with `zenith prune`, and with --steps trained further for as many steps, as is the whole model (`zenith
train`, the config's data and losses; its cosine ends at the last of them). Then `zenith eval` measures the quality on
--pictures; with --against another model makes the latents (or the pictures from them), so that one part alone is judged.
Pruned weights, runs and qualities stay in --out: a point that is there is not made again, so the script can be stopped
and started, and with --prepare it ends here. `zenith bench` measures the time of the part that was pruned, one point
after the other and --rounds times round, so that a slow minute does not hit one of them alone; the lowest is taken.
"""
import argparse
import json
import pathlib
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]


def run(options, *arguments):
    """What a command of the program prints, or the end with what it says."""
    command = [str(options.zenith), *map(str, arguments)]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}\n{done.stderr}")
    return done.stdout


def points_of(options):
    """Name of each point, and what `zenith prune` is asked for; the first is the model as it is."""
    points = {"whole": []}
    for blocks in [0, *options.blocks]:
        for share in [None, *options.channels] if options.together or not blocks else [None]:
            asked = (["--blocks", blocks] if blocks else []) + (["--channels", share] if share else [])
            if asked:
                points["-".join(str(word).strip("-") for word in asked)] = asked
    return points


def prune(options, name, asked):
    """The folder with the pruned weights, and what the program says of them; of the whole model nothing."""
    folder, facts = options.out / name, options.out / f"{name}.json"
    if not asked:
        return options.weights, None
    if not facts.exists():
        shutil.rmtree(folder, ignore_errors=True)
        text = run(options, "prune", options.weights, "-o", folder, "-m", options.model, "--part", options.part, "--json",
                   "--multiple", options.multiple, *(["--config", options.config] if options.config else []), *asked)
        facts.write_text(text)
    return folder, json.loads(facts.read_text())


def tune(options, name, weights):
    """The folder with the averaged weights after --steps more steps."""
    config = json.loads(options.config.read_text())
    config |= {"init": {"weights": str(weights)}, "steps": options.steps, "output": str(options.out / f"{name}-tuned")}
    path = options.out / f"{name}-tuned.json"
    path.write_text(json.dumps(config, indent=1) + "\n")
    if not file_of(options, options.out / f"{name}-tuned/weights").exists():  # written at the end of a run
        run(options, "train", path, "--resume", "--quiet")
    ema = options.out / f"{name}-tuned/ema"
    folder = ema if ema.is_dir() else ema.with_name("weights")
    for other in pathlib.Path(weights).glob(f"{options.model}_*.safetensors"):  # the part that is not trained
        if not (folder / other.name).exists():
            shutil.copy(other, folder)
    return folder


def file_of(options, weights):
    """The file of the pruned part alone: the other part is then the one of --against, or there is none."""
    path = pathlib.Path(weights)
    return path / f"{options.model}_{options.part}.safetensors" if path.is_dir() else path


def milliseconds(options, weights):
    verb = {"encoder": "encode", "decoder": "decode"}[options.part]
    facts = json.loads(run(options, "bench", "-m", options.model, "-w", file_of(options, weights), "--op", verb, "--size",
                           options.size, "-n", options.repeats, "-t", options.threads, "--json"))
    return facts[verb]["lowest_ms"]


def quality(options, name, weights):
    kept = options.out / f"{name}-quality.json"
    if kept.exists():
        return json.loads(kept.read_text())
    other = []
    if options.against:
        weights = file_of(options, weights)
        other = ["--against", options.against]
        if options.against_weights:
            other += ["--against-weights", options.against_weights]
    if options.squeezenet:
        other += ["--squeezenet", options.squeezenet]
    facts = json.loads(run(options, "eval", "-m", options.model, "-w", weights, "-i", options.pictures, *other, "--json"))
    kept.write_text(json.dumps(facts[options.model]) + "\n")
    return facts[options.model]


def row(name, facts, times, whole_times, measured):
    cells = [name, f"{facts['blocks']}", f"{facts['channels']}", f"{facts['gflop']:.1f}", f"{min(times):.1f}"]
    cells.append(f"{min(whole_times) / min(times):.2f}")
    numbers = [measured[key] for key in ("psnr", "ssim", "gmsd", "squeezenet", "hf", "mesh4")]
    return f"| {' | '.join(cells + ['' if number is None else f'{number:.4g}' for number in numbers])} |"


def main():
    parser = argparse.ArgumentParser(description="Speed against quality of a model pruned at several ratios.")
    parser.add_argument("--zenith", type=pathlib.Path, default=ROOT / "build/release/zenith")
    parser.add_argument("--model", required=True)
    parser.add_argument("--weights", type=pathlib.Path, required=True, help="of the whole model: a folder")
    parser.add_argument("--pictures", type=pathlib.Path, required=True, help="to judge by; none that were trained on")
    parser.add_argument("--part", choices=("encoder", "decoder"), default="decoder")
    parser.add_argument("--channels", type=float, nargs="*", default=[0.9, 0.75, 0.6, 0.5], help="shares that stay")
    parser.add_argument("--blocks", type=int, nargs="*", default=[], help="numbers of blocks to leave out; needs --config")
    parser.add_argument("--together", action="store_true", help="each of --blocks with each of --channels too")
    parser.add_argument("--prepare", action="store_true", help="prune, train and judge, but measure no times")
    parser.add_argument("--multiple", type=int, default=32, help="of channels that a layer keeps")
    parser.add_argument("--config", type=pathlib.Path, help="a training config: says what matters least, and trains further")
    parser.add_argument("--steps", type=int, default=0, help="of training after pruning; 0: none")
    parser.add_argument("--against", help="model of the other part, where the weights lack it, such as taesd")
    parser.add_argument("--against-weights", type=pathlib.Path)
    parser.add_argument("--squeezenet", type=pathlib.Path)
    parser.add_argument("--size", default="512x512")
    parser.add_argument("--repeats", type=int, default=10)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--out", type=pathlib.Path, default=ROOT / "build/prune_curve")
    options = parser.parse_args()
    if (options.blocks or options.steps) and not options.config:
        sys.exit("--blocks and --steps need pictures and losses: give --config")
    if not (options.blocks or options.channels):
        sys.exit("nothing is to be left out: give --channels or --blocks")
    options.out.mkdir(parents=True, exist_ok=True)

    points = {}
    for name, asked in points_of(options).items():
        weights, facts = prune(options, name, asked)
        points[name] = (tune(options, name, weights) if options.steps else weights, facts)
        quality(options, name, points[name][0])
    if options.prepare:
        return
    pruned = next(facts for _, facts in points.values() if facts)
    points["whole"] = (points["whole"][0], {key: pruned[f"{key}_before"] for key in ("blocks", "channels", "gflop")})
    times = {name: [] for name in points}
    for _ in range(options.rounds):
        for name, (weights, _) in points.items():
            times[name].append(milliseconds(options, weights))
    after = f", trained for {options.steps} more steps" if options.steps else ", not trained further"
    print(f"{options.model}, {options.part}, {options.size}, threads: {options.threads}{after}\n")
    print("| point | blocks | channels inside | GFLOP | ms | times as fast | PSNR | SSIM | GMSD | SqueezeNet | HF | mesh4 |")
    print("|---|---|---|---|---|---|---|---|---|---|---|---|")
    for name, (weights, facts) in points.items():
        print(row(name, facts, times[name], times["whole"], quality(options, name, weights)), flush=True)


if __name__ == "__main__":
    main()
