# SPDX-FileCopyrightText: 2026 The Zenith authors
# SPDX-License-Identifier: Apache-2.0
"""What benches share: processes that answer lines, programs whose memory and time are measured, weights that are made when they are
first needed. The packages of others are those of tools/environment.py."""
import contextlib
import json
import os
import pathlib
import resource
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
CACHE = pathlib.Path.home() / ".cache/zenith-bench"
sys.path[:0] = [str(ROOT / "tools"), str(ROOT / "tests")]
import environment  # noqa: E402
from lib import npy, safetensors  # noqa: E402,F401


class Failure(Exception):
    """Something could not be run; the message says what."""


class Server:
    """A process that answers lines with lines of JSON."""

    def __init__(self, command, environment=None):
        self.log = tempfile.TemporaryFile()
        self.process = subprocess.Popen([str(part) for part in command], env=environment, cwd=ROOT, stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, stderr=self.log, text=True)

    def read(self):
        line = self.process.stdout.readline()
        if not line:
            self.process.wait()
            self.log.seek(0)
            lines = self.log.read().decode(errors="replace").strip().splitlines()
            raise Failure(lines[-1] if lines else f"ended with code {self.process.returncode}")
        return json.loads(line)

    def ask(self, command):
        with contextlib.suppress(BrokenPipeError):  # it died: read() says why
            self.process.stdin.write(f"{command}\n")
            self.process.stdin.flush()
        return self.read()

    def try_ask(self, command):
        """None of a program that could not start."""
        try:
            return self.ask(command)
        except Failure:
            return None

    def close(self):
        with contextlib.suppress(BrokenPipeError):
            self.process.stdin.close()
        self.process.wait()
        self.process.stdout.close()
        self.log.close()


def measured(command):
    """Standard output of a program, the peak of its resident bytes, and its CPU seconds."""
    with subprocess.Popen([str(word) for word in command], stdout=subprocess.PIPE, text=True) as process:
        output = process.stdout.read()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        sys.exit(f"failed: {' '.join(map(str, command))}")
    return output, usage.ru_maxrss * 1024, usage.ru_utime + usage.ru_stime


def serve_steps(step, images, warm=2):
    """A peer's side of train.py: says "ready", then for each line "N" trains N steps and answers with the images per second; at the
    end of its input, the peak of its memory in MB."""
    for _ in range(warm):
        step()
    print("ready", flush=True)
    for line in sys.stdin:
        begin = time.perf_counter()
        for _ in range(int(line)):
            step()
        print(int(line) * images / (time.perf_counter() - begin), flush=True)
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024, flush=True)


def random_vae(model):
    """The folder of a model of make_vae.py, which is made when it is first needed."""
    folder = CACHE / "vae" / model
    if not (folder / "config.json").exists():
        print(f"writing random weights of {model} into {folder} (first use)", file=sys.stderr, flush=True)
        subprocess.run([environment.python(), ROOT / "bench/make_vae.py", "--model", model, folder], check=True)
    return folder
