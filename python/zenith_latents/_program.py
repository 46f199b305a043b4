# SPDX-FileCopyrightText: 2026 The Zenith authors
# SPDX-License-Identifier: Apache-2.0
"""The command `zenith` of a wheel: the program of the C sources, which lies in the package."""
import os
import pathlib
import sys
from typing import NoReturn


def main() -> NoReturn:
    program = pathlib.Path(__file__).parent / "bin" / "zenith"
    if not program.exists():
        sys.exit(f"zenith: {program} is not there: only wheels have it")
    os.execv(program, ["zenith", *sys.argv[1:]])
