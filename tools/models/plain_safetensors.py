# SPDX-FileCopyrightText: 2026 The Zenith authors
# SPDX-License-Identifier: Apache-2.0
"""Reads f32, f16 and bf16 of safetensors files and writes arrays as f32, for tools that need no more of that format than this."""
import json
import struct

import numpy as np


TYPES = {"F32": np.float32, "F16": np.float16, "BF16": np.uint16}


def read(path):
    """Arrays by name, mapped rather than read where they are no bf16, and the file's metadata."""
    def array(entry):
        stored = np.memmap(path, TYPES[entry["dtype"]], "r", start + entry["data_offsets"][0], tuple(entry["shape"]))
        return (stored.astype(np.uint32) << 16).view(np.float32) if entry["dtype"] == "BF16" else stored

    with open(path, "rb") as file:
        header = json.loads(file.read(struct.unpack("<Q", file.read(8))[0]))
        start = file.tell()
    facts = header.pop("__metadata__", {})
    return {name: array(entry) for name, entry in header.items() if entry["dtype"] in TYPES}, facts


def write(path, tensors, facts=None):
    header, at, data = {"__metadata__": facts} if facts else {}, 0, []
    for name, value in tensors.items():
        value = np.ascontiguousarray(value, np.float32)
        header[name] = {"dtype": "F32", "shape": list(value.shape), "data_offsets": [at, at + value.nbytes]}
        data.append(value.tobytes())
        at += value.nbytes
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    path.write_bytes(struct.pack("<Q", len(text)) + text + b"".join(data))
