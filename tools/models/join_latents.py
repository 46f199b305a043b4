#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Zenith authors
# SPDX-License-Identifier: Apache-2.0
"""Joins latents of single pictures to one file, in the order of a set's lines, for training from words to pictures.

    zenith encode -r words-set -o latents/ -m zenith-f1-fast --store f16
    python3 tools/models/join_latents.py train.jsonl latents -o train.safetensors

Each line of the first file is an object with "file", the path of a picture (docs/WORDS.md); its latent is the file of that path in
the folder, which ends with .safetensors instead.
"""
import argparse
import json
import pathlib


def read(path):
    """Its type, the shape of one latent, its numbers, and what the file says of them."""
    data = path.read_bytes()
    size = int.from_bytes(data[:8], "little")
    header = json.loads(data[8:8 + size])
    said = header.pop("__metadata__", {})
    (tensor,) = header.values()
    begin, end = tensor["data_offsets"]
    return tensor["dtype"], tensor["shape"][-3:], data[8 + size + begin:8 + size + end], said


def main():
    parser = argparse.ArgumentParser(description="Joins latents of single pictures to one file.")
    parser.add_argument("lines", type=pathlib.Path)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("-o", "--output", type=pathlib.Path, required=True)
    options = parser.parse_args()
    files = [options.folder / json.loads(line)["file"] for line in options.lines.read_text().splitlines()]
    kind, shape, numbers, said = read(files[0].with_suffix(".safetensors"))
    facts = {key: value for key, value in said.items() if key in ("zenith.model", "zenith.space", "zenith.scale", "zenith.shift")}
    header = {"__metadata__": facts, "latent": {"dtype": kind, "shape": [len(files), *shape], "data_offsets": [0, len(files) * len(numbers)]}}
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(options.output, "wb") as out:
        out.write(len(text).to_bytes(8, "little") + text)
        for file in files:
            its_kind, its_shape, numbers, _ = read(file.with_suffix(".safetensors"))
            if (its_kind, its_shape) != (kind, shape):
                raise SystemExit(f"{file}: another type or size than the first latent's")
            out.write(numbers)
    print(f"{options.output}: {len(files)} latents {shape} in {kind}")


main()
