#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Zenith authors
# SPDX-License-Identifier: Apache-2.0
"""Every script of tools and bench answers --help, and refuses what it does not know before it does anything.

    tests/layers/help.py [SCRIPT..]
"""
import argparse
import concurrent.futures
import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
MODULES = {"bench/common.py", "tools/environment.py", "tools/models/plain_safetensors.py"}
HANDS_ON = {"tools/coverage"}  # all its arguments are CTest's


def scripts():
    names = subprocess.run(["git", "ls-files", "bench", "tools"], cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True).stdout.split()
    return [name for name in names if (name.endswith((".py", ".mjs")) or os.access(ROOT / name, os.X_OK)) and name not in MODULES]


def run(name, word, folder):
    first = (ROOT / name).read_text().split("\n", 1)[0]
    command = ["node"] if name.endswith(".mjs") else [] if first.endswith("bash") else [sys.executable]
    return subprocess.run([*command, ROOT / name, word], cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, timeout=60,
                          env=os.environ | {"ZENITH_VENV": ""}, check=False)  # nothing is fetched


def problems(name):
    with tempfile.TemporaryDirectory() as folder:
        try:
            done = run(name, "--help", folder)
            if done.returncode or len(done.stdout.split()) < 4:
                return f"{name} --help: code {done.returncode}: {done.stdout[-300:]}"
            if name not in HANDS_ON and run(name, "--no-such-option", folder).returncode == 0:
                return f"{name} takes --no-such-option"
            left = os.listdir(folder)
        except subprocess.TimeoutExpired as slow:
            return f"{name} {slow.cmd[-1]}: it works instead"
        return f"{name} left {left}" if left else ""


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("scripts", nargs="*", metavar="SCRIPT")
    names = parser.parse_args().scripts or scripts()
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        found = list(filter(None, pool.map(problems, names)))
    print("\n".join(found) or f"{len(names)} scripts answer")
    return bool(found)


if __name__ == "__main__":
    sys.exit(main())
