#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Zenith authors
# SPDX-License-Identifier: Apache-2.0
"""Writes tests/cli/data: small pictures with smooth areas, an edge and some texture, by the standard library alone."""
import pathlib
import struct
import zlib

FOLDER = pathlib.Path(__file__).resolve().parent / "data"


def pixel(x, y, width, height):
    if (x - width * 0.6) ** 2 + (y - height * 0.45) ** 2 < (height * 0.3) ** 2:
        return 224, 90 + y, 60
    texture = 24 if (x // 3 + y // 3) % 2 and y > height * 0.7 else 0
    return 40 + 140 * x // width + texture, 70 + 100 * y // height + texture, 160 - 90 * x // width + texture


def rows(width, height):
    return [bytes(v for x in range(width) for v in pixel(x, y, width, height)) for y in range(height)]


def chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def png(width, height):
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    body = zlib.compress(b"".join(b"\0" + row for row in rows(width, height)), 9)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", body) + chunk(b"IEND", b"")


small = png(64, 48)
FOLDER.mkdir(exist_ok=True)
(FOLDER / "small.png").write_bytes(small)
(FOLDER / "cut.png").write_bytes(small[: len(small) // 2])
(FOLDER / "odd.ppm").write_bytes(b"P6\n51 37\n255\n" + b"".join(rows(51, 37)))
(FOLDER / "text.jpg").write_text("This is not a picture.\n")
