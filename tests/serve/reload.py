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
from lib import safetensors  # noqa: E402
from lib.pictures import ramp  # noqa: E402
from lib.process import join_threads, start_threads, wait_until  # noqa: E402
from serve import ROOT, TENSOR, TINY, Server, check, f32, make_latent, query  # noqa: E402


PIPELINE = pathlib.Path(os.environ.get("ZENITH_TEST_GOLDEN", ROOT.parent / "shared/reference/golden/out")) / "pipeline"
JSON = {"Content-Type": "application/json"}


def change(data, only=""):
    """A safetensors file with other weights: of tensors whose names begin so each tenth number is halved, or zero where it has 8 bits."""
    tensors = safetensors.unpack(data)
    for name, (dtype, shape, old) in tensors.items():
        if not name.startswith(only):
            continue
        if dtype == "F8_E4M3":
            new = bytearray(old)
            new[::10] = bytes(len(new[::10]))
        else:
            kind = {"F32": "f", "F16": "e"}[dtype]
            values = list(struct.unpack(f"<{len(old) // struct.calcsize(kind)}{kind}", old))
            values[::10] = [v / 2 for v in values[::10]]
            new = struct.pack(f"<{len(values)}{kind}", *values)
        tensors[name] = dtype, shape, bytes(new)
    return safetensors.pack(tensors, safetensors.split(data)[0].get("__metadata__"))


def put_in(file, data):
    """Puts a file in place as an operator should: written beside it, and then renamed."""
    beside = file.with_suffix(".new")
    beside.write_bytes(data)
    os.replace(beside, file)


class Weights:
    """A folder of weights, and two versions of its file."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder) / "weights"
        shutil.copytree(TINY, self.folder)
        self.file = self.folder / "diffusion_pytorch_model.safetensors"
        first = self.file.read_bytes()
        self.versions = [first, change(first)]

    def put(self, data):
        put_in(self.file, data)


def reload(server, result="ok", model="taesd"):
    """Asks for it, and waits for its end; what the metric says of it then."""
    name = f'zenith_model_reloads_total{{model="{model}",result="{result}"}}'
    before = server.metric(name)
    server.process.send_signal(signal.SIGHUP)
    wait_until(lambda: server.metric(name) != before, lambda: f"the reload ends: {server.ask('GET', '/metrics')[2].decode()}")



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
            threads = start_threads(client, [(i,) for i in range(6)])
            for i in range(6):
                weights.put(weights.versions[i % 2])
                reload(server)
                time.sleep(0.1)
            ending.set()
            join_threads(threads)
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
        check("taesd: its files were opened again" in said, f"the log: {said}")


def change_under_load(server, model, put, versions, path, body, headers):
    """A model whose answers take longer: two clients ask while its file changes, none waits for the other, and each gets one of the two."""
    def ask():
        code, _, answer = server.ask("POST", path, body, headers)
        check(code == 200, f"{path}: {code} {answer[:200]}")
        return json.dumps(json.loads(answer)["data"]).encode() if headers == JSON else answer
    known = [ask()]
    put(versions[1])
    reload(server, model=model)
    known.append(ask())
    check(known[0] != known[1], "other weights have other answers")
    ending, seen = threading.Event(), []

    def client():
        while not ending.is_set():
            seen.append(known.index(ask()))
    threads = start_threads(client, [() for _ in range(2)])
    for i in range(4):
        put(versions[i % 2])
        reload(server, model=model)
        before, begin = len(seen), time.monotonic()
        while i % 2 not in seen[before:] and time.monotonic() - begin < 60:
            time.sleep(0.05)
    ending.set()
    join_threads(threads)
    check(set(seen) == {0, 1}, f"both models answered under load: {seen}")
    put(versions[1][:len(versions[1]) // 2])
    reload(server, "failed", model)
    check(ask() == known[1], "the old one answers where the new one cannot be opened")


def pipelines():
    with tempfile.TemporaryDirectory() as folder:
        place = pathlib.Path(folder) / "words"
        shutil.copytree(PIPELINE, place, copy_function=shutil.copyfile)
        for each in [place, *place.iterdir()]:
            each.chmod(0o755)
        file = place / "text_encoder/model.safetensors"
        whole = file.read_bytes()
        asked = json.dumps({"prompt": "a cat", "size": "64x64", "seed": 5, "num_inference_steps": 2, "response_format": "b64_json"})
        with Server("--dtype", "f32", "--threads", "1", models=[place]) as server:
            change_under_load(server, "words", lambda data: put_in(file, data), [whole, change(whole)], "/v1/images/generations", asked, JSON)
            check(server.metric("zenith_generations ") == 0, "nothing is left")


def faces():
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "faces.safetensors"
        whole = (ROOT / "models/zenith-avatars64.safetensors").read_bytes()
        file.write_bytes(whole)
        with Server("--dtype", "f32", "--threads", "1", models=[f"faces={file}"]) as server:
            change_under_load(server, "faces", lambda data: put_in(file, data), [whole, change(whole, "out.")],
                              "/v1/diffae/sample?seed=3&steps=4&prior_steps=4", b"", {})


def labels():
    """A model is called what its owner likes, and /metrics stays readable."""
    with Server("--threads", "1", models=[f'a "b"\\c={ROOT / "models/zenith-avatars64.safetensors"}']) as server:
        text = server.ask("GET", "/metrics")[2].decode()
        check('zenith_model_reloads_total{model="a \\"b\\"\\\\c",result="ok"} 0' in text.splitlines(),
              [line for line in text.splitlines() if "reloads_total{" in line])


TESTS = [load, broken, pipelines, faces, labels]


if __name__ == "__main__":
    sys.exit(serve.run_tests(__doc__, TESTS, lambda name: name == "pipelines" and not PIPELINE.is_dir() and f"there is no {PIPELINE}"))
