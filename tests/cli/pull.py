#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Zenith authors
# SPDX-License-Identifier: Apache-2.0
"""zenith pull against a server of our own on the loopback: good, bad and broken replies.

    pull.py --zenith PATH

What must succeed needs the published files (ZENITH_TEST_WEIGHTS, default ../shared/weights); without them these
checks are left out, and the code is 77.
"""
import argparse
import hashlib
import http.server
import json
import os
import pathlib
import subprocess
import tempfile
import threading

ROOT = pathlib.Path(__file__).resolve().parents[2]
WEIGHTS = pathlib.Path(os.environ.get("ZENITH_TEST_WEIGHTS", ROOT.parent / "shared" / "weights"))
FILES = ("taesd_encoder.safetensors", "taesd_decoder.safetensors")


class Server(http.server.BaseHTTPRequestHandler):
    """/MODE/.../FILE; what it does depends on the mode. requests: (mode, file, range) of each."""
    requests = []
    files = {}
    lock = threading.Lock()

    def do_GET(self):
        mode, name = self.path.split("/")[1], self.path.split("/")[-1]
        wanted = self.headers.get("Range")
        with self.lock:
            before = sum(1 for m, n, _ in self.requests if (m, n) == (mode, name))
            self.requests.append((mode, name, wanted))
        data = self.files.get(name, b"")
        if mode == "missing":
            self.send_error(404)
        elif mode == "busy":
            self.send_error(503)
        elif mode == "moved":
            self.send_response(302)
            self.send_header("Location", self.path.replace("/moved/", "/plain/"))
            self.end_headers()
        elif mode == "wrong":
            self.reply(bytes(len(data)), wanted)
        elif mode == "long":
            self.reply(data + b"more", wanted)
        elif mode == "norange":
            self.reply(data, None)
        elif mode == "once" and before == 0:    # breaks once
            self.reply(data, wanted, cut=len(data) // 2)
        elif mode == "often":                   # breaks every time, after another tenth
            self.reply(data, wanted, cut=len(data) // 10)
        else:
            self.reply(data, wanted)

    def reply(self, data, wanted, cut=None):
        begin = int(wanted.removeprefix("bytes=").rstrip("-")) if wanted else 0
        if wanted and begin >= len(data):
            self.send_response(416)
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        self.send_response(206 if wanted else 200)
        if wanted:
            self.send_header("Content-Range", f"bytes {begin}-{len(data) - 1}/{len(data)}")
        self.send_header("Content-Length", str(len(data) - begin))
        self.end_headers()
        try:
            self.wfile.write(data[begin:] if cut is None else data[begin:begin + cut])
        except ConnectionError:
            pass
        self.close_connection = True

    def log_message(self, *_):
        pass


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--zenith", type=pathlib.Path, default=ROOT / "build/dev/zenith")
    zenith = parser.parse_args().zenith.resolve()
    real = all((WEIGHTS / name).is_file() for name in FILES)
    # Where the true files are not there, others of their size do for what must fail.
    sizes = dict(zip(FILES, (2450568, 2450590)))
    Server.files = {n: (WEIGHTS / n).read_bytes() if real else bytes(sizes[n]) for n in FILES}
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Server)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    address = f"http://127.0.0.1:{server.server_address[1]}"
    failures = []

    def check(condition, what):
        if not condition:
            failures.append(what)
            print("failed:", what)

    def pull(folder, mode, *more, endpoint=True):
        environment = {"HOME": str(folder), "PATH": os.environ["PATH"], "LC_ALL": "C", "no_proxy": "127.0.0.1"}
        environment |= {k: v for k, v in os.environ.items() if k.endswith("SAN_OPTIONS") or k == "OMP_WAIT_POLICY"}
        options = ["--endpoint", f"{address}/{mode}"] if endpoint else []
        if not endpoint:
            environment["ZENITH_ENDPOINT"] = f"{address}/{mode}/"
        Server.requests.clear()
        return subprocess.run([zenith, "pull", "taesd", *options, *more], cwd=folder, env=environment,
                              capture_output=True, text=True, timeout=120)

    def names(folder):
        return sorted(p.name for p in pathlib.Path(folder).iterdir())

    def whole(folder):
        return names(folder) == sorted(FILES) and all(
            (pathlib.Path(folder) / n).read_bytes() == Server.files[n] for n in FILES)

    with tempfile.TemporaryDirectory() as top:
        def fresh(name):
            folder = pathlib.Path(top) / name
            folder.mkdir()
            return folder

        # What must fail, with nothing left behind.
        for mode, part, code in (("missing", "404", 1), ("busy", "503", 1), ("wrong", "SHA-256", 1), ("long", "longer", 1)):
            folder = fresh(mode)
            done = pull(folder, mode, "-o", "weights")
            check(done.returncode == code, f"{mode}: exit code {done.returncode}")
            check(part in done.stderr, f"{mode}: '{part}' is not in: {done.stderr}")
            check(names(folder / "weights") == [], f"{mode}: left {names(folder / 'weights')}")
        folder = fresh("off")
        done = subprocess.run([zenith, "pull", "taesd", "-o", ".", "--endpoint", "http://127.0.0.1:1"], cwd=folder,
                              capture_output=True, text=True, timeout=120, env=os.environ | {"no_proxy": "127.0.0.1"})
        check(done.returncode == 1 and "cannot fetch" in done.stderr and names(folder) == [], f"off: {done.stderr}")
        done = pull(folder, "plain", "--endpoint", "file:///etc")
        check(done.returncode == 1, "a file is no endpoint")
        if not real:
            print(f"the rest is skipped: no published files in {WEIGHTS}")
            return 1 if failures else 77

        # What must succeed.
        folder = fresh("plain")
        done = pull(folder, "plain", endpoint=False)
        check(done.returncode == 0 and whole(folder / ".local/share/zenith"), f"plain: {done.stderr}")
        done = pull(folder, "plain", "--json", endpoint=False)
        facts = [json.loads(line) for line in done.stdout.splitlines()]
        check(Server.requests == [] and [f["fetched"] for f in facts] == [False, False], f"again: {done.stdout}")
        check(all(f["sha256"] == hashlib.sha256(Server.files[f["file"]]).hexdigest() for f in facts), "again: sha256")
        folder = fresh("moved")
        done = pull(folder, "moved", "-o", "weights")
        check(done.returncode == 0 and whole(folder / "weights"), f"moved: {done.stderr}")

        # A connection that breaks once is taken up again at once.
        folder = fresh("once")
        done = pull(folder, "once", "-o", "weights")
        half = len(Server.files[FILES[0]]) // 2
        check(done.returncode == 0 and whole(folder / "weights"), f"once: {done.stderr}")
        check(("once", FILES[0], f"bytes={half}-") in Server.requests, f"once: asked for {Server.requests}")

        # One that breaks too often leaves a part, which the next call goes on with.
        folder = fresh("often")
        done = pull(folder, "often", "-o", "weights")
        check(done.returncode == 1 and "run the command again" in done.stderr, f"often: {done.stderr}")
        part = folder / "weights" / (FILES[0] + ".part")
        check(names(folder / "weights") == [part.name], f"often: left {names(folder / 'weights')}")
        kept = part.stat().st_size
        check(0 < kept < sizes[FILES[0]], f"often: kept {kept}")
        done = pull(folder, "plain", "-o", "weights")
        check(done.returncode == 0 and whole(folder / "weights"), f"resumed: {done.stderr}")
        check(Server.requests[0] == ("plain", FILES[0], f"bytes={kept}-"), f"resumed: asked for {Server.requests}")

        # Parts that do not help: a server without ranges, wrong bytes, too many bytes.
        for mode, content in (("norange", Server.files[FILES[0]][:1000]), ("plain", bytes(3 << 20))):
            folder = fresh(f"part-{mode}")
            (folder / (FILES[0] + ".part")).write_bytes(content)
            done = pull(folder, mode, "-o", ".")
            check(done.returncode == 0 and whole(folder), f"part-{mode}: {done.stderr}")
        folder = fresh("part-wrong")
        (folder / (FILES[0] + ".part")).write_bytes(b"x" * 1000)
        done = pull(folder, "plain", "-o", ".")
        check(done.returncode == 1 and names(folder) == [], f"part-wrong: {done.stderr} {names(folder)}")

        # Another file under that name is not replaced unasked.
        folder = fresh("there")
        (folder / FILES[0]).write_text("mine")
        done = pull(folder, "plain", "-o", ".")
        check(done.returncode == 1 and "--force" in done.stderr and (folder / FILES[0]).read_text() == "mine", f"there: {done.stderr}")
        done = pull(folder, "plain", "-o", ".", "--force")
        check(done.returncode == 0 and whole(folder), f"force: {done.stderr}")
    print(f"{len(failures)} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    raise SystemExit(main())
