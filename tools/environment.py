# SPDX-FileCopyrightText: 2026 The Zenith authors
# SPDX-License-Identifier: Apache-2.0
"""The packages of others that scripts of tools and bench need: those of tools/locks/bench.txt, in the folder $ZENITH_VENV (default:
.venv-bench at the project's root; empty: none), which tools/fetch makes when it is first needed."""
import importlib.util
import os
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]


def python():
    """An interpreter that has them."""
    if not (named := os.environ.get("ZENITH_VENV", str(ROOT / ".venv-bench"))):
        sys.exit(f"{pathlib.Path(sys.argv[0]).name} needs packages, and ZENITH_VENV says that there are none")
    folder = pathlib.Path(named).absolute()
    if not (folder / "locked").exists():
        print(f"installing tools/locks/bench.txt into {folder} (first use)", file=sys.stderr, flush=True)
    done = subprocess.run([sys.executable, ROOT / "tools/fetch", "python", "bench", folder], check=False)
    if done.returncode:
        sys.exit(f"{folder} could not be made; CONTRIBUTING.md says what it needs")
    return folder / "bin/python"


def enter(*modules, most=None, flags=(), make=True):
    """Goes on in that interpreter if this one lacks a module, or (make=False) says so and ends. Called before the modules are imported; --help does not wait for
    them. Of a script that parses no arguments, `most` says how many it takes and `flags` which options."""
    main, words = sys.modules["__main__"], sys.argv[1:]
    there = all(importlib.util.find_spec(module) for module in modules)
    if {"--help", "-h"} & set(words) and (most is not None or not there):
        print(f"usage: {pathlib.Path(sys.argv[0]).name}\n\n{main.__doc__.strip()}")
        sys.exit(0)
    unknown = [word for word in words if word.startswith("-") and word not in flags]
    if most is not None and (unknown or len(words) > most + len(flags)):
        print(f"{pathlib.Path(sys.argv[0]).name}: {' '.join(unknown or words)}: not known here; --help says more", file=sys.stderr)
        sys.exit(2)
    if not there and not make:
        sys.exit(f"{pathlib.Path(sys.argv[0]).name}: needs {' and '.join(modules)}")
    if not there:
        where = python()
        if os.environ.get("ZENITH_ENTERED"):
            sys.exit(f"{where} lacks one of {', '.join(modules)}")
        os.environ["ZENITH_ENTERED"] = "1"
        os.execv(where, [str(where), *sys.argv])
    os.environ.pop("ZENITH_ENTERED", None)
