#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Zenith authors
# SPDX-License-Identifier: Apache-2.0
"""Takes the steps of the Containerfile in folders with a Debian each, without an engine for containers, and starts what it makes as
a container would: as its user, with its environment and its words. The server must answer /health, reconstruct a picture, say who
it runs as, and end by SIGTERM with code 0.

    tools/check_container.py [--keep FOLDER]

Needs root, the network, mmdebstrap and about ten minutes. FROM (Debian's images), COPY, RUN, USER, ENV, ENTRYPOINT and CMD are known here;
EXPOSE says nothing that is checked. The network is this machine's: nothing else may listen on port 8188.
"""
import argparse
import glob
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

ROOT = pathlib.Path(__file__).resolve().parents[1]
SERVER = "http://127.0.0.1:8188"
TRUSTED = "etc/trusted.crt"


def instructions(path):
    """(word, rest), a line each; comments and empty lines are left out."""
    for line in path.read_text().splitlines():
        if line.strip() and not line.startswith("#"):
            word, rest = line.split(None, 1)
            yield word, rest


class Stage:
    """A folder with a Debian in it, and what a container of it is started with."""

    def __init__(self, folder):
        self.folder, self.environment, self.user, self.entry, self.command = folder, {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin"}, "root", [], []

    def begin(self):
        subprocess.run(["mmdebstrap", "--quiet", "--variant=minbase", "bookworm", self.folder], check=True)
        shutil.copy("/etc/resolv.conf", self.folder / "etc/resolv.conf")
        # Where this machine finds packages of Python, and whom it trusts (a package writes that file anew, hence another name).
        for name, to in (("etc/pip.conf", "etc/pip.conf"), ("etc/ssl/certs/ca-certificates.crt", TRUSTED)):
            if pathlib.Path("/", name).exists():
                shutil.copy(f"/{name}", self.folder / to)
        subprocess.run(["mount", "-t", "proc", "proc", self.folder / "proc"], check=True)

    def end(self):
        if os.path.ismount(self.folder / "proc"):
            subprocess.run(["umount", self.folder / "proc"], check=True)

    def run(self, line):
        given = {key: value for key, value in os.environ.items() if key.startswith("PIP_") or key.endswith("_proxy")}
        given["PIP_CERT"] = f"/{TRUSTED}"
        subprocess.run(["chroot", self.folder, "sh", "-c", line], check=True, stdout=subprocess.DEVNULL,
                       env=given | self.environment | {"DEBIAN_FRONTEND": "noninteractive"})

    def start(self):
        line = ["chroot", f"--userspec={self.user}", self.folder, *self.entry, *self.command]
        return subprocess.Popen(line, env=self.environment, stderr=subprocess.PIPE, text=True)


def copy_checkout(to):
    """What is committed or changed, without what .containerignore leaves out."""
    left_out = (ROOT / ".containerignore").read_text().split()
    shutil.copytree(ROOT, to, symlinks=True, ignore=lambda folder, names: left_out if folder == str(ROOT) else [])


def copy(stages, stage, rest):
    *flags, source, target = rest.split()
    to = stage.folder / target.lstrip("/")
    if not flags:
        return copy_checkout(to)
    found = glob.glob(str(stages[flags[0].removeprefix("--from=")].folder / source.lstrip("/")))
    assert found, f"COPY {rest}: there is no such file"
    for path in found:
        shutil.copy(path, to)


def build(work):
    stages, stage = {}, None
    try:
        for word, rest in instructions(ROOT / "Containerfile"):
            print(f"{word} {rest}", flush=True)
            if word == "FROM":
                image, name = re.fullmatch(r"(debian:12\S*)@sha256:[0-9a-f]{64}(?: AS (\w+))?", rest).groups()
                stage = stages[name or image] = Stage(work / (name or "last"))
                stage.begin()
            elif word == "COPY":
                copy(stages, stage, rest)
            elif word == "RUN":
                stage.run(rest)
            elif word == "ENV":
                stage.environment |= dict(pair.split("=", 1) for pair in rest.split())
            elif word == "USER":
                stage.user = rest
            elif word in ("ENTRYPOINT", "CMD"):
                setattr(stage, "entry" if word == "ENTRYPOINT" else "command", json.loads(rest))
            else:
                assert word == "EXPOSE", f"{word} is not known here"
    except BaseException:
        for each in stages.values():
            each.end()
        raise
    return stages, stage


def ask(path, body=None):
    with urllib.request.urlopen(urllib.request.Request(SERVER + path, data=body), timeout=60) as answer:
        return answer.status, answer.read()


def try_server(stage):
    process = stage.start()
    try:
        for _ in range(100):
            try:
                if ask("/health")[0] == 200:
                    break
            except OSError:
                time.sleep(0.1)
        models = [model["id"] for model in json.loads(ask("/v1/models")[1])["data"]]
        assert models == stage.command, f"models: {models}"
        picture = (ROOT / "tests/cli/data/small.png").read_bytes()
        status, answer = ask("/v1/reconstruct?model=zenith-sd-fast&fit=pad", picture)
        assert status == 200 and answer.startswith(b"\x89PNG"), f"reconstruct: {status}"
        owner = pathlib.Path(f"/proc/{process.pid}").stat().st_uid
        assert owner != 0, "it runs as root"
    finally:
        process.send_signal(signal.SIGTERM)
    code = process.wait(timeout=40)
    assert code == 0, f"it ended with {code}"


def main():
    parser = argparse.ArgumentParser(description="Takes the steps of the Containerfile without an engine for containers.")
    parser.add_argument("--keep", type=pathlib.Path, help="the folders stay there")
    options = parser.parse_args()
    work = pathlib.Path(tempfile.mkdtemp()) if options.keep is None else options.keep
    work.mkdir(exist_ok=True)
    stages, last = build(work)
    try:
        size = sum(path.lstat().st_size for path in last.folder.glob("usr/**/*") if not path.is_dir())
        try_server(last)
        print(f"good: the last stage has {size / 1e6:.0f} MB in /usr")
    finally:
        for stage in stages.values():
            stage.end()
        if options.keep is None:
            shutil.rmtree(work)


if __name__ == "__main__":
    sys.exit(main())
