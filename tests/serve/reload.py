#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Zenith authors
# SPDX-License-Identifier: Apache-2.0
"""SIGHUP to `zenith serve`: the files of models are opened again while clients ask. Every answer is one of the two models', none
fails, and a file that does not open changes nothing.

    reload.py [--zenith PATH] [TEST..]
"""
import json
import os
import pathlib
import random
import shutil
import signal
import struct
import sys
import tempfile
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import serve  # noqa: E402
from serve import ROOT, TENSOR, TINY, Server, check, f32, make_latent, query, ramp  # noqa: E402


def change(data):
    """A safetensors file with other weights: each tenth number is halved, in whatever type of floats."""
    size = struct.unpack("<Q", data[:8])[0]
    head = json.loads(data[8:8 + size])
    out = bytearray(data)
    for name, tensor in head.items():
        if name == "__metadata__":
            continue
        kind = {"F32": "f", "F16": "e"}[tensor["dtype"]]
        begin, end = (8 + size + each for each in tensor["data_offsets"])
        values = list(struct.unpack(f"<{(end - begin) // struct.calcsize(kind)}{kind}", out[begin:end]))
        values[::10] = [v / 2 for v in values[::10]]
        out[begin:end] = struct.pack(f"<{len(values)}{kind}", *values)
    return bytes(out)


class Weights:
    """A folder of weights that are put in place as an operator should: beside it, and then renamed."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder) / "weights"
        shutil.copytree(TINY, self.folder)
        self.file = self.folder / "diffusion_pytorch_model.safetensors"
        first = self.file.read_bytes()
        self.versions = [first, change(first)]

    def put(self, data):
        beside = self.file.with_suffix(".new")
        beside.write_bytes(data)
        os.replace(beside, self.file)


def reload(server, result="ok"):
    """Asks for it, and waits for its end; what the metric says of it then."""
    name = f'zenith_model_reloads_total{{model="taesd",result="{result}"}}'
    before, begin = server.metric(name), time.monotonic()
    server.process.send_signal(signal.SIGHUP)
    while server.metric(name) == before:
        if time.monotonic() - begin > 60:
            sys.exit(f"the reload does not end: {server.ask('GET', '/metrics')[2].decode()}")
        time.sleep(0.02)


def requests():
    """Paths and bodies that the changed file has other answers for."""
    latent = f32(make_latent(4, 8, 8))
    return [("/remote/taesd/decode" + query((1, 4, 8, 8), do_scaling=True, output_type="pt"), latent, TENSOR),
            ("/remote/taesd/encode?do_scaling=true", ramp(48, 40), {}),
            ("/v1/reconstruct", ramp(64, 64), {})]


def answers(server):
    out = []
    for path, body, headers in requests():
        code, _, answer = server.ask("POST", path, body, headers)
        check(code == 200, f"{path}: {code} {answer[:200]}")
        out.append(answer)
    return out


def load():
    with tempfile.TemporaryDirectory() as folder:
        weights = Weights(folder)
        with Server("--dtype", "f32", "--streams", "2", "--threads", "1", models=[f"taesd={weights.folder}"]) as server:
            known = [answers(server)]
            weights.put(weights.versions[1])
            check(answers(server) == known[0], "a file is not looked at before it is asked for")
            reload(server)
            known.append(answers(server))
            check(all(a != b for a, b in zip(*known)), "other weights have other answers")
            asked, ending, seen = requests(), threading.Event(), [set(), set(), set()]

            def client(seed):
                chosen = random.Random(seed)
                while not ending.is_set():
                    i = chosen.randrange(len(asked))
                    code, _, answer = server.ask("POST", *asked[i])
                    which = [k for k in range(2) if answer == known[k][i]]
                    check(code == 200 and len(which) == 1, f"under load: {code} {answer[:80]}")
                    seen[i].update(which)
            threads = [threading.Thread(target=client, args=(i,)) for i in range(6)]
            for thread in threads:
                thread.start()
            for i in range(6):
                weights.put(weights.versions[i % 2])
                reload(server)
                time.sleep(0.1)
            ending.set()
            for thread in threads:
                thread.join()
            check(all(each == {0, 1} for each in seen), f"both models answered under load: {seen}")
            check(answers(server) == known[1], "the last one stays")
            check(server.metric("zenith_queue_depth") == 0, "the queue is empty")


def broken():
    with tempfile.TemporaryDirectory() as folder:
        weights = Weights(folder)
        server = Server("--dtype", "f32", models=[f"taesd={weights.folder}", f"zenith-f1-fast={ROOT / 'models'}"])
        with server:
            paths = [(path.replace("/v1/reconstruct", "/v1/reconstruct?model=taesd"), *rest) for path, *rest in requests()]
            known = [server.ask("POST", *each)[2] for each in paths]
            whole = weights.versions[0]
            for data in (whole[:len(whole) // 2], b"", b"\xff" * 100, whole[:8] + b"{" * 2000 + whole[2008:]):
                weights.put(data)
                reload(server, "failed")
                check([server.ask("POST", *each)[2] for each in paths] == known, "the old one answers")
            weights.file.unlink()
            reload(server, "failed")
            check([server.ask("POST", *each)[2] for each in paths] == known, "the old one answers without its file")
            others = server.metric('zenith_model_reloads_total{model="zenith-f1-fast",result="ok"}')
            check(others >= 4, f"the other model is opened all the same: {others}")
            weights.put(weights.versions[1])
            reload(server)
            check([server.ask("POST", *each)[2] for each in paths] != known, "then the new one")
            server.process.send_signal(signal.SIGTERM)
            said = server.process.stderr.read()
        check(said.count("taesd: keeps the weights that it has: ") == 5, f"the log: {said}")
        check("taesd: its file was opened again" in said, f"the log: {said}")


TESTS = [load, broken]


if __name__ == "__main__":
    sys.exit(serve.run_tests(__doc__, TESTS))
