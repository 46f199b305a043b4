#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Zenith authors
# SPDX-License-Identifier: Apache-2.0
"""Large sets of pictures: does every one of them have a latent or a reason, in bounded memory?

    tests/cli/dataset_large.py [--pictures 10000] [--broken 100] [--shards 1000] [--side 20000] [--zenith PATH] [--folder DIR]

1. So many pictures in tar shards of 500, of which --broken are cut short, empty or no picture: the records must have a reason for each
   of these and for no other, and all others must have a latent.
2. --shards shards of one small picture each, and among them a JPEG of --side x --side pixels: with too little --max-memory it has the
   reason `limit` and all others are done; `retry` with more does it. The peak of resident memory of each run is printed, and must
   stay below --max-memory plus what a run of one small picture has.

Needs nothing but the program and the tiny weights of tests/golden. The last line is one JSON object.
"""
import argparse
import io
import json
import os
import pathlib
import struct
import sys
import tarfile
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
SHARD = 500
SIDE = 48


def segment(marker, data):
    return bytes((0xFF, marker)) + struct.pack(">H", len(data) + 2) + data


def grey_jpeg(side):
    """A baseline JPEG of one colour: each block is two bits, 'no difference' and 'end of block', so a huge one is quickly made."""
    blocks = ((side + 7) // 8) ** 2
    one_code = bytes([1] + [0] * 15)  # a single code, of one bit
    head = b"\xff\xd8" + segment(0xDB, bytes([0]) + bytes([1] * 64))
    head += segment(0xC0, struct.pack(">BHHB", 8, side, side, 1) + bytes((1, 0x11, 0)))
    head += segment(0xC4, bytes([0x00]) + one_code + bytes([0])) + segment(0xC4, bytes([0x10]) + one_code + bytes([0]))
    return head + segment(0xDA, bytes((1, 1, 0, 0, 63, 0))) + bytes((2 * blocks + 7) // 8) + b"\xff\xd9"


def picture(number):
    pixels = bytes((number * 7 + i * 3 + i // 144) % 256 for i in range(SIDE * SIDE * 3))
    return b"P6 %d %d 255\n" % (SIDE, SIDE) + pixels


def write_shard(path, files):
    with tarfile.open(path, "w") as archive:
        for name, data in files:
            member = tarfile.TarInfo(name)
            member.size = len(data)
            archive.addfile(member, io.BytesIO(data))


def run(options, *words):
    """(exit code, peak of resident bytes)"""
    command = [str(options.zenith), "dataset", *map(str, words), "-m", "taesd", "--weights", str(ROOT / "tests/golden/tiny_diffusers"),
               "--dtype", "f32", "--size", "32x32", "--threads", "2", "--quiet"]
    process = os.posix_spawn(command[0], command, {**os.environ, "ZENITH_TUNE": "", "OMP_WAIT_POLICY": "passive"})
    _, status, usage = os.wait4(process, 0)
    return os.waitstatus_to_exitcode(status), usage.ru_maxrss * 1024


def records(folder):
    return [json.loads(path.read_text()) for path in sorted(folder.glob("*.json")) if path.name != "_zenith.json"]


def check_broken(options, folder):
    source, output = folder / "many", folder / "many-latents"
    source.mkdir()
    step = max(options.pictures // max(options.broken, 1), 1)
    bad, files = {}, []
    for number in range(options.pictures):
        data, key = picture(number), f"{number:08d}"
        if number % step == step - 1 and len(bad) < options.broken:
            kind = len(bad) % 3
            data = (data[:len(data) // 2], b"", b"this is no picture")[kind]
            bad[key] = ("broken", "broken", "unsupported")[kind]
        files.append((f"{key}.ppm", data))
        if len(files) == SHARD or number + 1 == options.pictures:
            write_shard(source / f"{number // SHARD:06d}.tar", files)
            files = []
    code, peak = run(options, "encode", source, output)
    found = records(output)
    said = {sample["key"]: sample["reason"] for one in found for sample in one["bad_samples"]}
    assert code == (1 if bad else 0), code
    assert said == bad, set(said.items()) ^ set(bad.items())
    done = sum(one["ok"] for one in found)
    assert done == options.pictures - len(bad), done
    print(f"{options.pictures} pictures: {done} latents, {len(said)} with a reason; peak {peak / 2**20:.0f} MiB")
    return {"pictures": options.pictures, "latents": done, "bad": len(said), "peak_bytes": peak}


def check_huge(options, folder):
    source, output, one = folder / "shards", folder / "shards-latents", folder / "one"
    for path in (source, one):
        path.mkdir()
    for number in range(options.shards):
        write_shard(source / f"{number:06d}.tar", [(f"{number:06d}.ppm", picture(number))])
    huge = options.shards // 2
    write_shard(source / f"{huge:06d}.tar", [("huge.jpg", grey_jpeg(options.side)), (f"{huge:06d}.ppm", picture(huge))])
    write_shard(one / "0.tar", [("1.ppm", picture(0))])
    _, base = run(options, "encode", one, folder / "one-latents")
    pixels = 3 * options.side ** 2
    little, enough = pixels, 3 * pixels + (64 << 20)  # half of it is for pictures
    peaks = []
    for command, memory, expected in (("encode", little, {"huge": "limit"}), ("retry", enough, {})):
        code, peak = run(options, command, source, output, "--max-memory", memory)
        said = {sample["key"]: sample["reason"] for record in records(output) for sample in record["bad_samples"]}
        assert said == expected and code == (1 if expected else 0), (command, code, said)
        assert peak <= base + memory, f"{command}: {peak} bytes resident; {memory} are allowed, and a run of one picture has {base}"
        peaks.append(peak)
        print(f"{options.side} x {options.side} among {options.shards} shards, --max-memory {memory / 2**20:.0f} MiB: {said or 'all done'}; "
              f"peak {peak / 2**20:.0f} MiB (one small picture: {base / 2**20:.0f} MiB)")
    assert sum(record["ok"] for record in records(output)) == options.shards + 1
    return {"side": options.side, "shards": options.shards, "peak_bytes_refused": peaks[0], "peak_bytes_done": peaks[1], "base_bytes": base}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pictures", type=int, default=10000)
    parser.add_argument("--broken", type=int, default=100)
    parser.add_argument("--shards", type=int, default=1000)
    parser.add_argument("--side", type=int, default=20000)
    parser.add_argument("--zenith", type=pathlib.Path, default=ROOT / "build/release/zenith")
    parser.add_argument("--folder", type=pathlib.Path, help="where the pictures are made; default: that of temporary files")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        found = [check(options, pathlib.Path(folder)) for check in (check_broken, check_huge)]
    print(json.dumps({"broken": found[0], "huge": found[1]}))


if __name__ == "__main__":
    sys.exit(main())
