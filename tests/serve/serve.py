#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Zenith authors
# SPDX-License-Identifier: Apache-2.0
"""`zenith serve` on a free port of this machine, asked by plain Python: every address, the bytes of its answers against those
of `zenith decode` and `zenith encode`, wrong and hostile requests, limits, keys, clients that leave, and its end under load.

    serve.py [--zenith PATH] [TEST..]
"""
import argparse
import base64
import collections
import contextlib
import http.client
import json
import os
import pathlib
import random
import resource
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
from lib import npy as numpy_file, safetensors  # noqa: E402
from lib.pictures import png, ramp  # noqa: E402
from lib.process import join_threads, start_threads, wait_until  # noqa: E402

TINY = ROOT / "tests/golden/tiny_diffusers"
DATA = ROOT / "tests/cli/data"
MODELS = [f"taesd={TINY}", f"zenith-f1-fast={ROOT / 'models'}"]
FAILURES = []
ZENITH = None


def check(condition, what):
    if not condition:
        FAILURES.append(what)
        print("failed:", what)


def environment():
    keep = ("PATH", "HOME", "OMP_WAIT_POLICY", "ZENITH_CPU", "LD_LIBRARY_PATH")
    return {k: v for k, v in os.environ.items() if k in keep or k.endswith("SAN_OPTIONS")}


class Server:
    """A server as a context; its options are those of `zenith serve`. Measuring what batches pay takes most of a start: one that
    `measures` does so, but under a sanitizer."""

    def __init__(self, *options, models=None, measures=False):
        if "--batch" not in options and (not measures or os.environ.get("ZENITH_TEST_QUICK")):
            options += ("--batch", "4")
        self.command = [str(ZENITH), "serve", *(models or MODELS), "--port", "0", "--quiet", "--queue-seconds", "3000", *options]

    def __enter__(self):
        self.process = subprocess.Popen(self.command, stderr=subprocess.PIPE, text=True, env=environment())
        line = self.process.stderr.readline()
        if "listening on" not in line:
            sys.exit(f"the server did not start: {line}{self.process.stderr.read()}")
        self.port = int(line.rsplit(":", 1)[1])
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        _, said = self.process.communicate(timeout=120)
        check(self.process.returncode == 0, f"the server ended with {self.process.returncode}: {said}")

    def ask(self, method, path, body=None, headers=None, chunked=False):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=300)
        try:
            connection.request(method, path, body=body, headers=headers or {}, encode_chunked=chunked)
            answer = connection.getresponse()
            return answer.status, answer.headers, answer.read()
        finally:
            connection.close()

    def metric(self, name, headers=None):
        text = self.ask("GET", "/metrics", headers=headers)[2].decode()
        return sum(float(line.rsplit(" ", 1)[1]) for line in text.splitlines() if line.startswith(name))


def zenith(*arguments):
    done = subprocess.run([str(ZENITH), *map(str, arguments)], capture_output=True, text=True, env=environment())
    if done.returncode != 0:
        sys.exit(f"zenith {arguments}: {done.stderr}")


def make_latent(channels, height, width, seed=1, count=1):
    random.seed(seed)
    return [random.gauss(0, 1) for _ in range(count * channels * height * width)]


def f32(values):
    return struct.pack(f"<{len(values)}f", *values)


def bf16(values):
    """As float32, rounded to the nearest, ties to even."""
    out = bytearray()
    for value in values:
        bits = struct.unpack("<I", struct.pack("<f", value))[0]
        out += struct.pack("<H", (bits + 0x7FFF + (bits >> 16 & 1)) >> 16)
    return bytes(out)


def f16(values):
    return struct.pack(f"<{len(values)}e", *values)


def npy(values, shape):
    return numpy_file.head(shape) + f32(values)


def read_npy(data):
    numbers = numpy_file.split(data)[1]
    return struct.unpack(f"<{len(numbers) // 4}f", numbers)


def query(shape, dtype="float32", **more):
    words = [f"shape={n}" for n in shape] + [f"dtype={dtype}"] + [f"{k}={v}" for k, v in more.items()]
    return "?" + "&".join(words)


TENSOR = {"Content-Type": "tensor/binary"}


# --- tests ---------------------------------------------------------------------------------------

def pages():
    with Server(measures=True) as server:
        for path in ("/health", "/healthz", "/v2/health/live", "/v2/health/ready"):
            code, headers, body = server.ask("GET", path)
            check(code == 200 and json.loads(body)["status"] == "ok", f"{path}: {code} {body}")
        code, headers, body = server.ask("GET", "/version", headers={"X-Request-Id": "mine-1"})
        check(json.loads(body)["name"] == "zenith" and headers["X-Request-Id"] == "mine-1", "version")
        code, headers, body = server.ask("GET", "/v1/models")
        models = json.loads(body)["data"]
        check([m["id"] for m in models] == ["taesd", "zenith-f1-fast"], f"models: {body}")
        check(models[1]["latent_channels"] == 16 and models[0]["factor"] == 8, "facts of models")
        code, headers, body = server.ask("HEAD", "/health")
        check(code == 200 and body == b"", "HEAD")
        code, headers, body = server.ask("GET", "/metrics")
        text = body.decode()
        check(headers["Content-Type"].startswith("text/plain; version=0.0.4"), "type of metrics")
        for name in ("zenith_build_info{", 'zenith_http_requests_total{route="/v1/models",code="200"} 1',
                     "zenith_http_request_duration_seconds_bucket{", 'zenith_queue_depth{model="taesd",op="decode"} 0',
                     'zenith_model_loaded{model="zenith-f1-fast"} 1', "process_resident_memory_bytes ",
                     "process_open_fds ", "zenith_requests_rejected_total{"):
            check(name in text, f"no {name} in the metrics")


def remote_decode():
    values = make_latent(4, 8, 12)
    body = f32(values)
    with tempfile.TemporaryDirectory() as folder, Server() as server:
        folder = pathlib.Path(folder)
        (folder / "latent.npy").write_bytes(npy(values, (1, 4, 8, 12)))
        for ending in ("png", "jpg", "ppm", "npy"):
            zenith("decode", folder / "latent.npy", "-o", folder / f"out.{ending}", "-m", "taesd", "-w", TINY)
        files = {e: (folder / f"out.{e}").read_bytes() for e in ("png", "jpg", "ppm", "npy")}
        pixels, floats = files["ppm"][-96 * 64 * 3:], read_npy(files["npy"])

        def decode(shape, data, dtype="float32", accept=None, **more):
            headers = TENSOR | ({"Accept": accept} if accept else {})
            return server.ask("POST", "/remote/taesd/decode" + query(shape, dtype, **more), data, headers)

        shape = (1, 4, 8, 12)
        scaled = {"do_scaling": True}
        code, headers, answer = decode(shape, body, image_format="png", output_type="pil",
                                       partial_postprocess=False, accept="image/png", **scaled)
        check(code == 200 and headers["Content-Type"] == "image/png", f"png: {code} {answer[:200]}")
        check(answer == files["png"], "png is not that of zenith decode")
        answer = decode(shape, body, accept="image/jpeg", **scaled)[2]
        check(answer == files["jpg"], "jpg is not that of zenith decode")
        code, headers, answer = decode(shape, body, output_type="pt", partial_postprocess="True", **scaled)
        check(answer == pixels and headers["shape"] == "[1, 64, 96, 3]" and headers["dtype"] == "uint8", "partial")
        code, headers, answer = decode(shape, body, output_type="pt", **scaled)
        signed = [2 * v - 1 for v in struct.unpack(f"<{len(floats)}f", f32(floats))]
        check(answer == f32(signed) and headers["shape"] == "[1, 3, 64, 96]" and headers["dtype"] == "float32", "pt")
        code, headers, answer = decode(shape, body, output_type="pil", accept="tensor/binary", **scaled)
        check(answer == f32([min(max(v, 0), 1) for v in floats]), "pil with a processor")
        # The model's own factors are its space; others are applied by the server.
        answer = decode(shape, body, image_format="png", scaling_factor=0.18215)[2]
        check(answer == files["png"], "scaling_factor")
        raw = f32([v / 0.18215 for v in values])
        code, headers, answer = decode(shape, raw, output_type="pt", partial_postprocess=True)
        check(code == 200 and max(abs(a - b) for a, b in zip(answer, pixels)) <= 2, "scaled by the client")
        code, headers, answer = decode(shape, f32([v / 2 + 1 for v in values]), output_type="pt",
                                       partial_postprocess=True, scaling_factor=0.18215 / 2, shift_factor=-2 / 0.18215)
        check(code == 200 and max(abs(a - b) for a, b in zip(answer, pixels)) <= 2, "factors of the client")
        # Types, in the request and in the answer.
        for name, pack in (("float16", f16), ("bfloat16", bf16)):
            code, headers, answer = decode(shape, pack(values), dtype=name, output_type="pt", **scaled)
            wide = decode(shape, f32(widen(pack(values), name)), output_type="pt", **scaled)[2]
            expected = pack(struct.unpack(f"<{len(wide) // 4}f", wide))
            check(headers["dtype"] == name and answer == expected, name)
        # Several, and a dimension of time.
        code, headers, answer = decode((2, 4, 8, 12), body * 2, output_type="pt", partial_postprocess=True, **scaled)
        check(answer == pixels * 2 and headers["shape"] == "[2, 64, 96, 3]", "two at once")
        code, headers, answer = decode((1, 4, 1, 8, 12), body, output_type="pt", **scaled)
        check(answer == f32(signed) and headers["shape"] == "[1, 3, 1, 64, 96]", "one frame")
        check(decode((2, 4, 8, 12), body * 2, **scaled)[0] == 422, "two pictures as one file")
        check(decode(shape, body, output_type="mp4", **scaled)[0] == 422, "mp4")


def widen(data, name):
    if name == "float16":
        return struct.unpack(f"<{len(data) // 2}e", data)
    return [struct.unpack("<f", b"\0\0" + data[i:i + 2])[0] for i in range(0, len(data), 2)]


def packed():
    h, w = 6, 8
    values = make_latent(16, h, w)
    tokens = [values[(c * h + 2 * ty + i) * w + 2 * tx + j]
              for ty in range(h // 2) for tx in range(w // 2) for c in range(16) for i in range(2) for j in range(2)]
    with Server() as server:
        path = "/remote/zenith-f1-fast/decode"
        plain = server.ask("POST", path + query((1, 16, h, w), do_scaling=True, image_format="png"), f32(values), TENSOR)
        asked = query((1, h * w // 4, 64), do_scaling=True, image_format="png", height=h * 8, width=w * 8)
        same = server.ask("POST", path + asked, f32(tokens), TENSOR)
        check(plain[0] == 200 and same[2] == plain[2], f"packed: {same[0]} {same[2][:200]}")
        without = server.ask("POST", path + query((1, h * w // 4, 64), do_scaling=True), f32(tokens), TENSOR)
        check(without[0] == 422, "packed without a size")
        wrong = query((1, h * w // 4, 64), do_scaling=True, height=h * 8, width=w * 16)
        check(server.ask("POST", path + wrong, f32(tokens), TENSOR)[0] == 422, "packed with a wrong size")


def remote_encode():
    picture = ramp(48, 40)
    with tempfile.TemporaryDirectory() as folder, Server() as server:
        folder = pathlib.Path(folder)
        (folder / "in.png").write_bytes(picture)
        zenith("encode", folder / "in.png", "-o", folder / "out.npy", "-m", "taesd", "-w", TINY)
        expected = read_npy((folder / "out.npy").read_bytes())
        path = "/remote/taesd/encode"
        code, headers, answer = server.ask("POST", path + "?do_scaling=true", picture)
        check(code == 200 and answer == f32(expected), f"a picture: {code}")
        check(headers["shape"] == "[1, 4, 5, 6]" and headers["dtype"] == "float32", "shape of a latent")
        check(server.ask("POST", path + "?scaling_factor=0.18215", picture)[2] == f32(expected), "scaling_factor")
        raw = server.ask("POST", path, picture)[2]
        back = [v * 0.18215 for v in struct.unpack(f"<{len(expected)}f", raw)]
        check(max(abs(a - b) for a, b in zip(back, expected)) < 1e-4, "without factors")
        # The picture as numbers, -1 .. 1 in planes.
        pixels = [((x * 3 + y * 5 + c * 40) % 256) / 127.5 - 1 for c in range(3) for y in range(40) for x in range(48)]
        code, headers, answer = server.ask("POST", path + query((1, 3, 40, 48), do_scaling=True), f32(pixels), TENSOR)
        numbers = struct.unpack(f"<{len(expected)}f", answer)
        check(code == 200 and max(abs(a - b) for a, b in zip(numbers, expected)) < 0.05, f"a tensor: {code}")
        code, headers, answer = server.ask("POST", path + query((2, 3, 40, 48), "float16", do_scaling=True),
                                           f16(pixels) * 2, TENSOR)
        check(headers["shape"] == "[2, 4, 5, 6]" and headers["dtype"] == "float16", "two tensors")
        check(answer[:len(answer) // 2] == answer[len(answer) // 2:], "equal pictures have equal latents")


def native():
    picture = (DATA / "small.png").read_bytes()
    own = ("-m", "taesd", "-w", TINY)
    with tempfile.TemporaryDirectory() as folder, Server() as server:
        folder = pathlib.Path(folder)
        latent = folder / "latent.safetensors"
        zenith("encode", DATA / "small.png", "-o", latent, *own)
        zenith("encode", DATA / "small.png", "-o", folder / "latent.npy", *own)
        zenith("encode", DATA / "small.png", "-o", folder / "sized.npy", "--size", "64x48", *own)
        for ending in ("png", "webp", "npy"):
            zenith("decode", latent, "-o", folder / f"out.{ending}", *own)
        zenith("reconstruct", DATA / "small.png", "-o", folder / "again.png", *own)

        def same(path, body, name, headers=None):
            code, _, answer = server.ask("POST", path, body, headers)
            check(code == 200 and answer == (folder / name).read_bytes(), f"{path}: {code} {answer[:200]}")

        same("/v1/encode?model=taesd", picture, "latent.safetensors", {"Content-Type": "image/png"})
        same("/v1/encode?model=taesd&format=npy", picture, "latent.npy")
        same("/v1/encode?model=taesd", picture, "latent.npy", {"Accept": "application/x-npy"})
        same("/v1/encode?model=taesd&format=npy&size=64x48", picture, "sized.npy")
        same("/v1/decode?model=taesd", latent.read_bytes(), "out.png")
        same("/v1/decode?model=taesd", (folder / "latent.npy").read_bytes(), "out.png")
        same("/v1/decode?model=taesd&format=webp", latent.read_bytes(), "out.webp")
        same("/v1/decode?model=taesd&format=npy", latent.read_bytes(), "out.npy")
        same("/v1/reconstruct?model=taesd", picture, "again.png")
        values = read_npy((folder / "latent.npy").read_bytes())
        (_, shape, _), = safetensors.unpack(latent.read_bytes()).values()
        same("/v1/decode" + query(shape, model="taesd"), f32(values), "out.png", TENSOR)
        code, headers, answer = server.ask("POST", "/v1/decode?model=taesd&format=raw", latent.read_bytes())
        check(code == 200 and headers["dtype"] == "uint8" and headers["shape"].endswith(", 3]"), "raw pixels")
        code, headers, answer = server.ask("POST", "/v1/encode?model=taesd&format=raw&output_dtype=float16", picture)
        check(code == 200 and answer == f16(values) and headers["dtype"] == "float16", "raw latents")
        code, _, answer = server.ask("POST", "/v1/decode?model=zenith-f1-fast", latent.read_bytes())
        check(code == 422 and b"taesd" in answer, "another model's latent")


def infer(server, model, head, numbers=b"", headers=None, version=""):
    """A request of the Open Inference Protocol; the answer's JSON and what follows it."""
    text = json.dumps(head).encode() if isinstance(head, dict) else head
    headers = {"Inference-Header-Content-Length": str(len(text))} if headers is None else headers
    code, answered, body = server.ask("POST", f"/v2/models/{model}{version}/infer", text + numbers, headers)
    length = int(answered.get("Inference-Header-Content-Length", len(body)))
    return code, json.loads(body[:length]), body[length:]


def tensor(name, shape, kind="FP32", **more):
    return {"name": name, "shape": list(shape), "datatype": kind} | more


def oip():
    values = make_latent(4, 8, 12)
    shape = (1, 4, 8, 12)
    with Server() as server:
        code, _, body = server.ask("GET", "/v2")
        check(code == 200 and "binary_tensor_data" in json.loads(body)["extensions"], f"/v2: {code} {body}")
        for path in ("/v2/models/taesd_decoder", "/v2/models/taesd_decoder/versions/1"):
            facts = json.loads(server.ask("GET", path)[2])
            check(facts["name"] == "taesd_decoder" and facts["versions"] == ["1"], f"{path}: {facts}")
            check(facts["inputs"] == [{"name": "latent", "datatype": "FP32", "shape": [-1, 4, -1, -1]}], "inputs")
            check(facts["outputs"] == [{"name": "image", "datatype": "FP32", "shape": [-1, 3, -1, -1]}], "outputs")
            check(json.loads(server.ask("GET", path + "/ready")[2])["ready"] is True, f"{path}/ready")
        path = "/v1/decode" + query(shape, model="taesd", format="raw", output_dtype="float32")
        expected = server.ask("POST", path, f32(values), TENSOR)[2]
        numbers = struct.unpack(f"<{len(expected) // 4}f", expected)

        # Binary both ways; the JSON has lengths that are no multiple of 4.
        for i in range(4):
            head = {"id": "x" * (i + 1), "inputs": [tensor("latent", shape, parameters={"binary_data_size": len(f32(values))})],
                    "outputs": [{"name": "image", "parameters": {"binary_data": True}}]}
            code, facts, data = infer(server, "taesd_decoder", head, f32(values))
            check(code == 200 and data == expected, f"binary: {code} {facts}")
            check(facts["id"] == "x" * (i + 1) and facts["model_name"] == "taesd_decoder", f"echo: {facts}")
            output = facts["outputs"][0]
            check(output["shape"] == [1, 3, 64, 96] and output["datatype"] == "FP32" and output["name"] == "image"
                  and output["parameters"]["binary_data_size"] == len(data), f"output: {output}")
        # JSON both ways, nested and flat; and mixed.
        exact = struct.unpack(f"<{len(values)}f", f32(values))
        rows = [list(exact[i:i + 12]) for i in range(0, len(exact), 12)]
        for data in (list(exact), [[rows[i:i + 8] for i in range(0, len(rows), 8)]]):
            code, facts, rest = infer(server, "taesd_decoder", {"inputs": [tensor("latent", shape, data=data)]}, headers={})
            check(code == 200 and rest == b"" and f32(facts["outputs"][0]["data"]) == expected, f"JSON: {code}")
        head = {"inputs": [tensor("latent", shape, data=list(exact))], "parameters": {"binary_data_output": True}}
        code, facts, data = infer(server, "taesd_decoder", head, version="/versions/1")
        check(code == 200 and data == expected, f"JSON in, binary out: {code}")
        # Narrow types come back as such.
        for kind, pack, name in (("FP16", f16, "float16"), ("BF16", bf16, "bfloat16")):
            wide = list(widen(pack(values), name))
            body = server.ask("POST", path, f32(wide), TENSOR)[2]
            narrow = pack(struct.unpack(f"<{len(body) // 4}f", body))
            head = {"inputs": [tensor("latent", shape, kind, parameters={"binary_data_size": len(pack(values))})],
                    "parameters": {"binary_data_output": True}}
            code, facts, data = infer(server, "taesd_decoder", head, pack(values))
            check(code == 200 and data == narrow and facts["outputs"][0]["datatype"] == kind, f"{kind}: {code} {facts}")
            code, facts, data = infer(server, "taesd_decoder", {"inputs": [tensor("latent", shape, kind, data=wide)]})
            check(code == 200 and pack(facts["outputs"][0]["data"]) == narrow, f"{kind} as JSON: {code}")
        # The encoder, of two pictures, and latents before scale and shift.
        pixels = [(i * 37 % 255) / 127.5 - 1 for i in range(3 * 16 * 24)]
        head = {"inputs": [tensor("image", (2, 3, 16, 24), parameters={"binary_data_size": 2 * len(f32(pixels))})],
                "outputs": [{"name": "latent", "parameters": {"binary_data": True}}]}
        code, facts, data = infer(server, "taesd_encoder", head, f32(pixels) * 2)
        check(code == 200 and facts["outputs"][0]["shape"] == [2, 4, 2, 3], f"encoder: {code} {facts}")
        check(len(data) == 192 and data[:96] == data[96:], "equal pictures have equal latents")
        code, facts, raw = infer(server, "taesd_encoder", head | {"parameters": {"space": "raw"}}, f32(pixels) * 2)
        check(code == 200 and raw != data, f"raw: {code}")
        oip_wrong(server, values, shape)


def oip_wrong(server, values, shape):
    good = {"inputs": [tensor("latent", shape, parameters={"binary_data_size": 1536})]}
    numbers = f32(values)

    def with_input(**more):
        return {"inputs": [good["inputs"][0] | more]}
    large = {"inputs": [tensor("latent", (4, 4, 48, 48), data=[0.5] * (4 * 4 * 48 * 48))]}
    cases = [  # model, JSON, numbers, headers, code
        ("taesd", good, numbers, None, 404),
        ("taesd_middle", good, numbers, None, 404),
        ("_decoder", good, numbers, None, 404),
        ("taesd_decoder", {}, b"", None, 400),
        ("taesd_decoder", b"", b"", None, 400),
        ("taesd_decoder", b"[1]", b"", None, 400),
        ("taesd_decoder", b"{", b"", None, 400),
        ("taesd_decoder", b"[" * 100000, b"", None, 413),
        ("taesd_decoder", b'{"a":[' + b"1," * 1100000 + b"1]}", b"", None, 413),
        ("taesd_decoder", b'{"a":1,"a":2}', b"", None, 400),
        ("taesd_decoder", good, numbers, {"Inference-Header-Content-Length": "99999999"}, 400),
        ("taesd_decoder", good, numbers, {"Inference-Header-Content-Length": "-1"}, 400),
        ("taesd_decoder", good, numbers, {"Inference-Header-Content-Length": "many"}, 400),
        ("taesd_decoder", good, numbers[:-4], None, 400),
        ("taesd_decoder", good, numbers + b"more", None, 400),
        ("taesd_decoder", with_input(parameters={"binary_data_size": 1 << 62}), numbers, None, 400),
        ("taesd_decoder", with_input(parameters={}), numbers, None, 400),
        ("taesd_decoder", with_input(parameters={}), b"", None, 400),
        ("taesd_decoder", with_input(shape=[1, 4, 8, 13]), numbers, None, 422),
        ("taesd_decoder", with_input(shape=[1, 5, 8, 12]), numbers, None, 422),
        ("taesd_decoder", with_input(shape=[16777216] * 5), numbers, None, 400),
        ("taesd_decoder", with_input(shape=[1, 4, 16777216, 16]), numbers, None, 413),
        ("taesd_decoder", with_input(shape=[1, 4, -8, 12]), numbers, None, 400),
        ("taesd_decoder", with_input(shape=[1, 4, 8.5, 12]), numbers, None, 400),
        ("taesd_decoder", with_input(shape="1,4,8,12"), numbers, None, 400),
        ("taesd_decoder", with_input(shape=[]), numbers, None, 400),
        ("taesd_decoder", with_input(datatype="FP64"), numbers, None, 422),
        ("taesd_decoder", with_input(datatype=3), numbers, None, 400),
        ("taesd_decoder", with_input(name="image"), numbers, None, 400),
        ("taesd_decoder", {"inputs": good["inputs"] * 2}, numbers, None, 400),
        ("taesd_decoder", good | {"outputs": [{"name": "latent"}]}, numbers, None, 400),
        ("taesd_decoder", good | {"id": 5}, numbers, None, 400),
        ("taesd_decoder", {"inputs": [tensor("latent", shape, data=[1, 2, 3])]}, b"", None, 422),
        ("taesd_decoder", {"inputs": [tensor("latent", (1, 1, 1, 1), data=["x"])]}, b"", None, 422),
        ("taesd_decoder", {"inputs": [tensor("latent", (1, 4, 4000, 4000), data=[1])]}, b"", None, 422),
        ("taesd_decoder", large, b"", None, 413),  # as JSON the picture has too many numbers
    ]
    for model, head, rest, headers, code in cases:
        got, answer, _ = infer(server, model, head, rest, headers)
        name = f"{model} {str(head)[:120]} {headers}"
        check(got == code, f"{name}: {got}, not {code}: {answer}")
        check(isinstance(answer["error"], str) and answer["code"] == got, f"{name}: no sentence in {answer}")
    check(server.ask("GET", "/v2/models/taesd_decoder/infer")[0] == 405, "GET of infer")
    check(server.ask("GET", "/v2/models/nothing_decoder")[0] == 404, "no such model")
    check(server.ask("GET", "/v2/models/taesd_decoder/versions/2")[0] == 404, "no such version")


def wrong():
    picture, latent = ramp(48, 40), f32(make_latent(4, 8, 12))
    good = "/remote/taesd/decode" + query((1, 4, 8, 12), do_scaling=True)
    many = "&".join(f"a{i}=1" for i in range(40))
    nan = f32([float("nan")] + make_latent(4, 8, 12)[1:])
    cases = [  # method, path, body, headers, code, type
        ("GET", "/nothing", None, {}, 404, "not_found"),
        ("GET", "/../../etc/passwd", None, {}, 404, "not_found"),
        ("GET", "/remote/..%2f..%2fetc/decode", None, {}, 404, "not_found"),
        ("POST", "/remote/../decode", latent, {}, 404, "model_not_found"),
        ("POST", "/remote//decode", latent, {}, 404, "model_not_found"),
        ("POST", "/remote/%2fetc%2fpasswd/decode", latent, {}, 404, "not_found"),
        ("POST", "/remote/taesd/%00/decode", latent, {}, 404, "not_found"),
        ("POST", "/v1/decode?model=/etc/passwd", latent, {}, 404, "model_not_found"),
        ("POST", "/v1/decode", latent, {}, 400, "invalid_request"),
        ("POST", "/health", b"", {}, 405, "method_not_allowed"),
        ("GET", good, None, {}, 405, "method_not_allowed"),
        ("DELETE", good, None, {}, 405, "method_not_allowed"),
        ("POST", good, b"", TENSOR, 400, "invalid_request"),
        ("POST", good, latent[:-1], TENSOR, 422, "unprocessable"),
        ("POST", good, latent + b"x", TENSOR, 422, "unprocessable"),
        ("POST", good, nan, TENSOR, 422, "unprocessable"),
        ("POST", good, latent, {"Content-Type": "application/json"}, 415, "unsupported_media_type"),
        ("POST", good, latent, {"Content-Type": "multipart/form-data; boundary=x"}, 415, "unsupported_media_type"),
        ("POST", good.replace("float32", "float99"), latent, TENSOR, 400, "invalid_request"),
        ("POST", good.replace("shape=8", "shape=0"), latent, TENSOR, 400, "invalid_request"),
        ("POST", good.replace("shape=8", "shape=-8"), latent, TENSOR, 400, "invalid_request"),
        ("POST", good.replace("shape=8", "shape=99999999999999999999"), latent, TENSOR, 400, "invalid_request"),
        ("POST", good.replace("shape=8", "shape=16777216"), latent, TENSOR, 413, "too_large"),
        ("POST", good.replace("shape=4", "shape=5"), latent, TENSOR, 422, "unprocessable"),
        ("POST", good + "&shape=1&shape=1", latent, TENSOR, 400, "invalid_request"),
        ("POST", good + "&scaling_factor=nan", latent, TENSOR, 400, "invalid_request"),
        ("POST", good + "&scaling_factor=0", latent, TENSOR, 422, "unprocessable"),
        ("POST", good + "&scaling_factor=1e999", latent, TENSOR, 400, "invalid_request"),
        ("POST", good + "&output_type=exe", latent, TENSOR, 400, "invalid_request"),
        ("POST", good + "&partial_postprocess=maybe", latent, TENSOR, 400, "invalid_request"),
        ("POST", good + "&" + many, latent, TENSOR, 400, "invalid_request"),
        ("POST", "/remote/taesd/decode", latent, TENSOR, 422, "unprocessable"),
        ("POST", "/remote/taesd/encode", b"no picture", {}, 422, "unprocessable"),
        ("POST", "/remote/taesd/encode", picture[:len(picture) // 2], {}, 400, "invalid_request"),
        ("POST", "/remote/taesd/encode", png(60000, 60000), {}, 413, "too_large"),
        ("POST", "/remote/taesd/encode" + query((1, 3, 41, 48)), bytes(41 * 48 * 12), {}, 422, "unprocessable"),
        ("POST", "/v1/decode?model=taesd", b"\x93NUMPY\x01\x00\xff\xff{", {}, 400, "invalid_request"),
        ("POST", "/v1/decode?model=taesd", struct.pack("<Q", 1 << 62) + b"{}", {}, 400, "invalid_request"),
        ("POST", "/v1/encode?model=taesd&path=/etc/passwd", picture, {}, 400, "invalid_request"),
        ("POST", "/v1/encode?model=taesd&size=9999999x8", picture, {}, 422, "unprocessable"),
        ("POST", "/v1/encode?model=taesd&size=8000x8000", picture, {}, 413, "too_large"),
        ("POST", "/v1/encode?model=taesd&size=64", picture, {}, 400, "invalid_request"),
        ("POST", "/v1/encode?model=taesd&fit=resize", picture, {}, 422, "unprocessable"),
        ("POST", "/v1/reconstruct?model=taesd&format=npy", picture, {}, 422, "unprocessable"),
        ("POST", good, latent, TENSOR | {"X-Request-Timeout-Ms": "soon"}, 400, "invalid_request"),
    ]
    with Server() as server:
        for method, path, body, headers, code, kind in cases:
            got, answered, answer = server.ask(method, path, body, headers)
            name = f"{method} {path[:90]}"
            check(got == code, f"{name}: {got}, not {code}: {answer[:200]}")
            try:
                error = json.loads(answer)["error"]
                check(error["type"] == kind and error["code"] == got and error["message"], f"{name}: {error}")
                check("/work" not in error["message"] and str(ROOT) not in error["message"], f"{name}: tells a path")
            except (ValueError, KeyError):
                check(False, f"{name}: no error object in {answer[:200]}")
            if code == 405:
                check(answered["Allow"] in ("POST", "GET, HEAD"), f"{name}: Allow")
        for noise in (b"\0" * 1000, b"GET\r\n\r\n", b"POST / HTTP/1.1\r\nContent-Length: -1\r\n\r\n",
                      b"GET / HTTP/1.1\r\n" + b"X: y\r\n" * 20000 + b"\r\n",
                      b"POST /v1/encode?model=taesd HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n"):
            with socket.create_connection(("127.0.0.1", server.port), timeout=20) as raw:
                with contextlib.suppress(OSError):
                    raw.sendall(noise)
                    raw.shutdown(socket.SHUT_WR)
                    while raw.recv(65536):
                        pass
        for path in ("/v1/encode?model=nope", "/v1/jobs?route=/v1/decode&model=nope", "/remote/nope/decode"):
            answer = server.ask("POST", path, picture)[2]
            check("there is no model 'nope' here" in json.loads(answer)["error"]["message"], f"{path}: {answer}")
        header = good.split("?")[0] + "?do_scaling=true&dtype=float32&shape=%5B1,%204,%208,%2012%5D"
        check(server.ask("POST", header, latent, TENSOR)[2] == server.ask("POST", good, latent, TENSOR)[2], "shape as in the header")
        for path, part in ((header + "x", "such as shape=1,4,64,64"), ("/v1/images/generations", "with zenith-words or")):
            said = json.loads(server.ask("POST", path, b'{"prompt": "a"}')[2])["error"]["message"]
            check(part in said, f"{path}: {said}")
        said = json.loads(server.ask("POST", "/v1/encode?model=taesd&fit=exact", ramp(45, 40))[2])["error"]["message"]
        check("fit=pad" in said and "ZENITH" not in said, f"words of C: {said}")
        with tempfile.TemporaryDirectory() as folder:
            done = subprocess.run([str(ZENITH), "serve", "taesd", "--port", "0"], capture_output=True, text=True, cwd=folder,
                                  env=environment() | {"HOME": folder}, timeout=300)
        check(done.returncode == 3 and "--weights PATH" in done.stderr and "zenith_" not in done.stderr, f"words of C: {done.stderr}")
        check(server.ask("POST", good, latent, TENSOR)[0] == 200, "the server does not answer any more")


def large_bodies():
    with Server("--max-body", "1M") as server:
        path = "/remote/taesd/encode"
        with contextlib.suppress(OSError):  # it may close before all is sent
            code = server.ask("POST", path, bytes(2 << 20))[0]
            check(code == 413, f"a body that is too large: {code}")
        # Without a length, in chunks; the end of it is thrown away, and answered.
        code, _, answer = server.ask("POST", path, iter([bytes(100000)] * 15), {"Transfer-Encoding": "chunked"}, True)
        check(code == 413, f"chunks that are too many: {code}")
        with socket.create_connection(("127.0.0.1", server.port), timeout=60) as raw:  # one without end
            raw.sendall(b"POST /remote/taesd/encode HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n")
            closed = False
            try:
                for _ in range(2000):
                    raw.sendall(b"10000\r\n" + bytes(65536) + b"\r\n")
            except OSError:
                closed = True
            check(closed, "a body without end is read")
        code, _, _ = server.ask("POST", path + "?do_scaling=1", ramp(48, 40))
        check(code == 200, "after large bodies")
        check(server.metric('zenith_requests_rejected_total{reason="too_large"}') >= 2, "too_large is counted")


def hostile():
    """Clients that want to harm, all at once: the server stays ready, and its memory stays what it was."""
    def drip(raw):
        """A header, a byte at a time, that never ends."""
        for byte in b"POST /remote/taesd/decode HTTP/1.1\r\nHost: a\r\nX-Slow: " + b"a" * 10000:
            if ended.wait(0.05):
                return
            raw.sendall(bytes([byte]))

    def huge(raw):
        """A gigabyte."""
        raw.sendall(b"POST /remote/taesd/encode HTTP/1.1\r\nHost: a\r\nContent-Length: 1073741824\r\n\r\n")
        for _ in range(1024):
            raw.sendall(bytes(1 << 20))

    def cut(raw):
        """A body that ends in the middle."""
        raw.sendall(b"POST /remote/taesd/encode HTTP/1.1\r\nHost: a\r\nContent-Length: 5000\r\n\r\n" + bytes(1234))
        raw.shutdown(socket.SHUT_WR)
        raw.recv(65536)

    def attack(how):
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", server.port), timeout=30) as raw:
            how(raw)

    def bombs():
        for _ in range(20):
            code = server.ask("POST", "/remote/taesd/encode", png(60000, 60000, bytes(10 << 20)))[0]
            check(code == 413, f"a picture of 60000x60000 is answered with {code}")
    ended = threading.Event()
    limit = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (limit, limit))
    with Server() as server:
        good, latent = "/remote/taesd/decode" + query((1, 4, 8, 8), do_scaling=True), f32(make_latent(4, 8, 8))
        expected = server.ask("POST", good, latent, TENSOR)[2]
        before = server.metric("process_resident_memory_bytes")
        idle = [socket.create_connection(("127.0.0.1", server.port)) for _ in range(900)]
        threads = start_threads(attack, [(how,) for how in [drip] * 40 + [huge] * 4 + [cut] * 20]) + start_threads(bombs, [()])
        for _ in range(30):
            begin = time.monotonic()
            check(server.ask("GET", "/v2/health/ready")[0] == 200, "not ready among hostile clients")
            code, _, answer = server.ask("POST", good, latent, TENSOR)
            check(code == 200 and answer == expected, f"a good request among hostile ones: {code}")
            check(time.monotonic() - begin < 10, "a good request waits for hostile ones")
        ended.set()
        join_threads(threads)
        for each in idle:
            each.close()
        grown = server.metric("process_resident_memory_bytes") - before
        check(grown < 200e6, f"memory grew by {grown / 1e6:.0f} MB")


def keys():
    key = "k" * 30
    with tempfile.NamedTemporaryFile("w") as file:
        hidden = "h" * 40  # behind a comment longer than any buffer: no key
        file.write(f"# ours\n{key}\n\n{'other' * 5}\n# {'x' * 1021}{hidden}\n{'long' * 500}\n")
        file.flush()
        with Server("--keys", file.name) as server:
            picture = ramp(48, 40)
            path = "/remote/taesd/encode?do_scaling=true"
            basic = base64.b64encode(f"any:{key}".encode()).decode()
            wrong_basic = base64.b64encode(b"any:wrong").decode()
            for header, expected in ((None, 401), (f"Bearer {key}", 200), (f"Bearer {'other' * 5}", 200),
                                     (f"Bearer {key}x", 401), (f"Bearer {hidden}", 401), (f"Bearer {'long' * 500}", 200), ("Bearer ", 401), ("Bearer # ours", 401),
                                     (f"Basic {basic}", 200), (f"Basic {wrong_basic}", 401), ("Basic %%%", 401)):
                headers = {"Authorization": header} if header else {}
                code = server.ask("POST", path, picture, headers)[0]
                check(code == expected, f"key {header}: {code}")
            check(server.ask("GET", "/health")[0] == 200, "health needs no key")
            check(server.ask("GET", "/metrics")[0] == 401, "metrics need a key")
    done = subprocess.run([str(ZENITH), "serve", *MODELS, "--keys", "/nowhere"], capture_output=True, text=True,
                          env=environment())
    check(done.returncode == 1 and "keys" in done.stderr, f"no file of keys: {done.stderr}")


def bundled():
    """Nothing named: what comes with the program is served, and said to be open where others reach it without a key."""
    def start(*options, **more):
        process = subprocess.Popen([str(ZENITH), "serve", "--port", "0", "--batch", "1", *options], stderr=subprocess.PIPE, text=True,
                                   env=environment() | {"ZENITH_MODELS": str(ROOT / "models")} | more)
        lines = iter(process.stderr.readline, "")
        return process, next(line for line in lines if "listening on" in line)

    process, line = start("--threads", "1")
    connection = http.client.HTTPConnection("127.0.0.1", int(line.rsplit(":", 1)[1]), timeout=300)
    connection.request("GET", "/v1/models")
    models = {model["id"]: model for model in json.loads(connection.getresponse().read())["data"]}
    names = models.keys()
    connection.close()
    expected = {"zenith-sd-fast", "zenith-sd-small", "zenith-f1-fast", "zenith-f1-small", "zenith-words", "zenith-avatars64", "zenith-avatars256"}
    check(names == expected, f"served: {names}")
    described = json.loads((ROOT / "apps/serve/openapi.json").read_text())["components"]["schemas"]["model"]["properties"]
    undescribed = set().union(*models.values()) - described.keys()
    check(not undescribed and models["zenith-words"]["side"] == 128, f"not in openapi.json: {undescribed}")
    process.terminate()
    said = process.stderr.read()
    check("keys" not in said, f"this machine alone reaches it: {said}")
    process, _ = start("--host", "0.0.0.0", "--threads", "1", "zenith-sd-small")
    time.sleep(0.5)
    process.terminate()
    said = process.stderr.read()
    check("everybody who reaches 0.0.0.0 may use it: --keys FILE" in said, f"no warning: {said}")
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run([str(ZENITH), "serve", "--port", "0", "--weights", folder], capture_output=True, text=True, env=environment() | {"HOME": folder},
                              cwd=folder, timeout=300)
        check(done.returncode == 3 and "zenith-sd-fast" in done.stderr, f"no weights anywhere: {done.returncode} {done.stderr}")


def key_limits():
    """Each key has its own: of requests at once, and in a second."""
    picture, path = ramp(48, 40), "/remote/taesd/encode?do_scaling=true"
    names = {name: name * 20 for name in "abc"}
    headers = {name: {"Authorization": f"Bearer {key}"} for name, key in names.items()}
    with tempfile.NamedTemporaryFile("w") as file:
        file.write(f"{names['a']} in-flight=1  # one at a time\n{names['b']} rate=0.01\n{names['c']}\n")
        file.flush()
        with Server("--keys", file.name, "--threads", "1") as server:
            method, slow, body, types = slow_request()
            codes = []
            thread = threading.Thread(target=lambda: codes.append(server.ask(method, slow, body, types | headers["a"])[0]))
            thread.start()
            wait_depth(server, 1, headers["c"])
            refused = server.ask("POST", path, picture, headers["a"])
            check(server.ask("POST", path, picture, headers["c"])[0] == 200, "another key waits for nobody")
            thread.join()
            check(refused[0] == 429 and int(refused[1]["Retry-After"]) >= 1, f"a second request at once: {refused[0]}")
            check(json.loads(refused[2])["error"]["type"] == "rate_limited", "its type")
            check(codes == [200], f"the slow one: {codes}")
            check(server.ask("POST", path, picture, headers["a"])[0] == 200, "after the answer the next one may come")
            answers = [server.ask("POST", path, picture, headers["b"]) for _ in range(3)]
            check([a[0] for a in answers] == [200, 429, 429], f"a rate: {[a[0] for a in answers]}")
            check(50 < int(answers[1][1]["Retry-After"]) <= 100, f"Retry-After: {answers[1][1]['Retry-After']}")
            check(server.ask("GET", "/v1/models", headers=headers["b"])[0] == 200, "pages have no limits")
            limited = server.metric('zenith_requests_rejected_total{reason="key_limit"}', headers["b"])
            check(limited == 3, f"limits are counted: {limited}")
    for line in ("k" * 20 + " in-flight=none", "k" * 20 + " rate=0", "k" * 20 + " rate=nan", "k" * 20 + " in-flight=1.5",
                 "k" * 20 + " alice", "k" * 20 + " rate=1x"):
        with tempfile.NamedTemporaryFile("w") as file:
            file.write(line + "\n")
            file.flush()
            done = subprocess.run([str(ZENITH), "serve", *MODELS, "--keys", file.name], capture_output=True, text=True,
                                  env=environment())
            check(done.returncode == 1 and "in-flight=N" in done.stderr, f"{line}: {done.stderr}")


def slow_request(side=64):
    """A decode of so many latent pixels a side that takes a while."""
    path = "/remote/zenith-f1-fast/decode" + query((1, 16, side, side), do_scaling=True)
    return "POST", path, bytes(side * side * 64), TENSOR


class UnfinishedRequest:
    """A request that the server has accepted by its headers, as a context; finish() sends its body."""

    def __init__(self, server, method, path, body, headers):
        self.connection, self.body = http.client.HTTPConnection("127.0.0.1", server.port, timeout=300), body
        self.connection.putrequest(method, path)
        for name, value in (headers | {"Content-Length": len(body), "Expect": "100-continue"}).items():
            self.connection.putheader(name, value)

    def __enter__(self):
        self.connection.endheaders()
        first = self.connection.sock.recv(1000, socket.MSG_PEEK)  # left there: getresponse() passes over it
        check(first.startswith(b"HTTP/1.1 100 "), f"headers are answered by {first}")
        return self

    def __exit__(self, *_):
        self.connection.close()

    def finish(self):
        self.connection.send(self.body)
        return self.connection.getresponse().status


def wait_depth(server, depth, headers=None):
    wait_until(lambda: server.metric("zenith_queue_depth", headers) >= depth,
               lambda: f"{depth} requests in the queue: {server.ask('GET', '/metrics')[2].decode()}")


def full_queue():
    with Server("--queue", "2", "--threads", "1") as server:
        results = []

        def ask():
            results.append(server.ask(*slow_request()))
        join_threads(start_threads(ask, [() for _ in range(12)]))
        codes = sorted(code for code, _, _ in results)
        check(set(codes) == {200, 429} and codes.count(200) >= 2, f"codes of a full queue: {codes}")
        for code, headers, answer in results:
            if code == 429:
                check(int(headers["Retry-After"]) >= 1, "Retry-After")
                check(json.loads(answer)["error"]["type"] == "queue_full", "type of 429")
        check(server.metric('zenith_requests_rejected_total{reason="queue_full"}') == codes.count(429), "429 is counted")
    with Server("--queue-memory", "2M") as server:
        code, headers, answer = server.ask(*slow_request(128))
        check(code == 429 and "Retry-After" in headers, f"memory: {code}")
        check(server.ask("POST", "/remote/taesd/encode?do_scaling=1", ramp(48, 40))[0] == 200, "small ones fit")


def deadlines():
    with Server("--threads", "1") as server:
        method, path, body, headers = slow_request(96)
        begin = time.monotonic()
        code, _, answer = server.ask(method, path, body, headers | {"X-Request-Timeout-Ms": "30"})
        check(code == 504 and json.loads(answer)["error"]["type"] == "deadline_exceeded", f"deadline: {code}")
        check(server.metric('zenith_requests_rejected_total{reason="deadline"}') == 1, "deadlines are counted")
        print(f"a deadline of 30 ms was told after {1e3 * (time.monotonic() - begin):.0f} ms")


def leavers():
    with Server("--threads", "1", measures=True) as server:
        method, path, body, _ = slow_request(96)
        sockets = []
        for _ in range(4):
            raw = socket.create_connection(("127.0.0.1", server.port))
            raw.sendall(f"POST {path} HTTP/1.1\r\nHost: a\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body)
            sockets.append(raw)
        wait_depth(server, 4)
        done = server.metric("zenith_items_total")
        for raw in sockets:
            raw.close()
        wait_until(lambda: server.metric("zenith_queue_depth") == 0, "work of clients that left has ended")
        check(server.metric("zenith_items_total") <= done + 1, "pictures were made for nobody")
        # In the middle of a body, and of headers.
        for part in (f"POST {path} HTTP/1.1\r\nHost: a\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body[:5000],
                     b"POST /remote/taesd/deco"):
            for _ in range(20):
                with socket.create_connection(("127.0.0.1", server.port)) as raw:
                    raw.sendall(part)
        check(server.ask("GET", "/health")[0] == 200, "after clients that left")


def under_load():
    """Many clients, mixed sizes, some wrong and some leaving: every answer has the bytes that it has alone."""
    with Server("--streams", "2", "--threads", "1", measures=True) as server:
        asked = []
        for i, (height, width) in enumerate(((8, 8), (12, 16), (24, 8), (16, 20))):
            body = f32(make_latent(4, height, width, seed=i))
            for more in ({"image_format": "png"}, {"output_type": "pt", "partial_postprocess": True}):
                path = "/remote/taesd/decode" + query((1, 4, height, width), do_scaling=True, **more)
                code, _, answer = server.ask("POST", path, body, TENSOR)
                check(code == 200, f"alone: {code}")
                asked.append((path, body, answer))
        before = server.metric("process_open_fds")

        def client(seed):
            chosen = random.Random(seed)
            for _ in range(25):
                path, body, expected = chosen.choice(asked)
                kind = chosen.random()
                if kind < 0.1:
                    with socket.create_connection(("127.0.0.1", server.port)) as raw:
                        raw.sendall(f"POST {path} HTTP/1.1\r\nHost: a\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body)
                elif kind < 0.2:
                    check(server.ask("POST", path, body[4:], TENSOR)[0] == 422, "a wrong body under load")
                else:
                    code, headers, answer = server.ask("POST", path, body, TENSOR)
                    check(code == 429 and "Retry-After" in headers or code == 200 and answer == expected,
                          f"under load: {code}")
        idle = [socket.create_connection(("127.0.0.1", server.port)) for _ in range(200)]
        join_threads(start_threads(client, [(i,) for i in range(16)]))
        for each in idle:
            each.close()
        wait_until(lambda: server.metric("process_open_fds") <= before + 2, "connections are closed")
        check(server.metric("zenith_queue_depth") == 0, "the queue is not empty")


def logs():
    """A line of JSON for each request, by which it is found again: its id, and the trace that the client is in."""
    trace = f"00-{'4bf92f35' * 4}-{'00f067aa' * 2}-01"
    server = Server()
    server.command.remove("--quiet")
    with server:
        latent = f32(make_latent(4, 8, 8))
        path = "/remote/taesd/decode" + query((1, 4, 8, 8), do_scaling=True)
        headers = server.ask("POST", path, latent, TENSOR | {"traceparent": trace, "X-Request-Id": "first"})[1]
        check(headers["traceparent"] == trace and headers["X-Request-Id"] == "first", f"echoed: {headers.items()}")
        for wrong in (trace[:-1], trace.upper(), trace.replace("-", "_"), "01" + trace[2:], '"}\\n' + trace[4:]):
            answered = server.ask("GET", "/health", headers={"traceparent": wrong})[1]
            check("traceparent" not in answered, f"a wrong trace is echoed: {wrong}")
        server.process.send_signal(signal.SIGTERM)
        said = server.process.stderr.read().splitlines()
    lines = [json.loads(line) for line in said if line.startswith("{")]
    check(len(lines) == 6, f"lines of the log: {said}")
    check(lines[0]["id"] == "first" and lines[0]["traceparent"] == trace and lines[0]["model"] == "taesd"
          and lines[0]["status"] == 200 and lines[0]["ms"] > 0 and lines[0]["method"] == "POST", f"a line: {lines[0]}")
    check(all("traceparent" not in line for line in lines[1:]), f"wrong traces: {lines[1:]}")


def histogram(server, name, labels):
    """The counts of a histogram's buckets, by their upper ends."""
    counts, before = {}, 0
    for line in server.ask("GET", "/metrics")[2].decode().splitlines():
        if line.startswith(f"{name}_bucket{{{labels},"):
            end, count = line.split('le="')[1].split('"} ')
            counts[end], before = int(count) - before, int(count)
    return counts


def batches():
    """Requests that wait are worked together, and each has the bytes that it has alone, worked by whatever threads."""
    kinds = [("/remote/taesd/decode" + query((1, 4, 8, 8), do_scaling=True, image_format="png"), f32(make_latent(4, 8, 8, i)))
             for i in range(12)]
    kinds += [("/remote/taesd/decode" + query((1, 4, 8, 8), do_scaling=True, output_type="pt"), f32(make_latent(4, 8, 8, i)))
              for i in range(4)]
    kinds += [("/remote/taesd/encode?do_scaling=true", ramp(64, 64 + 8 * (i % 2))) for i in range(6)]
    kinds += [("/v1/reconstruct?model=taesd", ramp(64, 64))] * 3
    kinds += [("/remote/taesd/decode" + query((3, 4, 8, 8), do_scaling=True, output_type="pt"),
               f32(make_latent(4, 8, 8, 5, count=3)))] * 2
    with Server("--batch", "1", "--threads", "1") as server:
        alone = [server.ask("POST", path, body, TENSOR if "shape" in path else {}) for path, body in kinds]
        check([code for code, _, _ in alone] == [200] * len(kinds), f"alone: {[a[0] for a in alone]}")
        check(server.metric("zenith_batches_total") == len(kinds) + 4, "pictures alone are batches of one")
    for options in (("--threads", "2", "--batch", "4"), ("--threads", "1", "--batch", "3", "--batch-delay", "20")):
        with Server(*options) as server:
            results = [None] * len(kinds)

            def ask(i):
                path, body = kinds[i]
                results[i] = server.ask("POST", path, body, TENSOR if "shape" in path else {})
            holder = threading.Thread(target=server.ask, args=slow_request(64))  # all others come while it is worked
            holder.start()
            wait_depth(server, 1)
            threads = start_threads(ask, [(i,) for i in range(len(kinds))])
            join_threads([holder, *threads])
            for (path, _), (code, _, answer), expected in zip(kinds, results, alone):
                check(code == 200 and answer == expected[2], f"{options}: {path[:40]} among others: {code}")
            sizes = histogram(server, "zenith_batch_size", 'model="taesd",op="decode"')
            check(sum(n for end, n in sizes.items() if end not in ("1", "+Inf")) > 0, f"{options}: no batches: {sizes}")
            check(server.metric("zenith_batches_total") < server.metric("zenith_items_total"), f"{options}: batches")


def fairness():
    """A small request does not wait for all large ones before it, and what cannot be done in time is not begun."""
    with Server("--threads", "1", measures=True) as server:
        ended = []

        def ask(name, request):
            ended.append((name, server.ask(*request)[0]))
        threads = start_threads(ask, [("large", slow_request(64)) for _ in range(4)])
        wait_depth(server, 4)
        small = "POST", "/remote/taesd/decode" + query((1, 4, 8, 8), do_scaling=True), bytes(1024), TENSOR
        method, path, body, headers = slow_request(64)
        hurried = method, path, body, headers | {"X-Request-Timeout-Ms": "1"}
        ask("small", small)
        ask("hurried", hurried)
        join_threads(threads)
        names = [name for name, _ in ended]
        check(names.index("small") <= 2, f"a small request came after large ones: {names}")
        answers = collections.Counter(ended)
        check(answers == {("large", 200): 4, ("small", 200): 1, ("hurried", 504): 1}, f"answers: {ended}")
        check(server.metric("zenith_items_total") == 5, "a request was worked after its deadline")


def drain():
    with Server("--threads", "1") as server:
        results, begun = [], threading.Barrier(7)

        def ask():
            begun.wait()
            results.append(server.ask(*slow_request()))
        threads = start_threads(ask, [() for _ in range(6)])
        begun.wait()
        wait_depth(server, 6)
        with UnfinishedRequest(server, *slow_request()) as accepted:  # the server cannot end before the rest of it has come
            server.process.send_signal(signal.SIGTERM)
            wait_until(lambda: server.ask("GET", "/v2/health/ready")[0] == 503, "it is ready while it ends")
            code, headers, answer = server.ask(*slow_request())
            check(code == 503 and json.loads(answer)["error"]["type"] == "draining", f"asked while it ends: {code}")
            check(accepted.finish() == 200, "accepted before the end, with a body that came later")
        join_threads(threads)
        check([code for code, _, _ in results] == [200] * 6, f"accepted and not done: {[r[0] for r in results]}")
        check(server.process.wait(timeout=60) == 0, "its exit code")


TESTS = [pages, remote_decode, packed, remote_encode, native, oip, wrong, large_bodies, hostile, keys, bundled, key_limits, full_queue, deadlines, leavers,
         under_load, drain, batches, fairness, logs]


def run_tests(about, tests, missing=lambda name: None):
    """The main of a file of tests: --zenith PROGRAM, and names of those to run. `missing` says what a test lacks, which skips it."""
    global ZENITH
    named = {test.__name__.rstrip("_"): test for test in tests}
    parser = argparse.ArgumentParser(description=about, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--zenith", type=pathlib.Path, default=ROOT / "build/dev/zenith")
    parser.add_argument("tests", nargs="*", help=" ".join(named))
    arguments = parser.parse_args()
    ZENITH = arguments.zenith.resolve()
    for name, test in named.items():
        if arguments.tests and name not in arguments.tests:
            continue
        if missing(name):
            print(f"skipped: {missing(name)}")
            return 77
        begin = time.monotonic()
        test()
        print(f"{name}: {time.monotonic() - begin:.1f} s", flush=True)
    print(f"{len(FAILURES)} failures")
    return 1 if FAILURES else 0


if __name__ == "__main__":
    sys.exit(run_tests(__doc__, TESTS))
