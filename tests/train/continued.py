#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Zenith authors
# SPDX-License-Identifier: Apache-2.0
"""What a run is continued from, by the program: each test in a new folder.

    continued.py --zenith PATH TEST

    damaged     a run whose newest checkpoint is cut short, or has one other bit, goes on from the older one to the same bits
                and says so; where both are damaged it ends with a sentence
    contents    a run does not go on with other labels, another draft, another linear encoder or another teacher
    busy        a second run in the same folder is refused; a killed one holds nothing
    full        a checkpoint that finds no room leaves the one before it whole and nothing half-written; the run goes on later
    apart       two processes that begin with different steps or data refuse, and say which ones (built with ZENITH_MPI)
"""
import argparse
import json
import pathlib
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
GOLDEN = HERE.parent / "golden"


class Failure(Exception):
    pass


def check(right, text):
    if not right:
        raise Failure(text)


def write_config(folder, name, **more):
    """A decoder of width 8 that learns from the latents of a tiny random encoder."""
    config = {"model": "taesd", "part": "decoder", "init": {"seed": 3, "width": 8},
              "frozen": {"weights": str(GOLDEN / "tiny_diffusers")},
              "data": {"sources": [str(HERE / "data")], "crop": 32, "flip": True, "seed": 5},
              "batch": 2, "steps": 28, "optimizer": {"lr": 2e-3, "warmup": 5}, "losses": [{"kind": "l1", "weight": 1}],
              "threads": 2, "checkpoint_every": 7}
    path = folder / f"{name}.json"
    path.write_text(json.dumps(config | more | {"output": str(folder / name)}))
    return path


def run(options, *arguments, code=0, **more):
    done = subprocess.run([options.zenith, "train", *map(str, arguments)], capture_output=True, text=True, timeout=300, **more)
    check(done.returncode == code, f"exit code {done.returncode}, not {code}: {done.stderr}")
    return done.stderr


def checkpoint(folder, step):
    return folder / f"checkpoint-{step:08}.safetensors"


def names_in(folder):
    return sorted(path.name for path in folder.iterdir() if path.name.startswith(("checkpoint-", ".")))


def results_of(folder):
    return {path.relative_to(folder): path.read_bytes() for part in ("weights", "ema") for path in sorted((folder / part).rglob("*.*"))}


def log_of(folder):
    return [line.get("skipped", "") for line in map(json.loads, (folder / "train.jsonl").read_text().splitlines())]


def change_bit(path, place):
    data = bytearray(path.read_bytes())
    data[place] ^= 4
    path.write_bytes(data)


def test_damaged(options, folder):
    run(options, write_config(folder, "whole"))
    results = results_of(folder / "whole")
    run(options, write_config(folder, "stopped"), "--steps", "21")
    newest = checkpoint(folder / "stopped", 21)
    header = newest.read_bytes().index(b'"zenith.step":"21"')
    size = newest.stat().st_size
    damages = {"cut": lambda path: path.write_bytes(newest.read_bytes()[:size // 2]), "empty": lambda path: path.write_bytes(b""),
               "last": lambda path: change_bit(path, size - 1), "middle": lambda path: change_bit(path, size // 2),
               "step": lambda path: change_bit(path, header + 16), "length": lambda path: change_bit(path, 5)}
    for name, damage in damages.items():
        config = write_config(folder, name)
        shutil.copytree(folder / "stopped", folder / name)
        damage(checkpoint(folder / name, 21))
        said = run(options, config, "--resume", "--steps", "15")
        check("checkpoint-00000021.safetensors: " in said and "goes on without it" in said, f"{name}: {said}")
        check(any("checkpoint-00000021" in line for line in log_of(folder / name)), f"{name}: the log does not say it")
        check(names_in(folder / name) == [checkpoint(folder, step).name for step in (14, 15)], f"{name}: {names_in(folder / name)}")
        check("goes on without it" not in run(options, config, "--resume"), f"{name}: damaged again")
        check(results_of(folder / name) == results, f"{name}: other weights")
    for step in (14, 21):
        change_bit(checkpoint(folder / "stopped", step), size // 2)
    said = run(options, folder / "stopped.json", "--resume", code=1)
    check("is whole" in said and "checkpoint-00000014" in said and "checkpoint-00000021" in said, said)


def codes_config(folder, part, **more):
    codes = GOLDEN / "diffae_codes"
    golden = json.loads((codes / part / "ten_losses.json").read_text())
    shutil.copytree(codes, folder / part)
    data = {"codes": str(folder / part / "codes.safetensors")}
    labels = {"labels": str(folder / part / "labels.json")} if part == "classifier" else {}
    return write_config(folder, f"{part}-run", model="diffae", task=f"diffae-{part}", init={"weights": str(folder / part / part)},
                        data=data | labels, batch=golden["batch"], **more)


def change_json(path, key, value):
    path.write_text(json.dumps(json.loads(path.read_text()) | {key: value}))


def without_part(path, *keys):
    config = json.loads(path.read_text())
    path.write_text(json.dumps({key: value for key, value in config.items() if key not in keys}))
    return path


def refuse(options, config, change, back, *words):
    """Two steps, a change that is refused, and after the change is undone the next step."""
    run(options, config, "--steps", "2")
    change()
    said = run(options, config, "--resume", code=1)
    check("the checkpoint is of another run" in said and all(word in said for word in words), said)
    back()
    run(options, config, "--resume", "--steps", "3")


def refuse_file(options, config, path, place, *words):
    refuse(options, config, lambda: change_bit(path, place), lambda: change_bit(path, place), *words)


def test_contents(options, folder):
    away = ("part", "frozen", "losses", "optimizer")
    config = without_part(codes_config(folder, "classifier"), *away)
    labels = folder / "classifier/labels.json"
    before = labels.read_text()
    said = json.loads(before)
    name = next(iter(said["labels"]))
    said["labels"][name][0] = 1 - said["labels"][name][0]
    refuse(options, config, lambda: labels.write_text(json.dumps(said)), lambda: labels.write_text(before), "data.labels")
    labels.write_text(json.dumps(json.loads(before), indent=1))  # written in another way: the same labels
    run(options, config, "--resume", "--steps", "4")

    linear = folder / "linear"
    shutil.copytree(GOLDEN / "diffae_linear_train", linear)
    settings = {"model": "diffae", "task": "diffae", "data": {"sources": [str(HERE / "data/0.png")], "crop": 32}}
    for name, start in (("start", {"init": {"weights": str(linear)}}),
                        ("drafted", {"init": {"seed": 1}, "draft": str(linear), "network": json.loads((linear / "config.json").read_text())})):
        config = without_part(write_config(folder, name, **settings | start), *away)
        refuse_file(options, config, linear / "model.safetensors", -1, "draft" if name == "drafted" else "init.weights")

    words, teacher = GOLDEN / "words_train", folder / "teacher"
    shutil.copytree(words, teacher)
    networks = {"text": "text_encoder", "network": "transformer"}
    networks = {key: json.loads((words / name / "config.json").read_text()) for key, name in networks.items()}
    begin = {"model": "z-image", "task": "words", "batch": 2, "steps": 4,
             "data": {"latents": str(words / "latents.safetensors"), "captions": str(words / "captions.jsonl")}}
    run(options, without_part(write_config(folder, "begin", init={"seed": 1}, **begin, **networks), *away), "--steps", "4")
    teacher = folder / "begin/ema"
    config = without_part(write_config(folder, "student", **begin, init={"weights": str(teacher)}, distil={"steps": 2, "inner": 2}), *away)
    for part in ("text_encoder", "transformer"):
        refuse_file(options, config, next((teacher / part).glob("*.safetensors")), -1, f"init.weights.{part}")
        shutil.rmtree(folder / "student")


def wait_for(made, process):
    end = time.monotonic() + 120
    while not made():
        check(process.poll() is None and time.monotonic() < end, "the run does not get there")
        time.sleep(0.01)


def test_busy(options, folder):
    first = write_config(folder, "run", steps=1000000)
    log = folder / "run/train.jsonl"
    for _ in range(2):
        process = subprocess.Popen([options.zenith, "train", first, "--resume", "--quiet"])
        try:
            lines = log.read_bytes().count(b"\n") if log.exists() else 0
            wait_for(lambda: log.exists() and log.read_bytes().count(b"\n") > lines, process)
            beside = folder / "run/.model.safetensors.tmp-1-0"  # what the other is writing
            beside.touch()
            for arguments in ((), ("--resume",)):
                said = run(options, first, *arguments, code=1)
                check("another run is writing" in said and str(folder / "run") in said, said)
            check(beside.exists(), "a refused run has removed a file of the other")
        finally:
            process.send_signal(signal.SIGKILL)
            process.wait()
    check((folder / "run/.lock").exists(), "the test has not seen a lock that was left behind")
    other = write_config(folder, "run", steps=1000000)
    step = len(log.read_text().splitlines()) + 1
    run(options, other, "--resume", "--steps", str(step + 2))
    check(".lock" not in names_in(folder / "run") and not beside.exists(), f"left behind: {names_in(folder / 'run')}")


def little_room():
    """Files of 64 KB at the most, and an error where one would be larger."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 16, 1 << 16))


def test_full(options, folder):
    run(options, write_config(folder, "whole"))
    config = write_config(folder, "full")
    run(options, config, "--steps", "10")
    output = folder / "full"
    kept = {step: checkpoint(output, step).read_bytes() for step in (7, 10)}
    check(min(map(len, kept.values())) > 1 << 17, "checkpoints are too small for this test")
    for _ in range(2):
        said = run(options, config, "--resume", code=1, preexec_fn=little_room, restore_signals=False)
        check("checkpoint-00000014" in said and "--resume" in said, said)
        check(names_in(output) == [checkpoint(output, step).name for step in kept], f"there are {names_in(output)}")
        check(all(checkpoint(output, step).read_bytes() == data for step, data in kept.items()), "an old checkpoint has changed")
    run(options, config, "--resume")
    check(results_of(output) == results_of(folder / "whole"), "other weights")


def side_by_side(options, *arguments, code=0):
    """A process for each list of arguments, under one launcher."""
    command = ["mpirun", "--allow-run-as-root", "--oversubscribe"]
    for number, each in enumerate(arguments):
        command += [":"] * (number > 0) + ["-n", "1", str(options.zenith), "train", *map(str, each)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    check((done.returncode == 0) == (code == 0), f"exit code {done.returncode}: {done.stderr}")
    return done.stderr


def test_apart(options, folder):
    more = {"batch": 1, "steps": 12, "checkpoint_every": 4}
    one, two = (write_config(folder, name, **more) for name in ("one", "two"))
    side_by_side(options, [one, "--steps", "8"], [one, "--steps", "8"])
    side_by_side(options, [two, "--steps", "4"], [two, "--steps", "4"])
    said = side_by_side(options, [one, "--resume"], [two, "--resume"], code=1)
    check("the same step" in said and "rank 0 differs from rank 1" in said, said)
    damaged = folder / "damaged"
    shutil.copytree(folder / "one", damaged)
    change_bit(checkpoint(damaged, 8), -1)
    said = side_by_side(options, [one, "--resume"], [write_config(folder, "damaged", **more), "--resume"], code=1)
    check("the same step" in said, said)
    other = write_config(folder, "other", **more, init={"seed": 4, "width": 8})
    said = side_by_side(options, [write_config(folder, "new", **more)], [other], code=1)
    check("the same config" in said and "rank 1" in said, said)
    side_by_side(options, [one, "--resume"], [one, "--resume"])
    check(results_of(folder / "one"), "there are no results")


def main():
    parser = argparse.ArgumentParser(description="What a run is continued from, by the program.")
    parser.add_argument("--zenith", type=pathlib.Path, required=True)
    parser.add_argument("test", choices=sorted(name[5:] for name in globals() if name.startswith("test_")))
    options = parser.parse_args()
    options.zenith = options.zenith.resolve()
    with tempfile.TemporaryDirectory() as work:
        try:
            globals()[f"test_{options.test}"](options, pathlib.Path(work))
        except Failure as failure:
            sys.exit(f"{options.test}: {failure}")


main()
