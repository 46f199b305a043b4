#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Zenith authors
# SPDX-License-Identifier: Apache-2.0
"""Two servers behind nginx, by examples/operate/nginx.conf: under load one is killed and started again, then the other is ended by
SIGTERM. Every request of clients that try again must be answered, in the bytes that a server alone answers. Needs Debian's nginx.

    tools/peers/check_proxy.py [--seconds 20] [--clients 8]
"""
import argparse
import http.client
import pathlib
import random
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests"))
from lib import npy  # noqa: E402
from lib.process import free_port  # noqa: E402

MODELS = ["taesd=" + str(ROOT / "tests/golden/tiny_diffusers"), "zenith-f1-fast=" + str(ROOT / "models")]
TRIES = 20


def start_server(options, port):
    line = [options.build / "zenith", "serve", *MODELS, "--port", str(port), "--quiet", "--dtype", "f32", "--queue-seconds", "600"]
    process = subprocess.Popen([str(x) for x in line], stderr=subprocess.PIPE, text=True)
    if "listening" not in process.stderr.readline():
        sys.exit("a server did not start")
    return process


def write_config(folder, ports, entrance):
    text = (ROOT / "examples/operate/nginx.conf").read_text()
    for before, after in ((8188, ports[0]), (8189, ports[1]), (8080, entrance)):
        text = text.replace(f"127.0.0.1:{before}", f"127.0.0.1:{after}")
    path = folder / "nginx.conf"
    path.write_text(f"daemon off;\npid {folder}/nginx.pid;\nerror_log {folder}/error.log;\n" + text)
    return path


def wait_for(port):
    for _ in range(100):
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.05)
    sys.exit(f"nobody listens on port {port}")


def ask(port, path, body):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    try:
        connection.request("POST", path, body)
        answer = connection.getresponse()
        return answer.status, answer.read()
    finally:
        connection.close()


def make_requests(port):
    """[(path, body, answer)] of both models and three sizes, asked of a server alone."""
    made = []
    for model, channels in (("taesd", 4), ("zenith-f1-fast", 16)):
        for side in (4, 8, 12):
            shape, drawn = (1, channels, side, side), random.Random(side)
            count = channels * side * side
            numbers = struct.pack(f"<{count}f", *(drawn.gauss(0, 1) for _ in range(count)))
            words = "&".join([f"shape={n}" for n in shape] + ["dtype=float32", "do_scaling=true", "image_format=png"])
            for path, body in ((f"/v1/decode?model={model}", npy.head(shape) + numbers), (f"/remote/{model}/decode?{words}", numbers)):
                code, answer = ask(port, path, body)
                if code != 200:
                    sys.exit(f"{path}: {code} {answer[:200]}")
                made.append((path, body, answer))
    return made


class Clients:
    def __init__(self, port, requests):
        self.port, self.requests, self.lock = port, requests, threading.Lock()
        self.answered = self.repeated = 0
        self.failures = []

    def one(self, chosen):
        path, body, expected = chosen.choice(self.requests)
        for attempt in range(TRIES):
            try:
                code, answer = ask(self.port, path, body)
            except (OSError, http.client.HTTPException) as error:
                code, answer = 0, str(error).encode()
            if code == 200:
                break
            time.sleep(0.1 * (attempt + 1))
        with self.lock:
            self.answered += code == 200
            self.repeated += attempt
            if code != 200:
                self.failures.append(f"{path}: {code} {answer[:100]}")
            elif answer != expected:
                self.failures.append(f"{path}: other bytes")

    def run(self, count, end):
        def client(seed):
            chosen = random.Random(seed)
            while time.monotonic() < end:
                self.one(chosen)
        threads = [threading.Thread(target=client, args=(i,)) for i in range(count)]
        for thread in threads:
            thread.start()
        return threads


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=20)
    parser.add_argument("--clients", type=int, default=8)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build" / "release")
    options = parser.parse_args()
    if shutil.which("nginx") is None:
        sys.exit("there is no nginx: apt-get install nginx-light")
    ports, entrance = [free_port(), free_port()], free_port()
    with tempfile.TemporaryDirectory() as folder:
        servers = [start_server(options, port) for port in ports]
        proxy = subprocess.Popen(["nginx", "-c", str(write_config(pathlib.Path(folder), ports, entrance))])
        try:
            wait_for(entrance)
            clients = Clients(entrance, make_requests(ports[0]))
            threads = clients.run(options.clients, time.monotonic() + options.seconds)
            time.sleep(options.seconds * 0.25)
            servers[0].kill()
            servers[0].wait()
            time.sleep(options.seconds * 0.25)
            servers[0] = start_server(options, ports[0])
            time.sleep(options.seconds * 0.2)
            servers[1].send_signal(signal.SIGTERM)
            drained = time.monotonic()
            code = servers[1].wait(timeout=60)
            drained = time.monotonic() - drained
            for thread in threads:
                thread.join()
        finally:
            for process in (*servers, proxy):
                if process.poll() is None:
                    process.terminate()
                process.wait(timeout=60)
    if code != 0:
        clients.failures.append(f"the server that was ended: exit code {code}")
    print(f"{clients.answered} requests answered in {options.seconds:g} s, {clients.repeated} tried again; one server killed and started again, "
          f"the other ended in {drained:.1f} s")
    for text in clients.failures[:10]:
        print("failed:", text)
    return 1 if clients.failures or clients.answered == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
