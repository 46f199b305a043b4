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
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.parse
import urllib.request

import dataset
from dataset import encode, make_folder, make_tar, run
from lib.process import free_port, kill_at_random
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
        facts = [json.loads(run("dataset", "stats", *places, "--json").stdout) for places in (
            (folder / "in", folder / "local"), ("s3://bucket/sets/in", "s3://bucket/out"))]
        for each in facts:
            del each["seconds"], each["images_per_second"]
        assert facts[0] == facts[1] and facts[0]["ok"] == 12, facts
        refused = encode("s3://bucket/sets/in", "s3://bucket/out", "--store", "f32", code=1)
        assert "other settings" in refused.stderr, refused


def check_faults(folder):
    """Whatever a server or a network does now and then is tried again, and the bytes are the same."""
    make_shards(folder / "in")
    encode(folder / "in", folder / "local")
    for faults in ([Fault("GET", "", 500, query="encoding-type"), Fault("PUT", "a.json", 409, 2), Fault("PUT", "b.tar", 503, 2)],
                   [Fault("GET", "in/a.tar", "cut", 2), Fault("GET", "in/b.tar", 503), Fault("GET", "in/c.tar", "drop", 2)],
                   [Fault("PUT", "a.lease", "lost"), Fault("PUT", "b.tar", "lost"), Fault("PUT", "c.json", "lost"), Fault("PUT", "_zenith.json", "lost")],
                   [Fault("PUT", "a.tar", "drop"), Fault("HEAD", "_zenith.json", 500), Fault("DELETE", "b.lease", 429), Fault("GET", "b.json", 502)],
                   [Fault("GET", "in/a.tar", "slow"), Fault("GET", "in/b.tar", "cut"), Fault("GET", "in/b.tar", 500)]):
        with Server() as server:
            use(server)
            upload(server, folder / "in", "in")
            server.faults = faults
            done = encode("s3://bucket/in", "s3://bucket/out")
            assert not [fault for fault in faults if fault.times], faults
            told = [fault for fault in faults if fault.what not in ("lost", "slow")]  # libcurl itself asks again on a fresh connection
            assert ("trying again in" in done.stderr) == bool(told), done
            compare(server, folder / "local", "out")
            cuts = [fault.ending for fault in faults if fault.what == "cut"]
            assert all(("GET", key, "", 206) in server.requests for key in cuts), server.requests
    with Server(has_ranges=False) as server:
        use(server)
        upload(server, folder / "in", "in")
        server.faults = [Fault("GET", "in/a.tar", "cut")]
        encode("s3://bucket/in", "s3://bucket/out")
        compare(server, folder / "local", "out")


def check_ends(folder):
    """Faults that do not go away end in a sentence that says what to do, and no secret is in it."""
    make_shards(folder / "in", names=("a",))

    def fails(server, *words, place="s3://bucket/in", output="s3://bucket/out"):
        done = encode(place, output, code=1)
        assert all(word in done.stderr for word in words), (words, done.stderr)
        for secret in (SECRET, "ZENITHTESTACCESS", "a+token/of=letters"):
            assert secret not in done.stderr + done.stdout, done
        return done
    with Server() as server:
        use(server)
        upload(server, folder / "in", "in")
        fails(server, "no such bucket", "AWS_ENDPOINT_URL_S3", place="s3://buckets/in")
        fails(server, "no picture and no tar archive", place="s3://bucket/nothing")
        fails(server, "there is no s3://bucket/in/z.tar", place="s3://bucket/in/z.tar")
        fails(server, "names no bucket", place="s3:///in")
        fails(server, "longer than the 1024 bytes", output="s3://bucket/" + 1020 * "x")
        fails(server, "the same folder", output="s3://bucket/in/")
        server.faults = [Fault("PUT", "_zenith.json", 501)]
        fails(server, "501", "conditional writes")
        server.faults = [Fault("PUT", "a.tar", 403)]
        fails(server, "403", "AWS_ACCESS_KEY_ID", "write")
        server.faults = [Fault("PUT", "a.tar", 503, times=99)]
        os.environ["AWS_MAX_ATTEMPTS"] = "3"
        fails(server, "503 SlowDown", "(3 of 3)", "Shards that are done stay done")
        assert "out/a.lease" not in server.objects["bucket"] and "out/a.json" not in server.objects["bucket"]
        use(server, secret="another")
        fails(server, "403 SignatureDoesNotMatch", "AWS_SECRET_ACCESS_KEY is not the secret")
        assert server.refused and server.refused[-1][2] == "the signature", server.refused
        use(server)
        server.faults = [Fault("GET", "in/a.tar", "cut"), Fault("GET", "in/a.tar", lambda s: s.objects["bucket"].update({"in/a.tar": Object(b"x" * 99)}))]
        fails(server, "it has changed since the run began")
    fails(server, "AWS_ENDPOINT_URL_S3")  # which has ended
    for name, words in (("AWS_ACCESS_KEY_ID", "s3:// needs keys"), ("AWS_SECRET_ACCESS_KEY", "s3:// needs keys")):
        use(server)
        del os.environ[name]
        fails(server, words)
    use(server)
    for name, value in (("AWS_ENDPOINT_URL_S3", "ftp://somewhere"), ("AWS_REGION", "a b"), ("AWS_MAX_ATTEMPTS", "many")):
        use(server)
        os.environ[name] = value
        fails(server, f"{name} is no ")
    del os.environ["AWS_MAX_ATTEMPTS"]


def check_commit(folder):
    """412 of the record: another worker was faster. With the same bytes that is fine; else whoever's tar is there has the record."""
    make_shards(folder / "in", names=("a",))
    encode(folder / "in", folder / "local")
    make_shards(folder / "other", names=("a",), copies=2)
    with Server() as server:
        use(server)
        objects = server.objects["bucket"]
        upload(server, folder / "in", "in")
        encode("s3://bucket/in", "s3://bucket/out")
        tar, record = objects["out/a.tar"], objects["out/a.json"]
        upload(server, folder / "other", "other")
        encode("s3://bucket/other", "s3://bucket/theirs")
        their_tar, their_record = objects["theirs/a.tar"], objects["theirs/a.json"]
        for meanwhile, winner in (({"out/a.tar": tar, "out/a.json": record}, tar),  # the same bytes
                                  ({"out/a.json": their_record}, tar),  # ours came last
                                  ({"out/a.tar": their_tar, "out/a.json": their_record}, their_tar)):  # theirs came last
            for key in ("out/a.tar", "out/a.json"):
                objects.pop(key, None)
            server.requests.clear()
            server.faults = [Fault("PUT", "out/a.json", lambda s, new=meanwhile: objects.update(new))]
            encode("s3://bucket/in", "s3://bucket/out")
            assert ("PUT", "out/a.json", "", 412) in server.requests, server.requests
            assert objects["out/a.tar"].data == winner.data
            assert json.loads(objects["out/a.json"].data)["output"]["etag"] == winner.etag
        # A tar that a late worker has put over another's is not the record's: the shard is made again.
        assert "1 shard" in encode("s3://bucket/in", "s3://bucket/out").stderr
        compare_one = without_places(objects["out/a.json"].data)
        assert compare_one == without_places((folder / "local/a.json").read_bytes()) and objects["out/a.tar"].data == tar.data
        objects["out/a.tar"] = Object(bytes(len(tar.data)))
        assert run("dataset", "verify", "s3://bucket/in", "s3://bucket/out", code=1).stdout.startswith("a: output: the tar is not the one of the record")
        encode("s3://bucket/in", "s3://bucket/out")
        assert objects["out/a.tar"].data == tar.data
        run("dataset", "verify", "s3://bucket/in", "s3://bucket/out")


def check_verify(folder):
    """What verify finds: a bit that has flipped, a shard, tar or record that is gone, an input that has changed, a record of nothing."""
    make_shards(folder / "in", names=("a", "b", "c", "d", "e"))
    with Server(page=4) as server:
        use(server)
        objects = server.objects["bucket"]
        upload(server, folder / "in", "in")
        encode("s3://bucket/in", "s3://bucket/out")
        before = {key: value.data for key, value in objects.items() if key.endswith(".tar")}
        flipped = bytearray(objects["out/a.tar"].data)
        flipped[700] ^= 4
        objects["out/a.tar"] = Object(bytes(flipped), objects["out/a.tar"].etag)
        del objects["out/b.json"], objects["out/c.tar"]
        objects["in/d.tar"] = Object(objects["in/d.tar"].data[:-512] + b"x" * 512)
        objects["out/e.json"] = Object(b"{}")
        objects["out/gone.json"] = objects["out/a.json"]
        found = run("dataset", "verify", "s3://bucket/in", "s3://bucket/out", code=1).stdout
        for line in ("a: output: the bytes", "b: missing:", "c: output: the tar is not there", "d: stale:", "e: record:", "gone: extra:"):
            assert sum(text.startswith(line) for text in found.splitlines()) == 1, (line, found)
        del objects["out/gone.json"], objects["out/a.json"], objects["out/e.json"]
        objects["in/d.tar"] = Object((folder / "in/d.tar").read_bytes())
        encode("s3://bucket/in", "s3://bucket/out")
        run("dataset", "verify", "s3://bucket/in", "s3://bucket/out")
        assert {key: value.data for key, value in objects.items() if key.endswith(".tar")} == before
        # The same bytes under another etag, as after a copy in parts: they are compared, and nothing is made again.
        objects["in/a.tar"] = Object(objects["in/a.tar"].data, "0123-2")
        assert "done before" in encode("s3://bucket/in", "s3://bucket/out").stderr
        assert not server.refused, server.refused


def check_retry(folder):
    """A shard with a bad sample, again when its input has changed, and by retry."""
    (folder / "in").mkdir()
    good = (dataset.IMAGES / "rgb8.png").read_bytes()
    make_tar(folder / "in/a.tar", [("1.png", good), ("2.png", good[:200])])
    with Server() as server:
        use(server)
        upload(server, folder / "in", "in")
        encode("s3://bucket/in", "s3://bucket/out", code=1)
        assert json.loads(server.objects["bucket"]["out/a.json"].data)["bad"] == {"broken": 1}
        assert "done before" in encode("s3://bucket/in", "s3://bucket/out").stderr
        assert "1 pictures in 1 shard" in encode("s3://bucket/in", "s3://bucket/out", command="retry", code=1).stderr
        make_tar(folder / "in/a.tar", [("1.png", good), ("2.png", good)])
        upload(server, folder / "in", "in")
        encode("s3://bucket/in", "s3://bucket/out")
        assert json.loads(server.objects["bucket"]["out/a.json"].data)["ok"] == 2
        run("dataset", "verify", "s3://bucket/in", "s3://bucket/out")


NAMES = ("a+b", "a=b", "a b", "ä ö/ü", "日本", "100%", "a&b?c#d", "~._-", "a%2Bb", "'\"<>", "a;b,c@d:e!$*()[]")


def check_keys(folder):
    """Keys with signs that addresses, XML or signatures treat in a way of their own."""
    make_shards(folder / "in", names=[name for name in NAMES if "/" not in name])
    make_folder(folder / "pictures")
    for name in NAMES:
        (folder / "pictures" / name).parent.mkdir(exist_ok=True)
        (folder / "pictures" / f"{name}.png").write_bytes((dataset.IMAGES / "rgb8.png").read_bytes())
    encode(folder / "in", folder / "local")
    encode(folder / "pictures", folder / "local-pictures")
    with Server(page=3) as server:
        use(server)
        for prefix in ("plain", "with space/a+b=c/ü%2F"):
            upload(server, folder / "in", f"{prefix}/in")
            encode(f"s3://bucket/{prefix}/in", f"s3://bucket/{prefix}/out")
            compare(server, folder / "local", f"{prefix}/out")
        run("dataset", "verify", f"s3://bucket/{prefix}/in", f"s3://bucket/{prefix}/out")
        upload(server, folder / "pictures", "pictures")
        encode("s3://bucket/pictures", "s3://bucket/of-pictures")
        compare(server, folder / "local-pictures", "of-pictures")


def check_many(folder):
    """More keys than a list has at once: pictures lie on both sides of its end."""
    picture = Object((dataset.IMAGES / "rgb8.png").read_bytes())
    with Server() as server:
        use(server)
        for i in range(2300):
            server.objects["bucket"][f"in/{i:04d}.txt"] = Object(b"of no picture" if i % 400 else b"a caption")
            if i % 400 == 0:
                server.objects["bucket"][f"in/{i:04d}.png"] = picture
        encode("s3://bucket/in", "s3://bucket/out")
        assert json.loads(server.objects["bucket"]["out/000000.json"].data)["ok"] == 6
        assert len([r for r in server.requests if "prefix=in" in r[2]]) == 3, server.requests


def check_parts(folder):
    """A tar that is sent in parts; parts that fail, a lost answer to the last request, and an end that leaves no parts."""
    (folder / "in").mkdir()
    noise = random.Random(1)
    members = [(f"{i}.{ending}", (dataset.IMAGES / "rgb8.png").read_bytes() if ending == "png" else noise.randbytes(11 << 20))
               for i in range(3) for ending in ("png", "bin")]
    make_tar(folder / "in/a.tar", members)
    encode(folder / "in", folder / "local")
    with Server() as server:
        use(server)
        upload(server, folder / "in", "in")
        server.faults = [Fault("POST", "out/a.tar", 500, query="uploads="), Fault("PUT", "out/a.tar", 503, query="partNumber=2"),
                         Fault("PUT", "out/a.tar", "drop", query="partNumber=3"), Fault("POST", "out/a.tar", "lost", query="uploadId="),
                         Fault("GET", "in/a.tar", "cut", 3)]
        encode("s3://bucket/in", "s3://bucket/out")
        compare(server, folder / "local", "out")
        assert server.objects["bucket"]["out/a.tar"].etag.endswith("-3")
        assert "done before" in encode("s3://bucket/in", "s3://bucket/out").stderr
        server.faults = [Fault("PUT", "none/a.tar", 403, query="partNumber=3")]
        encode("s3://bucket/in", "s3://bucket/none", code=1)
        assert not server.uploads and "none/a.tar" not in server.objects["bucket"], server.uploads.keys()


def check_leases(folder):
    """Leases: one that is alive is left alone, an old one and one of a dead process are taken over; two processes share the work."""
    make_shards(folder / "in", copies=4)
    encode(folder / "in", folder / "local")
    with Server() as server:
        use(server)
        objects = server.objects["bucket"]
        upload(server, folder / "in", "in")
        objects["out/a.lease"] = Object(b"another-machine 1\n")
        objects["out/b.lease"] = Object(b"another-machine 1\n")
        objects["out/b.lease"].changed -= 100
        dead = subprocess.Popen(["true"])
        dead.wait()
        objects["out/c.lease"] = Object(f"{os.uname().nodename} {dead.pid}\n".encode())
        assert "1 shard is in work elsewhere" in encode("s3://bucket/in", "s3://bucket/out").stderr
        assert "a: in-work:" in run("dataset", "verify", "s3://bucket/in", "s3://bucket/out", code=1).stdout
        assert "out/a.lease" in objects and "out/b.lease" not in objects and "out/c.lease" not in objects, objects.keys()
        del objects["out/a.lease"]
        encode("s3://bucket/in", "s3://bucket/out")
        compare(server, folder / "local", "out")
        words = [dataset.ZENITH, "dataset", "encode", "s3://bucket/in", "s3://bucket/two", "-m", "taesd", "--weights", str(dataset.MODEL),
                 "--dtype", "f32", "--size", "32x32", "--lease", "1"]
        for process in [subprocess.Popen(words, stderr=subprocess.DEVNULL) for _ in range(3)]:
            assert process.wait() == 0
        encode("s3://bucket/in", "s3://bucket/two")
        compare(server, folder / "local", "two")
        # A lease that a process left behind after its record.
        objects["two/a.lease"] = Object(f"{os.uname().nodename} {dead.pid}\n".encode())
        encode("s3://bucket/in", "s3://bucket/two")
        assert "two/a.lease" not in objects


def check_document(folder):
    """The commands of docs/DATASET.md, in one shell."""
    make_shards(folder / "shards", names=("1", "2"))
    make_folder(folder / "photos")
    shutil.copytree(dataset.MODEL, folder / "models/taesd")
    text = (dataset.ROOT / "docs/DATASET.md").read_text()
    text = text[text.index("\n## S3\n"):text.index("\n## Checks\n")]
    script = "\n".join(block.split("\n", 1)[1] for block in text.split("```")[1::2])
    with Server() as server:
        for name, value in server.environment().items():
            script = re.sub(rf"(?<=\b{name}=)[^ \n]+", shlex.quote(value), script)
        assert server.address in script and shlex.quote(SECRET) in script and script.count("zenith dataset") >= 7, script
        upload(server, folder / "shards", "shards")
        done = subprocess.run(["bash", "-euxc", script], cwd=folder, capture_output=True, text=True, env={
            **os.environ, "PATH": f"{pathlib.Path(dataset.ZENITH).parent}:{os.environ['PATH']}", "ZENITH_MODELS": str(folder / "models"),
            "ZENITH_TUNE": "", "NO_PROXY": "127.0.0.1", "AWS_SESSION_TOKEN": ""})
        assert done.returncode == 0, done.stderr
        assert not server.refused and "latents-of-photos/000000.json" in server.objects["bucket"]
        assert (folder / "latents-here/2.tar").read_bytes() == server.objects["bucket"]["latents/2.tar"].data


class Moto:
    """moto's server, a stand-in by others, which knows the protocol and no signatures."""

    def __init__(self, program):
        self.program = program

    def __enter__(self):
        port = free_port()
        self.address = f"http://127.0.0.1:{port}"
        self.process = subprocess.Popen([self.program, "-H", "127.0.0.1", "-p", str(port)], stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                        env={**os.environ, "MOTO_S3_DEFAULT_MAX_KEYS": "3"})
        os.environ.update({"AWS_ENDPOINT_URL_S3": self.address, "AWS_REGION": "us-east-1", "AWS_ACCESS_KEY_ID": "key",
                           "AWS_SECRET_ACCESS_KEY": "secret", "AWS_SESSION_TOKEN": "", "NO_PROXY": "127.0.0.1"})
        while True:
            try:
                self.ask("PUT")  # the bucket
                return self
            except OSError:
                assert self.process.poll() is None, "moto has ended"
                time.sleep(0.1)

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()

    def ask(self, method, key="", body=None):
        request = urllib.request.Request(f"{self.address}/bucket/{urllib.parse.quote(key)}", body, method=method,
                                         headers={"Content-Type": "application/octet-stream", "Authorization":
                                                  "AWS4-HMAC-SHA256 Credential=key/20260101/us-east-1/s3/aws4_request, SignedHeaders=host, Signature=0"})
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        with opener.open(request, timeout=60) as answer:
            return answer.read()


def check_moto(folder):
    """The same bytes from another implementation of the server: lists of several pages, parts, odd keys, leases, commits."""
    program = pathlib.Path(os.environ.get("ZENITH_DEPS", dataset.ROOT / ".deps")) / "moto/bin/moto_server"
    if not program.exists():
        print("moto is not there: run tools/bootstrap")
        sys.exit(77)
    make_shards(folder / "in", names=("a+b", "a b=c", "日本"))
    make_tar(folder / "in/large.tar", [("1.png", (dataset.IMAGES / "rgb8.png").read_bytes()), ("1.bin", bytes(15 << 20)),
                                       ("2.png", (dataset.IMAGES / "rgb8.png").read_bytes()), ("2.bin", bytes(15 << 20))])
    encode(folder / "in", folder / "local")
    with Moto(program) as server:
        for path in (folder / "in").iterdir():
            server.ask("PUT", f"in/{path.name}", path.read_bytes())
        encode("s3://bucket/in", "s3://bucket/out", "--lease", "2")
        for path in (folder / "local").iterdir():
            data = server.ask("GET", f"out/{path.name}")
            if path.suffix == ".tar" or path.name == "_zenith.json":
                assert data == path.read_bytes(), path
            else:
                assert without_places(data) == without_places(path.read_bytes()), path
        assert "all 4 shards were done before" in encode("s3://bucket/in", "s3://bucket/out").stderr
        run("dataset", "verify", "s3://bucket/in", "s3://bucket/out")
        server.ask("PUT", "out/large.tar", b"x")
        server.ask("DELETE", "out/日本.json")
        server.ask("PUT", "out/日本.lease", b"another-machine 1\n")
        found = run("dataset", "verify", "s3://bucket/in", "s3://bucket/out", code=1).stdout.splitlines()
        assert len(found) == 3 and found[0].startswith("large: output:") and found[1].startswith("日本: in-work:"), found
        time.sleep(2.1)
        assert "in 2 shards" in encode("s3://bucket/in", "s3://bucket/out", "--lease", "1").stderr
        run("dataset", "verify", "s3://bucket/in", "s3://bucket/out")
        assert server.ask("GET", "out/large.tar") == (folder / "local/large.tar").read_bytes()


def check_secure(folder):
    """TLS: a certificate that is trusted, and one that is not."""
    make_shards(folder / "in", names=("a",))
    encode(folder / "in", folder / "local")
    certificate = folder / "certificate"
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2", "-subj", "/CN=test",
                    "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", folder / "key", "-out", certificate], check=True, capture_output=True)
    (folder / "both").write_bytes(certificate.read_bytes() + (folder / "key").read_bytes())
    with Server(certificate=folder / "both") as server:
        use(server)
        upload(server, folder / "in", "in")
        assert "certificate" in encode("s3://bucket/in", "s3://bucket/out", code=1).stderr
        os.environ["AWS_CA_BUNDLE"] = str(certificate)
        server.faults = [Fault("GET", "in/a.tar", "cut"), Fault("PUT", "out/a.tar", "drop"), Fault("PUT", "out/a.json", 503)]
        encode("s3://bucket/in", "s3://bucket/out")
        del os.environ["AWS_CA_BUNDLE"]
        compare(server, folder / "local", "out")


def start(*places):
    return subprocess.Popen([dataset.ZENITH, "dataset", "encode", *places, "-m", "taesd", "--weights", str(dataset.MODEL), "--dtype", "f32",
                             "--size", "32x32", "-q"], stderr=subprocess.PIPE)


def check_interrupt(folder):
    """SIGINT: no lease, no part and no object without a record is left."""
    make_shards(folder / "in", names=("a",))
    with Server() as server:
        use(server)
        upload(server, folder / "in", "in")
        server.faults = [Fault("PUT", "out/a.tar", lambda s: time.sleep(1))]
        process = start("s3://bucket/in", "s3://bucket/out")
        while not any(fault.times == 0 for fault in server.faults):
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        assert process.wait() == 130, process.stderr.read()
        assert "out/a.lease" not in server.objects["bucket"] and "out/a.json" not in server.objects["bucket"]
        encode("s3://bucket/in", "s3://bucket/out")
        run("dataset", "verify", "s3://bucket/in", "s3://bucket/out")


def check_kills(folder):
    """kill -9 at any time: the same command again goes on, and the bytes are those of a run that nobody killed."""
    make_shards(folder / "in", names=[f"{i:02d}" for i in range(6)])
    begin = time.monotonic()
    encode(folder / "in", folder / "local")
    chance = random.Random(7)
    with Server() as server:
        use(server)
        upload(server, folder / "in", "in")
        begin = time.monotonic()
        encode("s3://bucket/in", "s3://bucket/whole")
        whole = time.monotonic() - begin
        compare(server, folder / "local", "whole")
        objects = server.objects["bucket"]

        def after(killed):
            made = [key for key in objects if key.startswith("out/")]
            for key in [key for key in made if key.endswith(".json") and key != "out/_zenith.json"]:
                assert key.replace(".json", ".tar") in objects, "a record without its tar"
            if killed:
                return any(key.endswith(".lease") for key in made)
            server.uploads.clear()
            compare(server, folder / "local", "out")
            for key in made:
                del objects[key]
        kill_at_random(lambda: start("s3://bucket/in", "s3://bucket/out"), KILLS, whole, chance, after)
        encode("s3://bucket/in", "s3://bucket/out")
        server.uploads.clear()
        compare(server, folder / "local", "out")
        run("dataset", "verify", "s3://bucket/in", "s3://bucket/out")



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
