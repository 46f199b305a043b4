#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Zenith authors
# SPDX-License-Identifier: Apache-2.0
"""The speed of every kernel version, kept and compared by ratio.

    bench/kernels.py                 times build/release/kernels and compares with bench/results
    bench/kernels.py --record        times five times, and writes the lowest ratios to bench/results/kernels-CLASS.json
    bench/kernels.py NAME..          only these groups

What is kept, and compared, is how many times as fast as the scalar version and as oneDNN each version
is, in the same run: a ratio means the same on a slower machine or a busier one, milliseconds do not. A kernel
is one version of one group. What it has kept is the mean, over its cases, of the ratio now by the recorded ratio
(a geometric mean: where a case's memory lies can halve the case's ratio for a whole run, and says nothing of the
kernel). A kernel that has kept under 0.7 is timed again, alone with its group, up to five times; if the kernel is
under 0.7 every time, that is a failure. CLASS is that of this CPU: baseline, avx2, avx512, avx512-vnni, amx. CPUs
of one class differ in ports and caches, and their ratios with them: those of another model than the file's
are printed and not judged.

Exit code: 0 fine, written or not judged, 1 a version is slower than it was.
"""
import argparse
import json
import math
import pathlib
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
RESULTS = ROOT / "bench/results"
RATIOS = ("of_scalar", "of_onednn")
LEAST = 0.7
AGAIN = 5


def run(program, groups):
    text = subprocess.run([program, *groups, "--bench", "--json"], check=True, capture_output=True, text=True).stdout
    return json.loads(text)


def model_name():
    lines = pathlib.Path("/proc/cpuinfo").read_text().splitlines()
    return next((line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")), "unknown")


def class_of(measured):
    return measured["isa"] + ("-vnni" if measured["isa"] == "avx512" and measured["vnni"] else "")


def ratios(measured):
    """(group, case, version, which ratio) -> ratio, of all versions but the one compared with."""
    return {(line["group"], line["case"], line["version"], which): line[which]
            for line in measured["results"] for which in RATIOS
            if which in line and line["version"] not in ("baseline", "onednn")}


def kept(recorded, now):
    """(group, version, which ratio) -> what is left of the recorded ratios, and the cases it is the mean of."""
    cases = {}
    for (group, case, version, which), was in recorded.items():
        if (group, case, version, which) in now:
            share = max(now[group, case, version, which], 1e-3) / max(was, 1e-3)
            cases.setdefault((group, version, which), []).append((share, case))
    return {kernel: (math.exp(sum(math.log(share) for share, _ in shares) / len(shares)), sorted(shares))
            for kernel, shares in cases.items()}


def slower(recorded, now, among=None):
    return {kernel: rest for kernel, rest in kept(recorded, now).items()
            if rest[0] < LEAST and (among is None or kernel in among)}


def compare(program, measured):
    path = RESULTS / f"kernels-{class_of(measured)}.json"
    if not path.exists():
        print(f"no results are kept for {class_of(measured)}; bench/kernels.py --record makes them")
        return 0
    document = json.loads(path.read_text())
    recorded, now = ratios(document), ratios(measured)
    kernels = kept(recorded, now)
    same = document["model"] == model_name()
    suspects = slower(recorded, now)
    for _ in range(AGAIN if same else 0):  # another process beside one version's turn halves its ratio
        if not suspects:
            break
        time.sleep(2)
        again = ratios(run(program, sorted({kernel[0] for kernel in suspects})))
        suspects = slower(recorded, again, suspects)
    for (group, version, which), (share, cases) in sorted(suspects.items()):
        print(f"{group}: {version} has kept {share:.2f} of its ratio {which.replace('_', ' ')}; "
              f"least, {cases[0][0]:.2f}, in {cases[0][1]}")
    print(f"{len(kernels)} ratios of kernels compared with {path.name}, {len(suspects)} under {LEAST} of it" +
          ("" if same else f"; not judged, because they are of {document['model']}"))
    return 1 if same and (suspects or not kernels) else 0


def record(program, measured):
    for _ in range(4):  # what disturbs the scalar version's turn makes a ratio too high
        again = {(line["group"], line["case"], line["version"]): line for line in run(program, [])["results"]}
        for line in measured["results"]:
            other = again[line["group"], line["case"], line["version"]]
            line.update({which: min(line[which], other[which]) for which in RATIOS if which in line})
    RESULTS.mkdir(exist_ok=True)
    path = RESULTS / f"kernels-{class_of(measured)}.json"
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
    measured = run(arguments.program, arguments.groups)
    return record(arguments.program, measured) if arguments.record else compare(arguments.program, measured)


if __name__ == "__main__":
    sys.exit(main())
