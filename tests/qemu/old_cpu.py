#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Zenith authors
# SPDX-License-Identifier: Apache-2.0
"""Tests under an emulated old CPU that need more than an exit code.

    control PROGRAM -- EMULATOR..   PROGRAM has an instruction too new: it must end by SIGILL
    decode ZENITH -- EMULATOR..     `zenith decode` of a latent of 8 x 8 with real weights must give what
                                    the real CPU gives with ZENITH_CPU=baseline, within 1e-5;
                                    $ZENITH_TEST_NATIVE names a program that the real CPU can run, if
                                    ZENITH is made for another machine
Exit code 77: skipped, because the weights or that program are not there.
"""
import array
import math
import os
import pathlib
import random
import signal
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests"))
from lib import npy  # noqa: E402

SKIPPED, BOUND = 77, 1e-5


def control(program, emulator):
    code = subprocess.run([*emulator, program], stderr=subprocess.DEVNULL).returncode
    print(f"ended with {code}")
    return int(code != -signal.SIGILL)


def write_latent(path):
    """[1,4,8,8] of normal numbers, the same each time."""
    draw = random.Random(1)
    values = array.array("f", (draw.gauss(0, 1) for _ in range(4 * 8 * 8)))
    path.write_bytes(npy.head((1, 4, 8, 8)) + values.tobytes())


def read_values(path):
    header, numbers = npy.split(path.read_bytes())
    assert b"(1, 3, 64, 64)" in header, header
    return array.array("f", numbers)


def decode(zenith, emulator):
    weights = pathlib.Path(os.environ.get("ZENITH_TEST_WEIGHTS", ROOT.parent / "shared" / "weights"))
    if not (weights / "taesd_decoder.safetensors").exists():
        print(f"skipped: no weights of taesd in {weights}")
        return SKIPPED
    native = os.environ.get("ZENITH_TEST_NATIVE", zenith)
    if not pathlib.Path(native).exists():
        print(f"skipped: there is no {native} to compare with")
        return SKIPPED
    results = []
    with tempfile.TemporaryDirectory() as work:
        latent = pathlib.Path(work, "latent.npy")
        write_latent(latent)
        for name, before in (("old", [*emulator, zenith]), ("here", [native])):
            out = pathlib.Path(work, name + ".npy")
            subprocess.run([*before, "decode", latent, "-o", out, "-m", "taesd", "-w", weights, "-q"],
                           check=True, env=os.environ | ({"ZENITH_CPU": "baseline"} if name == "here" else {}))
            results.append(read_values(out))
    worst = max(math.inf if math.isnan(a - b) else abs(a - b) for a, b in zip(*results, strict=True))
    spread = max(results[1]) - min(results[1])
    print(f"largest difference {worst:.2e}, values spread over {spread:.2f}")
    return int(not (worst <= BOUND and spread > 0.1))


def main():
    task, program, dashes, *emulator = sys.argv[1:]
    assert dashes == "--" and emulator
    sys.exit({"control": control, "decode": decode}[task](program, emulator))


main()
