# SPDX-FileCopyrightText: 2026 The Zenith authors
# SPDX-License-Identifier: Apache-2.0
"""What the tests of whole training runs share: configs, what a run leaves, and the comparisons that most of them make."""
import json
import os
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path.insert(0, str(ROOT / "tests"))
from lib import safetensors  # noqa: E402
from lib.pictures import mean_square, psnr, read_png  # noqa: E402

GOLDEN = ROOT / "tests/golden"
TINY = GOLDEN / "tiny_diffusers"
WEIGHTS = pathlib.Path(os.environ.get("ZENITH_TEST_WEIGHTS", ROOT.parent / "shared" / "weights"))
SKIPPED = 77
ALL_PICTURES = {"sources": [str(HERE / "data")]}
FIRST_PICTURE = {"sources": [str(HERE / "data/0.png")]}


class Failure(Exception):
    pass


def check(right, text):
    if not right:
        raise Failure(text)


def read_json(path):
    return json.loads(path.read_text())


# --- the program ---------------------------------------------------------------------------------

def zenith(options, *arguments, code=0):
    """code: the exit code that is right; None: any."""
    done = subprocess.run([options.zenith, *map(str, arguments)], capture_output=True, text=True, timeout=600,
                          env=getattr(options, "environment", None))
    check(code in (done.returncode, None), f"zenith {' '.join(map(str, arguments))}: exit code {done.returncode}, not {code}: {done.stderr}")
    return done


def train(options, config, *arguments, code=0):
    return zenith(options, "train", config, *arguments, code=code)


def refuse(options, word, *arguments):
    """A command that fails, with a word of its sentence."""
    said = zenith(options, *arguments, code=1).stderr
    check(word in said, f"'{word}' is not in: {said}")


def inspect(options, weights):
    return json.loads(zenith(options, "inspect", "--json", weights).stdout)


# --- what a run is told, and what it leaves ------------------------------------------------------

def write_config(folder, name, config):
    path = folder / f"{name}.json"
    path.write_text(json.dumps(config))
    return path


def small_config(folder, name, **more):
    """A decoder of width 8 that learns from the latents of a tiny random encoder."""
    return write_config(folder, name, {
        "model": "taesd", "part": "decoder", "init": {"seed": 3, "width": 8}, "frozen": {"weights": str(TINY)},
        "data": ALL_PICTURES | {"crop": 32, "flip": True, "seed": 5}, "batch": 2, "steps": 60,
        "optimizer": {"lr": 2e-3, "warmup": 5}, "losses": [{"kind": "l1", "weight": 1}], "dtype": "f32", "threads": 2,
        "checkpoint_every": 7, "output": str(folder / name)} | more)


def log_of(folder, name):
    return [json.loads(line) for line in (folder / name / "train.jsonl").read_text().splitlines()]


def losses_of(folder, name):
    return [line["loss"] for line in log_of(folder, name) if "loss" in line]


def judged_of(folder, name):
    """The first validation."""
    return next(line["validation"] for line in log_of(folder, name) if "validation" in line)


def results_of(folder, name):
    return {path.relative_to(folder / name): path.read_bytes()
            for part in ("weights", "ema") for path in sorted((folder / name / part).rglob("*.safetensors"))}


# --- comparisons ---------------------------------------------------------------------------------

def compare_steps(folder, name, golden, **bounds):
    """The numbers of each step beside PyTorch's; the relative differences of those that are named may be so large."""
    for step, (line, theirs) in enumerate(zip(log_of(folder, name), golden, strict=True), 1):
        ours = line.get("losses", {}) | line
        differences = {key: abs(ours[key] - value) / value for key, value in theirs.items()}
        print(f"{name}, step {step}: {ours['loss']:.9f}, PyTorch {theirs['loss']:.9f}; relative differences " +
              ", ".join(f"{key} {value:.1e}" for key, value in differences.items()))
        check(all(differences[key] <= bound for key, bound in bounds.items()), "the losses differ")


def gradient_error(folder, name, beta, tiny, least=80):
    """How far the first step's gradient, of which the first moment tells, is from PyTorch's: the worst tensor's part of its norm.
    A group of the norms has one channel here, so that biases before them have no gradient but what is left of rounding."""
    moments = safetensors.floats(folder / name / "checkpoint-00000001.safetensors")
    worst, compared = 0, 0
    for tensor, theirs in safetensors.floats(tiny / "gradients.safetensors").items():
        ours = [value / (1 - beta) for value in moments["m." + tensor]]
        error = sum((a - b)**2 for a, b in zip(ours, theirs, strict=True))**0.5
        norm = sum(b * b for b in theirs)**0.5
        check(error < 1e-6 or norm > 1e-6, f"{tensor} should have no gradient")
        if norm > 1e-6:
            worst, compared = max(worst, error / norm), compared + 1
    check(compared > least, f"{compared} tensors have a gradient")
    return worst


def run_stopped(options, config, *stops):
    """A run that ends after each of these steps, and is resumed."""
    for stop in stops:
        train(options, config, "--resume", "--steps", str(stop))
    train(options, config, "--resume")


def check_same(folder, whole, *names):
    for name in names:
        check(losses_of(folder, name) == losses_of(folder, whole), f"other losses: {name}")
        check(results_of(folder, name) == results_of(folder, whole), f"other weights: {name}")


def check_same_bits(options, folder, whole, count, make, **more):
    """The run `whole` of so many results again: stopped and resumed, on one thread, and with less memory."""
    run_stopped(options, make(folder, "broken", **more), 3, 7)
    for name, change in (("one", {"threads": 1}), ("again", {"threads": 3, "recompute": True})):
        train(options, make(folder, name, **more | change))
    check(len(results_of(folder, whole)) == count, f"results are {list(results_of(folder, whole))}")
    check_same(folder, whole, "broken", "one", "again")


def check_threads(options, folder, dtypes, **more):
    for dtype in dtypes:
        for threads in (1, 2, 3):
            train(options, small_config(folder, f"{dtype}{threads}", steps=8, batch=5, threads=threads, dtype=dtype,
                                        recompute=threads == 3, **more))
        one, two, three = (results_of(folder, f"{dtype}{threads}") for threads in (1, 2, 3))
        check(one == two == three, f"the weights differ in {dtype}")


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
