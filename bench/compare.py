#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Zenith authors
# SPDX-License-Identifier: Apache-2.0
"""How fast is Zenith beside other runtimes, on this machine, now?

    bench/compare.py --op decode --size 512 --dtype bf16 --threads 1 --json
    bench/compare.py --cpu avx2 --dtype f32              as on an older CPU
    bench/compare.py --bare-only --rounds 1 --size 256   quick; needs no virtual environment
    bench/compare.py --model flux --rounds 5             a KL autoencoder (sd, sdxl, sd3, flux) with random weights, which
                                                         are made on first use
    bench/compare.py --weights FOLDER --rounds 5         a KL autoencoder as diffusers keeps it

Contenders: Zenith; for TAESD the same convolutions on bare oneDNN, by whole maps and in its best bands (the
anchor: it shows what Zenith adds to its engine); and as peers OpenVINO, ONNX Runtime and PyTorch,
each in the type asked for, where it has it. Every one is a process that stays warm and runs when told
(the protocol is in contender.h). A round is Zenith and one other, each for at least 60 ms, in an order
that turns around from round to round; rounds against all the others take turns. Before, between and
after the two a probe measures the multipliers themselves, and a round in which it was more than 10 %
below its best is dropped and made up for, until --minutes have passed. A CPU that others share holds
its wide multipliers back for moments or for seconds; rounds that were held back from start to end are
given apart. With one thread everything runs on one core, because cores are held back one by one.

Times are compared inside a round only. A ratio is the other's time over Zenith's (above 1: Zenith is
faster), the median over rounds, with a 95 % interval by bootstrap. The clock is the process's CPU time
for one thread (other work on the machine counts less), wall time for more (threads that wait may spin).

With --json the last line is one JSON object. The peers live in a virtual environment that is made on
first use (tools/environment.py). Exit code: 0 measured, 2 could not.
"""
import argparse
import array
import contextlib
import dataclasses
import itertools
import json
import math
import os
import pathlib
import random
import statistics
import subprocess
import sys
import tempfile
import time

from common import ROOT, Failure, Server, environment as packages, random_vae

PEERS = {"f32": ("openvino", "onnxruntime", "pytorch"),
         "bf16": ("openvino", "pytorch"),
         "int8": ("openvino",)}
RANDOM = ("sd", "sdxl", "sd3", "flux")  # KL autoencoders that make_vae.py makes
NAMES = {"openvino": "OpenVINO", "onnxruntime": "ONNX Runtime", "pytorch": "PyTorch"}
BANDS = (16, 32, 64)
# ZENITH_CPU=avx512 is all of AVX-512 that the machine has, so oneDNN's cap is the highest below AMX.
CAPS = {"avx512": {"ZENITH_CPU": "avx512", "ONEDNN_MAX_CPU_ISA": "AVX512_CORE_BF16"},
        "avx2": {"ZENITH_CPU": "avx2", "ONEDNN_MAX_CPU_ISA": "AVX2", "ATEN_CPU_CAPABILITY": "avx2"}}
LEAST_MS = 60         # of a contender's turn
STEADY = 0.10         # what the probe may move in a round
PAUSE = 0.02          # seconds after a turn with several threads: those that spin go to sleep
BOOTSTRAP = 2000


# --- processes


@dataclasses.dataclass
class Round:
    ours: dict  # {"cpu": ms, "wall": ms}
    its: dict
    rates: list  # of the probe, before, between and after

    def ratio(self, clock):
        return self.its[clock] / self.ours[clock]

    def free(self, best):
        return min(self.rates) >= (1 - STEADY) * best

    def held_back(self, best):
        low, high = min(self.rates), max(self.rates)
        return high < (1 - STEADY) * best and low >= (1 - STEADY) * high


@dataclasses.dataclass
class Contender:
    name: str
    kind: str  # "zenith", "anchor" or "peer"
    server: Server
    note: str = ""
    iterations: int = 1
    rounds: list = dataclasses.field(default_factory=list)
    rss_mb: float = 0.0
    max_error: float | None = None
    rms_error: float | None = None

    def turn(self, iterations=None):
        """Medians of some iterations."""
        times = self.server.ask(f"run {iterations or self.iterations}")
        return {clock: statistics.median(times[f"{clock}_ms"]) for clock in ("cpu", "wall")}


def environment(settings):
    threads = str(settings.threads)
    return {**os.environ, "OMP_NUM_THREADS": threads, "MKL_NUM_THREADS": threads,
            **CAPS.get(settings.cpu, {})}


def is_folder(settings):
    """Are the weights a KL autoencoder's, as diffusers keeps it?"""
    return (settings.weights / "config.json").exists()


def common_options(settings):
    return ["--op", settings.op, "--size", settings.size, "--dtype", settings.dtype, "--threads",
            settings.threads, "--model", settings.model, "--weights", settings.weights, "--input",
            settings.input]


def peer_options(settings):
    photos = ["--photos", settings.photos] if settings.photos else []
    return [*common_options(settings), "--cache", settings.cache, *photos]


def start(settings, stack, name, kind, command):
    """A warm contender that knows how many iterations fill a turn."""
    server = Server(command, environment(settings))
    stack.callback(server.close)
    contender = Contender(name, kind, server, note=server.read()["note"])
    contender.turn(1)
    wall = min(contender.turn(1)["wall"] for _ in range(2))
    contender.iterations = max(1, math.ceil(LEAST_MS / wall))
    return contender


def try_start(settings, stack, name, kind, command):
    """None, with a word about it, for what cannot run here."""
    try:
        return start(settings, stack, name, kind, command)
    except (Failure, OSError) as failure:
        settings.left_out.append(f"{name}: {failure}")
        return None


# --- weights, inputs


def latent_channels(settings):
    """From config.json, or from the shape of the decoder's first convolution, in the header of its safetensors file."""
    if is_folder(settings):
        return json.loads((settings.weights / "config.json").read_text())["latent_channels"]
    with (settings.weights / f"{settings.model}_decoder.safetensors").open("rb") as file:
        header = json.loads(file.read(int.from_bytes(file.read(8), "little")))
    return header["1.weight"]["shape"][1]


def write_input(settings):
    """Noise of the right spread, raw f32 in CHW: one random row, rotated."""
    noise = random.Random(1)
    if settings.op == "encode":
        side, channels, draw = settings.size, 3, noise.random
    else:
        side, channels, draw = settings.size // 8, latent_channels(settings), lambda: noise.gauss(0, 1)
    row = array.array("f", [draw() for _ in range(side)])
    with settings.input.open("wb") as file:
        for y in range(channels * side):
            shift = (y * 7919) % side
            (row[shift:] + row[:shift]).tofile(file)


def prepare_peers(settings, python):
    command = [python, ROOT / "bench/peers.py", "prepare", *peer_options(settings), "--reference",
               settings.reference]
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, check=False)
    if done.returncode:
        raise Failure(f"the peers could not be prepared: {done.stderr.strip().splitlines()[-1]}")


# --- contenders


def start_zenith(settings, stack):
    return start(settings, stack, "Zenith", "zenith",
                 [settings.build / "bench_zenith", *common_options(settings)])


def start_bare(settings, stack, bands):
    name = "bare oneDNN" if bands == "planes" else f"bare, bands of {bands}"
    return try_start(settings, stack, name, "anchor",
                     [settings.build / "bench_bare_onednn", *common_options(settings), "--bands", bands])


def best_bands(settings):
    """The fastest of BANDS, by interleaved turns."""
    with contextlib.ExitStack() as stack:
        tried = {bands: start_bare(settings, stack, bands) for bands in BANDS}
        times = {bands: [] for bands in tried}
        for _ in range(3):
            for bands, contender in tried.items():
                times[bands].append(contender.turn()[settings.clock])
    return min(times, key=lambda bands: statistics.median(times[bands]))


def can_be_capped(settings, peer):
    """ONNX Runtime's kernels choose by the CPU alone; below AVX-512 nothing here computes in bf16."""
    if settings.cpu != "avx2":
        return True
    return peer != "onnxruntime" and settings.dtype != "bf16"


def start_peers(settings, stack, python):
    peers = []
    for peer in PEERS[settings.dtype]:
        if peer == "onnxruntime" and is_folder(settings):
            continue  # no ONNX is made: OpenVINO's own conversion keeps attention whole
        if not can_be_capped(settings, peer):
            settings.left_out.append(
                f"{NAMES[peer]}: cannot be lowered to {settings.cpu} in {settings.dtype}")
            continue
        peers.append(try_start(settings, stack, NAMES[peer], "peer",
                               [python, ROOT / "bench/peers.py", "serve", "--peer", peer,
                                *peer_options(settings)]))
    return peers


def start_all(settings, stack):
    python = None
    if not settings.bare_only:
        python = packages.python()
        prepare_peers(settings, python)
    zenith = start_zenith(settings, stack)
    bare = None if is_folder(settings) else start_bare(settings, stack, "planes")
    banded = start_bare(settings, stack, best_bands(settings)) if bare else None
    peers = start_peers(settings, stack, python) if python else []
    return [contender for contender in (zenith, bare, banded, *peers) if contender]


# --- rounds


class Probe:
    """The rate of the multipliers that the type runs on."""

    def __init__(self, settings, stack):
        self.server = Server([settings.build / "bench_probe"], environment(settings))
        stack.callback(self.server.close)
        units = ["fma"] if settings.dtype == "f32" else ["amx", "fma"]
        threads = min(settings.threads, 64)
        self.unit = next(unit for unit in units
                         if unit == "fma" or self.server.ask(unit)["gflops"] > 0)
        self.command = f"{self.unit}{threads}"
        self.rates = []

    def rate(self):
        self.rates.append(self.server.ask(self.command)["gflops"])
        return self.rates[-1]


def run_round(settings, zenith, other, probe, backwards):
    rates, times = [probe.rate()], {}
    for contender in (other, zenith) if backwards else (zenith, other):
        times[contender.name] = contender.turn()
        if settings.threads > 1:
            time.sleep(PAUSE)
        rates.append(probe.rate())
    return Round(times[zenith.name], times[other.name], rates)


def run_rounds(settings, contenders, probe):
    zenith, others = contenders[0], contenders[1:]
    end = time.monotonic() + 60 * settings.minutes
    for index in itertools.count():
        short = [other for other in others
                 if sum(r.free(max(probe.rates)) for r in other.rounds) < settings.rounds]
        if not short or (index > 0 and time.monotonic() > end):
            break
        for other in short:
            other.rounds.append(run_round(settings, zenith, other, probe, index % 2 == 1))
    zenith.rounds = [Round(r.ours, r.ours, r.rates) for other in others for r in other.rounds]


# --- figures


def bootstrap(values):
    """A 95 % interval of the median."""
    draw = random.Random(1)
    medians = sorted(statistics.median(draw.choices(values, k=len(values))) for _ in range(BOOTSTRAP))
    return [medians[int(0.025 * BOOTSTRAP)], medians[int(0.975 * BOOTSTRAP)]]


def median_of(rounds, clock):
    """{the contender's time, its ratio to Zenith, the ratio's interval, rounds}, or None without a round"""
    if not rounds:
        return None
    ratios = [r.ratio(clock) for r in rounds]
    return {"ms": round(statistics.median(r.its[clock] for r in rounds), 3),
            "ratio": round(statistics.median(ratios), 4),
            "interval": [round(end, 4) for end in bootstrap(ratios)], "rounds": len(rounds)}


def read_floats(path):
    values = array.array("f")
    values.frombytes(path.read_bytes())
    return values


def add_rss_and_errors(settings, contenders):
    """Errors are against PyTorch f32; bare int8 is not calibrated, so its values mean nothing."""
    reference = read_floats(settings.reference) if settings.reference.exists() else None
    for contender in contenders:
        contender.rss_mb = contender.server.ask("rss")["rss_mb"]
        if reference is None or (contender.kind == "anchor" and settings.dtype == "int8"):
            continue
        dump = settings.reference.with_name("output.raw")
        contender.server.ask(f"dump {dump}")
        errors = [a - b for a, b in zip(read_floats(dump), reference, strict=True)]
        contender.max_error = max(map(abs, errors))
        contender.rms_error = math.sqrt(math.fsum(e * e for e in errors) / len(errors))


def describe(contender, best):
    free = [r for r in contender.rounds if r.free(best)]
    held_back = [r for r in contender.rounds if r.held_back(best)]
    facts = {"name": contender.name, "kind": contender.kind, "note": contender.note,
             "rss_mb": round(contender.rss_mb, 1), "max_error": contender.max_error,
             "rms_error": contender.rms_error, "rounds_kept": len(free),
             "rounds_dropped": len(contender.rounds) - len(free)}
    for clock in ("cpu", "wall"):
        median = median_of(free or contender.rounds, clock)
        facts |= {f"{clock}_{key}": median[key] for key in ("ms", "ratio", "interval")}
        facts[f"{clock}_held_back"] = median_of(held_back, clock)
    return facts


def summarise(settings, contenders, probe):
    clock = settings.clock
    rows = [describe(contender, max(probe.rates)) for contender in contenders]
    peers = [row for row in rows if row["kind"] == "peer"]
    anchors = [row for row in rows if row["kind"] == "anchor"]
    best = min(peers, key=lambda row: row[f"{clock}_ratio"], default={})
    bare = next((row for row in anchors if row["name"] == "bare oneDNN"), {})
    bands = next((row for row in anchors if row is not bare), {})
    return {
        "op": settings.op, "size": settings.size, "dtype": settings.dtype,
        "threads": settings.threads, "model": settings.model, "cpu": settings.cpu, "clock": clock,
        "ms": rows[0][f"{clock}_ms"], "cpu_ms": rows[0]["cpu_ms"], "wall_ms": rows[0]["wall_ms"],
        "rss_mb": rows[0]["rss_mb"],
        "best_peer": best.get("name"), "ratio_to_best_peer": best.get(f"{clock}_ratio"),
        "ratio_to_bare": bare.get(f"{clock}_ratio"),
        "ratio_to_bare_bands": bands.get(f"{clock}_ratio"), "bands": bands.get("name"),
        "intervals": {"best_peer": best.get(f"{clock}_interval"),
                      "bare": bare.get(f"{clock}_interval"),
                      "bare_bands": bands.get(f"{clock}_interval")},
        "held_back": {row["name"]: row[f"{clock}_held_back"] for row in rows},
        "rounds_kept": min((row["rounds_kept"] for row in rows[1:]), default=0),
        "rounds_dropped": rows[0]["rounds_dropped"],
        "probe": {"unit": probe.unit, "median_gflops": round(statistics.median(probe.rates), 1),
                  "least": min(probe.rates), "most": max(probe.rates)},
        "left_out": settings.left_out, "contenders": rows,
    }


def print_table(settings, result):
    print(f"{result['model']} {result['op']} {result['size']}x{result['size']}, {result['dtype']}, "
          f"{result['threads']} thread(s), CPU class {result['cpu'] or 'as is'}"
          + (f" (oneDNN capped at {CAPS[result['cpu']]['ONEDNN_MAX_CPU_ISA']})"
             if result["cpu"] in CAPS else ""))
    print(f"{'':18} {'CPU ms':>9} {'wall ms':>9}   {result['clock'] + ' time / Zenith':<22} "
          f"{'RSS MB':>7} {'error max':>10} {'rms':>8} {'rounds':>9}   note")
    for row in result["contenders"]:
        low, high = row[f"{result['clock']}_interval"]
        most, rms = (f"{row[key]:.1e}" if row[key] is not None else ""
                     for key in ("max_error", "rms_error"))
        ratio = f"{row[result['clock'] + '_ratio']:.2f} [{low:.2f}, {high:.2f}]"
        print(f"{row['name']:18} {row['cpu_ms']:9.1f} {row['wall_ms']:9.1f}   {ratio:<22} "
              f"{row['rss_mb']:7.0f} {most:>10} {rms:>8} {row['rounds_kept']:4}/{row['rounds_kept'] + row['rounds_dropped']:<4}   "
              f"{row['note']}")
    probe = result["probe"]
    print(f"rounds: kept of all; the probe of the others was more than {STEADY:.0%} below its best; "
          f"{probe['unit']} {probe['median_gflops']:.0f} GFLOP/s ({probe['least']:.0f} to {probe['most']:.0f})")
    if not result["rounds_kept"]:
        print("against some, no round was steady: their figures are of unsteady ones")
    for name, held in result["held_back"].items():
        if held and name != "Zenith":
            print(f"held back from start to end, {held['rounds']} rounds: {name} {held['ms']:.1f} ms, "
                  f"{held['ratio']:.2f} [{held['interval'][0]:.2f}, {held['interval'][1]:.2f}]")
    if settings.dtype == "int8" and not settings.bare_only and not settings.photos:
        print("OpenVINO's int8 was calibrated on synthetic pictures (see --photos)")
    for line in settings.left_out:
        print(f"left out: {line}")


# --- the program


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--op", choices=("decode", "encode"), default="decode")
    parser.add_argument("--size", type=int, default=512, help="side of the picture, a multiple of 16")
    parser.add_argument("--dtype", choices=tuple(PEERS), default="f32")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=15, help="steady ones, against each other contender")
    parser.add_argument("--minutes", type=float, default=5, help="after which it ends with what it has")
    parser.add_argument("--model", help="default: taesd, or the one that the folder's config.json tells")
    parser.add_argument("--cpu", choices=("avx2", "avx512", "amx"), help="lower everybody to this class")
    parser.add_argument("--clock", choices=("cpu", "wall"), help="default: cpu for one thread, else wall")
    parser.add_argument("--bare-only", action="store_true", help="no peers, no virtual environment")
    parser.add_argument("--weights", type=pathlib.Path, default=ROOT.parent / "shared/weights")
    parser.add_argument("--photos", type=pathlib.Path, metavar="DIR",
                        help="calibrate OpenVINO's int8 on these, and measure on one of them")
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build/release")
    parser.add_argument("--cache", type=pathlib.Path, default=ROOT / "build/bench-cache",
                        help="where converted networks are kept")
    parser.add_argument("--json", action="store_true", help="end with one line of JSON")
    settings = parser.parse_args()
    if settings.size % 16 or settings.size < 32 or settings.rounds < 1 or settings.threads < 1:
        parser.error("--size must be a multiple of 16, --rounds and --threads at least 1")
    if settings.model in RANDOM and not is_folder(settings):
        settings.weights, settings.model = random_vae(settings.model), None
    settings.model = settings.model or ("" if is_folder(settings) else "taesd")
    if not is_folder(settings) and not (settings.weights / f"{settings.model}_decoder.safetensors").exists():
        parser.error(f"there are no weights of {settings.model} in {settings.weights}: 'zenith pull {settings.model}' fetches TAESD's, "
                     f"{', '.join(RANDOM)} are made, and --weights names others; bench/wan.py measures Wan's")
    settings.clock = settings.clock or ("cpu" if settings.threads == 1 else "wall")
    settings.left_out = []
    for name in ("weights", "photos", "build", "cache"):
        if path := getattr(settings, name):
            setattr(settings, name, pathlib.Path(os.path.abspath(path)))
    return settings


def compare(settings):
    with tempfile.TemporaryDirectory() as folder, contextlib.ExitStack() as stack:
        if settings.threads == 1:
            os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
        settings.input = pathlib.Path(folder) / "input.raw"
        settings.reference = pathlib.Path(folder) / "reference.raw"
        write_input(settings)
        contenders = start_all(settings, stack)
        probe = Probe(settings, stack)
        run_rounds(settings, contenders, probe)
        add_rss_and_errors(settings, contenders)
        return summarise(settings, contenders, probe)


def main():
    settings = parse_arguments()
    try:
        result = compare(settings)
    except (Failure, OSError, subprocess.CalledProcessError) as failure:
        print(f"compare: {failure}", file=sys.stderr)
        sys.exit(2)
    print_table(settings, result)
    if settings.json:
        print(json.dumps(result))


if __name__ == "__main__":
    main()
