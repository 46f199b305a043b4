# SPDX-FileCopyrightText: 2026 The Zenith authors
# SPDX-License-Identifier: Apache-2.0
"""safetensors files by the standard library alone."""
import array
import json


def split(data):
    """The header, as JSON has it, and the bytes behind it."""
    size = int.from_bytes(data[:8], "little")
    return json.loads(data[8:8 + size]), data[8 + size:]


def unpack(data):
    """{name: (dtype, shape, bytes)}"""
    header, body = split(data)
    return {name: (t["dtype"], t["shape"], body[slice(*t["data_offsets"])]) for name, t in header.items() if name != "__metadata__"}


def pack(tensors, metadata=None):
    """A file of {name: (dtype, shape, bytes)}."""
    header, place = {"__metadata__": metadata} if metadata else {}, 0
    for name, (dtype, shape, data) in tensors.items():
        header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [place, place + len(data)]}
        place += len(data)
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    return len(text).to_bytes(8, "little") + text + b"".join(data for _, _, data in tensors.values())


def floats(path):
    """{name: numbers} of the tensors in f32 of a file."""
    return {name: array.array("f", data) for name, (dtype, _, data) in unpack(path.read_bytes()).items() if dtype == "F32"}
