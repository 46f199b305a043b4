#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Zenith authors
# SPDX-License-Identifier: Apache-2.0
"""A changed byte in whatever is fetched stops the build: tools/fetch takes a package of each kind from a stand-in of its archive,
and refuses the same package with one byte changed.

    tests/layers/pins.py wheel|npm|source
    tests/layers/pins.py hosts        nothing in the tree names an archive or a registry of packages; everything fetched is pinned

Exit code: 77 without npm, or without apt.
"""
import argparse
import base64
import hashlib
import http.server
import io
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import threading
import zipfile

ROOT = pathlib.Path(__file__).resolve().parents[2]


def digest(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


def fetch(kind, folder, *more, **environment):
    """Exit code and output."""
    done = subprocess.run([ROOT / "tools/fetch", kind, "sample", folder / "fetched", "--locks", folder / "locks", *more], text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=os.environ | environment)
    shutil.rmtree(folder / "fetched", ignore_errors=True)
    return done.returncode, done.stdout


def judge(write, *call, **environment):
    """Takes the package that `write` made of a word; refuses one of another; says so where it cannot be had."""
    code, said = fetch(*call, **environment)
    assert code == 0, said
    path = write(b"harmlesS")
    code, said = fetch(*call, **environment)
    assert code == 3 and "REFUSED" in said, f"a changed file was not refused ({code}): {said}"
    path.unlink()
    code, said = fetch(*call, **environment)
    assert code == 1 and "cannot be had" in said, f"a missing file ended with {code}: {said}"


def wheel(folder):
    def write(word):
        path = folder / "sample-1.0-py3-none-any.whl"
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("sample.py", word)
            archive.writestr("sample-1.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: sample\nVersion: 1.0\n")
            archive.writestr("sample-1.0.dist-info/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
            archive.writestr("sample-1.0.dist-info/RECORD", "")
        return path

    (folder / "locks/sample.txt").write_text(f"sample==1.0 --hash=sha256:{digest(write(b'harmless'))}\n")
    judge(write, "wheels", folder, PIP_NO_INDEX="1", PIP_FIND_LINKS=str(folder))


def tarball(path, file, data):
    with tarfile.open(path, "w:gz") as archive:
        member = tarfile.TarInfo(file)
        member.size = len(data)
        archive.addfile(member, io.BytesIO(data))
    return path


def npm(folder):
    path, cache = folder / "registry/sample/-/sample-1.0.0.tgz", folder / "cache"
    path.parent.mkdir(parents=True)

    def write(word):
        shutil.rmtree(cache, ignore_errors=True)  # it would still have the right one
        return tarball(path, "package/package.json", b'{"name": "sample", "version": "1.0.0", "description": "%s"}' % word)

    write(b"harmless")
    integrity = "sha512-" + base64.b64encode(hashlib.sha512(path.read_bytes()).digest()).decode()

    class Registry(http.server.SimpleHTTPRequestHandler):
        def __init__(self, *arguments):
            super().__init__(*arguments, directory=folder / "registry")

        def do_GET(self):  # noqa: N802
            if self.path != "/sample":
                return super().do_GET()
            facts = {"name": "sample", "version": "1.0.0", "dist": {"tarball": f"{address}/sample/-/sample-1.0.0.tgz"}}
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.end_headers()
            self.wfile.write(json.dumps({"name": "sample", "dist-tags": {"latest": "1.0.0"}, "versions": {"1.0.0": facts}}).encode())

        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Registry)
    address = f"http://127.0.0.1:{server.server_address[1]}"
    threading.Thread(target=server.serve_forever, daemon=True).start()
    lock = folder / "locks/sample"
    lock.mkdir()
    needs = {"dependencies": {"sample": "1.0.0"}}
    (lock / "package.json").write_text(json.dumps({"private": True, **needs}))
    packages = {"": needs, "node_modules/sample": {"version": "1.0.0", "integrity": integrity}}
    (lock / "package-lock.json").write_text(json.dumps({"lockfileVersion": 3, "requires": True, "packages": packages}))
    judge(write, "npm", folder, npm_config_registry=address, npm_config_cache=str(cache), npm_config_fetch_retries="0")


def source(folder):
    """The archive's own list follows the change: it is not what is believed."""
    codename = re.search(r"(?m)^VERSION_CODENAME=(\w+)", pathlib.Path("/etc/os-release").read_text())[1]
    index, path, control = folder / f"dists/{codename}/main/source/Sources", folder / "sample_1.0.tar.gz", folder / "sample_1.0.dsc"
    index.parent.mkdir(parents=True)
    control.write_text("Format: 3.0 (native)\nSource: sample\nVersion: 1.0\n")
    (folder / "sources.list").write_text(f"deb [trusted=yes] file:{folder} {codename} main\n")

    def write(word):
        tarball(path, "sample-1.0/code.c", word)
        sums = {kind: "".join(f" {hashlib.new(kind, file.read_bytes()).hexdigest()} {file.stat().st_size} {file.name}\n" for file in (control, path))
                for kind in ("md5", "sha256")}
        index.write_text("Package: sample\nBinary: sample\nVersion: 1.0\nFormat: 3.0 (native)\nDirectory: .\n"
                         f"Files:\n{sums['md5']}Checksums-Sha256:\n{sums['sha256']}\n")
        return path

    write(b"harmless")
    (folder / "locks/sample.txt").write_text("".join(f"sample=1.0 {file.name} {digest(file)}\n" for file in (control, path)))
    judge(write, "sources", folder, "--apt", folder)


# Where packages are kept is each system's own affair. In two halves, as these are the names that must not be here.
HOSTS = re.compile(r"\b(?:[\w-]+\.)*(?:pypi|pythonhosted|npmjs|yarnpkg|crates|rubygems|anaconda|pytorch)\.(?:org|com|io)\b"
                   r"|\b(?:deb|ftp|archive|snapshot|security|cdn|cloudfront)(?:\.[\w-]+)*\.debian\.(?:org|net)\b|\b(?:docker|ghcr|quay|gcr)\.io\b")
FROM = re.compile(r"(?m)^FROM (\S+)")


def hosts(_):
    names = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, stdout=subprocess.PIPE, check=True).stdout.decode().split("\0")
    found = []
    for name in filter(None, names):
        path = ROOT / name
        data = path.read_bytes() if path.is_file() else b""
        if b"\0" not in data:
            found += [f"{name} names {host}" for host in HOSTS.findall(data.decode("utf-8", "replace"))]
    found += [f"Containerfile: {image} is not pinned" for image in FROM.findall((ROOT / "Containerfile").read_text())
              if not re.search("@sha256:[0-9a-f]{64}$", image)]
    assert not found, "\n".join(found)


def main():
    checks = {check.__name__: check for check in (wheel, npm, source, hosts)}
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("check", choices=checks)
    name = parser.parse_args().check
    if not shutil.which({"npm": "npm", "source": "apt-get"}.get(name, "true")):
        print(f"{name}: skipped: there is no program for it")
        return 77
    with tempfile.TemporaryDirectory() as folder:
        (pathlib.Path(folder) / "locks").mkdir()
        checks[name](pathlib.Path(folder))
    print(f"{name}: fine")
    return 0


if __name__ == "__main__":
    sys.exit(main())
