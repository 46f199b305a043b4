#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Zenith authors
# SPDX-License-Identifier: Apache-2.0
"""No circle of files leaves its folder: reads who includes whom, and from object files who calls whom.

    tests/layers/circles.py            includes alone
    tests/layers/circles.py NM LIST    calls too; LIST is a file with the path of an object file on each line

NAME.c and NAME.h are one. Files of one folder are one module, which may have circles inside. A table names all that is
registered in it, so its calls do not count: what is registered knows the list's owner by design.
"""
import collections
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
TABLES = {"src/model/families", "src/model/pruning", "src/op/ops", "src/train/run/task", "apps/cli/commands/commands"}
MODULES = ("src/op/", "src/kernel/")  # operators have operators as gradients; kernels have a version for each CPU
INCLUDE = re.compile(r'^#include "((?:src|apps)/[^"]+)\.h"', re.M)


def module(name):
    return next((one for one in MODULES if name.startswith(one)), name.rsplit("/", 1)[0])


def includes(links):
    for path in [*ROOT.glob("src/**/*.[ch]"), *ROOT.glob("apps/**/*.[ch]")]:
        links[str(path.relative_to(ROOT))[:-2]].update(INCLUDE.findall(path.read_text()))


def calls(nm, objects, links):
    """Links of names that one object file defines and another one wants."""
    text = subprocess.run([nm, "-A", *objects], check=True, capture_output=True, text=True).stdout
    defined, wanted = {}, []
    for path, rest in (line.split(":", 1) for line in text.splitlines()):
        name = re.sub(r".*CMakeFiles/[a-z_]+\.dir/(?:\./|__/)*(.*)\.c\.o(bj)?$", r"\1", path)
        name = next((f"{top}/{name}" for top in ("src", "apps") if (ROOT / top / f"{name}.c").exists()), name)
        kind, symbol = rest.split()[-2:]
        if kind in "TDRBCV":
            defined[symbol] = name
        elif kind == "U":
            wanted.append((name, symbol))
    for name, symbol in wanted:
        if symbol in defined:
            links[name].add(defined[symbol])


def circles(links):
    """Tarjan's strongly connected components, of more than one file."""
    number, low, stack, found = {}, {}, [], []

    def visit(name):
        number[name] = low[name] = len(number)
        stack.append(name)
        for other in links.get(name, ()):
            if other not in number:
                visit(other)
            low[name] = min(low[name], low[other])
        if low[name] == number[name]:
            circle = stack[stack.index(name):]
            del stack[stack.index(name):]
            low.update(dict.fromkeys(circle, sys.maxsize))
            found.append(circle)

    for name in sorted(links):
        if name not in number:
            visit(name)
    return [circle for circle in found if len(circle) > 1]


def main(nm=None, objects=None):
    sys.setrecursionlimit(10000)
    links = collections.defaultdict(set)
    includes(links)
    if nm:
        calls(nm, pathlib.Path(objects).read_text().split(), links)
    for table in TABLES:
        links.pop(table)
    bad = 0
    for circle in circles(links):
        if len({module(name) for name in circle}) == 1:
            continue
        bad += 1
        print(f"a circle of {len(circle)} files in several folders:")
        for name in sorted(circle):
            others = sorted(other for other in links[name] & set(circle) if module(other) != module(name))
            print(*(f"    {name} -> {other}" for other in others), sep="\n", end="\n" if others else "")
    if not bad:
        print(f"{len(links)} files, no circle in several folders")
    return bool(bad)


sys.exit(main(*sys.argv[1:]))
