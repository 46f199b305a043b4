#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Zenith authors
# SPDX-License-Identifier: Apache-2.0
"""Waiting threads do not burn the cores that other programs want.

    waiting.py --zenith PATH [--runs 10]

Beside as many spinning processes as there are CPUs, `zenith encode` of a photograph's size may take three times the user time at
the most that it takes when waiting threads sleep (OMP_WAIT_POLICY=passive). The runs are interleaved, so what else the machine
does counts for both. Skipped (77) on one CPU, where one thread waits for nobody.
"""
import argparse
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
WAITING = ("OMP_WAIT_POLICY", "GOMP_SPINCOUNT")
MOST = 3
ENVIRONMENT = {k: v for k, v in os.environ.items() if k not in WAITING} | {"ZENITH_MODELS": str(ROOT / "models"), "ZENITH_TUNE": ""}


def user_seconds(command, **more):
    process = subprocess.Popen(command, env=ENVIRONMENT | more, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0, process.returncode
    return usage.ru_utime


def check_busy(zenith, folder, runs):
    picture = folder / "photo.ppm"
    picture.write_bytes(b"P6\n768 512\n255\n" + bytes(x * y % 251 for y in range(512) for x in range(768 * 3)))
    command = [zenith, "encode", picture, "-m", "zenith-sd-fast", "-o", folder / "out.safetensors", "--quiet"]
    busy = [subprocess.Popen(["sh", "-c", "while :; do :; done"]) for _ in range(os.cpu_count())]
    try:
        times = [(user_seconds(command), user_seconds(command, OMP_WAIT_POLICY="passive")) for _ in range(runs)]
    finally:
        for process in busy:
            process.kill()
            process.wait()
    plain, asleep = (statistics.mean(column) for column in zip(*times))
    print(f"user time of {runs} runs beside {len(busy)} spinning processes: {plain:.2f} s each, {asleep:.2f} s where waiting threads sleep")
    print("each:", *(f"{one:.2f}/{other:.2f}" for one, other in times))
    assert plain <= MOST * asleep, f"{plain / asleep:.1f} times as much, at the most {MOST}"


def process_facts(zenith, folder, **more):
    """(environment, command line, name, whether its number stayed) of a program at work: it waits for standard input."""
    name = folder / "a name"
    name.unlink(missing_ok=True)
    name.symlink_to(zenith)
    process = subprocess.Popen([name, "encode", "-", "-m", "zenith-sd-fast", "-o", folder / "o.npy"], env=ENVIRONMENT | more,
                               stdin=subprocess.PIPE, stderr=subprocess.DEVNULL)
    proc = pathlib.Path(f"/proc/{process.pid}")
    try:
        end = time.monotonic() + 60
        while time.monotonic() < end and proc.joinpath("wchan").exists() and "libgomp" not in proc.joinpath("maps").read_text():
            time.sleep(0.05)
        time.sleep(1)  # the program may be about to start itself again
        environment = dict(line.split("=", 1) for line in proc.joinpath("environ").read_text().split("\0") if "=" in line)
        return environment, proc.joinpath("cmdline").read_text().split("\0")[:2], proc.joinpath("comm").read_text().strip()
    finally:
        process.kill()
        process.wait()
        process.stdin.close()


def check_start(zenith, folder):
    """Started again once, with the words it was given; not where the user has said how threads wait."""
    environment, words, name = process_facts(zenith, folder)
    assert int(environment["GOMP_SPINCOUNT"]) <= 10000, environment
    assert words == [str(folder / "a name"), "encode"], words
    assert name == pathlib.Path(zenith).name, name
    for variable, value in (("OMP_WAIT_POLICY", "active"), ("GOMP_SPINCOUNT", "123456")):
        environment, words, name = process_facts(zenith, folder, **{variable: value})
        assert [environment.get(v) for v in WAITING] == [value if v == variable else None for v in WAITING], environment
        assert name == "a name", name


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--zenith", type=pathlib.Path, default=ROOT / "build/release/zenith")
    parser.add_argument("--runs", type=int, default=10)
    settings = parser.parse_args()
    if len(os.sched_getaffinity(0)) == 1:
        print("skipped: one CPU")
        sys.exit(77)
    zenith = settings.zenith.resolve()
    with tempfile.TemporaryDirectory() as name:
        check_busy(zenith, pathlib.Path(name), settings.runs)
        check_start(zenith, pathlib.Path(name))


main()
