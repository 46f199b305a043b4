#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Zenith authors
# SPDX-License-Identifier: Apache-2.0
"""Pictures from text by `zenith serve`, asked by plain Python, with the small random pipeline of the larger goldens: the bytes
against those of `zenith generate`, streams, forms, wrong and hostile requests, clients that leave. Exit code 77: there are no
such goldens.

    images.py [--zenith PATH] [TEST..]
"""
import base64
import json
import os
import pathlib
import socket
import sys
import tempfile
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import serve  # noqa: E402
from lib.pictures import png, ramp  # noqa: E402
from lib.process import join_threads, start_threads, wait_until  # noqa: E402
from serve import ROOT, Server, check  # noqa: E402

GOLDEN = pathlib.Path(os.environ.get("ZENITH_TEST_GOLDEN", ROOT.parent / "shared/reference/golden/out"))
PIPELINE = GOLDEN / "pipeline"
JSON = {"Content-Type": "application/json"}
CAT = "a photo of a cat sitting on a red chair"


def open_server(*options):
    return Server("--dtype", "f32", *options, models=[PIPELINE])


def generate(folder, name, *options, prompt=CAT):
    path = pathlib.Path(folder) / name
    serve.zenith("generate", prompt, "-w", PIPELINE, "-o", path, "--dtype", "f32", "-q", *options)
    return path.read_bytes()


def post(server, path, body, headers=None):
    code, headers, answer = server.ask("POST", path, json.dumps(body) if isinstance(body, dict) else body, headers or JSON)
    return code, json.loads(answer)


def files(answer):
    return [base64.b64decode(each["b64_json"]) for each in answer.get("data", [])]


def form(fields, boundary="----b0undary"):
    """A body of multipart/form-data, and its headers; bytes are files."""
    body = b""
    for name, value in fields:
        body += f'--{boundary}\r\nContent-Disposition: form-data; name="{name}"'.encode()
        if isinstance(value, bytes):
            body += b'; filename="a.png"\r\nContent-Type: image/png\r\n\r\n' + value + b"\r\n"
        else:
            body += b"\r\n\r\n" + str(value).encode() + b"\r\n"
    return body + f"--{boundary}--\r\n".encode(), {"Content-Type": f"multipart/form-data; boundary={boundary}"}


def events(body):
    """Names and objects of a stream."""
    out = []
    for block in body.decode().split("\n\n")[:-1]:
        name, data = block.split("\n")
        out.append((name.removeprefix("event: "), json.loads(data.removeprefix("data: "))))
    return out


# --- OpenAI --------------------------------------------------------------------------------------

def generations():
    with tempfile.TemporaryDirectory() as folder, open_server() as server:
        models = json.loads(server.ask("GET", "/v1/models")[2])
        check(models["object"] == "list" and [m["id"] for m in models["data"]] == ["pipeline"], f"models: {models}")
        check(all(m["object"] == "model" and m["created"] > 0 and m["owned_by"] for m in models["data"]), "OpenAI's shape")
        asked = {"prompt": CAT, "size": "96x64", "seed": 42, "num_inference_steps": 2}
        small = ("-s", "96x64", "--steps", "2")
        code, answer = post(server, "/v1/images/generations", asked | {"n": 2, "model": "pipeline"})
        check(code == 200 and len(files(answer)) == 2, f"two pictures: {code} {str(answer)[:200]}")
        for i, got in enumerate(files(answer)):
            check(got == generate(folder, f"{i}.png", *small, "--seed", 42 + i), f"picture {i} is not that of zenith generate")
            check(answer["data"][i]["seed"] == 42 + i, "its seed")
        check(answer["size"] == "96x64" and answer["output_format"] == "png" and answer["created"] > 0, "facts")
        for name, ending, quality in (("jpeg", "jpg", 40), ("webp", "webp", 70)):
            code, answer = post(server, "/v1/images/generations",
                                asked | {"output_format": name, "output_compression": quality, "response_format": "b64_json"})
            expected = generate(folder, f"a.{ending}", *small, "--seed", 42, "--quality", quality)
            check(code == 200 and files(answer) == [expected], f"{name}: {code} {str(answer)[:200]}")
        code, answer = post(server, "/v1/images/generations",
                            asked | {"guidance": 2.5, "negative_prompt": "blurry", "quality": "high", "user": "me"})
        expected = generate(folder, "c.png", *small, "--seed", 42, "--guidance", 2.5, "--negative", "blurry")
        check(code == 200 and files(answer) == [expected], f"guidance: {code} {str(answer)[:200]}")
        # Without a seed each is another picture, and the answer says which.
        code, answer = post(server, "/v1/images/generations", {"prompt": "x", "size": "32x32", "num_inference_steps": 1})
        seed = answer["data"][0]["seed"]
        expected = generate(folder, "d.png", "-s", "32x32", "--steps", 1, "--seed", seed, prompt="x")
        check(code == 200 and files(answer) == [expected], "a random seed")
        text = server.ask("GET", "/metrics")[2].decode()
        check("zenith_generated_pictures_total 6" in text and "zenith_generations 0" in text, "metrics")


def streams():
    asked = {"prompt": CAT, "size": "96x64", "seed": 42, "num_inference_steps": 4, "stream": True}
    with tempfile.TemporaryDirectory() as folder, open_server() as server:
        expected = generate(folder, "a.png", "-s", "96x64", "--steps", 4, "--seed", 42)
        code, headers, body = server.ask("POST", "/v1/images/generations", json.dumps(asked | {"partial_images": 3}), JSON)
        check(code == 200 and headers["Content-Type"] == "text/event-stream", f"stream: {code} {headers}")
        got = events(body)
        check([name for name, _ in got] == ["image_generation.partial_image"] * 3 + ["image_generation.completed"],
              f"events: {[name for name, _ in got]}")
        check([e["partial_image_index"] for _, e in got[:-1]] == [0, 1, 2], "numbers of previews")
        check(all(e["type"] == name and e["size"] == "96x64" for name, e in got), "types")
        check(base64.b64decode(got[-1][1]["b64_json"]) == expected, "the last is the picture of zenith generate")
        check(all(base64.b64decode(e["b64_json"])[:4] == b"\x89PNG" for _, e in got), "previews are pictures")
        got = events(server.ask("POST", "/v1/images/generations", json.dumps(asked | {"n": 2}), JSON)[2])
        check([name for name, _ in got] == ["image_generation.completed"] * 2, "two pictures without previews")
        check(base64.b64decode(got[0][1]["b64_json"]) == expected and got[1][1]["seed"] == 43, "the first of two")
        code, answer = post(server, "/v1/images/generations", asked | {"partial_images": 4})
        check(code == 400, f"too many previews: {code}")


def edits():
    picture = ramp(100, 70)
    with tempfile.TemporaryDirectory() as folder, open_server() as server:
        path = pathlib.Path(folder) / "in.png"
        path.write_bytes(picture)
        fields = [("prompt", "in oil"), ("seed", 7), ("num_inference_steps", 4), ("image", picture)]
        own = ("-i", path, "--seed", 7, "--steps", 4)
        body, headers = form(fields)
        code, answer = post(server, "/v1/images/edits", body, headers)
        expected = generate(folder, "a.png", *own, prompt="in oil")
        check(code == 200 and files(answer) == [expected] and answer["size"] == "96x64", f"edit: {code} {str(answer)[:200]}")
        body, headers = form(fields + [("size", "64x64"), ("strength", 0.9)])
        code, answer = post(server, "/v1/images/edits", body, headers)
        expected = generate(folder, "b.png", *own, "-s", "64x64", "--strength", 0.9, prompt="in oil")
        check(code == 200 and files(answer) == [expected], f"edit of a size: {code} {str(answer)[:200]}")
        body, headers = form(fields + [("stream", "true"), ("partial_images", 1)])
        got = events(server.ask("POST", "/v1/images/edits", body, headers)[2])
        check([name for name, _ in got] == ["image_edit.partial_image", "image_edit.completed"], "events of an edit")
        good, kind = form(fields)
        cases = [  # body, headers, code
            (*form(fields[:3]), 400),
            (*form(fields[1:]), 400),
            (*form(fields + [("mask", picture)]), 422),
            (*form(fields + [("image[]", picture)]), 422),
            (*form(fields[:3] + [("image", b"no picture")]), 422),
            (*form(fields[:3] + [("image", picture[:200])]), 400),
            (*form(fields[:3] + [("image", png(60000, 60000))]), 413),
            (*form(fields + [("seed", "many")]), 400),
            (*form(fields + [("strength", 0)]), 400),
            (*form(fields + [(f"a{i}", 1) for i in range(40)]), 400),
            (good, JSON, 415),
            (good, {"Content-Type": "multipart/form-data"}, 415),
            (good, {"Content-Type": "multipart/form-data; boundary=" + "x" * 200}, 415),
            (good[:-10], kind, 400),
            (good[:60], kind, 400),
            (b"", kind, 400),
            (good.replace(b"; name=", b"; nome="), kind, 400),
        ]
        for body, headers, code in cases:
            got, answer = post(server, "/v1/images/edits", body, headers)
            check(got == code and answer["error"]["message"], f"{body[:80]}..{headers}: {got}, not {code}: {answer}")


def wrong():
    good = {"prompt": "a", "size": "32x32", "num_inference_steps": 1}
    cases = [  # JSON, code
        (b"", 400), (b"{", 400), (b"[]", 400), (b"\xff\xfe", 400), (b"[" * 10000, 413),
        ({}, 400), ({"prompt": " "}, 400), ({"prompt": 5}, 400), ({"prompt": "a\0b"}, 400),
        (good | {"prompt": "x" * 40000}, 400),
        (good | {"n": 0}, 400), (good | {"n": 11}, 400), (good | {"n": 1.5}, 400), (good | {"n": "1"}, 400),
        (good | {"num_inference_steps": 0}, 400), (good | {"num_inference_steps": 101}, 400),
        (good | {"size": "32"}, 400), (good | {"size": "33x32"}, 422), (good | {"size": "99999999999x32"}, 400),
        (good | {"size": "16000x16000"}, 413), (good | {"size": "0x0"}, 400),
        (good | {"seed": -1}, 400), (good | {"seed": 1 << 64}, 400),
        (good | {"guidance": -1}, 400), (good | {"negative_prompt": "b"}, 422),
        (good | {"response_format": "url"}, 422), (good | {"output_format": "exe"}, 400),
        (good | {"output_compression": 101}, 400), (good | {"background": "transparent"}, 422),
        (good | {"partial_images": 1}, 422), (good | {"stream": "yes"}, 400),
        (good | {"model": "other"}, 404), (good | {"model": "../pipeline"}, 404), (good | {"sead": 1}, 400),
    ]
    with open_server() as server:
        for body, code in cases:
            got, answer = post(server, "/v1/images/generations", body)
            check(got == code and answer["error"]["message"], f"{str(body)[:80]}: {got}, not {code}: {answer}")
        check(server.ask("GET", "/v1/images/generations")[0] == 405, "GET")
        check(server.ask("POST", "/v1/decode", b"x")[0] == 400, "there is no autoencoder here")
        code, answer = post(server, "/v1/images/generations", good)
        check(code == 200, f"the server does not answer any more: {code}")
    with Server() as server:
        check(post(server, "/v1/images/generations", good)[0] == 404, "a server without a pipeline")


def wait_generations(server, count):
    wait_until(lambda: server.metric("zenith_generations ") == count, f"{count} generations are under way")


def leavers():
    slow = {"prompt": "a", "size": "1024x1024", "num_inference_steps": 100}

    def send(server, asked, path="/v1/images/generations"):
        body = json.dumps(asked).encode()
        raw = socket.create_connection(("127.0.0.1", server.port))
        raw.sendall(f"POST {path} HTTP/1.1\r\nHost: a\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body)
        return raw
    with open_server("--queue", "3", "--threads", "1") as server:
        sockets = [send(server, slow), send(server, slow | {"stream": True, "partial_images": 3}), send(server, slow)]
        wait_generations(server, 3)
        code, headers, answer = server.ask("POST", "/v1/images/generations", json.dumps(slow), JSON)
        check(code == 429 and int(headers["Retry-After"]) >= 1, f"a full queue: {code}")
        sockets[2].close()  # it waits
        wait_generations(server, 2)
        sockets[0].close()  # it runs
        wait_generations(server, 1)
        sockets[1].close()  # a stream
        wait_generations(server, 0)
        # A deadline, and the end of the server while one runs.
        code, headers, answer = server.ask("POST", "/v1/images/generations", json.dumps(slow),
                                           JSON | {"X-Request-Timeout-Ms": "200"})
        check(code == 504, f"a deadline: {code}")
        code, headers, answer = server.ask("POST", "/v1/images/generations", json.dumps(slow | {"stream": True}),
                                           JSON | {"X-Request-Timeout-Ms": "200"})
        got = events(answer)
        check(code == 200 and got[-1][0] == "error" and got[-1][1]["error"]["type"] == "deadline_exceeded",
              f"a stream's deadline: {got}")
        wait_generations(server, 0)
        check(server.metric("zenith_generated_pictures_total") == 0, "pictures were made for nobody")
        last = send(server, slow | {"stream": True})
        wait_generations(server, 1)
        server.process.send_signal(15)
        time.sleep(0.2)
        server.process.send_signal(15)  # gives up what is left
        check(server.process.wait(timeout=60) == 0, "its exit code")
        last.close()


def together():
    """Several clients at once: each has the bytes that it has alone."""
    asked = [{"prompt": f"prompt {i}", "size": "32x48", "seed": i, "num_inference_steps": 2, "stream": i % 2 == 1}
             for i in range(6)]
    with tempfile.TemporaryDirectory() as folder, open_server() as server:
        results = {}

        def ask(i):
            results[i] = server.ask("POST", "/v1/images/generations", json.dumps(asked[i]), JSON)
        join_threads(start_threads(ask, [(i,) for i in range(len(asked))]))
        for i, (code, _, body) in results.items():
            got = base64.b64decode(events(body)[-1][1]["b64_json"]) if i % 2 else files(json.loads(body))[0]
            expected = generate(folder, "a.png", "-s", "32x48", "--steps", 2, "--seed", i, prompt=f"prompt {i}")
            check(code == 200 and got == expected, f"client {i} of several: {code}")


# --- AUTOMATIC1111 -------------------------------------------------------------------------------

def get(server, path):
    code, _, body = server.ask("GET", path)
    return json.loads(body) if code == 200 else code


def sdapi():
    two = Server("--dtype", "f32", models=[PIPELINE, f"other={PIPELINE}"])
    asked = {"prompt": CAT, "width": 96, "height": 64, "seed": 42, "steps": 2, "cfg_scale": 1, "sampler_name": "Euler a",
             "enable_hr": False, "styles": [], "script_name": None, "alwayson_scripts": {}, "save_images": False}
    picture = ramp(100, 70)
    with tempfile.TemporaryDirectory() as folder, two as server:
        small = ("-s", "96x64", "--steps", 2)
        code, answer = post(server, "/sdapi/v1/txt2img", asked | {"batch_size": 2, "negative_prompt": "dog"})
        check(code == 200 and len(answer["images"]) == 2, f"txt2img: {code} {str(answer)[:200]}")
        info = json.loads(answer["info"])
        for i, image in enumerate(answer["images"]):
            check(base64.b64decode(image) == generate(folder, "a.png", *small, "--seed", 42 + i), f"picture {i}")
        check(info["seed"] == 42 and info["all_seeds"] == [42, 43] and info["sampler_name"] == "Euler", f"info: {info}")
        check(info["infotexts"][0].startswith(CAT + "\nSteps: 2, Sampler: Euler"), f"infotexts: {info['infotexts']}")
        check(answer["parameters"]["steps"] == 2 and answer["parameters"]["prompt"] == CAT, "parameters")
        code, answer = post(server, "/sdapi/v1/txt2img", asked | {"cfg_scale": 3.5, "negative_prompt": "blurry", "n_iter": 1})
        expected = generate(folder, "b.png", *small, "--seed", 42, "--guidance", 2.5, "--negative", "blurry")
        check(code == 200 and base64.b64decode(answer["images"][0]) == expected, "cfg_scale")
        code, answer = post(server, "/sdapi/v1/txt2img", asked | {"seed": -1, "send_images": False})
        check(code == 200 and answer["images"] == [] and json.loads(answer["info"])["seed"] >= 0, "without pictures")
        # From a picture, as plain base64 and as an address.
        path = pathlib.Path(folder) / "in.png"
        path.write_bytes(picture)
        expected = generate(folder, "c.png", *small, "--seed", 42, "-i", path, "--strength", 0.8)
        for before in ("", "data:image/png;base64,"):
            image = before + base64.b64encode(picture).decode()
            code, answer = post(server, "/sdapi/v1/img2img", asked | {"init_images": [image], "denoising_strength": 0.8})
            check(code == 200 and base64.b64decode(answer["images"][0]) == expected, f"img2img: {code} {str(answer)[:200]}")
        # Facts, and the choice of a model.
        check([m["model_name"] for m in get(server, "/sdapi/v1/sd-models")] == ["pipeline", "other"], "sd-models")
        check([s["name"] for s in get(server, "/sdapi/v1/samplers")] == ["Euler"], "samplers")
        check(get(server, "/sdapi/v1/options")["sd_model_checkpoint"] == "pipeline", "options")
        check(post(server, "/sdapi/v1/options", {"sd_model_checkpoint": "other"})[0] == 200, "choose")
        check(get(server, "/sdapi/v1/options")["sd_model_checkpoint"] == "other", "what was chosen")
        check(post(server, "/sdapi/v1/options", {"sd_model_checkpoint": "nothing"})[0] == 404, "choose nothing")
        check(post(server, "/sdapi/v1/options", {"samples_format": "exe"})[0] == 400, "options that cannot be set")
        check(post(server, "/sdapi/v1/txt2img", asked | {"override_settings": {"sd_model_checkpoint": "pipeline"}})[0] == 200,
              "a model of the request")
        for more, code in (({"prompt": ""}, 400), ({"steps": 1000}, 400), ({"width": 97}, 422), ({"width": 1 << 40}, 400),
                           ({"enable_hr": True}, 422), ({"script_name": "x"}, 422), ({"batch_size": 4, "n_iter": 3}, 400),
                           ({"mask": "x"}, 422), ({"seed": "x"}, 400), ({"cfg_scale": -1}, 400),
                           ({"override_settings": {"sd_model_checkpoint": "nothing"}}, 404)):
            got, answer = post(server, "/sdapi/v1/txt2img", asked | more)
            check(got == code, f"{more}: {got}, not {code}: {answer}")
        for images, code in (([], 400), (["x"], 400), (["!!!!"], 400), (["AAAA"], 422), ([5], 400), (None, 400), ("x", 400)):
            got, answer = post(server, "/sdapi/v1/img2img", asked | {"init_images": images})
            check(got == code, f"init_images {images}: {got}, not {code}: {answer}")
    with open_server("--no-sdapi") as server:
        check(server.ask("GET", "/sdapi/v1/options")[0] == 404 and post(server, "/sdapi/v1/txt2img", asked)[0] == 404,
              "--no-sdapi")


def progress():
    slow = {"prompt": "a", "width": 512, "height": 512, "steps": 100}
    with open_server("--threads", "1") as server:
        idle = get(server, "/sdapi/v1/progress")
        check(idle["progress"] == 0 and idle["state"]["job_count"] == 0, f"nothing to do: {idle}")
        results = []
        thread = threading.Thread(target=lambda: results.append(post(server, "/sdapi/v1/txt2img", slow)))
        thread.start()
        begin, seen = time.monotonic(), idle
        while seen["state"]["sampling_step"] < 2 and time.monotonic() - begin < 60:
            seen = get(server, "/sdapi/v1/progress")
            time.sleep(0.02)
        check(0 < seen["progress"] < 1 and seen["state"]["sampling_steps"] == 100 and seen["eta_relative"] > 0,
              f"progress: {seen}")
        check(post(server, "/sdapi/v1/interrupt", b"")[0] == 200, "interrupt")
        thread.join(timeout=60)
        check(results and results[0][0] == 200 and results[0][1]["images"] == [], f"interrupted: {str(results)[:200]}")
        check(get(server, "/sdapi/v1/progress")["progress"] == 0, "after an interrupt")
        wait_generations(server, 0)


TESTS = [generations, streams, edits, wrong, leavers, together, sdapi, progress]


if __name__ == "__main__":
    sys.exit(serve.run_tests(__doc__, TESTS, lambda name: None if PIPELINE.is_dir() else f"no larger goldens in {GOLDEN}"))
