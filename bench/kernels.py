#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Zenith authors
# SPDX-License-Identifier: Apache-2.0
"""The speed of every kernel version, kept and compared by ratio.

    bench/kernels.py                 times build/release/kernels and compares with bench/results
    bench/kernels.py --record        times thrice, and writes the lowest ratios to bench/results/kernels-CLASS.json
    bench/kernels.py NAME..          only these groups

What is kept, and compared, is how many times as fast as the scalar version and as oneDNN each version
is, in the same run: a ratio means the same on a slower machine or a busier one, milliseconds do not. A
version that has fallen under 0.7 of its recorded ratio is timed again, alone with its group, up to five
times; if it is under it every time, that is a failure. CLASS is that of this CPU: baseline, avx2, avx512, avx512-vnni, amx. CPUs
of one class differ in ports and caches, and their ratios with them: those of another model than the file's
are printed and not judged.

Exit code: 0 fine, written or not judged, 1 a version is slower than it was.
"""
import argparse
import json
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


def slower(recorded, now):
    return {key: (was, now[key]) for key, was in recorded.items() if key in now and now[key] < LEAST * was}


def compare(program, groups, measured):
    path = RESULTS / f"kernels-{class_of(measured)}.json"
    if not path.exists():
        print(f"no results are kept for {class_of(measured)}; bench/kernels.py --record makes them")
        return 0
    document = json.loads(path.read_text())
    recorded, now = ratios(document), ratios(measured)
    common = recorded.keys() & now.keys()
    same = document["model"] == model_name()
    suspects = slower(recorded, now)
    for _ in range(AGAIN if same else 0):  # another process beside one version's turn halves its ratio
        if not suspects:
            break
        time.sleep(1)
        again = ratios(run(program, sorted({key[0] for key in suspects})))
        suspects = slower({key: recorded[key] for key in suspects}, again)
    for (group, case, version, which), (was, ratio) in sorted(suspects.items()):
        print(f"{group}, {case}: {version} is {ratio:.2f} {which.replace('_', ' ')}, was {was:.2f}")
    print(f"{len(common)} ratios compared with {path.name}, {len(suspects)} under {LEAST} of it" +
          ("" if same else f"; not judged, because they are of {document['model']}"))
    return 1 if same and (suspects or not common) else 0


def record(program, measured):
    for _ in range(2):  # what disturbs the scalar version's turn makes a ratio too high
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
    return record(arguments.program, measured) if arguments.record else compare(arguments.program, arguments.groups, measured)


if __name__ == "__main__":
    sys.exit(main())
