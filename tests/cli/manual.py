#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Zenith authors
# SPDX-License-Identifier: Apache-2.0
"""The manual pages of a build render without complaint, and say what --help says.

    manual.py --zenith PATH --man DIR

Code 77 where the build has no pages, or the machine neither man nor mandoc.
"""
import argparse
import pathlib
import re
import shutil
import subprocess
import sys


def problems(page):
    """What man and mandoc say about a page, but for the empty paragraphs that scdoc writes."""
    found = []
    if shutil.which("man"):
        done = subprocess.run(["man", "--warnings", "-l", page], capture_output=True, text=True,
                              env={"MANWIDTH": "80", "PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8"})
        found += done.stderr.splitlines()
        found += [f"{page.name}: a line is longer than 80: {line}" for line in done.stdout.splitlines()
                  if len(re.sub(".\b", "", line)) > 80 and "zenith " not in line]
    if shutil.which("mandoc"):
        done = subprocess.run(["mandoc", "-Tlint", "-W", "warning", page], capture_output=True, text=True)
        found += [line for line in done.stdout.splitlines() if "skipping paragraph macro" not in line]
    return found


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--zenith", type=pathlib.Path, required=True)
    parser.add_argument("--man", type=pathlib.Path, required=True)
    options = parser.parse_args()
    pages = sorted(options.man.glob("*.1"))
    if not pages or not (shutil.which("man") or shutil.which("mandoc")):
        print("skipped: no pages, or nothing to show them")
        return 77
    bad = []
    for page in pages:
        bad += problems(page)
        name = page.stem.removeprefix("zenith").removeprefix("-")
        text = page.read_text().replace("\\", "")
        usage = subprocess.run([options.zenith, "help", *name.split("-")] if name else [options.zenith, "help"], capture_output=True, text=True).stdout
        bad += [f"{page.name} lacks {option}" for option in re.findall(r"^ .*?(--[a-z-]+)", usage, re.M)
                if name and option not in text]
    print("\n".join(bad) or f"{len(pages)} pages")
    return 1 if bad else 0


sys.exit(main())
