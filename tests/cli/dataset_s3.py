#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Zenith authors
# SPDX-License-Identifier: Apache-2.0
"""zenith dataset with s3:// in and out, against a server of our own that checks signatures and makes faults (s3_server.py).

    dataset_s3.py --zenith PATH [--kills N] [NAME..]

NAME: of a check (a function check_NAME below); without one all are made.
"""
import argparse
import json
import os
import pathlib
import random
import signal
import subprocess
import tempfile
import time

import dataset
from dataset import encode, make_folder, make_tar, run
from s3_server import SECRET, Fault, Object, Server

KILLS = 4


def upload(server, folder, prefix):
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            server.objects["bucket"][f"{prefix}/{path.relative_to(folder)}"] = Object(path.read_bytes())


def use(server, secret=SECRET):
    os.environ.update(server.environment(secret))


def make_shards(folder, names=("a", "b", "c"), copies=1):
    """Tar shards of pictures with captions."""
    pictures = folder.parent / f"{folder.name}-pictures"
    make_folder(pictures, copies)
    folder.mkdir()
    for name in names:
        make_tar(folder / f"{name}.tar", [(f"{name}/{path.name}", path.read_bytes()) for path in sorted(pictures.iterdir())])


def without_places(text):
    """A record without what may differ between a folder and s3://, or between two runs."""
    record = json.loads(text)
    record["input"].pop("etag")
    record["output"].pop("etag", None)
    del record["seconds"]
    return record


def compare(server, local, prefix):
    """Same tars, same settings, same records but for etags and seconds; nothing else lies there."""
    there = {key.removeprefix(f"{prefix}/"): value.data for key, value in server.objects["bucket"].items() if key.startswith(f"{prefix}/")}
    here = {str(path.relative_to(local)): path.read_bytes() for path in local.iterdir()}
    assert there.keys() == here.keys(), there.keys() ^ here.keys()
    for name, data in here.items():
        if name.endswith(".tar") or name == "_zenith.json":
            assert there[name] == data, name
        else:
            assert without_places(there[name]) == without_places(data), name
    assert not server.refused and not server.uploads, (server.refused, server.uploads.keys())


def check_round(folder):
    """Same bytes as in folders: both places on S3, either of them, tars and pictures; a second run does nothing."""
    make_shards(folder / "in")
    deep = folder / "pictures"
    make_folder(deep)
    for name in ("x/1.png", "x.y/2.png", "x-1.png"):  # byte order of keys is not that of folders
        (deep / name).parent.mkdir(exist_ok=True)
        (deep / name).write_bytes((dataset.IMAGES / "rgb8.png").read_bytes())
    encode(folder / "in", folder / "local")
    encode(deep, folder / "local-pictures", "--shard", "3")
    with Server() as server:
        use(server)
        upload(server, folder / "in", "sets/in")
        upload(server, deep, "sets/pictures")
        encode("s3://bucket/sets/in", "s3://bucket/out")
        compare(server, folder / "local", "out")
        encode("s3://bucket/sets/pictures/", "s3://bucket/out-pictures/", "--shard", "3")
        compare(server, folder / "local-pictures", "out-pictures")
        encode(folder / "in", "s3://bucket/mixed")
        compare(server, folder / "local", "mixed")
        encode("s3://bucket/sets/in", folder / "fetched")
        assert dataset.hashes(folder / "fetched") == dataset.hashes(folder / "local")
        encode("s3://bucket/sets/in/b.tar", "s3://bucket/one")
        assert server.objects["bucket"]["one/b.tar"].data == (folder / "local/b.tar").read_bytes()
        server.requests.clear()
        assert "all 3 shards were done before" in encode("s3://bucket/sets/in", "s3://bucket/out").stderr
        assert not [r for r in server.requests if r[0] in ("PUT", "DELETE", "POST")], server.requests
        assert not [r for r in server.requests if r[0] == "GET" and r[1].startswith("sets/in/")], "the input was read again"
        assert run("dataset", "verify", "s3://bucket/sets/in", "s3://bucket/out").returncode == 0
        done = json.loads(run("dataset", "status", "s3://bucket/sets/in", "s3://bucket/out", "--json").stdout)
        assert done["done"] == done["shards"] == 3 and done["ok"] == 12, done
        assert "12 pictures" in run("dataset", "stats", "s3://bucket/sets/in", "s3://bucket/out").stdout
        refused = encode("s3://bucket/sets/in", "s3://bucket/out", "--store", "f32", code=1)
        assert "other settings" in refused.stderr, refused


def main():
    global KILLS
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--zenith", required=True, type=os.path.abspath)
    parser.add_argument("--kills", type=int, default=KILLS)
    parser.add_argument("checks", nargs="*", metavar="NAME")
    arguments = parser.parse_args()
    dataset.ZENITH, KILLS = arguments.zenith, arguments.kills
    known = {name.removeprefix("check_"): value for name, value in globals().items() if name.startswith("check_")}
    for name in arguments.checks or known:
        begin = time.monotonic()
        with tempfile.TemporaryDirectory() as folder:
            known[name](pathlib.Path(folder))
        print(f"{name}: {time.monotonic() - begin:.1f} s", flush=True)


if __name__ == "__main__":
    main()
