#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Zenith authors
# SPDX-License-Identifier: Apache-2.0
"""One libgomp in a process, where another package brings its own under another name, as wheels of torch and scikit-learn do.

The other one is a copy of the system's with another name in its file. ZENITH_LIBRARY names what is tested. Skipped (77) without numpy.
"""
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

try:
    import numpy  # noqa: F401: the package needs it
except ImportError:
    print("skipped: this Python has no numpy")
    sys.exit(77)

ROOT = pathlib.Path(__file__).resolve().parents[2]
MAPPED = """
import re
print(*sorted(set(re.findall(r"/\\S*libgom[pq]\\S*", open("/proc/self/maps").read()))))
"""
ZENITH = f"""
import numpy, zenith_latents
zenith_latents.open("zenith-sd-small", {str(ROOT / "models")!r}, threads=2).encode(numpy.zeros((64, 64, 3), numpy.uint8))
"""


def mapped(code, **environment):
    """The libgomps of a process that ran this."""
    done = subprocess.run([sys.executable, "-c", code + MAPPED], env={**os.environ, **environment}, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


class OpenMP(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.site = pathlib.Path(folder.name).resolve()
        system = mapped("import ctypes; ctypes.CDLL('libgomp.so.1')")
        self.assertEqual(len(system), 1)
        data = pathlib.Path(system[0]).read_bytes()
        self.assertIn(b"\0libgomp.so.1\0", data)
        self.theirs = self.site / "other.libs/libgomp-1234abcd.so.1.0.0"
        self.theirs.parent.mkdir()
        self.theirs.write_bytes(data.replace(b"\0libgomp.so.1\0", b"\0libgomq.so.1\0"))
        self.other = f"import ctypes; ctypes.CDLL({str(self.theirs)!r}, ctypes.RTLD_GLOBAL)\n"

    def test_before(self):
        self.assertEqual(mapped(self.other + ZENITH), [str(self.theirs)])

    def test_after(self):
        path = f"{os.environ['PYTHONPATH']}:{self.site}"
        self.assertEqual(mapped(ZENITH + self.other, PYTHONPATH=path), [str(self.theirs)])

    def test_without_it_there_are_two(self):
        """And it works: what happens where no folder for temporary files is there."""
        (self.site / "libzenith.so").symlink_to(pathlib.Path(os.environ["ZENITH_LIBRARY"]).resolve())
        self.assertEqual(len(mapped(self.other + ZENITH, ZENITH_LIBRARY=str(self.site / "libzenith.so"))), 2)

    def test_alone(self):
        self.assertEqual(len(mapped(ZENITH)), 1)

    def test_waiting(self):
        """Threads spin for a bounded time, unless the user says how they wait; children are not told."""
        code = "import os, zenith_latents; print(os.environ.get('GOMP_SPINCOUNT'))"
        plain = {k: v for k, v in os.environ.items() if k not in ("GOMP_SPINCOUNT", "OMP_WAIT_POLICY")} | {"OMP_DISPLAY_ENV": "VERBOSE"}
        for more, spins, left in (({}, "2000", "None"), ({"GOMP_SPINCOUNT": "77"}, "77", "77"), ({"OMP_WAIT_POLICY": "passive"}, "0", "None")):
            done = subprocess.run([sys.executable, "-c", code], env=plain | more, capture_output=True, text=True)
            self.assertEqual(done.stdout.strip(), left, done.stderr)
            self.assertIn(f"GOMP_SPINCOUNT = '{spins}'", done.stderr)


if __name__ == "__main__":
    unittest.main()
