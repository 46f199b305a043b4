# SPDX-FileCopyrightText: 2026 The Zenith authors
# SPDX-License-Identifier: Apache-2.0
"""A NATS server for tests (tools/bootstrap puts it into .deps), and as much of its protocol as they need to look into it."""
import json
import os
import pathlib
import socket
import subprocess
import sys
import time

sys.path.insert(1, str(pathlib.Path(__file__).resolve().parents[1]))
from lib.process import free_port  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = pathlib.Path(os.environ.get("ZENITH_DEPS", ROOT / ".deps")) / "nats-server"


class Server:
    """Can be killed and started again: its streams are on the disk, and synced before they are acknowledged."""

    def __init__(self, folder, host="127.0.0.1"):
        assert PROGRAM.exists(), f"there is no {PROGRAM}: tools/bootstrap fetches it"
        self.host, self.port, self.process = host, free_port(), None
        self.config = folder / "nats.conf"
        self.log = folder / "nats.log"
        self.config.write_text(f'listen: "0.0.0.0:{self.port}"\nmax_payload: 65536\n'
                               f'jetstream {{ store_dir: "{folder}/nats", sync_interval: always }}\n')

    def start(self):
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen([PROGRAM, "-c", self.config], stdout=log, stderr=log)
        for _ in range(200):
            try:
                socket.create_connection((self.host, self.port), 1).close()
                return self
            except OSError:
                assert self.process.poll() is None, self.log.read_text()
                time.sleep(0.05)
        raise AssertionError("the server does not answer")

    def kill(self):
        if self.process:
            self.process.kill()
            self.process.wait()
            self.process = None

    def url(self, name):
        return f"nats://{self.host}:{self.port}/{name}"

    def connect(self):
        connection = socket.create_connection((self.host, self.port), 5)
        stream = connection.makefile("rwb")
        stream.readline()
        stream.write(b'CONNECT {"verbose":false,"pedantic":false,"headers":true,"no_responders":true}\r\n')
        return connection, stream

    def publish(self, subject, data):
        connection, stream = self.connect()
        with connection, stream:
            stream.write(b"PUB %s %d\r\n%s\r\nPING\r\n" % (subject.encode(), len(data), data))
            stream.flush()
            while (line := stream.readline()) != b"PONG\r\n":
                assert line, "the connection was closed"

    def ask(self, subject, data=b""):
        """The answer to a request, as JSON."""
        connection, stream = self.connect()
        with connection, stream:
            stream.write(b"SUB answer 1\r\nPUB %s answer %d\r\n%s\r\n" % (subject.encode(), len(data), data))
            stream.flush()
            while True:
                words = stream.readline().split()
                assert words, "the connection was closed"
                if words[0] == b"MSG":
                    return json.loads(stream.read(int(words[-1])))
                if words[0] == b"PING":
                    stream.write(b"PONG\r\n")
                    stream.flush()

    def messages(self, stream):
        """How many a stream has."""
        return self.ask(f"$JS.API.STREAM.INFO.{stream}")["state"]["messages"]

    def __enter__(self):
        return self.start()

    def __exit__(self, *_):
        self.kill()
