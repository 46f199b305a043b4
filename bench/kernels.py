#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Zenith authors
# SPDX-License-Identifier: Apache-2.0
"""The speed of every kernel version, kept and compared by ratio.

    bench/kernels.py                 times build/release/kernels and compares with bench/results
    bench/kernels.py --record        times five times, and writes the lowest ratios to
                                     bench/results/kernels-CLASS.json (ZENITH_CPU chooses the class)
    bench/kernels.py NAME..          only these groups

What is kept, and compared, is how many times as fast as the scalar version and as oneDNN each version
is, in the same run: a ratio means the same on a slower machine or a busier one, milliseconds do not. A
kernel is one version of one group. What it has kept is the mean, over its cases, of the ratio now by
the recorded ratio (a geometric mean: where a case's memory lies can halve the case's ratio for a whole
run, and says nothing of the kernel). A kernel that has kept too little is timed again, alone with its
group, up to five times; if it is too little every time, that is a failure. Too little is

    under 0.7    on the CPU model that was recorded
    under 0.55   on another one, of what its kernels of the same instruction set have kept in the
                 middle: CPUs of one class differ in ports and caches, and their ratios with them

A CPU whose class was not recorded (baseline, avx2, avx512, avx512-vnni, amx) is lowered to the nearest
class that was. If there is none below, it is compared with the nearest above, without the ratios to
oneDNN, which uses other instructions there.

Nothing passes because it was not compared: a kernel that was recorded and is not timed is a failure,
and so is one that is timed and was not recorded. Only kernels of an instruction set that nobody could
record (UNRECORDED) are judged by their neighbours: they must have 0.7 of the speed of the version for
the instruction set below, in the same run.

Exit code: 0 fine or written, 1 a failure, by the kernel's name.
"""
import argparse
import json
import math
import os
import pathlib
import platform
import statistics
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
RESULTS = ROOT / "bench/results"
RATIOS = ("of_scalar", "of_onednn")
LEAST, LEAST_ELSEWHERE = 0.7, 0.55
AGAIN = 5
CLASSES = ("baseline", "avx2", "avx512", "avx512-vnni", "amx")
ISAS = ("baseline", "avx2", "avx512", "amx")
UNRECORDED = ("amx",)  # for want of such a CPU
if platform.machine() in ("aarch64", "arm64"):
    CLASSES = ISAS = ("baseline", "neon")
    UNRECORDED = ("neon",)


def run(program, groups, isa=None):
    command = [program, *groups, "--bench", "--json"]
    environment = os.environ | ({"ZENITH_CPU": isa} if isa else {})
    done = subprocess.run(command, check=True, capture_output=True, text=True, env=environment)
    return json.loads(done.stdout)


def model_name():
    lines = pathlib.Path("/proc/cpuinfo").read_text().splitlines()
    names = (line.split(":", 1)[1].strip() for line in lines if line.startswith("model name"))
    return next(names, "unknown")


def class_of(measured):
    vnni = measured["isa"] == "avx512" and measured["vnni"]
    return measured["isa"] + ("-vnni" if vnni else "")


def path_of(name):
    return RESULTS / f"kernels-{name}.json"


def nearest(name):
    """The recorded class to compare with: this one, or the next one below, or the next one above."""
    at = CLASSES.index(name)
    order = [*reversed(CLASSES[:at + 1]), *CLASSES[at + 1:]]
    return next((other for other in order if path_of(other).exists()), None)


def ratios(measured, which=RATIOS):
    """(group, case, version, ratio) -> its value, of all versions but the one compared with."""
    return {(line["group"], line["case"], line["version"], ratio): line[ratio]
            for line in measured["results"] for ratio in which
            if ratio in line and line["version"] not in ("baseline", "onednn")}


def kept(recorded, now):
    """(group, version, ratio) -> what is left of the ratio, and the cases it is the mean of."""
    cases = {}
    for (group, case, version, ratio), was in recorded.items():
        if (group, case, version, ratio) in now:
            share = max(now[group, case, version, ratio], 1e-3) / max(was, 1e-3)
            cases.setdefault((group, version, ratio), []).append((share, case))
    return {kernel: (math.exp(sum(math.log(share) for share, _ in shares) / len(shares)),
                     sorted(shares)) for kernel, shares in cases.items()}


def middles(kernels):
    """(version, ratio) -> what the kernels of this version have kept in the middle."""
    groups = {}
    for (_, version, ratio), (share, _) in kernels.items():
        groups.setdefault((version, ratio), []).append(share)
    return {key: statistics.median(shares) for key, shares in groups.items()}


def slower(kernels, least, usual):
    """Those under `least`, by `usual` (1 where there is none)."""
    return {(group, version, ratio): (share / usual.get((version, ratio), 1), cases)
            for (group, version, ratio), (share, cases) in kernels.items()
            if share / usual.get((version, ratio), 1) < least}


def not_compared(recorded, now, isa):
    """What was recorded and not timed, or timed and not recorded, of instructions up to `isa`."""
    possible = [version for version in ISAS if version not in ISAS[:ISAS.index(isa) + 1]]
    named = {(group, version) for group, _, version, _ in recorded if version not in possible}
    timed = {(group, version) for group, _, version, _ in now}
    lines = [f"{group}: {version} was recorded and is not timed" for group, version in named - timed]
    lines += [f"{group}: {version} was not recorded (bench/kernels.py --record, on a quiet machine)"
              for group, version in timed - named if version not in UNRECORDED]
    return sorted(lines)


def by_neighbours(measured):
    """Versions that nobody could record, by the version below in the same run."""
    speeds = {}
    for line in measured["results"]:
        speeds.setdefault((line["group"], line["case"]), {})[line["version"]] = line["rate"]
    shares, alone = {}, set()
    for (group, case), versions in speeds.items():
        for version in UNRECORDED:
            below = [v for v in ISAS[:ISAS.index(version)] if v in versions]
            if version in versions and below:
                share = versions[version] / versions[below[-1]]
                shares.setdefault((group, version), []).append(share)
            elif version in versions:
                alone.add((group, version))
    lines = []
    for (group, version), found in sorted(shares.items()):
        mean = statistics.geometric_mean(found)
        print(f"{group}: {version} has no record; {mean:.2f} of the speed of the version below")
        if mean < LEAST:
            lines.append(f"{group}: {version} has {mean:.2f} of the speed of the version below")
    for group, version in sorted(alone - set(shares)):
        print(f"{group}: {version} has no record, and no version below it is timed")
    return lines


def compare(program, groups):
    measured = run(program, groups)
    own = class_of(measured)
    name = nearest(own)
    if name is None:
        print("nothing was recorded; bench/kernels.py --record does")
        return 1
    wrong = by_neighbours(measured) if own != name else []
    lowered = CLASSES.index(name) < CLASSES.index(own)
    isa = name.split("-")[0] if lowered else None
    if isa:
        measured = run(program, groups, isa)
    document = json.loads(path_of(name).read_text())
    same = document["model"] == model_name() and class_of(measured) == name
    which = RATIOS if class_of(measured) == name else RATIOS[:1]
    recorded = {key: value for key, value in ratios(document, which).items()
                if not groups or key[0] in groups}
    now = ratios(measured, which)
    wrong += not_compared(recorded, now, measured["isa"])
    kernels = kept(recorded, now)
    least, usual = (LEAST, {}) if same else (LEAST_ELSEWHERE, middles(kernels))
    suspects = slower(kernels, least, usual)
    for _ in range(AGAIN):  # another process beside one version's turn halves its ratio
        if not suspects:
            break
        time.sleep(2)
        again = ratios(run(program, sorted({kernel[0] for kernel in suspects}), isa), which)
        once_more = {kernel: rest for kernel, rest in kept(recorded, again).items()
                     if kernel in suspects}
        suspects = slower(once_more, least, usual)
    for (group, version, ratio), (share, cases) in sorted(suspects.items()):
        wrong.append(f"{group}: {version} has kept {share:.2f} of its ratio "
                     f"{ratio.replace('_', ' ')}; least, {cases[0][0]:.2f}, in {cases[0][1]}")
    print("\n".join(wrong + [
        f"{len(kernels)} ratios of kernels compared with {path_of(name).name} of "
        f"{'this CPU' if same else document['model']}, {len(suspects)} under {least}"]))
    return 1 if wrong or not kernels else 0


def record(program):
    measured = run(program, [])
    for _ in range(4):  # what disturbs the scalar version's turn makes a ratio too high
        again = {(line["group"], line["case"], line["version"]): line
                 for line in run(program, [])["results"]}
        for line in measured["results"]:
            other = again[line["group"], line["case"], line["version"]]
            line.update({ratio: min(line[ratio], other[ratio]) for ratio in RATIOS if ratio in line})
    RESULTS.mkdir(exist_ok=True)
    path = path_of(class_of(measured))
    measured["model"] = model_name()
    lines = [json.dumps(line) for line in measured.pop("results")]
    head = json.dumps(measured)[:-1]
    path.write_text(head + ', "results": [\n' + ",\n".join(lines) + "\n]}\n")
    print(f"{len(lines)} results in {path.relative_to(ROOT)}")
    return 0


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("groups", nargs="*", metavar="NAME")
    parser.add_argument("--program", default=ROOT / "build/release/kernels")
    parser.add_argument("--record", action="store_true")
    arguments = parser.parse_args()
    if arguments.record and arguments.groups:
        parser.error("--record keeps all groups")
    if arguments.record:
        return record(arguments.program)
    return compare(arguments.program, arguments.groups)


if __name__ == "__main__":
    sys.exit(main())
