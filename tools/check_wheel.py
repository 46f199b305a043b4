#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Zenith authors
# SPDX-License-Identifier: Apache-2.0
"""Tries the wheel that tools/build_wheel made as a stranger would: in an environment with nothing else of this machine's.

    tools/check_wheel.py [--site FOLDER] [--without PACKAGE] [WHEEL]

Installs it into a new virtual environment, encodes and decodes with a model that it holds, runs its program and the examples
of docs/PYTHON.md, imports torch and scikit-learn before and after it and counts the libgomps of the process, and has
auditwheel judge it. numpy and the others are those of tools/locks. --site: a site-packages with torch, which need
not be fetched then. Exit code 1: something is not as it should be.
"""
import argparse
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[1]

ZENITH = """
import numpy, zenith_latents
y, x = numpy.mgrid[:64, :96]
picture = numpy.stack([2 * x, 3 * y, x + y], 2).astype(numpy.uint8)
model = zenith_latents.open("zenith-sd-fast")
back = model.decode(model.encode(picture), dtype="f32")
error = numpy.abs(back.astype(float) - picture).mean()
assert error < 8, error
"""
TORCH = """
import torch
(torch.rand(300, 300, requires_grad=True) @ torch.rand(300, 300)).exp().sum().backward()
"""
SKLEARN = """
import numpy, sklearn.cluster
sklearn.cluster.KMeans(3, n_init=1).fit(numpy.random.rand(2000, 4))
"""
COUNT = """
import re
found = sorted(set(re.findall(r"/\\S*libgomp\\S*", open("/proc/self/maps").read())))
print("   ", *found)
assert len(found) == 1, found
"""
# In this order: where both are installed, Zenith takes torch's libgomp, and scikit-learn has its own, as it has beside torch alone.
OTHERS = {"scikit-learn": SKLEARN, "torch": TORCH}


class Failed(Exception):
    pass


def run(what, *command, folder, **kwargs):
    print(what, flush=True)
    environment = {"PATH": "/usr/bin:/bin", "HOME": str(folder), "OMP_WAIT_POLICY": "passive", **kwargs}
    if subprocess.run([str(word) for word in command], cwd=folder, env=environment).returncode:
        raise Failed(what)


def check_orders(python, folder, name):
    """Before Zenith and after it."""
    run(f"{name} before Zenith", python, "-c", OTHERS[name] + ZENITH + COUNT, folder=folder)
    run(f"{name} after Zenith", python, "-c", ZENITH + OTHERS[name] + ZENITH + COUNT, folder=folder)


def check_first_calls(binaries, folder):
    """The examples of docs/PYTHON.md, and bundled models by their names."""
    for name in ("examples", "bundled"):
        run(f"tests/python/{name}.py", binaries / "python", ROOT / f"tests/python/{name}.py", folder=folder, PYTHONDONTWRITEBYTECODE="1",
            ZENITH_PROGRAM=str(binaries / "zenith"))


def check_program(binaries, folder):
    run("zenith --version", binaries / "zenith", "--version", folder=folder)
    (folder / "in.ppm").write_bytes(b"P6 64 64 255 " + bytes(range(192)) * 64)
    run("zenith reconstruct", binaries / "zenith", "reconstruct", "in.ppm", "-o", "out.png", "-m", "zenith-f1-small", "-q", folder=folder)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--site", type=pathlib.Path)
    parser.add_argument("--without", action="append", default=[], choices=OTHERS)
    parser.add_argument("wheel", nargs="?", type=pathlib.Path)
    options = parser.parse_args()
    wheel = (options.wheel or next((ROOT / "dist").glob("zenith_latents-*.whl"))).resolve()
    others = [name for name in OTHERS if name not in options.without]
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        binaries = folder / "venv/bin"
        subprocess.run([ROOT / "tools/fetch", "python", "numpy", folder / "venv"], check=True)
        install = [binaries / "pip", "install", "-q", "--no-deps"]
        subprocess.run([*install, wheel], check=True)
        run("alone", binaries / "python", "-c", ZENITH + COUNT, folder=folder)
        check_program(binaries, folder)
        check_first_calls(binaries, folder)
        for package in others:
            if options.site and package == "torch":
                site = next((folder / "venv/lib").glob("python*/site-packages"))
                (site / "others.pth").write_text(f"{options.site.resolve()}\n")
            else:
                subprocess.run([*install, "--require-hashes", "-r", ROOT / f"tools/locks/{package}.txt"], check=True)
            check_orders(binaries / "python", folder, package)
        run("auditwheel show", ROOT / "build/wheel_python/bin/auditwheel", "show", wheel, folder=folder)
        if "manylinux" not in wheel.name:
            raise Failed("the wheel has no manylinux tag")
    print("all good")


if __name__ == "__main__":
    try:
        main()
    except Failed as failure:
        sys.exit(f"failed: {failure}")
