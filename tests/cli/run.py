#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Zenith authors
# SPDX-License-Identifier: Apache-2.0
"""Runs the program as a person would and compares exit codes, standard output and standard error.

    run.py [--zenith PATH] [--update] CASE..

A case is a text file: comments (#), at most one line `needs weights` or `needs golden` (skipped, code 77, where those are not
there), and steps:

    $ zenith encode "$DATA/small.png" -o out.safetensors     a line for sh; the folder is new and empty
    exit 1                                                   omitted for 0
    out: a line of standard output
    err: a line of standard error

In expected lines `...` stands for any text; a line that is only `...` stands for any number of lines. $DATA is the folder
of pictures, $MODEL a small model with random weights, $WEIGHTS the real ones, $GOLDEN the larger goldens; the same words replace these paths in what
is printed. --update writes what was seen into the file, where it differs from what the file expects.
"""
import argparse
import os
import pathlib
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
SKIPPED = 77


def read_case(path):
    """[lines before the first step, then per step [command, exit code, out lines, err lines]]"""
    head, steps = [], []
    for line in path.read_text().splitlines():
        if line.startswith("$ "):
            steps.append([line[2:], 0, [], []])
        elif not steps:
            head.append(line)
        elif line.startswith("exit "):
            steps[-1][1] = int(line[5:])
        elif line.startswith(("out:", "err:")):
            steps[-1][2 if line[0] == "o" else 3].append(line[5:])
        elif line.strip():
            sys.exit(f"{path}: cannot read '{line}'")
    return head, steps


def write_case(path, head, steps):
    text = "\n".join(head).rstrip() + "\n"
    for command, code, out, err in steps:
        text += f"\n$ {command}\n" + (f"exit {code}\n" if code else "")
        for name, lines in (("out:", out), ("err:", err)):
            text += "".join(f"{name} {line}".rstrip() + "\n" for line in lines)
    path.write_text(text)


def matches(expected, actual):
    """Lists of lines; `...` as described above."""
    if not expected:
        return not actual
    if expected[0] == "...":
        return any(matches(expected[1:], actual[i:]) for i in range(len(actual) + 1))
    if not actual:
        return False
    pattern = ".*".join(re.escape(part) for part in expected[0].split("..."))
    return re.fullmatch(pattern, actual[0]) is not None and matches(expected[1:], actual[1:])


def clean(text, folders):
    """Paths and times are the machine's; the rest is ours."""
    for name, folder in folders:
        text = text.replace(folder, name)
    text = re.sub(r"\d+\.\d+ s, \d+\.\d+ MP/s", "... s, ... MP/s", text)
    return [line.rstrip() for line in text.splitlines()]


def run_case(path, zenith, update):
    head, steps = read_case(path)
    weights = os.environ.get("ZENITH_TEST_WEIGHTS", str(ROOT.parent / "shared" / "weights"))
    if "needs weights" in head and not pathlib.Path(weights).is_dir():
        print(f"skipped: no weights in {weights}")
        return SKIPPED
    golden = os.environ.get("ZENITH_TEST_GOLDEN", str(ROOT.parent / "shared" / "reference" / "golden" / "out"))
    if "needs golden" in head and not pathlib.Path(golden).is_dir():
        print(f"skipped: no larger goldens in {golden}")
        return SKIPPED
    folders = [("$DATA", str(HERE / "data")), ("$MODEL", str(ROOT / "tests/golden/tiny_diffusers")), ("$WEIGHTS", weights), ("$GOLDEN", golden)]
    failed, seen = False, []
    with tempfile.TemporaryDirectory() as work:
        environment = {name[1:]: folder for name, folder in folders}
        environment |= {"PATH": f"{zenith.parent}:{HERE}:{os.environ['PATH']}", "HOME": work, "LC_ALL": "C", "ZENITH_TUNE": ""}
        environment |= {k: v for k, v in os.environ.items() if k.endswith("SAN_OPTIONS") or k in ("ZENITH_CPU", "LD_LIBRARY_PATH", "OMP_WAIT_POLICY")}
        for command, code, out, err in steps:
            done = subprocess.run(["sh", "-c", command], cwd=work, env=environment, capture_output=True, timeout=600)
            real_out, real_err = (clean(b.decode(errors="replace"), folders + [("$WORK", work)])
                                  for b in (done.stdout, done.stderr))
            right = [done.returncode == code, matches(out, real_out), matches(err, real_err)]
            seen.append([command, done.returncode, out if right[1] else real_out, err if right[2] else real_err])
            if all(right):
                continue
            failed = True
            print(f"$ {command}")
            if not right[0]:
                print(f"  exit code {done.returncode}, expected {code}")
            for name, same, want, got in (("out", right[1], out, real_out), ("err", right[2], err, real_err)):
                if not same:
                    print("\n".join([f"  expected {name}:", *("    " + l for l in want), f"  seen {name}:", *("    " + l for l in got)]))
    if failed and update:
        write_case(path, head, seen)
        print(f"{path.name}: rewritten")
        return 0
    return int(failed)


def main():
    parser = argparse.ArgumentParser(description="Runs the cases of the command line.")
    parser.add_argument("--zenith", type=pathlib.Path, default=ROOT / "build/dev/zenith")
    parser.add_argument("--update", action="store_true", help="write what was seen into the cases")
    parser.add_argument("cases", nargs="*", type=pathlib.Path)
    options = parser.parse_args()
    codes = [run_case(path, options.zenith.resolve(), options.update)
             for path in options.cases or sorted((HERE / "cases").glob("*.case"))]
    sys.exit(1 if 1 in codes else SKIPPED if SKIPPED in codes else 0)


main()
