#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Zenith authors
# SPDX-License-Identifier: Apache-2.0
"""zenith dataset publish, and zenith dataset encode --queue: one server, one or two workers.

    work.py --zenith PATH [NAME..]

NAME: of a check (a function check_NAME below); without one all are made.
"""
import argparse
import base64
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import urllib.request

from nats import PROGRAM, ROOT, Server, free_port
from sets import MODEL, hashes, make_tars, picture

sys.path[1:1] = [str(ROOT / "tests/serve"), str(ROOT / "tests")]
import operate  # noqa: E402
from lib.process import wait_until  # noqa: E402

ZENITH = None
OPTIONS = ("-m", "taesd", "--weights", MODEL, "--dtype", "f32", "--size", "32x32")
ENVIRONMENT = {**os.environ, "ZENITH_TUNE": "", "OMP_WAIT_POLICY": "passive"}


def run(*words, code=0):
    done = subprocess.run([ZENITH, *map(str, words)], capture_output=True, text=True, env=ENVIRONMENT, timeout=120)
    assert done.returncode == code, (words, done)
    return done


def start(*words):
    return subprocess.Popen([ZENITH, *map(str, words)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=ENVIRONMENT)


def publish(source, url, *more, code=0):
    return json.loads(run("dataset", "publish", source, *more, "--queue", url, "--json", code=code).stdout)


def work(source, output, url, *more, code=0):
    """The lines of a worker: one for each shard, and the last."""
    return [json.loads(line) for line in
            run("dataset", "encode", source, output, *OPTIONS, "--queue", url, "--json", *more, code=code).stdout.splitlines()]


def results(lines):
    return {line["shard"]: line["result"] for line in lines if "shard" in line}


def check_bytes(folder, server):
    """What workers make has the bytes of a run without a queue; what is published twice is done once."""
    source, url = folder / "in", server.url("bytes")
    make_tars(source, shards=5, pictures=21)
    run("dataset", "encode", source, folder / "whole", *OPTIONS)
    assert publish(source, url) == {"queue": url, "shards": 5, "published": 5, "published_before": 0}
    assert publish(source, url)["published_before"] == 5
    both = [start("dataset", "encode", source, folder / "out", *OPTIONS, "--queue", url, "--json") for _ in range(2)]
    lines = [json.loads(line) for worker in both for line in worker.communicate(timeout=120)[0].splitlines()]
    assert [worker.returncode for worker in both] == [0, 0]
    assert [line["result"] for line in lines if "shard" in line] == ["done"] * 5, lines
    assert hashes(folder / "out") == hashes(folder / "whole") and server.messages("bytes") == 0
    run("dataset", "verify", source, folder / "out")
    # Of OUT only what is missing is published; a shard that is done already is not done again.
    assert publish(source, url, folder / "out")["published"] == 0
    (folder / "out/00003.json").unlink()
    assert publish(source, url, folder / "out")["published"] == 1
    assert results(work(source, folder / "out", url)) == {"00003": "done"}
    server.publish("bytes.shards", b'{"v": 1, "shard": "00003"}')
    lines = work(source, folder / "out", url)
    assert results(lines) == {"00003": "duplicate"} and lines[-1]["shards"]["done_before"] == 1


def check_pictures(folder, server):
    """A folder of pictures, which is cut into shards."""
    source, url = folder / "in", server.url("pictures")
    source.mkdir()
    for number in range(23):
        (source / f"{number:03d}.ppm").write_bytes(picture(number))
    run("dataset", "encode", source, folder / "whole", *OPTIONS, "--shard", "5")
    assert publish(source, url, "--shard", "5")["published"] == 5
    assert len(results(work(source, folder / "out", url, "--shard", "5"))) == 5
    assert hashes(folder / "out") == hashes(folder / "whole")
    (folder / "out/000002.json").unlink()
    assert publish(source, url, folder / "out")["published"] == 1  # the number of pictures is OUT's
    lines = work(source, folder / "out", url, "--shard", "6", code=1)
    assert "another number of pictures" in lines[0]["message"], lines


def check_dead(folder, server):
    """A shard that cannot be read is tried three times, and given up with its reason; others are done."""
    source, url = folder / "in", server.url("dead")
    make_tars(source, shards=3, pictures=6)
    publish(source, url, "--lease", "2")
    (source / "00001.tar").unlink()
    lines = work(source, folder / "out", url, code=1)
    tries = [line["result"] for line in lines if line.get("shard") == "00001"]
    assert tries == ["retry", "retry", "dead"], lines
    assert server.messages("dead") == 0 and server.messages("dead_DEAD") == 1
    buried = server.ask("$JS.API.STREAM.MSG.GET.dead_DEAD", b'{"seq": 1}')["message"]
    assert b"there is no folder or tar archive" in base64.b64decode(buried["hdrs"])
    assert json.loads(base64.b64decode(buried["data"]))["shard"] == "00001"
    # When it is there again, it is published from the records.
    shutil.copy(source / "00000.tar", source / "00001.tar")
    assert publish(source, url, folder / "out")["published"] == 1
    assert results(work(source, folder / "out", url)) == {"00001": "done"}
    run("dataset", "verify", source, folder / "out")


def check_hostile(folder, server):
    """Messages that are none, or that lead elsewhere, are given up; nothing outside IN is read."""
    source, url = folder / "in", server.url("hostile")
    make_tars(source, shards=1, pictures=2)
    make_tars(folder / "secret", shards=1, pictures=2)
    publish(source, url)
    wrong = [b"", b"{", b"[]", b'{"v": 1}', b'{"v": 2, "shard": "00000"}', b'{"v": 1, "shard": "../secret/00000"}',
             b'{"v": 1, "shard": "/etc/passwd"}', b'{"v": 1, "shard": ".00000"}', b'{"v": 1, "shard": "a\\nb"}',
             b'{"v": 1, "shard": "00000", "index": -1, "count": 1, "pictures": 1}', b'{"v": 1, "shard": "' + b"x" * 300 + b'"}',
             b'{"v": 1, "shard": "00000", "path": "/"}', b'{"v": 1, "shard": "_zenith"}', b"\xff" * 100, b'{"v": 1, "shard": 7}']
    for data in wrong:
        server.publish("hostile.shards", data)
    lines = work(source, folder / "out", url, code=1)
    assert [line["result"] for line in lines if "shard" in line] == ["done"] + ["dead"] * len(wrong), lines
    assert server.messages("hostile_DEAD") == len(wrong) and server.messages("hostile") == 0
    assert sorted(path.name for path in (folder / "out").iterdir()) == ["00000.json", "00000.tar", "_zenith.json"]


def check_drain(folder, server):
    """SIGTERM: the shard in hand is ended and acknowledged, and no other is taken."""
    source, url = folder / "in", server.url("drain")
    make_tars(source, shards=6, pictures=600)
    publish(source, url)
    worker = start("dataset", "encode", source, folder / "out", *OPTIONS, "--size", "256x256", "--threads", "1", "--queue", url, "--json")
    wait_until(lambda: list((folder / "out").glob("*.lease")), "a shard is in work")
    worker.send_signal(signal.SIGTERM)
    out, err = worker.communicate(timeout=120)
    lines = [json.loads(line) for line in out.splitlines()]
    assert worker.returncode == 0, (worker.returncode, err)
    count = lines[-1]["shards"]["done"]
    assert 1 <= count < 6 and server.messages("drain") == 6 - count, lines
    assert not list((folder / "out").glob("*.lease")) and not list((folder / "out").glob(".*"))


def check_twice(folder, server):
    """A worker that was silent for longer than its lease comes back: the other's record stays, and its own is dropped."""
    source, url, output = folder / "in", server.url("twice"), folder / "out"
    make_tars(source, shards=1, pictures=60)
    publish(source, url, "--lease", "1")
    words = ("dataset", "encode", source, output, *OPTIONS, "--size", "256x256", "--threads", "1", "--queue", url, "--json")
    first = start(*words)
    wait_until((output / "00000.lease").exists, "the shard is in work")
    first.send_signal(signal.SIGSTOP)
    second = start(*words)
    lines = [json.loads(line) for line in second.communicate(timeout=120)[0].splitlines()]
    assert results(lines) == {"00000": "done"} and second.returncode == 0, lines
    record = (output / "00000.json").read_bytes()
    first.send_signal(signal.SIGCONT)
    lines = [json.loads(line) for line in first.communicate(timeout=120)[0].splitlines()]
    assert results(lines) == {"00000": "duplicate"} and first.returncode == 0, lines
    assert (output / "00000.json").read_bytes() == record and server.messages("twice") == 0
    run("dataset", "verify", source, output)


def check_full(folder, server):
    """A file that cannot be written stops the worker from taking more, and is no fault of the shard."""
    source, url, output = folder / "in", server.url("full"), folder / "out"
    make_tars(source, shards=2, pictures=4)
    publish(source, url, "--lease", "1")
    output.mkdir()
    blocked = output / "00000.tar"
    blocked.mkdir()  # as a disk that takes no file: the rename fails
    worker = start("dataset", "encode", source, output, *OPTIONS, "--queue", url, "--json")
    time.sleep(3)  # longer than the lease: the shard is still held
    assert worker.poll() is None and server.messages("full") == 2
    blocked.rmdir()
    out, err = worker.communicate(timeout=120)
    lines = [json.loads(line) for line in out.splitlines()]
    assert results(lines) == {"00000": "done", "00001": "done"} and worker.returncode == 0, (lines, err)
    assert "00000: waiting: " in err and server.messages("full_DEAD") == 0, err


def check_gone(folder, server):
    """A queue that was deleted ends its workers with a sentence; the records know what is missing."""
    source, url = folder / "in", server.url("gone")
    make_tars(source, shards=2, pictures=4)
    publish(source, url)
    (source / "00001.tar").rename(folder / "kept.tar")
    worker = start("dataset", "encode", source, folder / "out", *OPTIONS, "--queue", url)
    wait_until(lambda: (folder / "out/00000.json").exists() and
               server.ask("$JS.API.CONSUMER.INFO.gone.workers")["num_redelivered"] == 0, "the other shard is done")
    assert server.ask("$JS.API.STREAM.DELETE.gone")["success"]
    err = worker.communicate(timeout=120)[1]
    assert worker.returncode == 1 and "the queue is gone" in err, err
    (folder / "kept.tar").rename(source / "00001.tar")
    assert publish(source, url, folder / "out")["published"] == 1
    assert results(work(source, folder / "out", url)) == {"00001": "done"}


def check_metrics(folder, server):
    """What Prometheus reads of a worker."""
    source, url, port = folder / "in", server.url("metrics"), free_port()
    make_tars(source, shards=3, pictures=7)
    publish(source, url, "--lease", "2")
    (source / "00002.tar").unlink()
    worker = start("dataset", "encode", source, folder / "out", *OPTIONS, "--queue", url, "--metrics", f"127.0.0.1:{port}", "--json")
    page, deadline = "", time.monotonic() + 30
    while 'zenith_shards_total{result="poison"} 1\n' not in page and time.monotonic() < deadline:
        try:
            page = urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=1).read().decode()
        except OSError:
            pass
        time.sleep(0.01)
    worker.communicate(timeout=120)
    values = dict(re.findall(r"^(zenith_\S+) (\S+)$", page, re.M))
    size = sum((source / f"0000{i}.tar").stat().st_size for i in range(2))
    assert values['zenith_shards_total{result="ok"}'] == "2" and values['zenith_images_total{result="ok"}'] == "5", page
    assert values['zenith_shards_total{result="retry"}'] == "2" and values['zenith_bytes_total{dir="in"}'] == str(size), page
    asked = [entry for entry in operate.asked() if entry[1].startswith(operate.OF_WORKERS)]
    assert len(asked) >= 6, asked
    for where, name, labels in asked:
        assert labels - operate.OF_SCRAPING <= operate.metrics(page)[name], (where, name, labels)
    assert values["zenith_lease_lost_total"] == "0" and values['zenith_shard_seconds_count{model="taesd"}'] == "2", page


def check_storage(folder, server):
    """Input and output on S3: the bytes of folders, and a shard that another did first is a duplicate."""
    sys.path.insert(1, str(ROOT / "tests/cli"))
    import s3_server  # pylint: disable=import-outside-toplevel
    source, url, there = folder / "in", server.url("storage"), "s3://bucket/in"
    make_tars(source, shards=3, pictures=7)
    run("dataset", "encode", source, folder / "whole", *OPTIONS)
    with s3_server.Server() as storage:
        ENVIRONMENT.update(storage.environment(s3_server.SECRET))
        objects = storage.objects["bucket"]
        objects.update({f"in/{path.name}": s3_server.Object(path.read_bytes()) for path in source.iterdir()})
        assert publish(there, url)["published"] == 3
        assert set(results(work(there, "s3://bucket/out", url)).values()) == {"done"}
        for path in (folder / "whole").glob("*.tar"):
            assert objects[f"out/{path.name}"].data == path.read_bytes(), path
        del objects["out/00001.json"]
        assert publish(there, url, "s3://bucket/out")["published"] == 1
        server.publish("storage.shards", b'{"v": 1, "shard": "00002"}')
        assert results(work(there, "s3://bucket/out", url)) == {"00001": "done", "00002": "duplicate"}
        run("dataset", "verify", there, "s3://bucket/out")


def check_words(folder, server):
    """Mistakes have a sentence."""
    source, url = folder / "in", server.url("nobody")
    make_tars(source, shards=1, pictures=1)
    encode = ("dataset", "encode", source, folder / "out", *OPTIONS)
    assert "has no queue 'nobody'" in run(*encode, "--queue", url, code=1).stderr
    assert "expected nats://" in run(*encode, "--queue", "http://x", code=2).stderr
    assert "goes with --queue" in run(*encode, "--metrics", "127.0.0.1:1", code=2).stderr
    assert "expected HOST:PORT" in run(*encode, "--queue", url, "--metrics", "1", code=2).stderr
    assert "two ways" in run(*encode, "--queue", url, "--partition", "1/2", code=2).stderr
    assert "says where to" in run("dataset", "publish", source, code=2).stderr
    refused = run("dataset", "publish", source, "--queue", f"nats://me:secret@127.0.0.1:{free_port()}", code=1).stderr
    assert "cannot connect" in refused and "secret" not in refused, refused


def check_document(folder, server):
    """The blocks of docs/DATASET.md that need a server, as they stand there, but for its port."""
    make_tars(folder / "shards", shards=2, pictures=4)
    shutil.copytree(MODEL, folder / "models/taesd")
    port, metrics = free_port(), free_port()
    variables = {**ENVIRONMENT, "ZENITH_MODELS": str(folder / "models"),
                 "PATH": f"{pathlib.Path(ZENITH).parent}:{PROGRAM.parent}:{os.environ['PATH']}"}
    text = (ROOT / "docs/DATASET.md").read_text()
    blocks = [block.split("\n", 1)[1] for block in text.split("```")[1::2] if block.startswith("sh") and "nats" in block]
    assert len(blocks) >= 2, blocks
    script = "trap 'kill %1' EXIT\n" + "\n".join(blocks).replace("4222", str(port)).replace("9464", str(metrics))
    done = subprocess.run(["bash", "-e", "-c", script], cwd=folder, capture_output=True, text=True, env=variables, timeout=120)
    assert done.returncode == 0, (script, done)
    assert "2 of 2 shards done" in done.stdout, done


def main():
    global ZENITH
    parser = argparse.ArgumentParser()
    parser.add_argument("--zenith", required=True)
    parser.add_argument("names", nargs="*")
    arguments = parser.parse_args()
    ZENITH = str(pathlib.Path(arguments.zenith).resolve())
    checks = {name[6:]: check for name, check in globals().items() if name.startswith("check_")}
    with tempfile.TemporaryDirectory(prefix="zenith-fleet-") as top, Server(pathlib.Path(top)) as server:
        for name in arguments.names or checks:
            folder = pathlib.Path(top) / name
            folder.mkdir()
            begin = time.monotonic()
            checks[name](folder, server)
            print(f"{name}: ok, {time.monotonic() - begin:.1f} s", flush=True)


if __name__ == "__main__":
    main()
