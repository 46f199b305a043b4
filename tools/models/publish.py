#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Zenith authors
# SPDX-License-Identifier: Apache-2.0
"""Makes the files of models/ from training runs: weights as f16 with what they are in their metadata, the config of the
run with it, and its log.

    tools/models/publish.py RUN..                  RUN: the output folder of `zenith train`; its `ema` is taken
    tools/models/publish.py --metrics FILE         writes figures of bench/notes/family.py --json into the files of models/

Paths in the config become names: what the folders were is said in models/README.md.
"""
import argparse
import json
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tools"))
import environment  # noqa: E402

environment.enter("safetensors")

from safetensors import safe_open
from safetensors.torch import save_file

ROOT = pathlib.Path(__file__).resolve().parents[2]
MODELS = ROOT / "models"
LAYOUTS = {"fast": "64x3 64x3 64x1", "small": "64x3 64x3 32x1"}
SPACES = {"sd": "Stable Diffusion 1.x and 2.x, 4 channels", "f1": "FLUX.1 and Z-Image, 16 channels"}
TEACHERS = {"sd": "TAESD", "f1": "TAEF1"}
KEPT = ("psnr", "ssim", "squeezenet", "gmsd", "hf", "hf_correlation", "mesh4", "latent_distance")


def named(config):
    """The config with names where paths were."""
    config = json.loads(json.dumps(config))
    config["data"]["sources"], config["validation"]["sources"] = ["photos/train"], ["photos/validation"]
    config["squeezenet"], config["frozen"]["weights"] = "weights/squeezenet1_0_dc.safetensors", "weights"
    donor = config["init"].get("model", "")
    config["init"]["weights"] = "models" if donor.startswith("zenith") else "weights" if donor else "runs/before"
    config["output"] = f"runs/{config['model']}_{config['part']}"
    return config


def metadata(config, layout):
    space = config["model"].split("-")[1]
    return {
        "zenith.model": config["model"], f"zenith.{config['part']}": layout,
        "latent_space": SPACES[space],
        "architecture": "zenith family (src/model/zenith.c); stages as channels x blocks from the latent's resolution on",
        "training": f"zenith train models/training/{config['model']}_{config['part']}.json",
        "data": "514 photographs of endless-sky-high-dpi (public domain, CC0 and CC-BY-SA)",
        "license": f"Apache-2.0; began with weights of {TEACHERS[space]}, Copyright (c) 2023 Ollin Boer Bohan, MIT licence "
                   "(models/LICENSE.taesd)"}


def publish(run):
    config = json.loads((run / "config.json").read_text())
    name = f"{config['model']}_{config['part']}"
    with safe_open(run / "ema" / f"{name}.safetensors", "pt") as file:
        layout = (file.metadata() or {}).get(f"zenith.{config['part']}", LAYOUTS[config["model"].split("-")[2]])
        tensors = {key: file.get_tensor(key).half().contiguous() for key in file.keys()}
    save_file(tensors, MODELS / f"{name}.safetensors", metadata=metadata(config, layout))
    folder = MODELS / "training"
    folder.mkdir(exist_ok=True)
    (folder / f"{name}.json").write_text(json.dumps(named(config), indent=1) + "\n")
    lines = [line for line in (run / "train.jsonl").read_text().splitlines() if '"skipped"' not in line]
    thin = [line for line in lines if '"validation"' in line or json.loads(line).get("step", 0) % 50 == 0]
    (folder / f"{name}.jsonl").write_text("\n".join(thin) + "\n")
    size = (MODELS / f"{name}.safetensors").stat().st_size
    print(f"{name}: {layout}, {size / 1e6:.2f} MB")


def write_metrics(path):
    for name, facts in json.loads(path.read_text()).items():
        file = MODELS / f"{name}.safetensors"
        with safe_open(file, "pt") as old:
            tensors, facts_before = {key: old.get_tensor(key) for key in old.keys()}, old.metadata()
        figures = {key: round(facts["ours"][key], 5) for key in KEPT} | {"psnr_to_teacher": round(facts["to_teacher"], 3)}
        save_file(tensors, file, metadata=facts_before | {"metrics": "Kodak, " + json.dumps(figures)})


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("runs", nargs="*", type=pathlib.Path)
    parser.add_argument("--metrics", type=pathlib.Path)
    options = parser.parse_args()
    for run in options.runs:
        publish(run)
    if options.metrics:
        write_metrics(options.metrics)


if __name__ == "__main__":
    main()
