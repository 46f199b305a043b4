# SPDX-FileCopyrightText: 2026 The Zenith authors
# SPDX-License-Identifier: Apache-2.0
"""npy files of f32 numbers, by the standard library alone."""
MAGIC = b"\x93NUMPY"


def head(shape):
    """What stands before the numbers."""
    text = repr({"descr": "<f4", "fortran_order": False, "shape": tuple(shape)})
    text += " " * (-(len(text) + 11) % 64) + "\n"
    return MAGIC + b"\x01\x00" + len(text).to_bytes(2, "little") + text.encode()


def split(data):
    """The header, and the bytes behind it."""
    at = 10 + int.from_bytes(data[8:10], "little")
    return data[:at], data[at:]
