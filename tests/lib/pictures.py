# SPDX-FileCopyrightText: 2026 The Zenith authors
# SPDX-License-Identifier: Apache-2.0
"""Pictures of 8-bit RGB as PNG files, by the standard library alone, and how far two of them differ."""
import math
import struct
import zlib


def png(width, height, rows=b""):
    """A PNG of rows that each begin with the number of their filter."""
    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0))
            + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))


def ramp(width, height):
    """A PNG of plain filters and known pixels."""
    return png(width, height, b"".join(b"\0" + bytes((x * 3 + y * 5 + c * 40) % 256 for x in range(width) for c in range(3))
                                       for y in range(height)))


def read_png(data):
    """Width, height, and the rows of a PNG of 8-bit RGB."""
    width, height = struct.unpack(">II", data[16:24])
    packed, place = b"", 8
    while place < len(data):
        size, kind = struct.unpack(">I4s", data[place:place + 8])
        packed += data[place + 8:place + 8 + size] if kind == b"IDAT" else b""
        place += 12 + size
    raw, stride = zlib.decompress(packed), 3 * width
    above, out = bytes(stride), bytearray()
    for y in range(height):
        way, row = raw[y * (stride + 1)], bytearray(raw[y * (stride + 1) + 1:(y + 1) * (stride + 1)])
        for x in range(stride):
            left, up, corner = row[x - 3] if x > 2 else 0, above[x], above[x - 3] if x > 2 else 0
            near = min((left, up, corner), key=lambda v: abs(left + up - corner - v)) if way == 4 else 0
            row[x] = (row[x] + (0, left, up, (left + up) // 2, near)[way]) & 255
        out += row
        above = bytes(row)
    return width, height, bytes(out)


def mean_square(a, b):
    return sum((x - y) ** 2 for x, y in zip(a, b, strict=True)) / len(a)


def psnr(a, b):
    return 10 * math.log10(255 ** 2 / mean_square(a, b))
