#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Zenith authors
# SPDX-License-Identifier: Apache-2.0
"""The files of examples/operate ask for metrics that a running server has, by labels that those have.

    operate.py [--zenith PATH]
"""
import argparse
import json
import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import serve  # noqa: E402
from serve import ROOT, Server, check  # noqa: E402

FOLDER = ROOT / "examples/operate"
NAME = re.compile(r"\b((?:zenith|process)_[a-z_]+)(?:\{([^}]*)\})?")
OF_SCRAPING = {"job", "instance"}
OF_WORKERS = ("zenith_shard", "zenith_images_", "zenith_bytes_", "zenith_lease_")  # tests/fleet/work.py checks those


def metrics(text):
    """Name -> labels, of a page of /metrics."""
    found = {}
    for name, labels in re.findall(r"^([a-z_]+)(?:\{(.*)\})? ", text, re.M):
        found.setdefault(name, set()).update(re.findall(r"([a-z]+)=", labels))
    return found


def asked():
    """(where, name, labels) of every expression."""
    rules = (FOLDER / "alerts.yml").read_text()
    for line in re.findall(r"expr: (.*)", rules):
        for name, labels in NAME.findall(line):
            yield "alerts.yml", name, set(re.findall(r"(\w+)=", labels))
    for panel in json.loads((FOLDER / "dashboard.json").read_text())["panels"]:
        for target in panel["targets"]:
            for name, labels in NAME.findall(target["expr"]):
                yield panel["title"], name, set(re.findall(r"(\w+)=", labels))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--zenith", type=pathlib.Path, default=ROOT / "build/dev/zenith")
    serve.ZENITH = parser.parse_args().zenith.resolve()
    with Server() as server:
        server.ask("GET", "/health")
        there = metrics(server.ask("GET", "/metrics")[2].decode())
    there |= {name: set() for name in ("zenith_generations", "zenith_generated_pictures_total")}  # of a server with pipelines
    count = 0
    for where, name, labels in asked():
        if name.startswith(OF_WORKERS):
            continue
        check(name in there, f"{where}: there is no metric {name}")
        missing = labels - OF_SCRAPING - there.get(name, set())
        check(not missing, f"{where}: {name} has no label {', '.join(missing)}")
        count += 1
    check(count > 15, f"only {count} expressions were found")
    print(f"{count} expressions, {len(serve.FAILURES)} failures")
    return 1 if serve.FAILURES else 0


if __name__ == "__main__":
    sys.exit(main())
