#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Zenith authors
# SPDX-License-Identifier: Apache-2.0
"""Z-Image at full size: how fast is a step, the text encoder, a whole picture; and how exact is each type?

    bench/zimage.py step [--dtype bf16] [--rounds 3] [--json]      one forward of the transformer, beside peers
    bench/zimage.py text [--dtype bf16] [--json]                   the text encoder, beside peers and beside memory
    bench/zimage.py picture [--form q4_0] [--steps 8] [--json]     `zenith generate`, twice: times and resident memory
    bench/zimage.py once [--dtype bf16] [--json]                   what is computed once and not in each step: its share
    bench/zimage.py accuracy [--reference bf16:f32] [--json]       error of each form and type, and after 8 steps
    bench/zimage.py ... --layers 2                                 2 layers of the published widths: seconds

Weights are random, of full size, from bench/make_zimage.py, which writes what is missing below --folder on first use (48 GB
for all forms; ~/.cache/zenith-bench/zimage, with --layers N in zimage-N). With --threads 2 and --size 512 by default, and 64 tokens of a caption.

A contender is FORM:DTYPE for Zenith (a folder of make_zimage.py, or any other pipeline below --folder, such as `zenith
convert` writes; f32, bf16 or int8), diffusers:DTYPE, or sdcpp:FORM (q4_0, q8_0) for
stable-diffusion.cpp, which bench/zimage_peer.py builds and $ZENITH_SDCPP names. --contenders names them; else they are Zenith with --form
and --dtype (q4 is q4_0:int8) and both peers. stable-diffusion.cpp takes only all layers.

Each contender is a process, and takes one turn in each round, in an order that turns around from round to round; a probe measures
the multipliers on registers before and after each turn. Ratios are of turns of one round: the peer's time over Zenith's, their median and
[least, most]. Contenders that fit into memory together stay warm; else each starts anew in every round and does a run that
is not timed first. What does not fit by itself is left out, and named.

Operations are counted from shapes, as 2 for a multiplication with its sum, for what the network is, not what a contender
does of it. The share is of the unit that the type is for: bf16 and f32 of FMA or of AMX where there is any, int8 of VNNI, or of twice AMX's bf16.

With --json the last line is one JSON object. diffusers needs --python with torch, diffusers and, for the text encoder, transformers. Exit code: 0 measured, 2 could not.
"""
import argparse
import contextlib
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

from common import ROOT, environment

environment.enter("numpy")

import numpy as np

import make_zimage as sizes
from compare import Failure, Server

BYTES = {"f32": 4, "bf16": 2, "int8": 1}
FILE_BITS = {"q4_0": 4.5, "q8_0": 8.5}
ROOM = 2 << 30  # working memory, pages of files that are read, the rest of the machine
PROMPT = " ".join(["apple"] * 56)  # 64 tokens in its template


# --- counts from shapes


def layer_operations(tokens):
    """Of one layer: products with weights, and attention."""
    weights = 4 * sizes.WIDTH ** 2 + 3 * sizes.WIDTH * sizes.INNER
    return 2 * tokens * weights + 4 * tokens ** 2 * sizes.WIDTH


def step_operations(layers, side, caption):
    """One forward of the denoiser; what is computed once a prompt or once a schedule does not count."""
    image = -(-(side // 16) ** 2 // 32) * 32
    ends = 2 * 2 * image * 64 * sizes.WIDTH
    return (layers * layer_operations(image + -(-caption // 32) * 32) + sizes.REFINERS * layer_operations(image) + ends)


def text_matrices(layers):
    """Weights of the layers that are computed: all but the last."""
    by_layer = sizes.TEXT_WIDTH * (2 * sizes.QUERIES + 2 * sizes.KEYS + 3 * sizes.TEXT_INNER)
    return (layers - 1) * by_layer


def text_operations(layers, tokens):
    return 2 * tokens * text_matrices(layers) + (layers - 1) * 2 * tokens ** 2 * sizes.QUERIES


def parameters(network):
    return sum(rows * weight.inputs for weight in network for _, rows in weight.pieces)


# --- contenders


class Contender:
    """One that runs, or will: its process starts when it is needed."""

    def __init__(self, options, name):
        self.options, self.name, self.server, self.rss, self.turns = options, name, None, 0, []
        first, _, second = name.partition(":")
        self.peer = first if first in ("diffusers", "sdcpp") else None
        self.form = {"diffusers": "bf16", "sdcpp": second}.get(first, first)
        self.dtype = "int8" if first == "sdcpp" else second or "bf16"
        if self.dtype not in BYTES or not self.form or (first == "diffusers" and self.dtype == "int8"):
            raise Failure(f"{name} is no contender: see --help")

    def command(self):
        o = self.options
        what = [ROOT / "bench/zimage_peer.py", self.peer] if self.peer else []
        program = [o.python or environment.python(), *what] if self.peer else [o.build / "bench_zimage"]
        return [*program, o.folder / self.form, self.dtype, o.threads, o.size, o.inputs]

    def start(self):
        if not self.server:
            threads = str(self.options.threads)
            self.server = Server(self.command(), os.environ | {"OMP_NUM_THREADS": threads, "MKL_NUM_THREADS": threads})
        return self.server

    def ask(self, command):
        return self.start().ask(command)

    def close(self):
        if self.server:
            with contextlib.suppress(Failure):
                self.rss = max(self.rss, self.server.ask("rss")["rss_mb"])
            self.server.close()
            self.server = None

    def needs(self, networks):
        """Bytes of packed weights, and what a peer holds."""
        count = sum(self.options.parameters[network] for network in networks)
        if self.peer == "sdcpp":  # it has both networks
            return sum(self.options.parameters.values()) * FILE_BITS[self.form] / 8
        return count * BYTES[self.dtype]


def available_memory():
    with open("/proc/meminfo", encoding="ascii") as file:
        return next(int(line.split()[1]) << 10 for line in file if line.startswith("MemAvailable"))


def contenders_of(options, networks):
    """Those that can run here; the others are named in options.left_out."""
    found = []
    for name in options.contenders:
        contender = Contender(options, name)
        if contender.peer == "sdcpp" and (not os.environ.get("ZENITH_SDCPP") or options.layers != sizes.LAYERS):
            why = "ZENITH_SDCPP does not name it" if options.layers == sizes.LAYERS else "it takes only all layers"
        elif contender.needs(networks) + ROOM > available_memory():
            why = f"needs {contender.needs(networks) / 1e9:.1f} GB, and {available_memory() / 1e9:.1f} GB are free"
        else:
            found.append(contender)
            continue
        options.left_out.append(f"{name}: {why}")
    if not found or all(contender.peer for contender in found):
        raise Failure("none of Zenith's contenders fits: " + "; ".join(options.left_out))
    return found


# --- rounds


def probe_of(probe, dtype):
    rates = probe.ask("probe")
    if rates["amx"]:
        return rates["amx"] * (2 if dtype == "int8" else 1)
    return rates["vnni"] if dtype == "int8" and rates["vnni"] else rates["fma"]


def take_turn(contender, command, probe, together):
    fresh = contender.server is None
    try:
        if fresh:
            contender.ask(command)  # packs weights, wakes memory
        before = probe_of(probe, contender.dtype)
        took = contender.ask(command)
        return took | {"probe": max(before, probe_of(probe, contender.dtype))}
    finally:
        if not together:
            contender.close()


def leave_out(options, contenders, contender, failure):
    """A peer that cannot run is named; without Zenith there is nothing to tell."""
    if not contender.peer:
        raise failure
    contender.server = None
    contenders.remove(contender)
    options.left_out.append(f"{contender.name}: {failure}")


def run_rounds(options, contenders, command, networks, each_round=None):
    """Fills contender.turns, one for each round."""
    together = sum(c.needs(networks) for c in contenders) + ROOM < available_memory()
    probe = Server([options.build / "bench_zimage", options.folder, "f32", options.threads, options.size,
                    options.inputs], os.environ)
    try:
        for turn in range(options.rounds):
            for contender in list(contenders) if turn % 2 == 0 else contenders[::-1]:
                try:
                    contender.turns.append(take_turn(contender, command, probe, together))
                except Failure as failure:
                    leave_out(options, contenders, contender, failure)
                    continue
                print(f"round {turn + 1}: {contender.name} {contender.turns[-1]['seconds']:.2f} s", file=sys.stderr)
            if each_round:
                each_round(probe)
    finally:
        for contender in contenders:
            contender.close()
        probe.close()


def spread(values, form="{:.2f}"):
    median = form.format(statistics.median(values))
    return median if len(values) == 1 else f"{median} [{form.format(min(values))}, {form.format(max(values))}]"


def ratios(ours, peer):
    return [theirs["seconds"] / own["seconds"] for own, theirs in zip(ours.turns, peer.turns)]


def median_seconds(contender):
    return statistics.median(turn["seconds"] for turn in contender.turns)


def rows_of(contenders, operations):
    """A table, and one dictionary for each contender."""
    peers, rows = [c for c in contenders if c.peer], []
    print("| | s | share of the probe | " + "".join(f"{p.name} / it | " for p in peers) + "peak MB |\n|---|---|---|"
          + "---|" * len(peers) + "---|")
    for contender in contenders:
        shares = [operations / turn["seconds"] / turn["probe"] / 1e9 for turn in contender.turns]
        beside = {p.name: ratios(contender, p) for p in peers if not contender.peer}
        print(f"| {contender.name} | {spread([t['seconds'] for t in contender.turns])} | {spread(shares)} | "
              + "".join(f"{spread(beside[p.name]) if p.name in beside else ''} | " for p in peers)
              + f"{contender.rss:.0f} |", flush=True)
        rows.append({"contender": contender.name, "seconds": median_seconds(contender),
                     "share_of_probe": statistics.median(shares), "rss_gb": contender.rss * 1048576 / 1e9,
                     "ratios": {name: statistics.median(values) for name, values in beside.items()},
                     "turns": contender.turns})
    return rows


def best_ratio(row):
    return min(row["ratios"].values(), default=None)


# --- what is measured


def measure_step(options):
    operations = step_operations(options.layers, options.size, options.tokens)
    contenders = contenders_of(options, ["transformer"])
    run_rounds(options, contenders, "step 4", ["transformer"])
    print(f"a step, {options.size}x{options.size}, {options.tokens} tokens of a caption, {options.layers} layers, "
          f"{operations / 1e12:.2f} TFLOP, {options.threads} threads, {options.rounds} rounds")
    rows = rows_of(contenders, operations)
    main = next(row for row in rows if not Contender(options, row["contender"]).peer)
    return {"seconds_per_step": main["seconds"], "share_of_probe": main["share_of_probe"],
            "ratio_to_best_peer": best_ratio(main), "rss_gb": main["rss_gb"], "tflop": operations / 1e12, "rows": rows}


def measure_text(options):
    layers = options.text_layers
    operations, weights = text_operations(layers, options.tokens), text_matrices(layers)
    contenders, rates = contenders_of(options, ["text_encoder"]), []
    run_rounds(options, contenders, "text", ["text_encoder"], lambda probe: rates.append(probe.ask("read")["gb_per_s"]))
    print(f"text encoder, {options.tokens} tokens, {layers - 1} layers computed, {operations / 1e12:.3f} TFLOP, "
          f"{weights / 1e9:.2f} G weights, {options.threads} threads, {options.rounds} rounds; "
          f"memory is read at {spread(rates)} GB/s")
    rows = rows_of(contenders, operations)
    rate = statistics.median(rates)
    print("| | GB of its weights | s to read them | its time / that |\n|---|---|---|---|")
    for contender, row in zip(contenders, rows):
        size = weights * (FILE_BITS[contender.form] / 8 if contender.peer == "sdcpp" else BYTES[contender.dtype]) / 1e9
        row |= {"weights_gb": size, "ratio_to_reading": row["seconds"] / (size / rate)}
        print(f"| {contender.name} | {size:.2f} | {size / rate:.2f} | {row['ratio_to_reading']:.2f} |")
    main = next(row for row in rows if not Contender(options, row["contender"]).peer)
    return {"seconds": main["seconds"], "share_of_probe": main["share_of_probe"],
            "ratio_to_reading": main["ratio_to_reading"], "ratio_to_best_peer": best_ratio(main),
            "rss_gb": main["rss_gb"], "read_gb_per_s": rate, "rows": rows}


def measure_once(options):
    contender = next(c for c in contenders_of(options, ["transformer"]) if not c.peer)
    rounds = []
    try:
        contender.ask("step 4")
        for _ in range(options.rounds):
            rounds.append(contender.ask("once") | {"step": contender.ask("step 4")})
    finally:
        contender.close()
    allocations = max(turn["step"]["allocations"] for turn in rounds)
    print(f"{contender.name}, {options.size}x{options.size}, {options.layers} layers; a step takes "
          f"{spread([turn['step']['seconds'] for turn in rounds])} s, and asks for memory {allocations} times\n"
          "| computed once | s | if each of 8 steps did it: share of a step |\n|---|---|---|")
    found = {"allocations_of_a_step": allocations}
    for name, what, steps in (("angles", "angles of rotary positions", 1), ("context", "the caption's refiners", 1),
                              ("modulation", "time features and modulation of all layers, for 8 steps", 8)):
        shares = [turn[name] / steps / turn["step"]["seconds"] for turn in rounds]
        found[name] = {"seconds": statistics.median(turn[name] for turn in rounds), "share": statistics.median(shares)}
        print(f"| {what} | {spread([turn[name] for turn in rounds], '{:.4f}')} | {spread(shares, '{:.2%}')} |")
    return found


def generate(options, output):
    """One picture by the program, as a user starts it."""
    form, _, dtype = options.contenders[0].partition(":")
    command = [options.zenith, "generate", PROMPT, "-w", options.folder / form, "-o", output, "--size",
               f"{options.size}x{options.size}", "--steps", options.steps, "--seed", 1, "--threads", options.threads,
               "--json", "--quiet", *options.more]
    if dtype != "int8":  # 8 bits are what the program takes by itself for weights that are bytes
        command += ["--dtype", dtype]
    begin = time.monotonic()
    with subprocess.Popen(list(map(str, command)), stdout=subprocess.PIPE, text=True) as process:
        said = process.stdout.read()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    seconds = time.monotonic() - begin
    if process.returncode:
        raise Failure("failed: " + " ".join(map(str, command)))
    facts = json.loads(said.splitlines()[-1])
    step, decode = facts["seconds_per_step"], facts["decode_ms"] / 1e3
    return {"dtype": facts.get("dtype"), "seconds": seconds, "seconds_per_step": step, "decode": decode, "rss_gb": usage.ru_maxrss * 1024 / 1e9,
            "to_first_step": seconds - (facts["total_ms"] - facts["prepare_ms"]) / 1e3, "cpu": usage.ru_utime + usage.ru_stime}


def measure_picture(options):
    if options.steps < 2:
        raise Failure("a picture takes 2 steps or more: the first one is not timed by itself")
    print(f"{options.contenders[0]}, {options.size}x{options.size}, {options.steps} steps, {options.layers} layers, "
          f"{options.threads} threads\n| start | type | s in all | s until the first step began | s per step | s decoding | "
          "peak GB |\n|---|---|---|---|---|---|---|")
    runs = []
    with tempfile.TemporaryDirectory() as folder:
        for name in ("first", "second"):
            run = generate(options, f"{folder}/picture.png")
            runs.append(run)
            print(f"| {name} | {run['dtype']} | {run['seconds']:.1f} | {run['to_first_step']:.1f} | {run['seconds_per_step']:.2f} | "
                  f"{run['decode']:.1f} | {run['rss_gb']:.2f} |", flush=True)
    return runs[1] | {"first": runs[0]}


def results_of(contender, work):
    """The answers of a contender: of the text encoder, of one forward, and after 8 steps."""
    found = {}
    try:
        for name, command in (("text", "text"), ("forward", "step 4"), ("8 steps", "sample 8")):
            contender.ask(command)
            contender.ask(f"dump {work}/answer")
            found[name] = np.fromfile(f"{work}/answer", np.float32).astype(np.float64)
            if name == "text":
                contender.close()  # its memory is the transformer's now
    finally:
        contender.close()
    return found


def errors_of(found, reference):
    errors = {}
    for name, values in found.items():
        difference = values - reference[name]
        errors[name] = {"rms": float(np.sqrt((difference ** 2).mean() / (reference[name] ** 2).mean())),
                        "largest": float(np.abs(difference).max() / np.abs(reference[name]).max())}
    return errors


def measure_accuracy(options):
    usual = [name for name in (options.reference, "bf16:f32", "bf16:bf16") if name]
    options.contenders = [usual[0], *options.contenders]
    if not options.reference and Contender(options, "bf16:f32").needs(["transformer"]) + ROOM > available_memory():
        options.contenders[0] = "bf16:bf16"
    reference, *others = [c for c in contenders_of(options, ["transformer"]) if c.peer != "sdcpp"]
    if reference.name != options.contenders[0]:
        raise Failure("the reference cannot run: " + options.left_out[0])
    rows = []
    with tempfile.TemporaryDirectory() as work:
        right = results_of(reference, work)
        print(f"error against {reference.name}, {options.size}x{options.size}, {options.layers} layers, outliers: "
              f"{options.outliers}; relative, rms and (largest / largest)\n| | text encoder | one forward | after 8 "
              "steps |\n|---|---|---|---|")
        for contender in others:
            if contender.name == reference.name:
                continue
            try:
                errors = errors_of(results_of(contender, work), right)
            except Failure as failure:
                options.left_out.append(f"{contender.name}: {failure}")
                continue
            print(f"| {contender.name} | " + " | ".join(f"{e['rms']:.2e} ({e['largest']:.1e})" for e in errors.values())
                  + " |", flush=True)
            rows.append({"contender": contender.name, "errors": errors})
    return {"reference": reference.name, "rows": rows}

WHAT = {"step": measure_step, "text": measure_text, "once": measure_once, "picture": measure_picture,
        "accuracy": measure_accuracy}


# --- what it takes


def write_inputs(options, work):
    random = np.random.default_rng(1)
    side = options.size // 8
    random.standard_normal((16, side, side), dtype=np.float32).tofile(work / "noise.f32")
    random.standard_normal((options.tokens, sizes.CAPTION), dtype=np.float32).tofile(work / "caption.f32")
    random.integers(0, 150000, options.tokens, dtype=np.int32).tofile(work / "ids.i32")
    options.inputs = work


def other_forms(options):
    """Pipelines below the folder that make_zimage.py did not write."""
    found = sorted(path.parent.name for path in options.folder.glob("*/model_index.json"))
    return [name for name in found if name not in sizes.FORMS]


def usual_contenders(options):
    if options.dtype == "q4":
        options.form, options.dtype = options.form or "q4_0", "int8"
    own = f"{options.form or 'bf16'}:{options.dtype}"
    if options.what in ("picture", "once"):
        return [own]
    if options.what == "accuracy":
        return ["bf16:bf16", "bf16:int8", "q8_0:bf16", "q4_0:bf16", "int8:bf16", "q8_0:int8", "q4_0:int8", "int8:int8",
                *(f"{form}:int8" for form in other_forms(options)), "diffusers:bf16"]
    return [own, "diffusers:bf16", "sdcpp:q8_0" if options.dtype == "int8" and options.form != "q4_0" else "sdcpp:q4_0"]


def prepare(options):
    options.left_out = []
    if not options.folder:
        name = "zimage" if options.layers == sizes.LAYERS else f"zimage-{options.layers}"
        options.folder = pathlib.Path.home() / ".cache/zenith-bench" / name
    options.contenders = options.contenders or usual_contenders(options)
    options.text_layers = sizes.TEXT_LAYERS if options.layers == sizes.LAYERS else options.layers + 1
    options.parameters = {"transformer": parameters(sizes.transformer(options.layers)),
                          "text_encoder": parameters(sizes.text_encoder(options.text_layers))}
    forms = {Contender(options, name).form for name in options.contenders + [options.reference or "bf16:f32"]}
    missing = [form for form in sizes.FORMS if form in forms]
    sizes.make(options.folder, missing, options.layers, outliers=options.outliers, tokenizer=options.tokenizer)


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", nargs="?", choices=sorted(WHAT), default="step")
    parser.add_argument("--folder", type=pathlib.Path)
    parser.add_argument("--form")
    parser.add_argument("--dtype", choices=[*BYTES, "q4"], default="bf16")
    parser.add_argument("--contenders", nargs="+", metavar="FORM:DTYPE")
    parser.add_argument("--reference", metavar="FORM:DTYPE")
    parser.add_argument("--size", type=int, default=512)
    parser.add_argument("--tokens", type=int, default=64)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--layers", type=int, default=sizes.LAYERS)
    parser.add_argument("--outliers", type=int, default=0, help="columns of large matrices that are 50 times the others")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--steps", type=int, default=8, help="of a picture")
    parser.add_argument("--more", nargs=argparse.REMAINDER, default=[], help="options for zenith generate, at the end")
    parser.add_argument("--tokenizer", type=pathlib.Path, default=ROOT / ".deps/qwen.tiktoken")
    parser.add_argument("--python", help="one that has torch and diffusers")
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build/release")
    parser.add_argument("--zenith", type=pathlib.Path, default=ROOT / "build/release/zenith")
    parser.add_argument("--json", action="store_true")
    return parser.parse_args()


def main():
    options = parse()
    try:
        prepare(options)
        with tempfile.TemporaryDirectory() as work:
            write_inputs(options, pathlib.Path(work))
            result = WHAT[options.what](options)
    except (Failure, OSError) as failure:
        print(f"zimage: {failure}", file=sys.stderr)
        return 2
    for line in options.left_out:
        print(f"left out: {line}")
    if options.json:
        print(json.dumps({"what": options.what, "size": options.size, "threads": options.threads,
                          "layers": options.layers, "contenders": options.contenders, **result,
                          "left_out": options.left_out}))
    return 0


if __name__ == "__main__":
    sys.exit(main())
