#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Zenith authors
# SPDX-License-Identifier: Apache-2.0
"""How good is a trained diffusion autoencoder, on pictures that it has not seen?

    bench/diffae_quality.py MODEL --data FOLDER [--parts reconstruct random swap edit interpolate sample] [--pictures 500] [--json]

FOLDER is a set of tools/models/avatars.mjs: train/, test/ and labels.json. MODEL is a folder or a file that `zenith diffae` opens. All pictures are
made by `zenith diffae`; who judges them knows nothing of codes: a small classifier that is trained here on the pictures of train/ (kept
below --cache, with its own accuracy on test/), and SqueezeNet's features.

    reconstruct  code and noise (250 steps) and back (100): PSNR and SSIM
    random       code alone, other noise: attributes that are read as from the original
    swap         the noise of one picture, the code of another: attributes that are read as from the other one
    edit         each attribute both ways: does it change, do the others stay, does more strength change more; once of all others
                 and once of those that labels do not tie to it (dark hair is not red): whose correlation with it is below 0.05
    interpolate  from picture to picture: the longest step over the shortest, the distance to the nearest picture of train/
    sample       Frechet distance to held-out pictures, over that between two halves of pictures; and copies: the share of drawn pictures that
                 lie nearer to one of train/ than 99 % of held-out pictures do. A model that only copies has the best distance

--steps and --noise-steps are those of `zenith diffae`. --sheets FOLDER gets pictures of what was made, always the first: again.webp (originals,
from code and noise, from the code and other noise), edit.webp (a column for each attribute: a face without it, it put on; one with it, it taken
away), between.webp and samples.webp (24, below each the nearest picture of train/ by SqueezeNet). Exit code: 0 measured, 2 could not.
"""
import argparse
import functools
import json
import pathlib
import subprocess
import sys
import tempfile

from common import ROOT, environment

environment.enter("numpy", "torch", "PIL", "safetensors")

import numpy as np
import torch
from PIL import Image
from safetensors.torch import load_file, safe_open, save_file
from torch import nn
from torch.nn import functional as F

PARTS = ("reconstruct", "random", "swap", "edit", "interpolate", "sample")
READ = 64  # pixels of a side that the classifier reads


# --- pictures


def read(paths, side=None):
    """[n, 3, height, width], 0 to 1."""
    def one(path):
        picture = Image.open(path).convert("RGB")
        if side and picture.size != (side, side):
            picture = picture.resize((side, side), Image.Resampling.BOX)
        return torch.from_numpy(np.array(picture)).permute(2, 0, 1)
    return torch.stack([one(p) for p in paths]).float() / 255


def pictures_in(folder):
    return sorted(folder.glob("*.png"))


def psnr(a, b):
    return -10 * torch.log10(((a - b) ** 2).flatten(1).mean(1).clamp_min(1e-10))


def ssim(a, b):
    """Of Wang et al. 2004: a Gauss window of 11 pixels, deviation 1.5, on each channel."""
    x = torch.arange(11) - 5.0
    line = torch.exp(-x ** 2 / (2 * 1.5 ** 2))
    line = line / line.sum()
    window = (line[:, None] * line)[None, None].repeat(3, 1, 1, 1)
    mean = lambda v: F.conv2d(v, window, groups=3)
    ma, mb = mean(a), mean(b)
    va, vb, ab = mean(a * a) - ma ** 2, mean(b * b) - mb ** 2, mean(a * b) - ma * mb
    c1, c2 = 0.01 ** 2, 0.03 ** 2
    return ((2 * ma * mb + c1) * (2 * ab + c2) / ((ma ** 2 + mb ** 2 + c1) * (va + vb + c2))).flatten(1).mean(1)


# --- who judges: a classifier of pictures


def reader_network(attributes):
    def stage(a, b):
        return nn.Sequential(nn.Conv2d(a, b, 3, 1, 1), nn.BatchNorm2d(b), nn.ReLU(), nn.MaxPool2d(2))
    return nn.Sequential(stage(3, 24), stage(24, 48), stage(48, 96), stage(96, 128), nn.Flatten(), nn.Dropout(0.2),
                         nn.Linear(128 * (READ // 16) ** 2, attributes))


def train_reader(options, labels, epochs=8):
    torch.manual_seed(1)
    paths = pictures_in(options.data / "train")
    x, y = read(paths, READ), labels_of(labels, "train", paths)
    net = reader_network(y.shape[1])
    optimizer = torch.optim.AdamW(net.parameters(), 2e-3, weight_decay=1e-3)
    batches = (len(x) + 127) // 128
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, 4e-3, epochs * batches)
    for epoch in range(epochs):
        net.train()
        for at in torch.randperm(len(x)).split(128):
            noise = torch.randn(len(at), 1, 1, 1).abs() * 0.02 * torch.randn(len(at), 3, READ, READ)
            loss = F.binary_cross_entropy_with_logits(net(x[at] + noise), y[at])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            schedule.step()
        print(f"classifier of pictures: epoch {epoch + 1} of {epochs}, loss {loss.item():.4f}", file=sys.stderr)
    return net.eval()


def labels_of(labels, part, paths):
    return torch.tensor([labels["labels"][f"{part}/{p.name}"] for p in paths], dtype=torch.float32)


class Reader:
    """Reads the attributes of pictures."""

    def __init__(self, options, labels):
        kept = options.cache / f"reader-{len(labels['labels'])}-{len(labels['attributes'])}.pt"
        if kept.exists():
            self.net = reader_network(len(labels["attributes"]))
            self.net.load_state_dict(torch.load(kept, weights_only=True))
            self.net.eval()
        else:
            self.net = train_reader(options, labels)
            kept.parent.mkdir(parents=True, exist_ok=True)
            torch.save(self.net.state_dict(), kept)

    @torch.no_grad()
    def logits(self, paths):
        return torch.cat([self.net(read(paths[i:i + 256], READ)) for i in range(0, len(paths), 256)])

    def attributes(self, paths):
        return self.logits(paths) > 0


# --- who judges: SqueezeNet 1.0


class SqueezeNet:
    def __init__(self, path):
        self.w = load_file(path)

    def conv(self, x, name, **how):
        return F.relu(F.conv2d(x, self.w[name + ".weight"], self.w[name + ".bias"], **how))

    def fire(self, x, number):
        x = self.conv(x, f"fire{number}/conv1x1_1")
        return torch.cat([self.conv(x, f"fire{number}/conv1x1_2"), self.conv(x, f"fire{number}/conv3x3_2", padding=1)], 1)

    @torch.no_grad()
    def features(self, x):
        """[n, 3, h, w], 0 to 1, at 128 pixels -> [n, 1024]: means over pixels after fire5 and after fire9."""
        x = F.interpolate(x, (128, 128), mode="bilinear", align_corners=False)
        x = 255 * x.flip(1) - torch.tensor([104.0, 117.0, 123.0])[:, None, None]  # as its authors trained it: BGR
        x = F.max_pool2d(self.conv(x, "conv1", stride=2), 3, 2, ceil_mode=True)
        x = F.max_pool2d(self.fire(self.fire(self.fire(x, 2), 3), 4), 3, 2, ceil_mode=True)
        middle = self.fire(x, 5)
        x = F.max_pool2d(self.fire(self.fire(self.fire(middle, 6), 7), 8), 3, 2, ceil_mode=True)
        return torch.cat([middle.mean((2, 3)), self.fire(x, 9).mean((2, 3))], 1)

    def of_files(self, paths):
        return torch.cat([self.features(read(paths[i:i + 64])) for i in range(0, len(paths), 64)])


def frechet(a, b):
    """|m1 - m2|^2 + tr(C1 + C2 - 2 (C1 C2)^(1/2)), f64."""
    a, b = a.double(), b.double()
    ca, cb = torch.cov(a.T), torch.cov(b.T)
    values, vectors = torch.linalg.eigh(ca)
    root = vectors * values.clamp_min(0).sqrt() @ vectors.T
    both = torch.linalg.eigvalsh(root @ cb @ root).clamp_min(0).sqrt().sum()
    return float(((a.mean(0) - b.mean(0)) ** 2).sum() + ca.trace() + cb.trace() - 2 * both)


# --- what makes pictures


class Model:
    def __init__(self, options, folder):
        self.options, self.folder = options, folder

    def run(self, command, *arguments):
        line = [self.options.build / "zenith", "diffae", command, *arguments, "--model", self.options.model, "--quiet",
                "--threads", str(self.options.threads)]
        subprocess.run([str(part) for part in line], check=True)

    def encode(self, paths):
        """Files of codes with noise; those that are there are not made again."""
        out = self.folder / "codes"
        self.run("encode", *paths, "-o", f"{out}/", "--no-overwrite", "--steps", self.options.noise_steps)
        return [out / (p.stem + ".safetensors") for p in paths]

    def decode(self, codes, name, *more):
        out = self.folder / name
        self.run("decode", *codes, "-o", f"{out}/", "--no-overwrite", "--steps", self.options.steps, *more)
        return [out / (c.stem + ".png") for c in codes]


def share(agreeing):
    return round(float(agreeing.float().mean()), 4)


def sheet(o, name, rows):
    """Rows of pictures (None: nothing there), if sheets are wanted."""
    if not o.sheets:
        return
    o.sheets.mkdir(parents=True, exist_ok=True)
    out = Image.new("RGB", (o.side * max(map(len, rows)), o.side * len(rows)), "white")
    for y, row in enumerate(rows):
        for x, path in enumerate(row):
            if path:
                out.paste(Image.open(path).convert("RGB"), (x * o.side, y * o.side))
    out.save(o.sheets / f"{name}.webp", quality=90)


# --- the parts


def reconstruct(o, judge, paths):
    made = o.maker.decode(o.maker.encode(paths), "reconstructed")
    a, b = read(paths, o.side), read(made)
    return {"psnr": round(float(psnr(a, b).mean()), 2), "ssim": round(float(ssim(a, b).mean()), 4),
            "attributes_kept": share(judge.attributes(made) == judge.attributes(paths))}


def random(o, judge, paths):
    made = o.maker.decode(o.maker.encode(paths), "random", "--random", "--seed", 1)
    same = judge.attributes(made) == judge.attributes(paths)
    back = [o.maker.folder / "reconstructed" / p.name for p in paths[:12]]
    sheet(o, "again", [paths[:12], [p if p.exists() else None for p in back], made[:12]])
    return {"attributes_kept": share(same), "by_attribute": dict(zip(o.names, same.float().mean(0).round(decimals=3).tolist()))}


def swap(o, judge, paths):
    codes = o.maker.encode(paths)
    folder = o.maker.folder / "swapped-codes"
    folder.mkdir(exist_ok=True)
    swapped = []
    for own, donor in zip(codes, codes[1:] + codes[:1]):
        tensors = {"z": load_file(donor)["z"], "x_T": load_file(own)["x_T"]}
        with safe_open(own, "pt") as file:
            save_file(tensors, folder / own.name, file.metadata())
        swapped.append(folder / own.name)
    read_now = judge.attributes(o.maker.decode(swapped, "swapped"))
    before = judge.attributes(paths)
    donor = torch.roll(before, -1, 0)
    differ = donor != before
    return {"as_donor": share(read_now == donor), "as_donor_where_they_differ": share((read_now == donor)[differ])}


def free_of_each_other(o):
    """[attributes, attributes]: the labels of these two have nothing to do with each other."""
    return np.abs(np.corrcoef(np.array(list(o.labels["labels"].values())).T)) < 0.05


def edit(o, judge, paths):
    """Pictures with and without an attribute, moved to the other side by --strength; and half as far."""
    strengths = [0.5 * o.strength, o.strength]
    before, rows, free = judge.attributes(paths), {}, torch.from_numpy(free_of_each_other(o))
    columns = [[None] * 4 for _ in o.names]
    for index, name in enumerate(o.names):
        for wanted in (True, False):
            chosen = [i for i in range(len(paths)) if bool(before[i, index]) != wanted][:o.each]
            if not chosen:
                continue
            logits = judge.logits([paths[i] for i in chosen])
            moved = []
            for strength in strengths:
                out = o.maker.folder / f"edit-{name}-{'to' if wanted else 'from'}-{strength}"
                out.mkdir(exist_ok=True)
                made = [out / paths[i].name for i in chosen]
                for code, file in zip(o.maker.encode([paths[i] for i in chosen]), made):
                    if not file.exists():
                        o.maker.run("edit", code, "--attribute", name, "--strength", strength if wanted else -strength,
                                    "--steps", o.steps, "-o", file)
                moved.append(judge.logits(made))
            at = 0 if wanted else 2
            columns[index][at:at + 2] = paths[chosen[0]], made[0]
            others = torch.arange(len(o.names)) != index
            sign = 1 if wanted else -1
            rows[f"{'+' if wanted else '-'}{name}"] = {
                "pictures": len(chosen),
                "changed": share((moved[1][:, index] > 0) == wanted),
                "free_stay": share((moved[1][:, free[index]] > 0) == (logits[:, free[index]] > 0)),
                "others_stay": share((moved[1][:, others] > 0) == (logits[:, others] > 0)),
                "monotone": share((sign * (moved[1] - moved[0])[:, index] > 0) & (sign * (moved[0] - logits)[:, index] > 0))}
    sheet(o, "edit", list(zip(*columns)))
    mean = lambda key: round(sum(r[key] * r["pictures"] for r in rows.values()) / sum(r["pictures"] for r in rows.values()), 4)
    return {key: mean(key) for key in ("changed", "free_stay", "others_stay", "monotone")} | {"by_attribute": rows}


def nearest(features, among):
    return torch.cdist(features, among).min(1).values


def interpolate(o, judge, paths, pairs=10, count=8):
    known = o.known()
    bound = nearest(o.squeezenet.of_files(paths), known)
    ratios, far, rows = [], [], []
    codes = o.maker.encode(paths[:2 * pairs])
    for i in range(pairs):
        out = o.maker.folder / f"between-{i}"
        if not out.exists():
            o.maker.run("interpolate", codes[2 * i], codes[2 * i + 1], "-n", count, "--steps", o.steps, "-o", f"{out}/")
        rows.append(pictures_in(out))
        features = o.squeezenet.of_files(rows[-1])
        steps = (features[1:] - features[:-1]).norm(dim=1)
        ratios.append(float(steps.max() / steps.min()))
        far.append(nearest(features, known))
    far = torch.cat(far)
    sheet(o, "between", rows[:3])
    return {"longest_over_shortest": [round(r, 2) for r in ratios], "nearest_median": round(float(far.median()), 3),
            "nearest_most": round(float(far.max()), 3), "held_out_median": round(float(bound.median()), 3),
            "held_out_most": round(float(bound.max()), 3)}


def sample(o, judge, paths):
    out = o.maker.folder / "samples"
    if len(pictures_in(out) if out.exists() else []) < o.samples:
        o.maker.run("sample", "-n", o.samples, "--steps", o.steps, "--seed", 1, "-o", f"{out}/")
    made = o.squeezenet.of_files(pictures_in(out))
    held = o.squeezenet.of_files(o.held[:o.samples])
    known = o.known()
    halves = frechet(known[:2 * len(held):2], known[1:2 * len(held):2])
    first, like = pictures_in(out)[:24], torch.cdist(made[:24], known).argmin(1)
    like = [o.train[i] for i in like]
    sheet(o, "samples", [first[:12], like[:12], first[12:], like[12:]])
    distance, near, usual = frechet(made, held), nearest(made, known), nearest(held, known)
    return {"samples": len(made), "held_out": len(held), "frechet": round(distance, 4), "frechet_of_halves": round(halves, 4),
            "ratio": round(distance / halves, 3), "nearest_median": round(float(near.median()), 3),
            "nearest_of_held_out_median": round(float(usual.median()), 3), "copies": round(float((near < usual.quantile(0.01)).float().mean()), 4)}


def config_of(model):
    """Of a folder, or of a file of `zenith diffae join`, which carries it, perhaps in a folder."""
    if (model / "config.json").exists():
        return json.loads((model / "config.json").read_text())
    with safe_open(model / "model.safetensors" if model.is_dir() else model, "pt") as file:
        return json.loads(file.metadata()["zenith.config.json"])


def parse(argv):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", type=pathlib.Path)
    parser.add_argument("--data", type=pathlib.Path, required=True)
    parser.add_argument("--held", type=pathlib.Path, help="folder of held-out pictures for `sample`; default: test/ of --data")
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=PARTS)
    parser.add_argument("--pictures", type=int, default=500)
    parser.add_argument("--samples", type=int, default=2000)
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--noise-steps", type=int, default=250)
    parser.add_argument("--strength", type=float, default=0.6)
    parser.add_argument("--each", type=int, default=12, help="pictures for each direction of `edit` (default: %(default)s)")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--keep", type=pathlib.Path, help="keep what is made here, and go on with what is there")
    parser.add_argument("--sheets", type=pathlib.Path, help="folder for pictures of what was made")
    parser.add_argument("--cache", type=pathlib.Path, default=pathlib.Path.home() / ".cache/zenith-bench/diffae")
    parser.add_argument("--squeezenet", type=pathlib.Path, default=ROOT.parent / "shared/data/squeezenet/squeezenet1_0_dc.safetensors")
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build/release")
    parser.add_argument("--json", action="store_true")
    return parser.parse_args(argv)


def main(argv):
    o = parse(argv)
    o.labels = labels = json.loads((o.data / "labels.json").read_text())
    o.names, o.train = labels["attributes"], pictures_in(o.data / "train")
    paths = pictures_in(o.data / "test")[:o.pictures]
    o.held = pictures_in(o.held or o.data / "test")
    o.side = config_of(o.model)["image_size"]
    o.squeezenet = SqueezeNet(o.squeezenet)
    o.known = functools.cache(lambda: o.squeezenet.of_files(o.train[:4000]))  # that a drawn picture may be a copy of
    judge = Reader(o, labels)
    right = (judge.attributes(paths) == (labels_of(labels, "test", paths) > 0)).float().mean(0)
    found = {"pictures": len(paths), "classifier_of_pictures": share(right)}
    print(f"the classifier of pictures is right in {right.mean():.4f}, of its worst attribute {right.min():.4f}")
    with tempfile.TemporaryDirectory() as temporary:
        o.maker = Model(o, o.keep or pathlib.Path(temporary))
        o.maker.folder.mkdir(parents=True, exist_ok=True)
        for part in o.parts:
            found[part] = globals()[part](o, judge, paths)
            print(f"{part}: {json.dumps(found[part])}", flush=True)
    if o.json:
        print(json.dumps(found))
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except (OSError, subprocess.CalledProcessError) as error:
        print(f"diffae_quality.py: {error}", file=sys.stderr)
        sys.exit(2)
