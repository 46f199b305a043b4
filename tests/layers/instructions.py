#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Zenith authors
# SPDX-License-Identifier: Apache-2.0
"""Only files that say so in their names have instructions of newer CPUs: reads the disassembly.

    tests/layers/instructions.py OBJDUMP ARCHIVE..

The oldest CPU that the x86-64 build runs on has SSE4.2 (tests/qemu runs some tests on one). In an
object file whose name does not end in _avx2, _avx512, _avx512_vnni or _amx, an instruction in VEX or
EVEX form, of BMI or of AMX fails the test, whether any test would have reached it or not. Each
archive must also have a file with that ending if it is the library's, so that a disassembler which
prints something else is noticed.
"""
import re
import subprocess
import sys

NEWER = re.compile(r"^\s+[0-9a-f]+:\s+(?:(?:lock|rep\w*|notrack|bnd|data16) )*"
                   r"(v(?!err|erw)\w+|tile\w+|tdp\w+|k(?:mov|or|and|add|shift|test|unpck|not|xor)\w+"
                   r"|andn|bextr|bls\w+|bzhi|mulx|pdep|pext|rorx|sarx|shlx|shrx)\b", re.M)
SUFFIXED = re.compile(r"_(avx2|avx512|avx512_vnni|amx)\.c\.o$")


def newer_instructions(objdump, archive):
    """For each object file of the archive: its name, and the newer instructions it has. Names can be the same."""
    text = subprocess.run([objdump, "-d", "--no-show-raw-insn", archive], check=True, capture_output=True,
                          text=True).stdout
    parts = re.split(r"^(\S+\.o):\s+file format .*$", text, flags=re.M)
    return [(name, sorted(set(NEWER.findall(code)))) for name, code in zip(parts[1::2], parts[2::2])]


def main(objdump, *archives):
    wrong, suffixed = [], 0
    for archive in archives:
        for name, found in newer_instructions(objdump, archive):
            if SUFFIXED.search(name):
                suffixed += bool(found)
            elif found:
                wrong.append(f"{name} has {', '.join(found[:5])}: its name does not say for which CPU")
    if not suffixed:
        wrong.append("no instruction of a newer CPU was found in any file: is this a disassembly?")
    print("\n".join(wrong) or f"{suffixed} files have newer instructions, and say so")
    return bool(wrong)


sys.exit(main(*sys.argv[1:]))
