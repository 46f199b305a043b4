# SPDX-FileCopyrightText: 2026 The Zenith authors
# SPDX-License-Identifier: Apache-2.0
"""One libgomp in a process.

libzenith and oneDNN need libgomp.so.1. Wheels of torch, scikit-learn and others bring a libgomp of their own, often under a name
with a hash in it, which the loader does not take for libgomp.so.1: there would be two, each with threads that wait for work on
the same cores. So theirs is made to be known as libgomp.so.1 too, before libzenith is opened: libzenith_openmp.so needs
libgomp.so.1 and looks beside itself first, where a link leads to their file. The loader sees that it has this file, or opens it,
and keeps the name. Neither the link nor its folder is needed after that.

A libgomp that is loaded here also gets a bound for how long its threads spin before they sleep (docs/DEPENDENCIES.md).
"""
import contextlib
import ctypes
import os
import pathlib
import re
import sys
import tempfile
from typing import Iterator, Optional


@contextlib.contextmanager
def bounded_waiting() -> Iterator[None]:
    """libgomp reads how often threads spin when it is loaded: as the program zenith has it, unless the user chose."""
    if "GOMP_SPINCOUNT" in os.environ or "OMP_WAIT_POLICY" in os.environ:
        yield
        return
    os.environ["GOMP_SPINCOUNT"] = "2000"
    try:
        yield
    finally:
        del os.environ["GOMP_SPINCOUNT"]  # it is not for the processes that this one starts


def _mapped() -> Iterator[pathlib.Path]:
    """Those of this process."""
    try:
        maps = pathlib.Path("/proc/self/maps").read_text(errors="replace")
    except OSError:
        return
    yield from (pathlib.Path(path) for path in dict.fromkeys(re.findall(r"(/.*/libgomp[-.][^/\n]*)$", maps, re.MULTILINE)))


def _installed() -> Iterator[pathlib.Path]:
    """Those of packages that may be imported later, torch's before others."""
    for pattern in ("torch/lib/libgomp[-.]*so*", "torch.libs/libgomp[-.]*so*", "*.libs/libgomp[-.]*so*"):
        for folder in sys.path:
            yield from sorted(pathlib.Path(folder or ".").glob(pattern))


def share(library: pathlib.Path) -> Optional[pathlib.Path]:
    """Before `library` is opened: has it use a libgomp that is here or will be. None: there is none but the system's."""
    needs_it = library.parent / "libzenith_openmp.so"
    if not needs_it.is_file():
        return None
    theirs = next(_mapped(), None) or next(_installed(), None)
    if theirs is None:
        return None
    try:
        with tempfile.TemporaryDirectory(prefix="zenith-") as name:
            folder = pathlib.Path(name)
            (folder / "libgomp.so.1").symlink_to(theirs.resolve())
            (folder / needs_it.name).symlink_to(needs_it.resolve())  # "beside itself" is beside the link
            ctypes.CDLL(str(folder / needs_it.name))
    except OSError:
        return None  # no folder for temporary files, or a file that is no libgomp: two then, which works
    return theirs
