# SPDX-FileCopyrightText: 2026 The Zenith authors
# SPDX-License-Identifier: Apache-2.0
"""Sets of pictures for the tests of fleets, and what came of them."""
import hashlib
import io
import pathlib
import tarfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
MODEL = ROOT / "tests/golden/tiny_diffusers"


def picture(number, side=40):
    """A PPM that no other number has."""
    pixels = bytes((x * 7 + y * number + c * 40 + number) % 256 for y in range(side) for x in range(side) for c in range(3))
    return b"P6 %d %d 255\n" % (side, side) + pixels


def make_tars(folder, shards, pictures):
    """So many pictures with captions, in so many tar archives."""
    folder.mkdir()
    for shard in range(shards):
        with tarfile.open(folder / f"{shard:05d}.tar", "w", format=tarfile.USTAR_FORMAT) as tar:
            for number in range(shard, pictures, shards):
                for ending, data in (("ppm", picture(number)), ("txt", f"picture {number}".encode())):
                    member = tarfile.TarInfo(f"{number:06d}.{ending}")
                    member.size = len(data)
                    tar.addfile(member, io.BytesIO(data))


def hashes(output):
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in sorted(output.glob("*.tar"))}
