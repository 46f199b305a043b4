#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Zenith authors
# SPDX-License-Identifier: Apache-2.0
"""Jobs of `zenith serve`: their answers against those of the addresses themselves, states, events, cancelling, keys, limits, the
end of the server, and the commands of docs/SERVER.md. The test `previews` needs the small pipeline of the larger goldens
(exit code 77: it is not there).

    jobs.py [--zenith PATH] [TEST..]
"""
import http.client
import json
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import images  # noqa: E402
import serve  # noqa: E402
from lib.pictures import ramp  # noqa: E402
from lib.process import wait_until  # noqa: E402
from serve import DATA, ROOT, TENSOR, Server, check, f32, make_latent, query, slow_request  # noqa: E402


def submit(server, path, body, headers=None):
    route, _, rest = path.partition("?")
    code, answered, text = server.ask("POST", f"/v1/jobs?route={route}" + (f"&{rest}" if rest else ""), body, headers)
    job = json.loads(text)
    check(code != 202 or answered["Location"] == f"/v1/jobs/{job['id']}", f"Location: {answered.items()}")
    return code, job


def show(server, job, headers=None):
    code, _, text = server.ask("GET", f"/v1/jobs/{job['id']}", headers=headers)
    return json.loads(text) if code == 200 else code


def wait(server, job, states=("done", "failed", "cancelled"), headers=None):
    def settled():
        now = show(server, job, headers)
        return now if isinstance(now, int) or now["state"] in states else None
    return wait_until(settled, f"a job comes to {states}", 300)


def result(server, job, headers=None):
    return server.ask("GET", f"/v1/jobs/{job['id']}/result", headers=headers)


def read_events(server, job):
    code, headers, body = server.ask("GET", f"/v1/jobs/{job['id']}/events")
    check(code == 200 and headers["Content-Type"] == "text/event-stream", f"events: {code}")
    return images.events(re.sub(rb"(?m)^: .*\n\n", b"", body))


def submit_slow(server, side=64, headers=None):
    _, path, body, types = slow_request(side)
    return submit(server, path, body, types | (headers or {}))


# --- tests ---------------------------------------------------------------------------------------

def results():
    """The bytes and headers of a job's result are those that its route answers."""
    latent = f32(make_latent(4, 8, 12))
    picture = (DATA / "small.png").read_bytes()
    oip = json.dumps({"id": "x", "inputs": [{"name": "latent", "datatype": "FP32", "shape": [1, 4, 1, 1],
                                              "data": [0.1, 0.2, 0.3, 0.4]}]})
    asked = [("/remote/taesd/decode" + query((1, 4, 8, 12), do_scaling=True, image_format="png"), latent, TENSOR),
             ("/remote/taesd/decode" + query((2, 4, 8, 12), do_scaling=True, output_type="pt"), latent * 2, TENSOR),
             ("/v1/encode?model=taesd", picture, {"Content-Type": "image/png"}),
             ("/v1/encode?model=taesd", picture, {"Accept": "application/x-npy"}),
             ("/v1/reconstruct?model=taesd&format=webp", picture, {}),
             ("/v2/models/taesd_decoder/infer", oip, {})]
    with Server() as server:
        for path, body, headers in asked:
            code, expected, bytes_ = server.ask("POST", path, body, headers)
            check(code == 200, f"{path}: {code} {bytes_[:200]}")
            code, job = submit(server, path, body, headers)
            check(code == 202 and job["state"] in ("queued", "running", "done"), f"{path}: {code} {job}")
            job = wait(server, job)
            check(job["state"] == "done" and job["step"] == job["total"] and job["bytes"] == len(bytes_), f"{path}: {job}")
            code, headers, answer = result(server, job)
            check(code == 200 and answer == bytes_, f"{path}: other bytes than the answer itself: {code}")
            for name in ("Content-Type", "shape", "dtype", "Inference-Header-Content-Length"):
                check(headers[name] == expected[name], f"{path}: {name} is {headers[name]}, not {expected[name]}")
        jobs = json.loads(server.ask("GET", "/v1/jobs")[2])["data"]
        check([j["route"] for j in jobs][2:5] == ["/v1/encode", "/v1/encode", "/v1/reconstruct"], f"the list: {jobs}")
        check(server.metric('zenith_jobs{state="done"}') == len(asked), "the metric")
        check(server.metric("zenith_queue_depth") == 0, "the queue is empty")


def wrong():
    latent = f32(make_latent(4, 8, 8))
    with Server() as server:
        for route in ("", "/v1/jobs", "/health", "/nothing", "/sdapi/v1/interrupt", "/sdapi/v1/options", "/v1/jobs/x/result"):
            code, job = submit(server, route, latent)
            check(code == 400 and job["error"]["type"] == "invalid_request", f"{route}: {code} {job}")
        code, job = submit(server, "/v1/decode?model=none", latent)
        check(code == 404 and job["error"]["type"] == "model_not_found", f"a model: {code}")
        code, job = submit(server, "/v1/decode?model=taesd&what=1", latent)
        check(code == 400, f"a parameter: {code}")
        code, job = submit(server, "/remote/taesd/decode" + query((1, 4, 8, 9), do_scaling=True), latent, TENSOR)
        check(code == 422, f"a body: {code}")
        for path in ("", "/events", "/result"):
            for name in ("0" * 32, "x", "..%2f", "0" * 5000):
                code, _, text = server.ask("GET", f"/v1/jobs/{name}{path}")
                check(code == 404 and b"not_found" in text, f"{name[:40]}{path}: {code}")
        check(server.ask("DELETE", "/v1/jobs/" + "0" * 32)[0] == 404, "one that is not there is deleted")
        code, headers, _ = server.ask("POST", "/v1/jobs/" + "0" * 32, b"")
        check(code == 405 and headers["Allow"] == "GET, HEAD, DELETE", f"405: {code}")
        check(server.ask("DELETE", "/v1/jobs")[0] == 405 and server.ask("DELETE", "/v1/decode")[0] == 405, "DELETE")
        # What fails in the work itself: a picture that ends in the middle.
        picture = ramp(64, 64)
        path = "/v1/reconstruct?model=taesd"
        broken = picture[:len(picture) // 2]
        expected = server.ask("POST", path, broken)
        code, job = submit(server, path, broken)
        if code == 202:
            job = wait(server, job)
            check(job["state"] == "failed" and job["error"]["code"] == expected[0], f"half a picture: {job}")
            code, _, text = result(server, job)
            check(code == expected[0] and text == expected[2], f"its result: {code} {text}")
        else:
            check(code == expected[0], f"half a picture: {code}")


def states():
    with Server("--threads", "1", "--batch", "1") as server:
        jobs = [submit_slow(server)[1] for _ in range(3)]
        first, second, third = jobs
        wait(server, first, ("running", "done"))
        now = [show(server, job) for job in (second, third)]
        check(all(n["state"] == "queued" and n["eta"] > 0 for n in now), f"two wait: {now}")
        check([n["position"] for n in now] == [0, 1], f"positions: {now}")
        check(server.metric('zenith_jobs{state="queued"}') == 2, "the metric")
        code, _, text = result(server, third)
        check(code == 409 and json.loads(text)["error"]["type"] == "conflict", f"a result before the end: {code}")
        # One that waits ends at once, one that runs soon.
        code, _, text = server.ask("DELETE", f"/v1/jobs/{third['id']}")
        check(code == 200 and json.loads(text)["state"] == "cancelled", f"cancelled: {code} {text}")
        wait(server, second, ("running", "done"))
        begin = time.monotonic()
        server.ask("DELETE", f"/v1/jobs/{second['id']}")
        now = wait(server, second)
        check(now["state"] == "cancelled", f"one that ran: {now}")
        print(f"a running job was cancelled in {1e3 * (time.monotonic() - begin):.0f} ms")
        check(result(server, second)[0] == 409, "a result of one that was cancelled")
        check(wait(server, first)["state"] == "done", "the first is done")
        check(server.metric("zenith_queue_depth") == 0, "the queue is empty")
        # Deleting one that is over forgets it.
        check(server.ask("DELETE", f"/v1/jobs/{first['id']}")[0] == 200, "forget")
        check(show(server, first) == 404 and result(server, first)[0] == 404, "forgotten")
        _, path, body, types = slow_request()
        code, job = submit(server, path, body, types | {"X-Request-Timeout-Ms": "1"})
        now = wait(server, job)
        check(now["state"] == "failed" and now["error"]["type"] == "deadline_exceeded", f"a deadline: {now}")


def events():
    latent = f32(make_latent(4, 8, 8, count=4))
    with Server("--threads", "1", "--batch", "1") as server:
        slow = submit_slow(server)[1]
        path = "/remote/taesd/decode" + query((4, 4, 8, 8), do_scaling=True, output_type="pt")
        job = submit(server, path, latent, TENSOR)[1]
        readers, got = [], []
        for _ in range(3):
            readers.append(threading.Thread(target=lambda: got.append(read_events(server, job))))
            readers[-1].start()
        # One who leaves takes nothing along.
        connection = http.client.HTTPConnection("127.0.0.1", server.port)
        connection.request("GET", f"/v1/jobs/{slow['id']}/events")
        check(connection.getresponse().readline() == b"event: progress\n", "the first line comes at once")
        connection.close()
        for reader in readers:
            reader.join()
        for told in got:
            names = [name for name, _ in told]
            check(names[-1] == "end" and set(names[:-1]) <= {"progress"} and names[0] != "end", f"events: {told}")
            check(told[-1][1]["state"] == "done" and told[-1][1]["step"] == 4, f"the end: {told[-1]}")
            steps = [each["step"] for _, each in told]
            check(steps == sorted(steps), f"steps: {steps}")
        check([name for name, _ in read_events(server, job)] == ["end"], "one that comes late is told the end")
        check(wait(server, slow)["state"] == "done", "the job whose reader left")
        wait_until(lambda: server.metric("process_open_fds") <= 12, "connections are closed")


def keys():
    names = {name: name * 20 for name in "ab"}
    headers = {name: {"Authorization": f"Bearer {key}"} for name, key in names.items()}
    with tempfile.NamedTemporaryFile("w") as file:
        file.write(f"{names['a']} in-flight=1\n{names['b']}\n")
        file.flush()
        with Server("--keys", file.name, "--threads", "1") as server:
            check(server.ask("GET", "/v1/jobs")[0] == 401, "without a key")
            code, job = submit_slow(server, headers=headers["a"])
            check(code == 202, f"a job with a key: {code} {job}")
            code, refused = submit_slow(server, headers=headers["a"])
            check(code == 429 and refused["error"]["type"] == "rate_limited", f"a second one at once: {code}")
            for method, path in (("GET", ""), ("DELETE", ""), ("GET", "/events"), ("GET", "/result")):
                code = server.ask(method, f"/v1/jobs/{job['id']}{path}", headers=headers["b"])[0]
                check(code == 404, f"another key's job: {method} {path}: {code}")
            check(json.loads(server.ask("GET", "/v1/jobs", headers=headers["b"])[2])["data"] == [], "another key's list")
            check(wait(server, job, headers=headers["a"])["state"] == "done", "its own")
            check(result(server, job, headers["a"])[0] == 200, "its result")
            code, job = submit_slow(server, side=16, headers=headers["a"])
            check(code == 202, f"after the end the next one may come: {code}")
            wait(server, job, headers=headers["a"])


def limits():
    small = "/remote/taesd/decode" + query((1, 4, 8, 8), do_scaling=True, output_type="pt")  # 48 KiB
    latent = f32(make_latent(4, 8, 8))
    with Server("--jobs", "2", "--job-memory", "100K", "--job-seconds", "2", "--threads", "1") as server:
        first = [submit_slow(server) for _ in range(4)]
        check([code for code, _ in first] == [202, 202, 429, 429], f"pending: {[code for code, _ in first]}")
        check(first[2][1]["error"]["type"] == "queue_full", f"its type: {first[2]}")
        for _, job in first[:2]:
            server.ask("DELETE", f"/v1/jobs/{job['id']}")
            wait(server, job)
        check(server.metric("zenith_queue_depth") == 0, "refused jobs leave the queue")
        done = []
        for i in range(3):
            done.append(submit(server, small, latent, TENSOR)[1])
            wait(server, done[-1])
            if i == 1:
                check(result(server, done[1])[0] == 200, "the second is read")
        begin = time.monotonic()
        while show(server, done[1]) != 404 and time.monotonic() - begin < 1:
            time.sleep(0.02)
        now = [show(server, job) for job in done]
        check(now[1] == 404 and now[0] != 404 and now[2] != 404, f"of three the one goes that was read: {now}")
        code, job = submit(server, "/remote/taesd/decode" + query((4, 4, 8, 8), do_scaling=True, output_type="pt"),
                           latent * 4, TENSOR)
        now = wait(server, job)
        check(now["state"] == "failed" and now["error"]["code"] == 413, f"an answer that is too large: {now}")
        time.sleep(2.2)
        check(show(server, done[2]) == 404 and server.metric("zenith_jobs") == 0, "answers are kept for a time")
        code, job = submit(server, small, latent, TENSOR)
        check(wait(server, job)["state"] == "done", "and the next is done")


def drain():
    """When the server ends, jobs are cancelled, and those who read their events are told."""
    with Server("--threads", "1") as server:
        jobs = [submit_slow(server, side=128)[1] for _ in range(6)]
        told = []
        reader = threading.Thread(target=lambda: told.extend(read_events(server, jobs[-1])))
        reader.start()
        while not server.metric('zenith_http_requests_total{route="/v1/jobs",code="202"}') == 6:
            time.sleep(0.01)
        time.sleep(0.1)
        begin = time.monotonic()
        server.process.send_signal(signal.SIGTERM)
        server.process.wait(60)
        check(time.monotonic() - begin < 5, f"the end took {time.monotonic() - begin:.1f} s")
        reader.join()
        check(told[-1][0] == "end" and told[-1][1]["state"] == "cancelled", f"events: {told}")


def manual():
    """The commands of docs/SERVER.md do what it says."""
    if shutil.which("curl") is None:
        sys.exit("there is no curl")
    text = (ROOT / "docs/SERVER.md").read_text()
    section = text[text.index("## Jobs"):]
    commands = re.search(r"```sh\n(.*?)```", section, re.S)[1]
    with tempfile.TemporaryDirectory() as folder, Server() as server:
        folder = pathlib.Path(folder)
        (folder / "photo.jpg").write_bytes((DATA / "small.png").read_bytes())
        expected = server.ask("POST", "/v1/reconstruct?model=taesd&format=webp", (DATA / "small.png").read_bytes())[2]
        done = subprocess.run(["bash", "-euo", "pipefail", "-c", commands.replace("8188", str(server.port))], cwd=folder,
                              capture_output=True, text=True)
        check(done.returncode == 0 and "event: end" in done.stdout, f"the commands: {done.stdout}{done.stderr}")
        check((folder / "again.webp").read_bytes() == expected, "the file is that of the address itself")
        check(done.stdout.endswith('{"object": "list", "data": []}'), f"nothing is left: {done.stdout}")


def previews():
    asked = {"prompt": images.CAT, "size": "256x256", "seed": 42, "num_inference_steps": 40}
    with images.open_server() as server:
        expected = json.loads(server.ask("POST", "/v1/images/generations", json.dumps(asked), images.JSON)[2])
        body = json.dumps(asked | {"stream": True, "partial_images": 3})
        code, job = submit(server, "/v1/images/generations", body, images.JSON)
        check(code == 202 and job["total"] == 40, f"a job of pictures: {code} {job}")
        waiting = submit(server, "/v1/images/generations", body, images.JSON)[1]
        check(waiting["position"] >= 1 and waiting["eta"] > 0, f"one that waits: {waiting}")
        server.ask("DELETE", f"/v1/jobs/{waiting['id']}")
        check(show(server, waiting)["state"] == "cancelled", "one that waited is cancelled")
        told = read_events(server, job)
        names = [name for name, _ in told]
        check(names.count("preview") >= 1 and names[-1] == "end", f"events: {names}")
        check(all(e["size"] == "256x256" and "partial_image_index" in e for n, e in told if n == "preview"), "previews")
        got = json.loads(result(server, job)[2])
        expected.pop("created"), got.pop("created")
        check(got == expected, "the result is the answer without a stream")
        # A running one is given up at its next step.
        job = submit(server, "/v1/images/generations", json.dumps(asked | {"num_inference_steps": 100}), images.JSON)[1]
        wait(server, job, ("running",))
        server.ask("DELETE", f"/v1/jobs/{job['id']}")
        now = wait(server, job)
        check(now["state"] == "cancelled" and now["step"] < 100, f"a running one: {now}")
        # AUTOMATIC1111's.
        text = json.dumps({"prompt": images.CAT, "width": 64, "height": 64, "steps": 2, "cfg_scale": 1, "seed": 3})
        expected = json.loads(server.ask("POST", "/sdapi/v1/txt2img", text, images.JSON)[2])["images"]
        job = submit(server, "/sdapi/v1/txt2img", text, images.JSON)[1]
        wait(server, job)
        check(json.loads(result(server, job)[2])["images"] == expected, "txt2img")


TESTS = [results, wrong, states, events, keys, limits, drain, manual, previews]


if __name__ == "__main__":
    sys.exit(serve.run_tests(__doc__, TESTS, lambda name: "no goldens of a pipeline" if name == "previews" and not images.PIPELINE.exists() else None))
