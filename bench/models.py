#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Zenith authors
# SPDX-License-Identifier: Apache-2.0
"""The table of docs/MODELS.md, from the library's own facts and estimates, and from runs.

    bench/models.py --write ../shared/weights models FOLDER..     writes the table into the page
    bench/models.py FOLDER.. [--no-time]                          prints it

A FOLDER holds weights as `--weights` takes them; bench/make_vae.py writes full-size ones with random numbers.
"""
import argparse
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs/MODELS.md"
BEGIN, END = "<!-- models: bench/models.py -->", "<!-- end of models -->"
HEAD = """| model | latent channels | factor | scale | shift | parameters, millions | types | encode, MB at 512 | at 1024 | s at 512 | decode, MB at 512 | at 1024 | s at 512 |
|---|---|---|---|---|---|---|---|---|---|---|---|---|"""


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="+", metavar="FOLDER")
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--no-time", action="store_true")
    options = parser.parse_args()
    command = [ROOT / "build/release/bench_models", *([] if options.no_time else ["--time"]), *options.folders]
    rows = subprocess.run(command, check=True, capture_output=True, text=True).stdout.rstrip()
    if not rows:
        sys.exit("models: no model's weights are in these folders")
    text = f"{BEGIN}\n{HEAD}\n{rows}\n{END}"
    if not options.write:
        print(text)
        return 0
    page = PAGE.read_text()
    if page.count(BEGIN) != 1 or page.count(END) != 1:
        sys.exit(f"models: {PAGE.relative_to(ROOT)} has no place for the table ({BEGIN})")
    PAGE.write_text(page.split(BEGIN)[0] + text + page.split(END)[1])
    return 0


if __name__ == "__main__":
    sys.exit(main())
