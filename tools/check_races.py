#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Zenith authors
# SPDX-License-Identifier: Apache-2.0
"""Many requests at once against a server with the thread sanitizer: decodes, jobs, metrics, wrong bodies, clients that leave, and models
that are opened again (SIGHUP) all the while. A race ends the server, and this with exit code 1.

    cmake --preset tsan && cmake --build --preset tsan -- zenith_program
    tools/check_races.py [--requests 10000] [--build build/tsan]
"""
import argparse
import collections
import http.client
import json
import os
import pathlib
import random
import signal
import struct
import subprocess
import sys
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
WORDS = "shape=1&shape=4&shape=2&shape=2&dtype=float32&do_scaling=true&image_format=png"
BODY = struct.pack("<16f", *range(16))
DECODE, JOB = f"/remote/taesd/decode?{WORDS}", f"/v1/jobs?route=/remote/taesd/decode&{WORDS}"
KINDS = [(55, "POST", DECODE, BODY), (10, "POST", JOB, BODY), (7, "GET", "/metrics", None), (8, "GET", "/v1/jobs", None),
         (5, "GET", "/v1/models", None), (5, "POST", DECODE, BODY[:20]), (5, "POST", "leave", BODY), (5, "GET", "/nothing", None)]


class Load:
    def __init__(self, port, count):
        self.port, self.left, self.lock, self.codes = port, count, threading.Lock(), collections.Counter()

    def take(self):
        with self.lock:
            self.left -= 1
            return self.left >= 0

    def count(self, what):
        with self.lock:
            self.codes[what] += 1

    def one(self, connection, chosen):
        _, method, path, body = chosen.choices(KINDS, [kind[0] for kind in KINDS])[0]
        if path == "leave":
            connection.request(method, DECODE, body)
            connection.close()
            return self.count("left")
        connection.request(method, path, body)
        answer = connection.getresponse()
        data = answer.read()
        self.count(answer.status)
        if answer.status == 202 and chosen.random() < 0.5:
            connection.request(chosen.choice(["GET", "DELETE"]), f"/v1/jobs/{json.loads(data)['id']}")
            connection.getresponse().read()
        return None

    def client(self, seed):
        chosen, connection = random.Random(seed), http.client.HTTPConnection("127.0.0.1", self.port, timeout=300)
        while self.take():
            try:
                self.one(connection, chosen)
            except (OSError, http.client.HTTPException) as error:
                self.count(type(error).__name__)
                connection.close()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--requests", type=int, default=10000)
    parser.add_argument("--clients", type=int, default=8)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build" / "tsan")
    options = parser.parse_args()
    line = [str(options.build / "zenith"), "serve", f"taesd={ROOT / 'tests/golden/tiny_diffusers'}", "--port", "0", "--quiet", "--dtype", "f32",
            "--batch", "4"]
    server = subprocess.Popen(line, stderr=subprocess.PIPE, text=True, env=os.environ | {"TSAN_OPTIONS": "halt_on_error=1"})
    load = Load(int(server.stderr.readline().rsplit(":", 1)[1]), options.requests)
    said = []
    reader = threading.Thread(target=lambda: said.extend(server.stderr), daemon=True)
    clients = [threading.Thread(target=load.client, args=(i,)) for i in range(options.clients)]
    for thread in (reader, *clients):
        thread.start()
    reloads = 0
    while any(thread.is_alive() for thread in clients) and server.poll() is None:
        time.sleep(2)
        server.send_signal(signal.SIGHUP)
        reloads += 1
    server.terminate()
    code = server.wait(timeout=300)
    reader.join(10)
    print(f"{options.requests} requests, {dict(load.codes)}, {reloads} reloads, exit code {code}")
    if code != 0:
        print("".join(said[-80:]))
    return 0 if code == 0 and load.codes[200] > 0 else 1


if __name__ == "__main__":
    sys.exit(main())
