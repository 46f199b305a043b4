#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Zenith authors
# SPDX-License-Identifier: Apache-2.0
"""No test is lost: counts what `ctest` would run and compares with tests/suites.json.

    tests/layers/suites.py CTEST BUILD            fails where tests were lost
    tests/layers/suites.py CTEST BUILD --exact    fails also where tests were added and not counted
    tests/layers/suites.py CTEST BUILD --record   writes the counts of this build down

Tests are lost where there are fewer than written down, in all or of a label. A label that begins
with not_ says which tests a suite leaves out, so there it is the other way round: more are a loss.
Tests with the label some_cpus, which only some CPUs have, are not counted. The preset is the last part
of BUILD's path; the build of no preset is not compared. In the preset release each line of
tests/labels/*.list must also name a test that exists.
"""
import argparse
import collections
import fnmatch
import json
import pathlib
import subprocess
import sys

TESTS = pathlib.Path(__file__).resolve().parents[1]
SUITES = TESTS / "suites.json"
PRESETS = TESTS.parent / "CMakePresets.json"


def labels_of_tests(ctest, build):
    """The name of each test of the build -> its labels."""
    command = [ctest, "--test-dir", build, "--show-only=json-v1"]
    text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return {test["name"]: next((p["value"] for p in test["properties"] if p["name"] == "LABELS"), [])
            for test in json.loads(text)["tests"]}


def count(tests):
    everywhere = [set(labels) for labels in tests.values() if "some_cpus" not in labels]
    of_labels = collections.Counter(label for labels in everywhere for label in labels)
    return {"all": len(everywhere), **dict(sorted(of_labels.items()))}


def compare(preset, expected, now, exact):
    wrong = []
    for label in {**expected, **now}:
        was, found = expected.get(label, 0), now.get(label, 0)
        lost = found > was if label.startswith("not_") else found < was
        line = f"{preset} has {found} tests of {label}, and tests/suites.json says {was}"
        if lost or (exact and found != was):
            wrong.append(line)
        elif found != was:
            print(line)
    return wrong


def lines_without_test(tests):
    wrong = []
    for path in sorted(TESTS.glob("labels/*.list")):
        for line in path.read_text().splitlines():
            if line and not line.startswith("#") and not fnmatch.filter(tests, line):
                wrong.append(f"{path.name}: no test is called {line}")
    return wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("ctest")
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--exact", action="store_true")
    parser.add_argument("--record", action="store_true")
    arguments = parser.parse_args()
    suites = json.loads(SUITES.read_text()) if SUITES.exists() else {}
    preset = arguments.build.resolve().name
    if preset not in [p["name"] for p in json.loads(PRESETS.read_text())["testPresets"]]:
        print(f"{preset} is no preset with tests: nothing is compared")
        return 0
    tests = labels_of_tests(arguments.ctest, arguments.build)
    now = count(tests)
    if arguments.record:
        suites[preset] = now
        SUITES.write_text(json.dumps(dict(sorted(suites.items())), indent=2) + "\n")
    wrong = lines_without_test(tests) if preset == "release" else []
    if preset in suites:
        wrong += compare(preset, suites[preset], now, arguments.exact)
    else:
        wrong.append(f"tests/suites.json has no counts of {preset}")
    if wrong:
        print("\n".join(wrong))
        print(f"if this is meant: tests/layers/suites.py ctest build/{preset} --record")
    else:
        print(f"{len(tests)} tests of {preset}, none is lost")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
