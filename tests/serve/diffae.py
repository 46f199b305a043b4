#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Zenith authors
# SPDX-License-Identifier: Apache-2.0
"""Diffusion autoencoders of `zenith serve`, with the model that comes with the program: pictures against the bytes of
`zenith diffae`, wrong and hostile requests, jobs, and clients that leave.

    diffae.py [--zenith PATH] [TEST..]
"""
import base64
import json
import pathlib
import re
import shutil
import socket
import struct
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import images  # noqa: E402
import jobs  # noqa: E402
import serve  # noqa: E402
from lib.pictures import ramp  # noqa: E402
from lib.process import wait_until  # noqa: E402
from serve import DATA, ROOT, Server, check  # noqa: E402

MODEL = ROOT / "models/zenith-avatars64.safetensors"
STEPS = ("--steps", "2")
TO_NOISE = ("--noise-steps", "4")


def open_server(*options):
    return Server("--dtype", "f32", "--threads", "1", *options, models=[f"avatars={MODEL}"])


def diffae(folder, verb, *arguments):
    """The bytes that `zenith diffae` writes into the last argument."""
    path = pathlib.Path(folder) / arguments[-1]
    serve.zenith("diffae", verb, *arguments[:-1], "-o", path, "-m", MODEL, "--dtype", "f32", "--threads", "1", "-q")
    return path.read_bytes()


def post(server, path, body=b"", headers=None):
    return server.ask("POST", f"/v1/diffae/{path}", body, headers)


def same(answer, expected, what):
    check(answer[0] == 200 and answer[2] == expected, f"{what}: {answer[0]} {answer[2][:200]}")


# --- tests ---------------------------------------------------------------------------------------

def bytes_():
    """What is answered has the bytes that zenith diffae writes."""
    first = DATA / "small.png"
    picture, other = first.read_bytes(), ramp(80, 64)
    with tempfile.TemporaryDirectory() as folder, open_server() as server:
        second = pathlib.Path(folder) / "second.png"
        second.write_bytes(other)
        models = json.loads(server.ask("GET", "/v1/models")[2])["data"]
        check([m["id"] for m in models] == ["avatars"] and models[0]["diffae"] and models[0]["sample"], f"models: {models}")
        attribute = models[0]["attributes"][1]
        code_file = diffae(folder, "encode", first, "--steps", "4", "code.safetensors")
        code_path = pathlib.Path(folder) / "code.safetensors"
        answer = post(server, "encode?noise_steps=4", picture)
        code = json.loads(answer[2])
        check(answer[0] == 200 and code["object"] == "code" and code["steps"] == 4, f"encode: {answer[0]} {answer[2][:200]}")
        noise = base64.b64decode(code["noise"])
        numbers = struct.pack(f"<{len(code['code'])}f", *code["code"])
        check(noise in code_file and numbers in code_file, "the numbers are those of the file of zenith diffae encode")
        # From the code: its own noise, another, and moved.
        same(post(server, "decode?steps=2", answer[2]), diffae(folder, "decode", code_path, *STEPS, "a.png"), "decode")
        same(post(server, "decode?steps=2&format=jpeg&quality=70", answer[2]),
             diffae(folder, "decode", code_path, *STEPS, "--quality", "70", "a.jpg"), "decode as JPEG")
        expected = diffae(folder, "decode", code_path, *STEPS, "--random", "--seed", "7", "b.png")
        same(post(server, "decode?steps=2&random=true&seed=7", answer[2]), expected, "decode by other noise")
        bare = json.loads(post(server, "encode?noise=false", picture)[2])
        check("noise" not in bare and bare["code"] == code["code"], "a code without noise")
        same(post(server, "decode?steps=2&seed=7", json.dumps(bare)), expected, "decode of a code without noise")
        edited = diffae(folder, "edit", first, "--attribute", attribute, "--strength", "0.5", *STEPS, *TO_NOISE, "c.png")
        check(edited != expected, "an edit changes the picture")
        asked = f"edit?attribute={attribute.replace(' ', '%20')}&strength=0.5&steps=2&noise_steps=4"
        same(post(server, asked, picture), edited, "edit of a picture")
        same(post(server, asked, answer[2]), edited, "edit of a code")
        same(post(server, f"edit?attribute=0,{attribute.replace(' ', '%20')}&strength=0,0.5&steps=2", answer[2]), edited, "a strength of 0")
        both = post(server, "edit?attribute=0,1&strength=0.5&steps=2", answer[2])[2]
        same(post(server, "edit?attribute=0,1&strength=0.5,0.5&steps=2", answer[2]), both, "one strength for both")
        check(both not in (edited, post(server, "edit?attribute=0&strength=0.5&steps=2", answer[2])[2]), "both attributes count")
        # Between two, and drawn.
        between = diffae(folder, "interpolate", first, second, "-n", "1", *STEPS, *TO_NOISE, "d.png")
        body, headers = images.form([("a", picture), ("b", other)])
        same(post(server, "interpolate?steps=2&noise_steps=4", body, headers), between, "interpolate pictures")
        pair = {"a": code, "b": json.loads(post(server, "encode?noise_steps=4", other)[2])}
        same(post(server, "interpolate?steps=2&weight=0.5", json.dumps(pair)), between, "interpolate codes")
        same(post(server, "sample?steps=2&prior_steps=4&seed=3"),
             diffae(folder, "sample", "-n", "1", "--seed", "3", *STEPS, "--prior-steps", "4", "e.png"), "sample")
        usual = diffae(folder, "sample", "-n", "1", "--seed", "3", *STEPS, "f.png")
        same(post(server, "sample?steps=2&seed=3"), usual, "sample in as many steps of codes as zenith diffae takes")
        job = jobs.submit(server, "/v1/diffae/sample?steps=2&seed=3", b"")[1]
        end = jobs.wait(server, job)
        check(end["step"] == end["total"] == 22, f"its steps are counted: {end}")
        wait_until(lambda: server.metric("zenith_diffae_requests") == 0, "the job's request has ended")
        check(server.metric("zenith_diffae_steps_total") > 30, "metrics")


def wrong():
    picture = (DATA / "small.png").read_bytes()
    with open_server("--max-pixels", "100K") as server:
        code = json.loads(post(server, "encode?noise=false", picture)[2])
        noise = base64.b64encode(struct.pack("<f", 1) * 3 * 64 * 64).decode()
        cases = [("encode", b"", 400), ("encode", b"no picture", 422), ("encode?what=1", picture, 400),
                 ("encode?model=none", picture, 404), ("encode?noise_steps=0", picture, 400), ("encode", ramp(400, 400), 413),
                 ("decode", picture, 400), ("decode", b"{}", 422), ("decode?steps=1001", json.dumps(code), 400),
                 ("decode?seed=-1", json.dumps(code), 400), ("decode?format=gif", json.dumps(code), 400),
                 ("decode", json.dumps(code | {"code": code["code"][1:]}), 422),
                 ("decode", json.dumps(code | {"code": ["x"] * len(code["code"])}), 422),
                 ("decode", json.dumps(code | {"code": [1e300] * len(code["code"])}), 422),
                 ("decode", json.dumps(code | {"noise": noise[:-8]}), 422), ("decode", json.dumps(code | {"noise": 1}), 422),
                 ("decode", json.dumps(code | {"noise": base64.b64encode(b"\xff" * 4 * 3 * 64 * 64).decode()}), 422),
                 ("decode", json.dumps(code | {"width": 63}), 422), ("decode", json.dumps(code | {"width": 65536}), 413),
                 ("decode", json.dumps(code | {"weights": "0" * 64}), 422), ("decode", json.dumps(code | {"more": 1}), 400),
                 ("edit", json.dumps(code), 400), ("edit?attribute=none", json.dumps(code), 400),
                 ("edit?attribute=0&strength=1e9", json.dumps(code), 400), ("edit?attribute=0&strength=nan", json.dumps(code), 400),
                 ("edit?attribute=0,1&strength=1,", json.dumps(code), 400), ("edit?attribute=0&strength=1,2", json.dumps(code), 400),
                 ("edit?attribute=0,1,2&strength=1,2", json.dumps(code), 400), ("edit?attribute=0,", json.dumps(code), 400),
                 ("edit?attribute=" + ",".join(["0"] * 65), json.dumps(code), 400),
                 ("interpolate", json.dumps(code), 400), ("interpolate", json.dumps({"a": code}), 400),
                 ("interpolate?weight=2", json.dumps({"a": code, "b": code}), 400),
                 ("interpolate", json.dumps({"a": code, "b": code | {"width": 128}}), 422)]
        for path, body, expected in cases:
            status, _, answer = post(server, path, body)
            check(status == expected and "error" in json.loads(answer), f"{path} {body[:60]}: {status} {answer[:200]}")
        status = post(server, "decode?steps=2", json.dumps(code | {"noise": noise}))[0]
        check(status == 200, f"the same with what is right: {status}")
        check(server.ask("GET", "/v1/diffae/encode")[0] == 405, "GET")
    with Server() as server:
        check(post(server, "sample")[0] == 404, "where no such model is served")


def leaving():
    """A job is cancelled at its next step, and a client that leaves gives its work up."""
    with open_server() as server:
        status, job = jobs.submit(server, "/v1/diffae/sample?steps=1000&prior_steps=1000&seed=1", b"")
        check(status == 202 and job["total"] == 2000, f"a job: {status} {job}")
        jobs.wait(server, job, ("running",))
        begin = time.monotonic()
        server.ask("DELETE", f"/v1/jobs/{job['id']}")
        now = jobs.wait(server, job)
        check(now["state"] == "cancelled" and now["step"] < 2000, f"cancelled: {now}")
        print(f"a running job was cancelled in {1e3 * (time.monotonic() - begin):.0f} ms")
        expected = post(server, "sample?steps=2&prior_steps=4&seed=1")[2]
        job = jobs.submit(server, "/v1/diffae/sample?steps=2&prior_steps=4&seed=1", b"")[1]
        told = jobs.read_events(server, job)
        check(told[-1][0] == "end" and told[-1][1]["step"] == 6, f"events: {told}")
        check(jobs.result(server, job)[2] == expected, "the result of a job")
        with socket.create_connection(("127.0.0.1", server.port)) as raw:
            raw.sendall(b"POST /v1/diffae/sample?steps=1000 HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n")
            wait_until(lambda: server.metric("zenith_diffae_requests") > 0, "the request is in work")
        wait_until(lambda: server.metric("zenith_diffae_requests") == 0, "the work of a client that left has ended")


def manual():
    """The commands of docs/SERVER.md do what it says."""
    text = (ROOT / "docs/SERVER.md").read_text()
    section = text[text.index("## Diffusion autoencoders"):]
    commands = re.search(r"```sh\n(.*?)```", section, re.S)[1]
    commands = re.sub(r"steps=\d+", "steps=2", commands).replace("seed=1", "seed=1&prior_steps=4")
    with tempfile.TemporaryDirectory() as folder, open_server() as server:
        folder = pathlib.Path(folder)
        shutil.copy(DATA / "small.png", folder / "photo.jpg")
        done = subprocess.run(["bash", "-euo", "pipefail", "-c", commands.replace("8188", str(server.port))], cwd=folder,
                              capture_output=True, text=True)
        check(done.returncode == 0, f"the commands: {done.stdout}{done.stderr}")
        for name in ("again", "edited", "between", "drawn"):
            data = (folder / f"{name}.png").read_bytes()
            check(data.startswith(b"\x89PNG"), f"{name}.png: {data[:200]}")


TESTS = [bytes_, wrong, leaving, manual]


if __name__ == "__main__":
    sys.exit(serve.run_tests(__doc__, TESTS))
