#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Zenith authors
# SPDX-License-Identifier: Apache-2.0
"""What programs that are already compiled rely on: the built library against tests/abi/libzenith.abi.

    abi.py libzenith.so            fails on any difference of exported functions and public types
    abi.py --update libzenith.so   writes the file anew; look at the difference before you commit it

Also checked: every public struct begins with its size, and the soname, which Python asks for too, is the major version, and before 1.0 the minor one
too. Needs libabigail's
abidw and abidiff, and a library whose src/api was compiled with -g by gcc. Exit code 77: they are not there.
"""
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
HEADERS = ROOT / "include/zenith"
DUMP = ROOT / "tests/abi/libzenith.abi"


def dump(library):
    """The public part as text, with no trace of the machine or of the libraries that were linked."""
    text = subprocess.run(["abidw", "--no-corpus-path", "--no-comp-dir-path", "--no-show-locs", "--no-elf-needed",
                           "--type-id-style", "hash", "--drop-private-types", "--headers-dir", HEADERS, library],
                          check=True, capture_output=True, text=True).stdout
    return text.replace(f"path='{ROOT}/", "path='")


def compare(library):
    """Both sides are dumps, so that both have lost what is private in the same way."""
    with tempfile.NamedTemporaryFile("w", suffix=".abi") as now:
        now.write(dump(library))
        now.flush()
        done = subprocess.run(["abidiff", DUMP, now.name], capture_output=True, text=True)
    if done.returncode == 0:
        return []
    return [done.stdout + done.stderr, "The ABI differs from tests/abi/libzenith.abi: see docs/PACKAGING.md, 'The ABI'."]


def check_structs():
    structs = []
    for header in HEADERS.glob("*.h"):
        structs += re.findall(r"^typedef struct (\w+) \{\n(.*)$", header.read_text(), re.M)
    assert len(structs) > 40, "too few structs were found: nothing was checked"
    return [f"struct {name} does not begin with size_t size" for name, first in structs
            if not re.fullmatch(r" *size_t size;.*", first)]


def check_soname(library):
    major, minor = re.findall(r"VERSION_M\w+ +(\d+)", (HEADERS / "version.h").read_text())
    expected = f"libzenith.so.{major}" if major != "0" else f"libzenith.so.0.{minor}"
    dynamic = subprocess.run(["readelf", "-d", library], check=True, capture_output=True, text=True).stdout
    soname = re.search(r"soname: \[(.*)\]", dynamic)[1]
    wrong = [] if soname == expected else [f"the soname is {soname}, not {expected}"]
    if f'"{expected}"' not in (ROOT / "python/zenith_latents/_library.py").read_text():
        wrong.append(f"python/zenith_latents/_library.py does not ask for {expected}")
    return wrong


def main():
    if not shutil.which("abidiff"):
        print("skipped: there is no abidiff (Debian's abigail-tools)")
        return 77
    if sys.argv[1] == "--update":
        DUMP.write_text(dump(sys.argv[2]))
        return 0
    bad = compare(sys.argv[1]) + check_structs() + check_soname(sys.argv[1])
    print("\n".join(bad) or "as written down")
    return bool(bad)


sys.exit(main())
