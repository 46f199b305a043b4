#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Zenith authors
# SPDX-License-Identifier: Apache-2.0
"""Whole training runs of the program, each in a new folder.

    runs.py --zenith PATH TEST..         skipped (77) where real weights are needed and not there

    losses      ten AdamW losses of TAESD's decoder are PyTorch's, within 1e-5, in f16 within 5e-4 (needs weights)
    resume      a run that is killed (kill -9) at random moments ends in the bits of one that is not, and its
                log lists every step once; --kills N, --seed N
    kills       the same of a diffusion autoencoder, and of its prior
    halve       a short run of a small network halves its loss, from a first picture that is no noise
    threads     neither the number of threads nor recomputation, where they share a picture, changes a bit
    stop        SIGINT ends the step, leaves a checkpoint and says so
    ranks       two processes under MPI have the weights of one that accumulates, within 1e-6 (built with ZENITH_MPI)
    f16         in f16 a run follows that of f32; the loss scale is halved and doubled, survives a stop, and is the same
                for any number of threads
    weights     a run does not go on with other frozen weights, nor with another SqueezeNet
    adversarial a discriminator is trained beside the network, each against the other; from `start` on the network
                learns from it; kills, threads and recomputation change no bit, and results have the model alone
    distill     a network of our own learns from a frozen one's pictures, beginning with what both have
    restore     a network that sees spoiled crops learns the crops as they were; what it sees is the same for any number of
                threads and over kills, and not spoiling at all is the same run as spoiling by nothing
    walsh_skip  skips through the Walsh domain begin as plain ones do, and then learn
    prune       a network is pruned by a config's losses, blocks and channels, and trained further: over a kill, and
                its weights are still pruned ones
    scores      rectangles of blocks are left out by a schedule while both parts are trained: as many as it says, over
                two stops, and in the averaged weights the same; then high frequencies of tiles go, and it is trained further
    kl          ten AdamW losses of a variational autoencoder are PyTorch's with the same noise, within 1e-4; a stop, threads and
                recomputation change no bit; one with random weights, drawn as PyTorch draws them, learns in bf16, and its results decode
    quantise    ten AdamW losses of a network that is trained with the rounding of int8, and of f8_e4m3, are PyTorch's within 1e-4; a
                stop, threads and recomputation change no bit; results have their calibration, and int8 runs with it
    diffae      the gradient of a diffusion autoencoder and ten losses are PyTorch's with the same noise, within 1e-4; stops, threads
                and recomputation change no bit; one with random weights learns in bf16, its samples and judgement are there, and
                what cannot be judged ends no run
    recall      known pictures that draw linear codes: made, joined, drawn by
    latents     a diffusion autoencoder on latents of zenith-f1-fast: a stop, threads and latents that are made again change no bit;
                another autoencoder's are not taken; samples are pictures; results encode and decode
    codes       the same of a diffusion autoencoder's prior and classifier on codes; both learn, and the classifier's accuracy of
                each attribute is told; what does not fit is refused
    folder      200 pictures of mixed sizes, three of them broken and two too small: one command with --data and --output trains,
                says when it ends and names what it skipped; it is resumed by the config that it wrote
    words       a text encoder and a diffusion transformer together: every tensor of the gradient is PyTorch's within 1e-4 and ten
                losses are within 1e-5; stops, threads and recomputation change no bit; random ones learn in bf16, are judged by
                captions that are held back, and are trained further; what does not fit is refused
    words_draft  a draft of words, which is solved for and not trained: it stays as it was, decides pictures, and must fit
    stages      from pictures to one model file: an autoencoder, codes, prior, classifier, joined; every command takes the file
    kinds       every loss and every part can be trained; the plot is well-formed, samples are there
"""
import argparse
import array
import json
import math
import os
import pathlib
import random
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time
import xml.dom.minidom

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path.insert(0, str(ROOT / "tests"))
from lib.pictures import mean_square, psnr, read_png  # noqa: E402

TINY = ROOT / "tests/golden/tiny_diffusers"
TINY_DIFFAE = ROOT / "tests/golden/diffae_train"
TINY_DIFFAE_SCAN = ROOT / "tests/golden/diffae_scan_train"
TINY_DIFFAE_PATCH = ROOT / "tests/golden/diffae_patch_train"
TINY_DIFFAE_LINEAR = ROOT / "tests/golden/diffae_linear_train"
TINY_CODES = ROOT / "tests/golden/diffae_codes"
TINY_WORDS = ROOT / "tests/golden/words_train"
TINY_WORDS_POOLED = ROOT / "tests/golden/words_pooled"
TINY_KL = ROOT / "tests/golden/tiny_kl"
WEIGHTS = pathlib.Path(os.environ.get("ZENITH_TEST_WEIGHTS", ROOT.parent / "shared" / "weights"))
DATA = pathlib.Path(os.environ.get("ZENITH_TEST_DATA", ROOT.parent / "shared" / "data"))
SQUEEZENET = DATA / "squeezenet/squeezenet1_0_dc.safetensors"
SKIPPED = 77


class Failure(Exception):
    pass


def check(right, text):
    if not right:
        raise Failure(text)


def small_config(folder, name, **more):
    """A decoder of width 8 that learns from the latents of a tiny random encoder."""
    config = {"model": "taesd", "part": "decoder", "init": {"seed": 3, "width": 8},
              "frozen": {"weights": str(TINY)},
              "data": {"sources": [str(HERE / "data")], "crop": 32, "flip": True, "seed": 5},
              "batch": 2, "steps": 60, "optimizer": {"lr": 2e-3, "warmup": 5},
              "losses": [{"kind": "l1", "weight": 1}], "dtype": "f32", "threads": 2, "checkpoint_every": 7,
              "output": str(folder / name)}
    path = folder / f"{name}.json"
    path.write_text(json.dumps(config | more))
    return path


def train(options, config, *arguments, code=0):
    done = subprocess.run([options.zenith, "train", config, *arguments], capture_output=True, text=True, timeout=600,
                          env=getattr(options, "environment", None))
    check(done.returncode == code, f"exit code {done.returncode}, not {code}: {done.stderr}")
    return done


def log_of(folder, name):
    return [json.loads(line) for line in (folder / name / "train.jsonl").read_text().splitlines()]


def losses_of(folder, name):
    return [line["loss"] for line in log_of(folder, name) if "loss" in line]


def results_of(folder, name):
    return {path.relative_to(folder / name): path.read_bytes()
            for part in ("weights", "ema") for path in sorted((folder / name / part).rglob("*.safetensors"))}


def test_losses(options, folder):
    if not WEIGHTS.is_dir():
        print(f"skipped: no weights in {WEIGHTS}")
        return SKIPPED
    golden = json.loads((ROOT / "tests/golden/ten_losses.json").read_text())
    for dtype, bound, norm_bound in (("f32", 1e-5, 1e-3), ("f16", 5e-4, 5e-3)):
        config = small_config(folder, dtype, init={"weights": str(WEIGHTS)}, frozen={"weights": str(WEIGHTS)}, batch=4, steps=10,
                              data={"sources": [str(HERE / "data")], "crop": 32}, optimizer=golden["optimizer"], dtype=dtype,
                              losses=[{"kind": "charbonnier", "weight": 1}, {"kind": "mse", "weight": 0.5}])
        train(options, config)
        for step, (ours, theirs) in enumerate(zip(losses_of(folder, dtype), golden["losses"], strict=True)):
            difference = abs(ours - theirs) / theirs
            print(f"{dtype}, step {step + 1}: {ours:.9f}, PyTorch {theirs:.9f}, relative difference {difference:.1e}")
            check(difference <= bound, "the losses differ")
        norms = [line["norm"] for line in log_of(folder, dtype)]
        print(f"norms differ by {max(abs(a - b) / b for a, b in zip(norms, golden['norms'])):.1e}")
        check(all(abs(a - b) <= norm_bound * b for a, b in zip(norms, golden["norms"])), f"the norms differ: {norms}")
    return 0


def kl_config(folder, name, **more):
    golden = json.loads((TINY_KL / "ten_losses.json").read_text())
    return small_config(folder, name, **{
        "model": "sd-vae", "part": "both", "init": {"weights": str(TINY_KL)}, "frozen": {}, "batch": golden["batch"], "steps": 10,
        "data": {"sources": [str(HERE / "data/0.png")], "crop": 32, "seed": golden["seed"]}, "optimizer": golden["optimizer"],
        "losses": [{"kind": "mse", "weight": 1}, {"kind": "kl", "weight": golden["kl_weight"]}]} | more)


def test_kl(options, folder):
    golden = json.loads((TINY_KL / "ten_losses.json").read_text())["steps"]
    train(options, kl_config(folder, "whole"))
    for step, (ours, theirs) in enumerate(zip(log_of(folder, "whole"), golden, strict=True), 1):
        ours = ours["losses"] | {"loss": ours["loss"], "norm": ours["norm"]}
        differences = {key: abs(ours[key] - theirs[key]) / theirs[key] for key in theirs}
        print(f"step {step}: {ours['loss']:.7f}, PyTorch {theirs['loss']:.7f}; relative differences " +
              ", ".join(f"{key} {value:.1e}" for key, value in differences.items()))
        check(differences["norm"] <= 1e-3 and all(differences[key] <= 1e-4 for key in ("loss", "mse", "kl")), "the losses differ")

    broken = kl_config(folder, "broken")
    for stop in (3, 7):
        train(options, broken, "--resume", "--steps", str(stop))
    train(options, broken, "--resume")
    check(losses_of(folder, "whole") == losses_of(folder, "broken"), "other losses after a stop")
    for name, change in (("one", {"threads": 1}), ("again", {"threads": 3, "recompute": True})):
        train(options, kl_config(folder, name, **change))
    whole = results_of(folder, "whole")
    check(len(whole) == 4, f"results are {list(whole)}")
    for name in ("broken", "one", "again"):
        check(results_of(folder, name) == whole, f"other weights: {name}")

    random_start = {"init": {"layout": "g4l1qw8-16-16-16", "rule": "pytorch", "seed": 3}}
    train(options, kl_config(folder, "bf16", dtype="bf16", steps=60, optimizer={"lr": 4e-3, "warmup": 5}, **random_start,
                             losses=[{"kind": "mse", "weight": 1}, {"kind": "kl", "weight": 1e-3}]))
    losses = losses_of(folder, "bf16")
    print(f"bf16, from random weights: {losses[0]:.4f} to {losses[-1]:.4f}")
    check(losses[-1] < losses[0] / 2, "it does not learn")
    done = subprocess.run([options.zenith, "reconstruct", HERE / "data/0.png", "-m", "sd-vae", "--weights", folder / "bf16/ema",
                           "-o", folder / "out.png"], capture_output=True, text=True, timeout=60)
    check(done.returncode == 0 and (folder / "out.png").exists(), f"results do not decode: {done.stderr}")

    said = train(options, kl_config(folder, "decoder", part="decoder"), code=1).stderr
    check("\"part\" must be encoder or both" in said, said)
    said = train(options, kl_config(folder, "taesd", model="taesd", init={"width": 8}), code=1).stderr
    check("needs an encoder that gives a mean and a variance" in said, said)
    return 0


def diffae_config(folder, name, **more):
    golden = json.loads((TINY_DIFFAE / "ten_losses.json").read_text())
    config = {"model": "diffae", "task": "diffae", "init": {"weights": str(TINY_DIFFAE)}, "batch": golden["batch"], "steps": 10,
              "data": {"sources": [str(HERE / "data/0.png")], "crop": 32, "seed": golden["seed"]}, "optimizer": golden["optimizer"],
              "dtype": "f32", "threads": 2, "checkpoint_every": 7, "output": str(folder / name)}
    path = folder / f"{name}.json"
    path.write_text(json.dumps(config | more))
    return path


def tensors_of(path):
    """The tensors of a safetensors file in f32, as lists of numbers."""
    data = path.read_bytes()
    size = int.from_bytes(data[:8], "little")
    header, body = json.loads(data[8:8 + size]), data[8 + size:]
    return {name: array.array("f", body[facts["data_offsets"][0]:facts["data_offsets"][1]])
            for name, facts in header.items() if name != "__metadata__"}


def gradient_error(folder, name, beta, tiny, least=80):
    """How far the first step's gradient, of which the first moment tells, is from PyTorch's: the worst tensor's part of its norm.
    A group of the norms has one channel here, so that biases before them have no gradient but what is left of rounding."""
    moments = tensors_of(folder / name / "checkpoint-00000001.safetensors")
    worst, compared = 0, 0
    for tensor, theirs in tensors_of(tiny / "gradients.safetensors").items():
        ours = [value / (1 - beta) for value in moments["m." + tensor]]
        error = sum((a - b)**2 for a, b in zip(ours, theirs, strict=True))**0.5
        norm = sum(b * b for b in theirs)**0.5
        check(error < 1e-6 or norm > 1e-6, f"{tensor} should have no gradient")
        if norm > 1e-6:
            worst, compared = max(worst, error / norm), compared + 1
    check(compared > least, f"{compared} tensors have a gradient")
    return worst


def compare_steps(folder, name, golden):
    for step, (ours, theirs) in enumerate(zip(log_of(folder, name), golden["steps"], strict=True), 1):
        differences = {key: abs(ours[key] - theirs[key]) / theirs[key] for key in theirs}
        print(f"step {step}: {ours['loss']:.7f}, PyTorch {theirs['loss']:.7f}; relative differences " +
              ", ".join(f"{key} {value:.1e}" for key, value in differences.items()))
        check(differences["norm"] <= 1e-3 and differences["loss"] <= 1e-4, "the losses differ")


def as_pytorch(options, folder, tiny, name):
    """Gradients and ten losses beside PyTorch's, which may differ by what f32 and f64 differ by there."""
    golden = json.loads((tiny / "ten_losses.json").read_text())
    settings, start = golden["optimizer"], {"init": {"weights": str(tiny)}}
    bounds = {key: max(least, 4 * golden["rounding"][key]) for key, least in (("loss", 1e-4), ("norm", 1e-3))}
    train(options, diffae_config(folder, f"{name}-first", steps=1, optimizer=settings | {"clip": 0, "warmup": 0}, **start))
    worst = gradient_error(folder, f"{name}-first", settings["beta1"], tiny)
    print(f"{name}: the worst tensor of the gradient differs by {worst:.1e} of its norm")
    check(worst <= 1e-4, "the gradients differ")
    train(options, diffae_config(folder, name, optimizer=settings, **start))
    for step, (ours, theirs) in enumerate(zip(log_of(folder, name), golden["steps"], strict=True), 1):
        differences = {key: abs(ours[key] - theirs[key]) / theirs[key] for key in theirs}
        print(f"step {step}: {ours['loss']:.7f}, PyTorch {theirs['loss']:.7f}; relative differences " +
              ", ".join(f"{key} {value:.1e}" for key, value in differences.items()))
        check(all(value <= bounds[key] for key, value in differences.items()), "the losses differ")


def sparse_encoder(options, folder, start):
    """An encoder that sees some of the pixels is trained to the same bits on any number of threads, and gives codes of any share."""
    some = start | {"network": start["network"] | {"sparse_encoder": 1, "patch": 2}, "steps": 20, "dtype": "f32"}
    for name, threads in (("sparse", 2), ("sparse-one", 1)):
        train(options, diffae_config(folder, name, threads=threads, **some))
    check(losses_of(folder, "sparse") == losses_of(folder, "sparse-one"), "other losses of a sparse encoder on one thread")
    codes = []
    for share in ("0.2", "0.2", "1"):
        out = folder / f"seen-{len(codes)}.npy"
        zenith(options, "diffae", "features", HERE / "data", "-m", folder / "sparse/ema", "-o", out, "--seen", share, "-q")
        codes.append(out.read_bytes())
    check(codes[0] == codes[1] and codes[0] != codes[2], "the share that is seen does not matter, or what is seen is not repeated")
    for model, noise, word in (("bf16", ["--no-noise"], "sparse_encoder"), ("sparse", ["--steps", "4"], "noise")):
        arguments = ["diffae", "encode", HERE / "data/0.png", "-m", folder / model / "ema", "-o", folder / "one.safetensors"]
        said = zenith(options, *arguments, "--seen", "0.2", *noise, code=1)
        check(word in said.stderr, said.stderr)


def linear_codes(options, folder):
    """Codes are PyTorch's; noise gives a picture back; there are no codes of other sizes, and none of networks of other codes."""
    model, picture = folder / "linear/ema", HERE / "data/0.png"
    golden = json.loads((TINY_DIFFAE_LINEAR / "ten_losses.json").read_text())
    f32 = ("--dtype", "f32", "-q")  # the bounds below are this type's
    zenith(options, "diffae", "encode", picture, "-m", model, "-o", folder / "linear.safetensors", *f32)
    code = tensors_of(folder / "linear.safetensors")["z"]
    worst = max(abs(a - b) for a, b in zip(code, golden["code"], strict=True)) / max(map(abs, golden["code"]))
    print(f"linear codes differ by {worst:.1e} of the largest number")
    check(worst <= 1e-5, "the codes differ")
    zenith(options, "diffae", "decode", folder / "linear.safetensors", "-m", model, "-o", folder / "linear.png", *f32)
    zenith(options, "diffae", "encode", folder / "linear.png", "-m", model, "-o", folder / "again.safetensors", "--no-noise", *f32)
    again = tensors_of(folder / "again.safetensors")["z"]
    far = (sum((a - b)**2 for a, b in zip(code, again)) / sum(a * a for a in code))**0.5
    print(f"the code of what code and noise give back differs by {far:.1e} of its norm")
    check(far <= 0.15, "code and noise do not give the picture back")
    zenith(options, "diffae", "join", model, "-o", folder / "joined.safetensors", "--store", "f16")
    zenith(options, "diffae", "encode", picture, "-m", folder / "joined.safetensors", "-o", folder / "f16.safetensors", "--no-noise", *f32)
    rounded = tensors_of(folder / "f16.safetensors")["z"]
    check(max(abs(a - b) for a, b in zip(code, rounded)) <= 2e-3 * max(map(abs, code)), "codes of the joined file differ")
    said = zenith(options, "diffae", "encode", picture, "-m", model, "-o", folder / "other.safetensors", "--size", "64x64", code=1)
    check("other sizes" in said.stderr, said.stderr)
    network = json.loads((TINY_DIFFAE_LINEAR / "config.json").read_text())
    for change, word in (({"code": 9}, "9 numbers"), ({"linear_code": 0}, None), ({"sparse_encoder": 1}, "sizes")):
        config = diffae_config(folder, "mixed", init={"seed": 1}, steps=1, optimizer={"lr": 1e-3}, network=network | change,
                               **({"draft": str(TINY_DIFFAE_LINEAR)} if word else {}))
        said = zenith(options, "train", config, code=None)
        check(said.returncode == 0 if word is None else word in said.stderr, f"{change}: {said.stderr}")
    said = zenith(options, "train", diffae_config(folder, "alone", init={"seed": 1}, network=network), code=None)
    check(said.returncode != 0 and "diffae_components.py" in said.stderr, said.stderr)


def with_rounding(options, folder):
    """Training with the rounding of 8-bit floats sees the weights that 'diffae join' stores."""
    stored = folder / "f8.safetensors"
    zenith(options, "diffae", "join", TINY_DIFFAE, "-o", stored, "--store", "f8_e4m3")
    rounding, first = {"quantise": {"type": "f8_e4m3"}}, {}
    for name, start, more in (("plain", TINY_DIFFAE, {}), ("rounding", TINY_DIFFAE, rounding), ("stored", stored, {})):
        train(options, diffae_config(folder, name, init={"weights": str(start)}, steps=1, optimizer={"lr": 1e-3}, **more))
        first[name] = losses_of(folder, name)
    check(first["rounding"] == first["stored"] != first["plain"], f"losses are {first}")


def with_numpy():
    """An interpreter that has numpy: this one, or the system's."""
    for python in (sys.executable, "/usr/bin/python3"):
        if subprocess.run([python, "-c", "import numpy"], capture_output=True).returncode == 0:
            return python
    raise Failure("no numpy: 'tools/bootstrap' installs it")


def test_recall(options, folder):
    """Codes of four pictures become what draws faces, by the tool and by join; each code is drawn the same alone and on any number of
    threads, and with everything telling of everything it is one of the four; edits need a classifier."""
    model, known = TINY_DIFFAE_LINEAR, folder / "known.safetensors"
    zenith(options, "diffae", "features", HERE / "data", "-m", model, "-o", known, "-q")
    tool = [with_numpy(), ROOT / "tools/models/diffae_recall.py", known, "--model", model, "-o", folder / "recall", "--depends", "-9"]
    subprocess.run(list(map(str, tool)), check=True, capture_output=True)
    joined = folder / "joined.safetensors"
    zenith(options, "diffae", "join", model, folder / "recall", "-o", joined, "--store", "f8_e4m3")
    drawn = {}
    for name, count, seed, threads in (("all", 6, 1, 2), ("one", 6, 1, 1), ("third", 1, 3, 2)):
        out = folder / name
        zenith(options, "diffae", "sample", "-m", joined, "-n", count, "--seed", seed, "--steps", 2, "--threads", threads, "-o", f"{out}/", "-q")
        drawn[name] = [path.read_bytes() for path in sorted(out.glob("*.png"))]
    check(len(drawn["all"]) == 6 and drawn["all"] == drawn["one"], "other pictures on one thread")
    check(drawn["third"] == drawn["all"][2:3], "another picture alone")
    check(1 < len(set(drawn["all"])), "all pictures are the same")
    zenith(options, "diffae", "features", folder / "all", "-m", joined, "-o", folder / "again.safetensors", "-q")
    said = zenith(options, "diffae", "edit", HERE / "data/0.png", "-m", joined, "-a", "0", "--strength", "1", "-o", folder / "no.png", code=None)
    check(said.returncode != 0 and "classifier" in said.stderr, said.stderr)
    said = zenith(options, "diffae", "join", TINY_DIFFAE, folder / "recall", "-o", folder / "wrong.safetensors", code=None)
    check(said.returncode != 0 and "recall" in said.stderr, said.stderr)


def check_judged(path, judged, count=2, side=32, gap=4):
    """The judgement is that of the samples of the same step: a row for each of `count` held pictures, which are the picture, there
    and back, other noise, and another's code."""
    width, height, pixels = read_png(path.read_bytes())
    check((width, height) == (4 * side + 3 * gap, count * side + (count - 1) * gap), f"samples are {width}x{height}")
    shown = [[b"".join(pixels[3 * (width * y + x):3 * (width * y + x + side)] for y in range(top, top + side))
              for x in range(0, width, side + gap)] for top in range(0, height, side + gap)]
    swapped = []
    for i, (picture, _, _, code) in enumerate(shown):
        own, other = mean_square(code, picture), mean_square(code, shown[(i + 1) % count][0])
        swapped.append(own / (own + other))
    seen = {"psnr": sum(psnr(row[0], row[1]) for row in shown) / count,
            "code_psnr": sum(psnr(row[0], row[2]) for row in shown) / count, "swap": sum(swapped) / count}
    print(f"judged {judged}, seen {seen}")
    for name, bound in (("psnr", 0.01), ("code_psnr", 0.01), ("swap", 0.0002)):
        check(abs(judged[name] - seen[name]) <= bound, f"{name} is not that of the samples")


def test_diffae(options, folder):
    as_pytorch(options, folder, TINY_DIFFAE, "whole")
    as_pytorch(options, folder, TINY_DIFFAE_SCAN, "scan")
    as_pytorch(options, folder, TINY_DIFFAE_PATCH, "patch")
    as_pytorch(options, folder, TINY_DIFFAE_LINEAR, "linear")
    linear_codes(options, folder)
    with_rounding(options, folder)

    broken = diffae_config(folder, "broken")
    for stop in (3, 7):
        train(options, broken, "--resume", "--steps", str(stop))
    train(options, broken, "--resume")
    for name, change in (("one", {"threads": 1}), ("again", {"threads": 3, "recompute": True})):
        train(options, diffae_config(folder, name, **change))
    whole = results_of(folder, "whole")
    check(len(whole) == 2, f"results are {list(whole)}")
    for name in ("broken", "one", "again"):
        check(losses_of(folder, name) == losses_of(folder, "whole"), f"other losses: {name}")
        check(results_of(folder, name) == whole, f"other weights: {name}")
    check(json.loads((folder / "whole/ema/config.json").read_text())["code"] == 8, "there is no config.json of the results")

    network = json.loads((TINY_DIFFAE / "config.json").read_text()) | {"attention_resolutions": []}
    seen = {"sources": [str(HERE / "data")], "count": 2}
    random_start = {"init": {"seed": 3}, "network": network, "batch": 2, "steps": 50, "dtype": "bf16", "validation": seen,
                    "data": {"sources": [str(HERE / "data")], "crop": 32, "flip": True}, "optimizer": {"lr": 4e-3, "ema": 0.9},
                    "validate_every": 50, "sample_every": 50, "samples": 2, "results_every": 30, "eval_steps": 4}
    train(options, diffae_config(folder, "bf16", **random_start))
    lines = log_of(folder, "bf16")
    losses = losses_of(folder, "bf16")
    early, late = sum(losses[:10]) / 10, sum(losses[-10:]) / 10
    print(f"bf16, from random weights: {early:.4f} to {late:.4f}")
    check(0.8 < losses[0] < 1.2, "the first prediction is not zero, as the last layer's weights are")
    check(late < 0.8 * early, "it does not learn")
    judged = next(line["validation"] for line in lines if "validation" in line)
    print(judged)
    check(judged["psnr"] > 5 and judged["code_psnr"] > 3, "the judgement is none")
    check_judged(folder / "bf16/samples/00000050.png", judged)

    sparse_encoder(options, folder, random_start)
    train(options, diffae_config(folder, "fault", **random_start | {"steps": 2, "validate_every": 1, "eval_steps": 600}))
    faults = [line["fault"] for line in log_of(folder, "fault") if "fault" in line]
    check(len(faults) >= 2 and all("600" in fault for fault in faults), f"faults are {faults}")
    check(len(results_of(folder, "fault")) == 2, "a judgement that failed has ended the run")
    said = train(options, diffae_config(folder, "model", model="taesd"), code=1).stderr
    check("must be diffae" in said, said)
    return 0


def words_start(folder, golden=TINY_WORDS):
    """The golden's weights with the tensor that is a formula (tools/goldens/make_words_goldens.py)."""
    start = folder / "start"
    if start.exists():
        return start
    shutil.copytree(golden, start)
    path = start / "transformer/model.safetensors"
    data = path.read_bytes()
    size = int.from_bytes(data[:8], "little")
    header, body = json.loads(data[8:8 + size]), data[8 + size:]
    values = [struct.pack("<f", (k - 128) / 1024)[2:] for k in range(256)]  # exact in bf16
    made = b"".join(values[(i * 2654435761 & 0xffffffff) >> 24] for i in range(1024 * 256))
    header["t_embedder.mlp.0.weight"] = {"dtype": "BF16", "shape": [1024, 256], "data_offsets": [len(body), len(body) + len(made)]}
    text = json.dumps(header).encode()
    path.write_bytes(len(text).to_bytes(8, "little") + text + body + made)
    return start


def plain_latents(path):
    """Four latents, which are -2 or 2 all over. Each is 32 tokens, so that there is no padding."""
    values = array.array("f", [2 - 4 * (i % 2) for i in range(4) for _ in range(4 * 8 * 16)]).tobytes()
    text = json.dumps({"latent": {"dtype": "F32", "shape": [4, 4, 8, 16], "data_offsets": [0, len(values)]}}).encode()
    path.write_bytes(len(text).to_bytes(8, "little") + text + values)
    return str(path)


def words_config(folder, name, of=TINY_WORDS, **more):
    golden = json.loads((of / "ten_losses.json").read_text())
    config = {"model": "z-image", "task": "words", "init": {"weights": str(words_start(folder, of))}, "batch": golden["batch"],
              "steps": 10, "optimizer": golden["optimizer"],
              "data": {"latents": str(TINY_WORDS / "latents.safetensors"), "captions": str(TINY_WORDS / "captions.jsonl"),
                       "drop": golden["drop"], "seed": golden["seed"]},
              "dtype": "f32", "threads": 2, "checkpoint_every": 7, "output": str(folder / name)}
    path = folder / f"{name}.json"
    path.write_text(json.dumps(config | more))
    return path


def words_gradient_error(folder, name, beta, of):
    """The worst tensor's, and its name; of one tensor the golden has two factors."""
    moments = tensors_of(folder / name / "checkpoint-00000001.safetensors")
    golden = tensors_of(of / "gradients.safetensors")
    factored = "t_embedder.mlp.0.weight"
    left, right = golden.pop(f"{factored}.left"), golden.pop(f"{factored}.right")
    golden[factored] = [left[o] * right[i] + left[1024 + o] * right[256 + i] for o in range(1024) for i in range(256)]
    check({"m." + tensor for tensor in golden} == {key for key in moments if key.startswith("m.")}, "other tensors are trained")
    errors = []
    for tensor, theirs in golden.items():
        norm = sum(b * b for b in theirs)**0.5
        check(norm > 1e-6, f"{tensor} has no gradient")
        ours = moments["m." + tensor]
        errors.append((sum((a / (1 - beta) - b)**2 for a, b in zip(ours, theirs, strict=True))**0.5 / norm, tensor))
    print(f"{len(errors)} tensors have a gradient")
    return max(errors)


def words_as_pytorch(options, folder, of=TINY_WORDS, **more):
    """The run "whole", and its gradients and losses beside PyTorch's."""
    golden = json.loads((of / "ten_losses.json").read_text())
    settings = golden["optimizer"]
    train(options, words_config(folder, "first", of, steps=1, optimizer=settings | {"clip": 0, "warmup": 0}, **more))
    worst, tensor = words_gradient_error(folder, "first", settings["beta1"], of)
    print(f"the worst tensor of the gradient, {tensor}, differs by {worst:.1e} of its norm")
    check(worst <= 1e-4, "the gradients differ")
    train(options, words_config(folder, "whole", of, **more))
    for step, (ours, theirs) in enumerate(zip(log_of(folder, "whole"), golden["steps"], strict=True), 1):
        differences = {key: abs(ours[key] - theirs[key]) / theirs[key] for key in theirs}
        print(f"step {step}: {ours['loss']:.7f}, PyTorch {theirs['loss']:.7f}; relative differences " +
              ", ".join(f"{key} {value:.1e}" for key, value in differences.items()))
        check(differences["loss"] <= 1e-5 and differences["norm"] <= 1e-4, "the losses differ")


def words_same_bits(options, folder, **more):
    """The same run stopped and resumed, on one thread, and with less memory."""
    broken = words_config(folder, "broken", **more)
    for stop in (3, 7):
        train(options, broken, "--resume", "--steps", str(stop))
    train(options, broken, "--resume")
    for name, change in (("one", {"threads": 1}), ("again", {"threads": 3, "recompute": True})):
        train(options, words_config(folder, name, **more | change))
    whole = results_of(folder, "whole")
    check(len(whole) == 4, f"results are {list(whole)}")
    for name in ("broken", "one", "again"):
        check(losses_of(folder, name) == losses_of(folder, "whole"), f"other losses: {name}")
        check(results_of(folder, name) == whole, f"other weights: {name}")


def words_moments(options, folder, name, **more):
    """The gradient of the first step, but for a factor, as one list for each tensor."""
    train(options, words_config(folder, name, steps=1, optimizer={"clip": 0, "warmup": 0}, **more))
    return {key: value for key, value in tensors_of(folder / name / "checkpoint-00000001.safetensors").items() if key[:2] == "m."}


def test_words_stack(options, folder):
    """Several samples in one run: what they are by themselves."""
    words_as_pytorch(options, folder, stack=2)
    words_same_bits(options, folder, stack=2)
    usual = {"data": {"latents": plain_latents(folder / "plain.safetensors"), "captions": str(TINY_WORDS / "captions.jsonl")},
             "batch": 6}
    usual["validation"] = usual["data"] | {"count": 4}
    single = words_moments(options, folder, "single", validate_every=1, **usual)
    for stack in (2, 3, 6):
        stacked = words_moments(options, folder, f"by{stack}", validate_every=1, **usual, stack=stack)
        worst = max((sum((a - b)**2 for a, b in zip(stacked[key], value, strict=True)) / sum(b * b for b in value))**0.5
                    for key, value in single.items() if any(value))
        print(f"{stack} in a run: the worst tensor of the gradient differs by {worst:.1e} of its norm")
        check(worst <= 1e-5, "the gradient is not the sum of those of single samples")
    judged = [next(line["validation"]["loss"] for line in log_of(folder, name) if "validation" in line) for name in ("single", "by2")]
    check(abs(judged[0] - judged[1]) <= 1e-5 * judged[0], f"judged as {judged}")
    check("multiple" in train(options, words_config(folder, "uneven", stack=3), code=1).stderr, "3 do not divide 2")
    said = train(options, words_config(folder, "whole", stack=1), "--resume", code=1).stderr
    check("stack" in said, said)
    return 0


def test_words_pooled(options, folder):
    """A transformer whose caption also scales and shifts the image's tokens."""
    words_as_pytorch(options, folder, TINY_WORDS_POOLED)
    shutil.rmtree(folder / "first"), shutil.rmtree(folder / "whole")
    words_as_pytorch(options, folder, TINY_WORDS_POOLED, stack=2)
    return 0


def test_words_distil(options, folder):
    """A student of few steps, whose teacher is what it begins with: losses beside PyTorch's, and the same bits however it is run."""
    golden = json.loads((ROOT / "tests/golden/words_distil.json").read_text())
    train(options, words_config(folder, "whole", distil=golden["distil"]))
    for step, (ours, theirs) in enumerate(zip(log_of(folder, "whole"), golden["steps"], strict=True), 1):
        difference = abs(ours["loss"] - theirs["loss"]) / theirs["loss"]
        print(f"step {step}: {ours['loss']:.7f}, PyTorch {theirs['loss']:.7f}; relative difference {difference:.1e}")
        check(difference <= 1e-5, "the losses differ")
    words_same_bits(options, folder, distil=golden["distil"])
    other = golden["distil"] | {"inner": 3}
    check("distil.inner" in train(options, words_config(folder, "whole", distil=other), "--resume", code=1).stderr, "resumed as another")
    said = train(options, words_config(folder, "new", distil=other, init={"seed": 1}), code=1).stderr
    check("init.weights" in said, said)
    said = train(options, words_config(folder, "new", distil=other, guidance=2), code=1).stderr
    check("guidance" in said, said)
    return 0


def test_words(options, folder):
    words_as_pytorch(options, folder)
    words_same_bits(options, folder)
    train(options, words_config(folder, "further", steps=2, init={"weights": str(folder / "whole/ema")}))

    text, network = (json.loads((TINY_WORDS / name / "config.json").read_text()) for name in ("text_encoder", "transformer"))
    data = json.loads(words_config(folder, "x").read_text())["data"]
    seen = {"latents": plain_latents(folder / "plain.safetensors"), "captions": data["captions"]}
    random_start = {"init": {"seed": 3}, "text": text, "network": network, "data": seen, "validation": seen | {"count": 3},
                    "validate_every": 40, "steps": 40, "batch": 4, "dtype": "bf16", "optimizer": {"lr": 1e-2, "warmup": 5}}
    train(options, words_config(folder, "bf16", **random_start))
    train(options, words_config(folder, "bf16-one", threads=1, **random_start), "--steps", "9")
    losses = losses_of(folder, "bf16")
    check(losses[:9] == losses_of(folder, "bf16-one"), "other losses on one thread in bf16")
    early, late = sum(losses[:10]) / 10, sum(losses[-10:]) / 10
    judged = next(line["validation"] for line in log_of(folder, "bf16") if "validation" in line)
    print(f"bf16, from random weights: {early:.4f} to {late:.4f}; held back: {judged}")
    check(4 < losses[0] < 6, "the first velocity is not zero, as the last layer's weights are")
    check(late < 0.7 * early, "it does not learn")
    check(0 < judged["loss"] < 5, "the judgement is none")
    return refuse_words(options, folder, data, random_start)


def test_words_captions(options, folder):
    """A picture has several captions: each epoch draws one. Weights stay as they are, so that losses tell which it was."""
    lists = [[[3, 17, 25], [30, 2]], [[11, 2], [7, 7, 7]], [[30, 30, 4], [21]], [[5, 28, 14], [9]]]
    files = {"first": [a for a, _ in lists], "second": [b for _, b in lists], "both": lists}
    for name, ids in files.items():
        (folder / f"{name}.jsonl").write_text("".join(json.dumps({"ids": one}) + "\n" for one in ids))
        data = json.loads(words_config(folder, "x").read_text())["data"] | {"captions": str(folder / f"{name}.jsonl"), "drop": 0}
        train(options, words_config(folder, name, data=data, batch=1, steps=24, optimizer={"lr": 1e-30, "weight_decay": 0}))
    first, second, both = (losses_of(folder, name) for name in files)
    taken = [0 if c == a else 1 if c == b else -1 for a, b, c in zip(first, second, both, strict=True)]
    print(f"captions of 24 samples of 4 pictures: {taken}")
    check(-1 not in taken and 6 <= sum(taken) <= 18, "captions are not drawn")
    check(len({tuple(taken[i:i + 4]) for i in range(0, 24, 4)}) > 2, "captions are not drawn anew")
    return 0


def words_pictures(folder):
    """A tokenizer, four latents that zenith-f1-fast decodes, and their captions as texts."""
    lines = [{"captions": [f"glossy emoji of a {colour} apple", f"{colour} apple, glossy style"], "file": f"{colour}.png"}
             for colour in ("red", "green", "blue", "yellow")]
    (folder / "captions.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    values = array.array("f", [(i * 7919 % 65 - 32) / 32 for i in range(4 * 16 * 8 * 8)]).tobytes()
    text = json.dumps({"latent": {"dtype": "F32", "shape": [4, 16, 8, 8], "data_offsets": [0, len(values)]}}).encode()
    (folder / "latents.safetensors").write_bytes(len(text).to_bytes(8, "little") + text + values)
    return {"latents": str(folder / "latents.safetensors"), "captions": str(folder / "captions.jsonl")}


def test_words_generate(options, folder):
    """From captions that are texts to a folder that makes pictures, of the size that it was trained on."""
    options.environment = os.environ | {"ZENITH_MODELS": str(ROOT / "models")}
    data = words_pictures(folder)
    zenith(options, "tokenizer", "train", data["captions"], "-o", folder / "tokenizer", "--size", "300")
    text, network = (json.loads((TINY_WORDS / name / "config.json").read_text()) for name in ("text_encoder", "transformer"))
    start = {"init": {"seed": 3}, "text": text | {"vocab_size": 300}, "network": network | {"in_channels": 16, "sample_size": 8, "cap_pool": 1},
             "tokenizer": str(folder / "tokenizer"), "data": data, "batch": 4, "stack": 2, "optimizer": {"lr": 1e-2, "warmup": 2}}
    look = {"validation": data, "sample_every": 5, "samples": 3, "eval_steps": 4, "autoencoder": "zenith-f1-fast"}
    train(options, words_config(folder, "run", **start | look))
    train(options, words_config(folder, "alone", **start | look | {"threads": 1, "sample_every": 10}))
    train(options, words_config(folder, "fault", **start | look | {"autoencoder": "no-such-model"}))
    train(options, words_config(folder, "unseen", **start))
    for name in ("alone", "fault", "unseen"):
        check(results_of(folder, name) == results_of(folder, "run"), f"looking changes what is trained: {name}")
    faults = [line["fault"] for line in log_of(folder, "fault") if "fault" in line]
    check(len(faults) == 2 and "no-such-model" in faults[0], f"faults are {faults}")
    samples = [(folder / name).read_bytes() for name in ("run/samples/00000010.png", "alone/samples/00000010.png")]
    check(samples[0] == samples[1], "one thread and two draw different samples")
    check(struct.unpack(">II", samples[0][16:24]) == (2 * 64 + 4, 3 * 68 - 4), "the samples have another size")
    check((folder / "run/samples/00000005.png").read_bytes() != samples[0], "samples do not change")
    for missing in ("autoencoder", "validation"):
        said = train(options, words_config(folder, "less", **{k: v for k, v in (start | look).items() if k != missing}), code=1).stderr
        check(missing in said, said)
    pictures = []
    for threads in ("1", "2"):
        out = folder / f"{threads}.png"
        zenith(options, "generate", "glossy emoji of a red apple", "-w", folder / "run/ema", "-o", out, "--seed", "7", "--steps", "3",
               "--guidance", "2", "--threads", threads)
        pictures.append(out.read_bytes())
    check(pictures[0] == pictures[1], "one thread and two make different pictures")
    check(struct.unpack(">II", pictures[0][16:24]) == (64, 64), "the picture has another size")
    few = start | {"text": text | {"vocab_size": 270}}
    said = train(options, words_config(folder, "few", **few), code=1).stderr
    check("270" in said and "tokenizer" in said, said)
    (folder / "captions.jsonl").write_text((folder / "captions.jsonl").read_text().replace("a yellow", "a very very" * 20))
    said = train(options, words_config(folder, "left-out", **start), "--log").stderr
    check("1 caption" in said, said)
    (folder / "captions.jsonl").write_text((folder / "captions.jsonl").read_text().replace("yellow", "a very very" * 20))
    said = train(options, words_config(folder, "long", **start), code=1).stderr
    check("line 4" in said, said)
    return 0


def write_draft(folder, width, inner, places, numbers, words):
    """A random draft, as tools/models/words_draft.py writes them."""
    drawn = random.Random(5)
    shapes = {"draft.words.weight": [words, width], "draft.norm.weight": [width], "draft.w1.weight": [inner, width],
              "draft.w3.weight": [inner, width], "draft.w2.weight": [places * numbers, inner], "draft.w2.bias": [places * numbers]}
    header, data = {}, b""
    for name, shape in shapes.items():
        values = array.array("f", [drawn.gauss(0, 1) for _ in range(math.prod(shape))]).tobytes()
        header[name] = {"dtype": "F32", "shape": shape, "data_offsets": [len(data), len(data) + len(values)]}
        data += values
    text = json.dumps(header).encode()
    folder.mkdir()
    (folder / "model.safetensors").write_bytes(len(text).to_bytes(8, "little") + text + data)
    return shapes


def test_words_draft(options, folder):
    """A draft that is not trained: it is in the results as it was, and decides pictures."""
    options.environment = os.environ | {"ZENITH_MODELS": str(ROOT / "models")}
    data = words_pictures(folder)
    zenith(options, "tokenizer", "train", data["captions"], "-o", folder / "tokenizer", "--size", "300")
    text, network = (json.loads((TINY_WORDS / name / "config.json").read_text()) for name in ("text_encoder", "transformer"))
    network |= {"in_channels": 16, "sample_size": 8, "draft_dim": 5, "draft_width": 18, "draft_places": 16, "draft_words": 300}
    shapes = write_draft(folder / "draft", 18, 5, 16, 64, 300)
    (folder / "draft/config.json").write_text(json.dumps(network))
    start = {"init": {"seed": 3}, "text": text | {"vocab_size": 300}, "network": network, "tokenizer": str(folder / "tokenizer"), "data": data,
             "draft": str(folder / "draft"), "batch": 4, "stack": 2, "optimizer": {"lr": 1e-2, "warmup": 2}}
    train(options, words_config(folder, "run", **start))
    made, given = (tensors_of(folder / name / "model.safetensors") for name in ("run/ema/transformer", "draft"))
    check(all(made[name] == given[name] for name in shapes), "the draft has changed")
    check("draft_embedder.weight" in made, "the denoiser does not see the draft")
    again = {key: value for key, value in start.items() if key not in ("draft", "text", "network")}
    train(options, words_config(folder, "further", **again | {"init": {"weights": str(folder / "run/ema")}}))
    pictures = {}
    for name, prompt in (("red", "red apple"), ("same", "red apple"), ("blue", "blue apple"), ("turned", "apple red")):
        zenith(options, "generate", prompt, "-w", folder / "run/ema", "-o", folder / "x.png", "--seed", "7", "--steps", "2",
               "--threads", "1" if name == "same" else "2")
        pictures[name] = (folder / "x.png").read_bytes()
    check(pictures["red"] == pictures["same"], "one thread and two make different pictures")
    check(len(set(pictures.values())) == 3, "words or their order decide nothing")
    said = zenith(options, "generate", "red apple", "-w", folder / "run/ema", "-o", folder / "x.png", "--size", "128x128", code=1).stderr
    check("16 tokens" in said, said)
    said = train(options, words_config(folder, "none", **{key: value for key, value in start.items() if key != "draft"}), code=1).stderr
    check("words_draft.py" in said, said)
    said = train(options, words_config(folder, "places", **start | {"network": network | {"draft_places": 15}}), code=1).stderr
    check("draft" in said, said)
    return 0


def refuse_words(options, folder, data, start):
    """What does not fit is named."""
    captions = (TINY_WORDS / "captions.jsonl").read_text().splitlines(keepends=True)
    changes = {"no-empty": "".join(captions[1:]), "few": "".join(captions[:-1]), "unknown": "".join(captions).replace("39", "40"),
               "long": "".join(captions[:-1]) + json.dumps({"ids": [1] * 33}) + "\n"}
    for name, word in (("no-empty", "dropped"), ("few", "of 3 pictures"), ("unknown", "line 2"), ("long", "1 to 32")):
        (folder / f"{name}.jsonl").write_text(changes[name])
        said = train(options, words_config(folder, name, data=data | {"captions": str(folder / f"{name}.jsonl")}), code=1).stderr
        check(word in said, said)
    for name, change, word in (("width", {"text": start["text"] | {"hidden_size": 12}}, "cap_feat_dim"),
                               ("channels", {"network": start["network"] | {"in_channels": 5}}, "5"),
                               ("text", {"text": {"hidden_size": 0}}, "width"),
                               ("model", {"model": "qwen3"}, "must be z-image"),
                               ("crop", {"data": data | {"crop": 32}}, "crop"),
                               ("drop", {"data": data | {"drop": 2}}, "data.drop")):
        said = train(options, words_config(folder, name, **start | change), code=1).stderr
        check(word in said, said)
    return 0


def test_latents(options, folder):
    """Of 32x32 pictures, 4x4 latents."""
    options.environment = os.environ | {"ZENITH_MODELS": str(ROOT / "models")}
    network = {"model": "diffae", "image_size": 32, "autoencoder": "zenith-f1-fast", "in_channels": 16, "channels": 32,
               "channel_mult": [1, 1], "encoder_mult": [1, 1], "res_blocks": 1, "attention_resolutions": [2], "code": 8,
               "timesteps": 100, "clip": False}
    seen = {"sources": [str(HERE / "data")], "count": 2}
    usual = {"init": {"seed": 3}, "network": network, "batch": 2, "steps": 4, "validation": seen, "checkpoint_every": 1,
             "data": {"sources": [str(HERE / "data")], "crop": 32, "flip": True}, "optimizer": {"lr": 1e-3, "ema": 0.5},
             "validate_every": 4, "sample_every": 4, "samples": 2, "eval_steps": 4}
    train(options, diffae_config(folder, "whole", **usual))
    broken = diffae_config(folder, "broken", **usual)
    train(options, broken, "--steps", "2")
    stored = next((folder / "broken").glob("latents-*.safetensors"))
    made = stored.stat().st_mtime_ns
    train(options, broken, "--resume", "--steps", "3")
    check(stored.stat().st_mtime_ns == made, "latents were made again")
    stored.unlink()
    train(options, broken, "--resume")
    train(options, diffae_config(folder, "one", **usual | {"threads": 1}))
    for name in ("broken", "one"):
        check(losses_of(folder, name) == losses_of(folder, "whole"), f"other losses: {name}")
        check(results_of(folder, name) == results_of(folder, "whole"), f"other weights: {name}")
    judged = next(line["validation"] for line in log_of(folder, "whole") if "validation" in line)
    check(judged["psnr"] > 3, f"the judgement is none: {judged}")
    check_judged(folder / "whole/samples/00000004.png", judged)
    config = json.loads((folder / "whole/ema/config.json").read_text())
    check(len(config["latent_mean"]) == 16 and min(config["latent_std"]) > 0, "config.json has no numbers of latents")

    code, back = folder / "code.safetensors", folder / "back.png"
    for arguments in (("encode", HERE / "data/0.png", "-o", code), ("decode", code, "-o", back)):
        done = subprocess.run([options.zenith, "diffae", *arguments, "-m", folder / "whole/ema", "--steps", "4"],
                              capture_output=True, text=True, env=options.environment)
        check(done.returncode == 0, f"results do not {arguments[0]}: {done.stderr}")
    check(len(tensors_of(code)["x_T"]) == 16 * 4 * 4, "the noise is not that of latents")
    again = {"init": {"weights": str(folder / "whole/ema")}, "steps": 1, "validate_every": 0, "sample_every": 0}
    again = {key: value for key, value in (usual | again).items() if key != "network"}
    train(options, diffae_config(folder, "again", **again))
    check(json.loads((folder / "again/ema/config.json").read_text()) == config, "a run from results has another config")
    said = train(options, diffae_config(folder, "other", **usual | {"network": network | {"autoencoder_sha256": "00"}}), code=1)
    check("autoencoder_sha256" in said.stderr, said.stderr)
    said = train(options, diffae_config(folder, "crop", **usual | {"data": usual["data"] | {"crop": 24}}), code=1)
    check("multiple of 16" in said.stderr, said.stderr)


def codes_config(folder, name, part, **more):
    golden = json.loads((TINY_CODES / part / "ten_losses.json").read_text())
    data = {"codes": str(TINY_CODES / "codes.safetensors"), "seed": golden["seed"]}
    if part == "classifier":
        data["labels"] = str(TINY_CODES / "labels.json")
    config = {"model": "diffae", "task": f"diffae-{part}", "init": {"weights": str(TINY_CODES / part)}, "batch": golden["batch"],
              "steps": 10, "data": data, "optimizer": golden["optimizer"], "threads": 2, "checkpoint_every": 7,
              "output": str(folder / name)}
    path = folder / f"{name}.json"
    path.write_text(json.dumps(config | more))
    return path


def test_codes(options, folder):
    for part, least in (("prior", 18), ("classifier", 1)):
        golden = json.loads((TINY_CODES / part / "ten_losses.json").read_text())
        settings = golden["optimizer"]
        train(options, codes_config(folder, f"{part}-first", part, steps=1, optimizer=settings | {"clip": 0, "warmup": 0}))
        worst = gradient_error(folder, f"{part}-first", settings["beta1"], TINY_CODES / part, least)
        print(f"{part}: the worst tensor of the gradient differs by {worst:.1e} of its norm")
        check(worst <= 1e-4, "the gradients differ")
        train(options, codes_config(folder, part, part))
        compare_steps(folder, part, golden)
        broken = codes_config(folder, f"{part}-broken", part)
        for more in (("--steps", "3"), ("--steps", "7"), ()):
            train(options, broken, "--resume", *more)
        train(options, codes_config(folder, f"{part}-one", part, threads=1))
        for name in ("broken", "one"):
            check(results_of(folder, f"{part}-{name}") == results_of(folder, part), f"other weights of the {part}: {name}")
        check(len(results_of(folder, part)) == 2, "there are no results")

        held = {"validation": {"codes": str(TINY_CODES / "codes.safetensors")}, "validate_every": 300, "steps": 300,
                "init": {"seed": 1}, "autoencoder": str(TINY_CODES / part), "optimizer": {"lr": 1e-2, "ema": 0.9}, "batch": 128}
        train(options, codes_config(folder, f"{part}-learns", part, **held))
        losses = losses_of(folder, f"{part}-learns")
        judged = next(line["validation"] for line in log_of(folder, f"{part}-learns") if "validation" in line)
        print(f"{part}, from random weights: {losses[0]:.3f} to {losses[-1]:.3f}; {judged}")
        check(losses[-1] < 0.8 * losses[0], "it does not learn")
        told = tensors_of(folder / f"{part}-learns/ema/model.safetensors")
        check(told["conds_mean"] == tensors_of(TINY_CODES / "codes.safetensors")["conds_mean"], "the mean of codes is another")
    accuracy = json.loads((folder / "classifier-learns/ema/accuracy.json").read_text())
    check(accuracy["attributes"] == ["glasses", "smiling", "hair=dark", "hair=red"] and accuracy["codes"] == 17, str(accuracy))
    check(min(accuracy["accuracy"]) >= 0.9 and max(accuracy["commoner"]) < 0.9, str(accuracy))
    check(json.loads((folder / "classifier-learns/ema/config.json").read_text())["attributes"] == accuracy["attributes"], "other names")

    data = {"codes": str(TINY_CODES / "codes.safetensors")}
    for change, words in (({"data": {}}, "data.codes"), ({"data": data | {"sources": ["x"]}}, "sources"),
                          ({"data": data | {"labels": "x"}}, "labels"), ({"losses": [{"kind": "logistic", "weight": 1}]}, "l1 and mse"),
                          ({"sample_every": 1}, "sample_every"), ({"init": {}}, "autoencoder"),
                          ({"init": {}, "network": {"code": 9}}, "8 numbers")):
        said = train(options, codes_config(folder, "refused", "prior", **change), code=1).stderr
        check(words in said, said)
    return 0


def zenith(options, *arguments, code=0):
    done = subprocess.run([options.zenith, *map(str, arguments)], capture_output=True, text=True, timeout=600,
                          env=getattr(options, "environment", None))
    check(code in (done.returncode, None), f"zenith {' '.join(map(str, arguments))}: exit code {done.returncode}, not {code}: {done.stderr}")
    return done


def test_stages(options, folder):
    pictures = sorted((HERE / "data").glob("*.png"))
    network = json.loads((TINY_DIFFAE / "config.json").read_text())
    network |= {"prior_width": 16, "prior_layers": 3}
    train(options, diffae_config(folder, "first", steps=3, init={"seed": 3}, network=network,
                                 data={"sources": [str(HERE / "data")], "crop": 32}))
    codes = folder / "codes.safetensors"
    zenith(options, "diffae", "features", *pictures, "-m", folder / "first/ema", "-o", codes, "-q")
    labels = folder / "labels.csv"
    labels.write_text("picture,even,kind\n" + "".join(f"{path.name},{i % 2},{'abc'[i % 3]}\n" for i, path in enumerate(pictures)))
    start = {"init": {"seed": 1}, "autoencoder": str(folder / "first/ema"), "steps": 20, "optimizer": {"lr": 1e-2, "ema": 0.9}}
    train(options, codes_config(folder, "prior", "prior", **start | {"data": {"codes": str(codes)}}))
    train(options, codes_config(folder, "classifier", "classifier", **start | {
        "data": {"codes": str(codes), "labels": str(labels)}, "validation": {"codes": str(codes)}, "validate_every": 20}))

    parts = [folder / name / "ema" for name in ("classifier", "first", "prior")]
    sizes = {}
    for store in ("f32", "f16", "f8_e4m3"):
        model = folder / f"{store}.safetensors"
        zenith(options, "diffae", "join", *parts, "-o", model, "--store", store, "-q")
        sizes[store] = model.stat().st_size
        zenith(options, "diffae", "sample", "-m", model, "-n", 2, "--seed", 1, "--steps", 2, "--prior-steps", 2, "-o",
               folder / "drawn.png", "-q")
        told = zenith(options, "diffae", "classify", pictures[0], "-m", model).stdout
        check(all(name in told for name in ("even", "kind=a", "kind=b", "kind=c")), told)
        zenith(options, "diffae", "edit", pictures[0], "-m", model, "--attribute", "kind=b", "--noise-steps", 2, "--steps", 2,
               "-o", folder / "edited.png", "-q")
    check(sizes["f32"] > sizes["f16"] > sizes["f8_e4m3"], str(sizes))
    check(sorted(path.name for path in folder.glob("*.joining*")) == [], "something is left behind")
    zenith(options, "diffae", "decode", "-m", folder / "f32.safetensors", "-o", folder / "x.png", codes, code=1)

    # What was trained on codes of other weights is refused, and so is a classifier of other codes than the prior's.
    train(options, diffae_config(folder, "other", steps=3, init={"seed": 4}, network=network,
                                 data={"sources": [str(HERE / "data")], "crop": 32}))
    refused = ("diffae", "join", folder / "other/ema", folder / "prior/ema", "-o", folder / "no.safetensors")
    check("codes of other weights" in zenith(options, *refused, code=1).stderr, "it is joined")
    zenith(options, *refused, "--force", "-q")
    said = zenith(options, "diffae", "join", folder / "prior/ema", "-o", folder / "no.safetensors", code=1).stderr
    check("U-Net" in said, said)
    said = zenith(options, "diffae", "join", parts[1], parts[1], "-o", folder / "no.safetensors", code=1).stderr
    check("name each stage once" in said, said)
    return 0


def mixed_pictures(folder):
    """200 pictures as a new user has them."""
    good = sorted((HERE / "data").glob("*.png"))
    (folder / "more").mkdir(parents=True)
    for i in range(195):
        size = (64 + i * 7 % 90, 64 + i * 11 % 70)
        path = folder / ("more" if i % 5 == 0 else ".") / f"{i}.ppm"
        path.write_bytes(b"P6 %d %d 255 " % size + bytes((i + k * 37) & 255 for k in range(size[0])) * 3 * size[1])
    whole = good[0].read_bytes()
    (folder / "cut.png").write_bytes(whole[:len(whole) // 2])
    (folder / "empty.jpg").write_bytes(b"")
    (folder / "text.webp").write_bytes(b"not a picture")
    for name in ("small.ppm", "thin.ppm"):
        (folder / name).write_bytes(b"P6 9 90 255 " + bytes(9 * 90 * 3))


def test_folder(options, folder):
    mixed_pictures(folder / "pictures")
    config = json.loads((ROOT / "models/training/diffae64.json").read_text())
    config["network"] |= {"channels": 32, "channel_mult": [1, 2], "encoder_mult": [1, 2], "code": 16}
    config |= {"steps": 60, "batch": 4, "checkpoint_every": 20, "sample_every": 0, "results_every": 0}
    config["optimizer"]["warmup"] = 5
    (folder / "small.json").write_text(json.dumps(config))
    out = folder / "runs/mine"
    said = train(options, folder / "small.json", "--data", folder / "pictures", "-o", out, "--steps", "50").stderr
    check(" left" in said and "images/s" in said, said)
    said += train(options, out / "run.json", "--resume").stderr
    check(str(out / "weights") in said, said)
    log = log_of(folder, "runs/mine")
    skipped = {pathlib.Path(line["skipped"]).name: line["reason"] for line in log if "skipped" in line}
    check(set(skipped) == {"cut.png", "empty.jpg", "text.webp", "small.ppm", "thin.ppm"}, str(skipped))
    for name in skipped:
        check(name in said, f"{name} is not named: {said}")
    zenith(options, "diffae", "encode", folder / "pictures/more", "-m", out / "ema", "-o", folder / "codes", "--no-noise", "-q")
    said = train(options, folder / "small.json", "--data", folder / "nowhere", "-o", folder / "no", code=1).stderr
    check("nowhere" in said, said)
    return 0


def quantise_config(folder, name, weights, kind, **more):
    golden = json.loads((ROOT / "tests/golden/quantise.json").read_text())
    return small_config(folder, name, **{
        "model": "zenith-sd-small", "part": "both", "init": {"weights": str(weights)}, "frozen": {}, "batch": 1, "steps": 10,
        "data": {"sources": [str(HERE / "data/0.png")], "crop": 32}, "optimizer": golden["optimizer"], "quantise": {"type": kind},
        "losses": [{"kind": "charbonnier", "weight": 1}, {"kind": "mse", "weight": 0.5}]} | more)


def calibrated_network(options, folder):
    """The golden network with a calibration of its own beside it."""
    golden = json.loads((ROOT / "tests/golden/quantise.json").read_text())
    (folder / "calibrated").mkdir()
    weights = folder / "calibrated/zenith-sd-small.safetensors"
    shutil.copy(ROOT / "tests/golden/zenith-three.safetensors", weights)
    facts = json.loads(subprocess.run([options.zenith, "inspect", weights, "--json"], capture_output=True, check=True).stdout)
    calibration = {"format": 1, "model": "zenith-sd-small", "weights": facts["sha256"], "pictures": 8, "values": golden["values"],
                   "int8": golden["int8"]}
    (folder / "calibrated/zenith-sd-small.calib.json").write_text(json.dumps(calibration))
    return weights


def test_quantise(options, folder):
    golden = json.loads((ROOT / "tests/golden/quantise.json").read_text())["losses"]
    weights = calibrated_network(options, folder)
    for kind, theirs in golden.items():
        train(options, quantise_config(folder, kind, weights, kind))
        for step, (ours, want) in enumerate(zip(log_of(folder, kind), theirs, strict=True), 1):
            differences = {key: abs(ours[key] - want[key]) / want[key] for key in want}
            print(f"{kind}, step {step}: {ours['loss']:.7f}, PyTorch {want['loss']:.7f}; relative differences " +
                  ", ".join(f"{key} {value:.1e}" for key, value in differences.items()))
            check(differences["loss"] <= 1e-4 and differences["norm"] <= 5e-3, "the losses differ")
    check(golden["int8"] != golden["f8_e4m3"], "both roundings have the same losses")

    broken = quantise_config(folder, "broken", weights, "int8")
    for stop in (3, 7):
        train(options, broken, "--resume", "--steps", str(stop))
    train(options, broken, "--resume")
    check(losses_of(folder, "int8") == losses_of(folder, "broken"), "other losses after a stop")
    for name, change in (("one", {"threads": 1}), ("again", {"threads": 3, "recompute": True})):
        train(options, quantise_config(folder, name, weights, "int8", **change))
        check(results_of(folder, name) == results_of(folder, "int8"), f"other weights: {change}")
    check(results_of(folder, "broken") == results_of(folder, "int8"), "other weights after a stop")

    for part in ("weights", "ema"):
        done = subprocess.run([options.zenith, "reconstruct", HERE / "data/0.png", "-o", folder / f"{part}.png", "--model",
                               "zenith-sd-small", "--weights", folder / "int8" / part, "--dtype", "int8"], capture_output=True)
        check(done.returncode == 0, f"int8 does not run with {part}: {done.stderr}")
    (folder / "calibrated/zenith-sd-small.calib.json").unlink()
    done = train(options, quantise_config(folder, "none", weights, "int8"), code=1)
    check("needs the calibration" in done.stderr, f"it does not say what is missing: {done.stderr}")
    return 0


def count_lines(path):
    return path.read_bytes().count(b"\n") if path.exists() else 0


def kill_after(options, config, output, target, pause):
    """kill -9 so many seconds after the line `target` of the log. False: the run was faster, and ended well."""
    process = subprocess.Popen([options.zenith, "train", config, "--resume", "--quiet"])
    while count_lines(output / "train.jsonl") < target and process.poll() is None:
        time.sleep(0.002)
    time.sleep(pause)
    process.kill()
    code = process.wait()
    check(code in (0, -signal.SIGKILL), f"it ended with code {code}")
    return code != 0


def test_resume(options, folder):
    return check_resume(options, folder)


def check_resume(options, folder, make=small_config, steps=150, last=140, pause=0.05, **more):
    """Kills at moments after lines of the log up to `last`, and at most `pause` seconds later."""
    whole = make(folder, "whole", steps=steps, **more)
    broken = make(folder, "broken", steps=steps, **more)
    train(options, whole)
    seed = options.seed if options.seed is not None else random.randrange(10**6)
    chance = random.Random(seed)
    print(f"seed {seed}")
    for target in sorted(chance.sample(range(1, last), options.kills)):
        for tried in range(10):
            if kill_after(options, broken, folder / "broken", target, chance.uniform(0, pause)):
                break
            shutil.rmtree(folder / "broken")  # it was done before: the same from nothing
        check(tried < 9, f"no run was killed after step {target}")
    train(options, broken, "--resume")
    listed = [line["step"] for line in log_of(folder, "broken") if "loss" in line]
    check(listed == list(range(1, steps + 1)), f"the log lists {listed}")
    check(losses_of(folder, "whole") == losses_of(folder, "broken"), "the losses differ")
    check(results_of(folder, "whole") == results_of(folder, "broken"), "the weights differ")
    left = [path.name for path in (folder / "broken").iterdir() if ".tmp-" in path.name]
    check(not left, f"left behind: {left}")
    check(len(list((folder / "broken").glob("checkpoint-*"))) == 2, "there are not two checkpoints")
    return 0


def test_kills(options, folder):
    for name, settings in (("diffae", {"make": diffae_config, "steps": 16, "last": 12, "pause": 0.02}),
                           ("prior", {"make": lambda *place, **more: codes_config(*place, "prior", **more), "steps": 120,
                                      "last": 80, "pause": 0.005, "batch": 240})):
        (folder / name).mkdir()
        begin = time.monotonic()
        check_resume(options, folder / name, **settings)
        print(f"{name}: {time.monotonic() - begin:.1f} s")
    return 0


def test_halve(options, folder):
    train(options, small_config(folder, "run", steps=150, optimizer={"lr": 4e-3, "warmup": 5}))
    losses = losses_of(folder, "run")
    first = next(line["psnr"] for line in log_of(folder, "run") if "loss" in line)
    print(f"from {losses[0]:.4f}, {first:.1f} dB to {losses[-1]:.4f}")
    check(first > 3, "random weights make a picture that is worse than a black one")
    check(losses[-1] <= losses[0] / 2, "the loss was not halved")
    return 0


def test_threads(options, folder):
    for dtype in ("f32", "bf16"):
        for threads in (1, 2, 3):
            train(options, small_config(folder, f"{dtype}{threads}", steps=8, batch=5, threads=threads, dtype=dtype,
                                        recompute=threads == 3))
        one, two, three = (results_of(folder, f"{dtype}{threads}") for threads in (1, 2, 3))
        check(one == two == three, f"the weights differ in {dtype}")
    return 0


def test_stop(options, folder):
    config = small_config(folder, "run", steps=100000)
    process = subprocess.Popen([options.zenith, "train", config], stderr=subprocess.PIPE, text=True)
    while not (folder / "run/train.jsonl").exists() or len(losses_of_whole_lines(folder)) < 3:
        check(process.poll() is None, "it ended by itself")
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=60)
    print(said)
    steps = losses_of_whole_lines(folder)
    check(process.returncode == 130, f"exit code {process.returncode}")
    check(f"stopped after step {len(steps)} of 100000" in said and "--resume" in said, "it does not say so")
    check((folder / f"run/checkpoint-{len(steps):08d}.safetensors").exists(), "there is no checkpoint")
    train(options, config, "--resume", "--steps", str(len(steps) + 2))
    check(len(losses_of(folder, "run")) == len(steps) + 2, "it did not go on")
    said = train(options, config, code=1).stderr
    check("--resume" in said, said)
    other = small_config(folder, "run", steps=100000, batch=3)
    said = train(options, other, "--resume", code=1).stderr
    check("it has 'batch = 2' where the config has 'batch = 3'" in said, said)
    return 0


def losses_of_whole_lines(folder):
    lines = (folder / "run/train.jsonl").read_text().split("\n")[:-1]
    return [line for line in lines if '"loss"' in line]


def scales_of(folder, name):
    """Of each attempt at a step: the step, whether it overflowed, the scale it leaves, and the overflows so far."""
    return [(line["step"], "overflow" in line, line["loss_scale"], line["overflows"]) for line in log_of(folder, name)]


def check_scales(scales, first, window):
    """Every attempt: halved after an overflow, doubled after so many steps without."""
    scale, good, overflows, step = first, 0, 0, 1
    for number, overflowed, left, counted in scales:
        check(number == step, f"step {number} where {step} was due")
        if overflowed:
            scale, good, overflows = scale / 2, 0, overflows + 1
        else:
            step, good = step + 1, good + 1
            scale, good = (scale * 2, 0) if good == window else (scale, good)
        check((left, counted) == (scale, overflows), f"step {number} leaves {left}, {counted}; not {scale}, {overflows}")
    return overflows


def test_f16(options, folder):
    for dtype in ("f32", "f16"):
        train(options, small_config(folder, dtype, dtype=dtype, optimizer={"lr": 1e-4, "warmup": 5}))
    first, second = losses_of(folder, "f32"), losses_of(folder, "f16")
    worst = max(abs(a - b) / a for a, b in zip(first, second, strict=True))
    print(f"losses of f16 and f32 differ by {worst:.1e} at most, from {first[0]:.4f} to {first[-1]:.4f}")
    check(0 < worst <= 0.005, "the losses differ")
    check_scales(scales_of(folder, "f16"), 65536, 2000)

    # From an absurd scale down, and up again until the next overflow. Failed attempts leave no trace in the weights.
    scaled = {"dtype": "f16", "optimizer": {"lr": 2e-3, "warmup": 5, "loss_scale": 2**40, "scale_window": 3}}
    for threads in (1, 2, 3):
        train(options, small_config(folder, str(threads), threads=threads, **scaled))
    scales = scales_of(folder, "1")
    overflows = check_scales(scales, 2**40, 3)
    down = next(i for i, (_, overflowed, _, _) in enumerate(scales) if not overflowed)
    print(f"{down} overflows before the first step, {overflows} in all")
    check(2 < down < overflows < len(scales), "the scale did not go down and up")
    check(losses_of(folder, "1")[0] == second[0], "a step that was not done changed something")
    check(results_of(folder, "1") == results_of(folder, "2") == results_of(folder, "3"), "threads change the weights")

    broken = small_config(folder, "broken", **scaled)
    for stop in (7, 29, 38):
        train(options, broken, "--resume", "--steps", str(stop))
    train(options, broken, "--resume")
    check(scales_of(folder, "broken") == scales, "another scale after a stop")
    check(results_of(folder, "broken") == results_of(folder, "1"), "other weights after a stop")
    return 0


def change_last_byte(path):
    data = bytearray(path.read_bytes())
    data[-1] ^= 1
    path.write_bytes(data)


def test_weights(options, folder):
    frozen = folder / "frozen"
    shutil.copytree(TINY, frozen)
    more = {"steps": 20, "frozen": {"weights": str(frozen)}}
    subjects = {"frozen.sha256": next(frozen.rglob("*.safetensors"))}
    if SQUEEZENET.exists():
        subjects["squeezenet.sha256"] = pathlib.Path(shutil.copy(SQUEEZENET, folder))
        more["squeezenet"] = str(subjects["squeezenet.sha256"])
        more["losses"] = [{"kind": "squeezenet", "weight": 1}]
    config = small_config(folder, "run", **more)
    train(options, config, "--steps", "2")
    for stop, (name, path) in enumerate(subjects.items(), 3):
        change_last_byte(path)
        said = train(options, config, "--resume", code=1).stderr
        check("the checkpoint is of another run" in said and name in said, said)
        change_last_byte(path)
        train(options, config, "--resume", "--steps", str(stop))
    return 0


def test_kinds(options, folder):
    kinds = ("l1", "mse", "charbonnier", "feature", "gradient", "walsh", "lattice", "texture", "stages", "latent", "adversarial")
    more = {}
    if SQUEEZENET.exists():
        kinds += ("squeezenet",)
        more = {"squeezenet": str(SQUEEZENET)}
    losses = [{"kind": kind, "weight": 0.5} for kind in kinds]
    for part in ("decoder", "encoder", "both"):
        for dtype in ("f32", "bf16", "f16"):
            name = f"{part}-{dtype}"
            # What a random decoder makes, fifty times as bright as a picture, is too much for SqueezeNet in f16.
            init = {"weights": str(TINY)} if dtype == "f16" else {"seed": 3, "width": 8}
            train(options, small_config(folder, name, part=part, init=init, dtype=dtype, steps=4, optimizer={"lr": 1e-4}, losses=losses, sample_every=2, samples=2,
                                        validation={"sources": [str(HERE / "data")], "count": 3}, validate_every=2, **more))
            line = [line for line in log_of(folder, name) if "losses" in line][-1]
            check(set(line["losses"]) == set(kinds), f"{line}")
            check(abs(line["loss"] - 0.5 * sum(line["losses"].values())) < 1e-5 * line["loss"] + 1e-6, f"{line}")
            check(len([line for line in log_of(folder, name) if "validation" in line]) == 2, "validations are missing")
            check((folder / name / "samples/00000002.png").read_bytes().startswith(b"\x89PNG"), "no sample")
            xml.dom.minidom.parse(str(folder / name / "plot.svg"))
            parts = {"both": ["taesd_decoder", "taesd_encoder"]}.get(part, [f"taesd_{part}"])
            files = sorted(path.stem for path in (folder / name / "weights").iterdir())
            check(files == parts, f"{files}")
            check((folder / name / "config.json").read_bytes() == (folder / f"{name}.json").read_bytes(), "another config")
    return 0


def test_distill(options, folder):
    """A small network begins with the layers it shares with the tiny one, and learns from that one's pictures."""
    losses = [{"kind": "l1", "weight": 0.3}] + [
        {"kind": kind, "weight": 0.3, "target": "teacher"} for kind in ("l1", "feature", "stages", "gradient")]
    for part in ("decoder", "encoder"):
        config = small_config(folder, part, model="zenith-sd-small", part=part, losses=losses, steps=30, feature_window=16,
                              init={"model": "taesd", "weights": str(TINY), "layout": "8x1 8x1 16x1", "seed": 3},
                              frozen={"model": "taesd", "weights": str(TINY)})
        train(options, config)
        lines = [line for line in log_of(folder, part) if "losses" in line]
        check(set(lines[0]["losses"]) == {"l1", "l1.teacher", "feature.teacher", "stages.teacher", "gradient.teacher"}, f"{lines[0]}")
        check(lines[-1]["losses"]["l1.teacher"] < 0.8 * lines[0]["losses"]["l1.teacher"], f"{lines[0]} to {lines[-1]}")
        weights = folder / part / "ema" / f"zenith-sd-small_{part}.safetensors"
        facts = json.loads(subprocess.run([options.zenith, "inspect", "--json", weights], capture_output=True, check=True).stdout)
        check(facts["fits"] == ["zenith-sd-small"], f"{facts}")
    return 0


def test_walsh_skip(options, folder):
    """Skips through the Walsh domain begin as plain ones do, and then learn: added to weights they change nothing at first."""
    frozen = {"model": "taesd", "weights": str(TINY)}
    for name, weights, model, layout in (("plain", TINY, "taesd", "8x1 8x2 16x1"), ("same", folder / "plain/weights", "zenith-sd-fast", "8x1 8x2 16x1"),
                                         ("skips", folder / "plain/weights", "zenith-sd-fast", "8x1w8 8x2w16 16x1w8")):
        train(options, small_config(folder, name, model="zenith-sd-fast", steps=10, losses=[{"kind": "l1", "weight": 1}], frozen=frozen,
                                    init={"model": model, "weights": str(weights), "layout": layout, "seed": 3}))
    same, skips = ([line["loss"] for line in log_of(folder, name) if "losses" in line] for name in ("same", "skips"))
    check(abs(same[0] - skips[0]) < 1e-5 * same[0] and same[-1] != skips[-1], f"{same} and {skips}")
    return 0


def adversarial(**more):
    """An L1 and an adversarial loss, with a small discriminator."""
    return {"losses": [{"kind": "l1", "weight": 1}, {"kind": "adversarial", "weight": 0.05}],
            "discriminator": {"lr": 1e-3, "width": 8} | more}


def test_adversarial(options, folder):
    # Each by itself, while the other stands still: the network is believed more, the discriminator errs less.
    still = adversarial(lr=0) | {"losses": [{"kind": "adversarial", "weight": 1}]}
    train(options, small_config(folder, "network", steps=15, **still))
    train(options, small_config(folder, "rival", steps=60, **adversarial() | {"optimizer": {"lr": 0, "weight_decay": 0}}))
    believed = losses_of(folder, "network")
    errs = [line["discriminator"]["loss"] for line in log_of(folder, "rival") if "loss" in line]
    print(f"adversarial loss from {believed[0]:.4f} to {believed[-1]:.4f}, the discriminator's from {errs[0]:.3f} to {errs[-1]:.3f}")
    check(sum(believed[-5:]) < sum(believed[:5]), "the network does not learn from the discriminator")
    check(abs(errs[0] - 2) < 0.5 and sum(errs[-5:]) < 0.8 * sum(errs[:5]), "the discriminator does not learn")

    # Until `start` the network is what it would be alone.
    train(options, small_config(folder, "alone", steps=40))
    train(options, small_config(folder, "late", steps=40, **adversarial(start=20)))
    alone, late = ([line["losses"]["l1"] for line in log_of(folder, name) if "loss" in line] for name in ("alone", "late"))
    check(alone[:21] == late[:21], "it is listened to before its start")
    check(alone[21] != late[21], "it is not listened to after its start")
    check(late[-1] < 0.7 * late[0], f"the loss goes from {late[0]} to {late[-1]}")
    files = [path.name for part in ("weights", "ema") for path in (folder / "late" / part).iterdir()]
    check(files == ["taesd_decoder.safetensors"] * 2, f"{files}")
    results = results_of(folder, "late")
    check(all(b"discriminator" not in data for data in results.values()), "the model has a discriminator")
    check([len(data) for data in results.values()] == [len(data) for data in results_of(folder, "alone").values()], "other sizes")
    checkpoint = (folder / "late/checkpoint-00000040.safetensors").read_bytes()
    check(b'"v.discriminator.3.bias"' in checkpoint and b'"ema.discriminator' not in checkpoint, "not what a checkpoint has")
    said = train(options, small_config(folder, "late", steps=40, **adversarial(start=21)), "--resume", code=1).stderr
    check("it has 'discriminator.start = 20' where the config has" in said, said)

    for dtype in ("f32", "bf16", "f16"):
        for threads in (1, 2, 3):
            train(options, small_config(folder, f"{dtype}{threads}", steps=8, batch=5, threads=threads, dtype=dtype,
                                        recompute=threads == 3, **adversarial()))
        one, two, three = (results_of(folder, f"{dtype}{threads}") for threads in (1, 2, 3))
        check(one == two == three, f"the weights differ in {dtype}")
    teacher = adversarial() | {"losses": [{"kind": "adversarial", "weight": 1, "target": "teacher"}]}
    train(options, small_config(folder, "teacher", steps=6, **teacher))
    check(set(log_of(folder, "teacher")[-1]["losses"]) == {"adversarial.teacher"}, "no teacher")
    return check_resume(options, folder, **adversarial(start=30))


def spoiled(kind, **more):
    return {"data": {"sources": [str(HERE / "data")], "crop": 32, "flip": True, "seed": 5, "corrupt": {"kind": kind} | more}}


def test_restore(options, folder):
    losses = [{"kind": kind, "weight": 1} for kind in ("l1", "feature", "stages")]
    for part in ("decoder", "both"):
        train(options, small_config(folder, f"{part}-plain", part=part, steps=8, losses=losses))
        train(options, small_config(folder, f"{part}-nothing", part=part, steps=8, losses=losses, **spoiled("gaussian", amount=0)))
        train(options, small_config(folder, f"{part}-noise", part=part, steps=8, losses=losses, **spoiled("gaussian", amount=0.1)))
        check(results_of(folder, f"{part}-plain") == results_of(folder, f"{part}-nothing"), "noise of deviation 0 changes something")
        check(results_of(folder, f"{part}-plain") != results_of(folder, f"{part}-noise"), "noise changes nothing")

    network = {"model": "zenith_prune", "part": "both", "init": {"seed": 3}, "losses": [{"kind": "mse", "weight": 1}]}
    held = {"validation": {"sources": [str(HERE / "data")], "count": 3}, "validate_every": 20, "sample_every": 20, "samples": 2}
    train(options, small_config(folder, "run", residual=True, **network, **held, **spoiled("gaussian")))
    first, last = losses_of(folder, "run")[0], [line["validation"] for line in log_of(folder, "run") if "validation" in line][-1]
    seconds = [line["cpu_seconds"] for line in log_of(folder, "run") if "loss" in line]
    print(f"MSE from {first:.4f} to {last['mse']:.4f}, {seconds[-1]:.1f} CPU seconds")
    check(0.08 < first < 0.13, "the first result should be what the network sees, nearly")
    check(last["mse"] < 0.7 * first and last["mse"] == last["loss"], f"it does not learn: {last}")
    check(all(a < b for a, b in zip(seconds, seconds[1:])) and len(seconds) == 60, f"CPU seconds are {seconds}")

    models = {"gaussian": "zenith_wide", "shot": "conv_wide", "blur": "conv_baseline", "haar": "zenith_prune"}
    for kind, model in models.items():
        for threads in (1, 3):
            train(options, small_config(folder, f"{kind}{threads}", steps=5, batch=3, threads=threads, recompute=threads == 3,
                                        **network | {"model": model}, **spoiled(kind)))
        check(results_of(folder, f"{kind}1") == results_of(folder, f"{kind}3"), f"{kind}: threads change the weights")
        for weights in (folder / f"{kind}1/weights").iterdir():
            facts = json.loads(subprocess.run([options.zenith, "inspect", "--json", weights], capture_output=True, check=True).stdout)
            check(facts["fits"] == [model], f"{weights.name}: {facts}")
    said = train(options, small_config(folder, "haar1", steps=5, batch=3, **network, **spoiled("haar", amount=0.2)), "--resume", code=1).stderr
    check("it has 'data.corrupt.amount = 0.29" in said, said)
    return check_resume(options, folder, **spoiled("gaussian"))


def shapes_of(path):
    data = path.read_bytes()
    header = json.loads(data[8:8 + int.from_bytes(data[:8], "little")])
    return header.pop("__metadata__"), {name: tensor["shape"] for name, tensor in header.items()}


def prune(options, *arguments, code=0):
    done = subprocess.run([options.zenith, "prune", *arguments], capture_output=True, text=True, timeout=600)
    check(done.returncode == code, f"exit code {done.returncode}, not {code}: {done.stderr}")
    return json.loads(done.stdout) if "--json" in arguments and code == 0 else done.stderr


def test_prune(options, folder):
    frozen = {"model": "taesd", "weights": str(TINY)}
    begin = {"model": "taesd", "weights": str(TINY), "layout": "8x2 8x2 16x1", "seed": 3}
    more = {"model": "zenith-sd-small", "frozen": frozen, "validation": {"sources": [str(HERE / "data")], "count": 4}}
    whole = small_config(folder, "whole", init=begin, **more)
    train(options, whole)
    weights = folder / "whole/ema/zenith-sd-small_decoder.safetensors"
    facts = prune(options, weights, "-o", folder / "small", "--config", whole, "--blocks", "1", "--channels", "0.5",
                  "--multiple", "4", "--batches", "2", "--json")
    print(facts)
    check((facts["blocks_before"], facts["blocks"]) == (5, 4), "one block should go")
    check(0.5 * facts["channels_before"] > facts["channels"] > 0.3 * facts["channels_before"], "half of what four blocks have")
    check(facts["gflop"] < 0.7 * facts["gflop_before"] and not facts["encoder"], "it should be smaller")
    metadata, shapes = shapes_of(folder / "small/zenith-sd-small_decoder.safetensors")
    check(sum(int(stage[-1]) for stage in metadata["zenith.decoder"].split()) == 4, f"{metadata}")

    tuned = small_config(folder, "tuned", init={"weights": str(folder / "small")}, steps=40, **more)
    train(options, tuned, "--steps", "10")
    train(options, tuned, "--resume")
    once = small_config(folder, "once", init={"weights": str(folder / "small")}, steps=40, **more)
    train(options, once)
    check(results_of(folder, "tuned") == results_of(folder, "once"), "a stop changes the weights")
    for part in ("weights", "ema"):
        check(shapes_of(folder / f"tuned/{part}/zenith-sd-small_decoder.safetensors") == (metadata, shapes), "it is another network")
    losses = losses_of(folder, "tuned")
    print(f"loss {losses_of(folder, 'whole')[-1]:.4f} whole, {losses[0]:.4f} pruned, {losses[-1]:.4f} trained further")
    check(sum(losses[-10:]) < 0.95 * sum(losses[:10]), f"it does not learn: {losses}")

    check("too few blocks" in prune(options, weights, "-o", folder / "no", "--config", whole, "--blocks", "6", code=1), "6 of 5 blocks")
    check("do not say" in prune(options, TINY, "-o", folder / "no", "-m", "taesd", "--channels", "0.5", "--multiple", "4", "--part",
                                "encoder", "--config", small_config(folder, "taesd"), code=1), "a part that is not trained")
    check("trains taesd" in prune(options, weights, "-o", folder / "no", "--channels", "0.5", "--config", folder / "taesd.json",
                                  code=1), "another model's config")
    check("fixed number" in prune(options, TINY, "-o", folder / "no", "-m", "taesd", "--blocks", "1", "--config",
                                  folder / "taesd.json", code=1), "TAESD's blocks")
    check("has learned nothing" in prune(options, weights, "-o", folder / "no", "--channels", "0.5", "--config",
                                         small_config(folder, "rival", **more, **adversarial()), code=1), "a new discriminator")
    check(not (folder / "no").exists(), "a refusal leaves a folder")
    return 0


def scores_of(folder, name, part):
    """Which rectangles a result leaves out, in the order of its scores."""
    masks = []
    for path in sorted((folder / name / part).glob("*.safetensors")):
        data = path.read_bytes()
        begin = 8 + int.from_bytes(data[:8], "little")
        header = json.loads(data[8:begin])
        for key in sorted(key for key in header if key.endswith(".score")):
            first, last = header[key]["data_offsets"]
            masks += [value < 0 for value in array.array("f", data[begin + first:begin + last])]
    return masks


def test_scores(options, folder):
    more = {"model": "zenith_prune", "part": "both", "init": {"seed": 3}, "frozen": {}, "steps": 40,
            "prune": {"target": 0.5, "begin": 5, "end": 25}}
    train(options, small_config(folder, "once", **more))
    shares = [line["pruned"] for line in log_of(folder, "once") if "loss" in line]
    check(shares[:5] == [0] * 5 and shares[24:] == [0.5] * 16 and shares == sorted(shares), f"shares are {shares}")
    masks = scores_of(folder, "once", "weights")
    check(len(masks) == 12 * 16 and sum(masks) == 6 * 16, f"{sum(masks)} of {len(masks)} rectangles are left out")
    check(scores_of(folder, "once", "ema") == masks, "the averages have another mask")
    losses = losses_of(folder, "once")
    check(sum(losses[-5:]) < sum(losses[:5]), f"it does not learn: {losses}")

    twice = small_config(folder, "twice", **more)
    train(options, twice, "--steps", "14")
    train(options, twice, "--resume", "--steps", "30")
    train(options, twice, "--resume")
    check(results_of(folder, "once") == results_of(folder, "twice"), "a stop changes the weights")

    facts = prune(options, folder / "once/ema", "-m", "zenith_prune", "-o", folder / "low", "--frequencies", "4", "--json")
    check((facts["frequencies_before"], facts["frequencies"]) == (8, 4), f"{facts}")
    check(facts["encoder"] and facts["decoder"] and facts["gflop"] < facts["gflop_before"], "both parts should be smaller")
    train(options, small_config(folder, "tuned", **more | {"init": {"weights": str(folder / "low")}, "steps": 26}))
    for part, key in (("encoder", "zenith.encoder"), ("decoder", "zenith.decoder")):
        metadata, _ = shapes_of(folder / f"tuned/ema/zenith_prune_{part}.safetensors")
        check(metadata[key] == "f4", f"{metadata}")
    other = train(options, small_config(folder, "taesd", prune={"target": 0.5, "end": 5}), code=1)
    check("taesd has none" in other.stderr, f"scores of TAESD: {other.stderr}")
    return 0


def test_ranks(options, folder):
    """One process that accumulates, and two of half the batch each."""
    train(options, small_config(folder, "one", steps=20, batch=2, accumulate=2, **adversarial()))
    config = small_config(folder, "two", steps=20, batch=2, **adversarial())
    done = subprocess.run(["mpirun", "--allow-run-as-root", "--oversubscribe", "-n", "2", options.zenith, "train", config],
                          capture_output=True, text=True, timeout=600)
    check(done.returncode == 0, f"exit code {done.returncode}: {done.stderr}")
    one, two = (floats_of(folder / name / "weights/taesd_decoder.safetensors") for name in ("one", "two"))
    difference = max(abs(a - b) for a, b in zip(one, two, strict=True))
    print(f"weights differ by {difference:.1e} at most")
    check(0 < len(one) and difference <= 1e-6, "the weights differ")
    return 0


def floats_of(path):
    data = path.read_bytes()
    return array.array("f", data[8 + int.from_bytes(data[:8], "little"):])


def main():
    parser = argparse.ArgumentParser(description="Whole training runs of the program.")
    parser.add_argument("--zenith", type=pathlib.Path, default=ROOT / "build/dev/zenith")
    parser.add_argument("--kills", type=int, default=10)
    parser.add_argument("--seed", type=int)
    parser.add_argument("tests", nargs="*")
    options = parser.parse_args()
    options.zenith = options.zenith.resolve()
    tests = {name[5:]: test for name, test in globals().items() if name.startswith("test_")}
    codes = []
    for name in options.tests or tests:
        with tempfile.TemporaryDirectory() as work:
            try:
                codes.append(tests[name](options, pathlib.Path(work)))
            except Failure as failure:
                print(f"{name}: {failure}")
                codes.append(1)
    sys.exit(1 if 1 in codes else SKIPPED if SKIPPED in codes else 0)


main()
