#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Zenith authors
# SPDX-License-Identifier: Apache-2.0
"""How well does a model of words and pictures follow words?

    bench/words_quality.py MODEL --data FOLDER [--parts retrieve compose copies sheet] [--count 100] [--steps 30] [--json]

FOLDER is a set of tools/models/words.mjs: captions.jsonl, shapes.jsonl and pictures. MODEL is a pipeline that `zenith generate` opens. Pictures
are made by `zenith generate`, a caption of each line with one seed, so nothing is chosen; who judges them knows nothing of words:
SqueezeNet's features, and pixels.

    retrieve  captions of train, test-finish, test-family and test-concept: is the true picture among the 5 nearest of all pictures of
              that style? Pictures that are nearly the true one count neither way. `ceiling`: the same for the true pictures as the
              autoencoder gives them back
    compose   "red guitar on yellow background", pairs of test-colour: are both colours right, by pixels, and is the shape among the
              50 nearest of all shapes?
    copies    distance to the nearest trained picture of the same style, of pictures made of held-out captions and of held-out true ones
    sheet     48 prompts, 24 of them held out, the picture made and the nearest trained one below it: --output FILE

Without --steps and --guidance they are the pipeline's own. Exit code: 0 measured, 2 could not.
"""
import argparse
import json
import pathlib
import random
import subprocess
import sys
import tempfile

from common import ROOT, environment

environment.enter("numpy", "torch", "PIL")

import numpy as np
import torch
from PIL import Image, ImageDraw
from torch.nn import functional as F

from diffae_quality import SqueezeNet, read

PARTS = ("retrieve", "compose", "copies", "sheet")
NEAR = 8  # of 255: pictures whose 16x16 means differ by less are nearly the same


# --- who judges


class Judge(SqueezeNet):
    """Features with a rough place: means of ninths of the picture, not only of all of it."""

    @torch.no_grad()
    def features(self, x):
        x = 255 * x.flip(1) - torch.tensor([104.0, 117.0, 123.0])[:, None, None]
        x = F.max_pool2d(self.conv(x, "conv1", stride=2), 3, 2, ceil_mode=True)
        x = F.max_pool2d(self.fire(self.fire(self.fire(x, 2), 3), 4), 3, 2, ceil_mode=True)
        middle = self.fire(x, 5)
        x = F.max_pool2d(self.fire(self.fire(self.fire(middle, 6), 7), 8), 3, 2, ceil_mode=True)
        parts = [F.adaptive_avg_pool2d(middle, 3).flatten(1), F.adaptive_avg_pool2d(self.fire(x, 9), 3).flatten(1)]
        return F.normalize(torch.cat([F.normalize(p, dim=1) for p in parts], 1), dim=1)


def small(paths):
    return F.adaptive_avg_pool2d(read(paths), 16).flatten(1) * 255


def distances(features, among):
    return 1 - features @ among.T


# --- what makes pictures


def generate(o, captions, folder):
    """Files of the pictures of some captions."""
    folder.mkdir(parents=True, exist_ok=True)
    prompts = folder / "prompts.txt"
    prompts.write_text("".join(c + "\n" for c in captions))
    line = [o.build / "zenith", "generate", "--prompts", prompts, "-w", o.model, "-o", f"{folder}/made/", "--seed", str(o.seed), "--quiet"]
    line += ["--steps", str(o.steps)] if o.steps else []
    line += ["--guidance", str(o.guidance)] if o.guidance is not None else []
    subprocess.run([str(x) for x in line], check=True)
    made = sorted((folder / "made").glob("*.png"))
    if len(made) != len(captions):
        raise SystemExit(f"{len(made)} pictures of {len(captions)} captions")
    return made


def rebuild(o, paths, folder):
    """The pictures as the pipeline's autoencoder gives them back."""
    folder.mkdir(parents=True, exist_ok=True)
    source = folder / "true"
    source.mkdir()
    for i, path in enumerate(paths):
        (source / f"{i:05}.png").write_bytes(path.read_bytes())
    subprocess.run([str(o.build / "zenith"), "reconstruct", str(source), "-m", o.autoencoder, "-w", str(pathlib.Path(o.model) / "vae"), "-o",
                    f"{folder}/again/", "--quiet"], check=True, stdout=subprocess.DEVNULL)
    return sorted((folder / "again").glob("*.png"))


def lines_of(o, split, count, emoji):
    """Some lines of a split, always the same."""
    lines = [x for x in o.lines if x["split"] == split and not x.get("near_copy") and ("colour" not in x) == emoji]
    random.Random(1).shuffle(lines)
    return lines[:count]


def style_of(o, style):
    """All pictures of a style: (files, features, 16x16 means), kept for the next question."""
    if style not in o.styles:
        paths = [o.data / x["file"] for x in o.lines if x.get("style") == style and "colour" not in x]
        o.styles[style] = (paths, o.judge.of_files(paths), small(paths))
    return o.styles[style]


def rank(o, line, feature):
    """How many other pictures of the style are nearer than the true one."""
    paths, features, means = style_of(o, line["style"])
    own = paths.index(o.data / line["file"])
    alike = (means - means[own]).pow(2).mean(1).sqrt() < NEAR
    far = distances(feature[None], features)[0]
    return int(((far < far[own]) & ~alike).sum())


def retrieve(o, folder):
    found = {}
    for split in ("train", "test-finish", "test-family", "test-concept"):
        lines = lines_of(o, split, o.count, True)
        made = o.judge.of_files(generate(o, [x["captions"][0] for x in lines], folder / split))
        again = o.judge.of_files(rebuild(o, [o.data / x["file"] for x in lines], folder / f"{split}-again"))
        ranks = torch.tensor([rank(o, x, f) for x, f in zip(lines, made)])
        ceiling = torch.tensor([rank(o, x, f) for x, f in zip(lines, again)])
        found[split] = {"captions": len(lines), "top1": share(ranks < 1), "top5": share(ranks < 5), "top50": share(ranks < 50),
                        "ceiling_top5": share(ceiling < 5)}
    return found


def share(flags):
    return round(float(flags.float().mean()), 4)


# --- colours and shapes


def ground_of(picture):
    """The median colour of the border, [3]."""
    border = torch.cat([picture[:, :4].flatten(1), picture[:, -4:].flatten(1), picture[:, :, :4].flatten(1), picture[:, :, -4:].flatten(1)], 1)
    return border.median(1).values


def split_picture(picture):
    """(colour of the shape, colour of the ground, mask): what differs most from the ground is the shape."""
    ground = ground_of(picture)
    away = (picture - ground[:, None, None]).pow(2).sum(0).sqrt()
    far = away > max(float(away.max()) * 0.5, 0.1)
    colour = picture[:, far].median(1).values if far.any() else ground
    return colour, ground, far.float()


def nearest_colour(colour, palette):
    """The name of "#rrggbb" that is nearest."""
    return min(palette, key=lambda name: sum((float(c) * 255 - p) ** 2 for c, p in zip(colour, bytes.fromhex(palette[name][1:]))))


def compose(o, folder):
    lines = lines_of(o, "test-colour", o.count, False)
    known = [x for x in o.lines if "colour" in x]
    colours = {x["colour"]: x["colour_rgb"] for x in known}
    grounds = {x["ground"]: x["ground_rgb"] for x in known}
    shapes = [json.loads(x) for x in (o.data / "shapes.jsonl").read_text().splitlines()]
    files = [x["file"] for x in shapes]
    features = o.judge.of_files([o.data / f for f in files])
    both, near = [], []
    for line, path in zip(lines, generate(o, [x["captions"][0] for x in lines], folder / "compose")):
        colour, ground, mask = split_picture(read([path])[0])
        both.append(nearest_colour(colour, colours) == line["colour"] and nearest_colour(ground, grounds) == line["ground"])
        black = o.judge.features((1 - mask).expand(1, 3, -1, -1))
        far = distances(black, features)[0]
        near.append(int((far < far[files.index(line["shape"])]).sum()) < 50)
    return {"captions": len(lines), "both_colours": share(torch.tensor(both)), "shape_in_50": share(torch.tensor(near)), "shapes": len(files)}


# --- copies


def trained_of(o, style):
    paths, features, _ = style_of(o, style)
    kept = [i for i, p in enumerate(paths) if p in o.trained]
    return [paths[i] for i in kept], features[kept]


def nearest_trained(o, style, feature):
    paths, features = trained_of(o, style)
    far = distances(feature[None], features)[0]
    return float(far.min()), paths[int(far.argmin())]


def copies(o, folder):
    lines = sum((lines_of(o, split, o.count // 3 + 1, True) for split in ("test-finish", "test-family", "test-concept")), [])
    made = o.judge.of_files(generate(o, [x["captions"][0] for x in lines], folder / "copies"))
    true = o.judge.of_files([o.data / x["file"] for x in lines])
    ours = np.median([nearest_trained(o, x["style"], f)[0] for x, f in zip(lines, made)])
    held = np.median([nearest_trained(o, x["style"], f)[0] for x, f in zip(lines, true)])
    return {"captions": len(lines), "median": round(float(ours), 4), "median_of_true": round(float(held), 4),
            "ratio": round(float(ours / held), 3)}


# --- a sheet


def sheet(o, folder, columns=8, side=128, text=26):
    held = ("test-finish", "test-family", "test-concept", "test-colour")
    lines = lines_of(o, "train", 20, True) + lines_of(o, "train", 4, False)
    lines += sum((lines_of(o, split, 6, split != "test-colour") for split in held), [])
    made = generate(o, [x["captions"][0] for x in lines], folder / "sheet")
    high = 2 * side + text
    page = Image.new("RGB", (columns * side, -(-len(lines) // columns) * high), "white")
    draw = ImageDraw.Draw(page)
    for i, (line, path) in enumerate(zip(lines, made)):
        x, y = i % columns * side, i // columns * high
        page.paste(Image.open(path).convert("RGB").resize((side, side)), (x, y + text))
        if "colour" not in line:
            near = nearest_trained(o, line["style"], o.judge.of_files([path])[0])[1]
            page.paste(Image.open(near).convert("RGB").resize((side, side)), (x, y + text + side))
        words = line["captions"][0]
        draw.text((x + 2, y), ("* " if line["split"] != "train" else "") + words[:20], fill="black")
        draw.text((x + 2, y + 12), words[20:42], fill="black")
    page.save(o.output)
    return {"prompts": len(lines), "held_out": sum(x["split"] != "train" for x in lines), "file": str(o.output)}


def parse(argv):
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("model", type=pathlib.Path)
    p.add_argument("--data", type=pathlib.Path, required=True)
    p.add_argument("--parts", nargs="+", choices=PARTS, default=list(PARTS))
    p.add_argument("--count", type=int, default=100, help="captions of each split")
    p.add_argument("--steps", type=int)
    p.add_argument("--guidance", type=float)
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--autoencoder", default="taef1", help="the pipeline's")
    p.add_argument("--output", type=pathlib.Path, default=pathlib.Path("words.png"), help="of the sheet")
    p.add_argument("--build", type=pathlib.Path, default=ROOT / "build" / "release")
    p.add_argument("--squeezenet", type=pathlib.Path, default=ROOT.parent / "shared" / "data" / "squeezenet" / "squeezenet1_0_dc.safetensors")
    p.add_argument("--json", action="store_true")
    return p.parse_args(argv)


def main(argv):
    o = parse(argv)
    if not (o.data / "captions.jsonl").is_file() or not o.squeezenet.is_file():
        print("--data needs captions.jsonl of tools/models/words.mjs, and --squeezenet its weights", file=sys.stderr)
        return 2
    o.lines = [json.loads(x) for x in (o.data / "captions.jsonl").read_text().splitlines()]
    o.trained = {o.data / x["file"] for x in o.lines if x["split"] == "train"}
    o.judge, o.styles, found = Judge(o.squeezenet), {}, {}
    with tempfile.TemporaryDirectory() as temporary:
        for part in o.parts:
            found[part] = globals()[part](o, pathlib.Path(temporary) / part)
            print(f"{part}: {json.dumps(found[part])}", flush=True)
    if o.json:
        print(json.dumps(found))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
