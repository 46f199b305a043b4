#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Zenith authors
# SPDX-License-Identifier: Apache-2.0
"""What does `zenith serve` cost for a request, how does it bear load, and does it stay the same for days?

    bench/serve.py cost        CPU milliseconds of the server for a decode, and decodes a second, with 32 clients at once: with
                               batches, without them, and by a FastAPI and PyTorch server that does the same (serve_peer.py)
    bench/serve.py overhead    the time of a decode for one client, beside that of `zenith bench`
    bench/serve.py load        50, 95, 120 and 200 % of what the server can do, in an open loop: requests come when they come,
                               whether others are answered or not. What is answered in time, what is refused, and the 99th percentile
    bench/serve.py mixed --pipeline FOLDER
                               a picture from text alone, small decodes alone, and both at once: how long decodes wait then, and
                               what the picture takes longer than the decodes' own work
    bench/serve.py soak --minutes 60
                               mixed sizes and operations at 80 % of what the server can do, 1 % of them wrong, clients that leave in
                               the middle; every answer is compared by its hash with that of the same request alone, memory in
                               the last sixth with that in the first, and open files before and after. The exit code is 1 where one differs

Contenders take turns, round by round; a ratio is the median of those of the rounds, with the lowest and highest. The clients are
on the same machine, so decodes a second are of both together; CPU time is the server's alone. Close other programs first. --quick
shows in seconds that all of it works, and measures nothing. `cost` needs fastapi, uvicorn and torch, unless --no-peer is given;
the others need Python alone. With --json the last line is one object.
"""
import argparse
import asyncio
import contextlib
import hashlib
import http.client
import importlib.util
import json
import os
import pathlib
import random
import socket
import statistics
import subprocess
import sys
import threading
import time

from common import ROOT
from lib.process import join_threads, start_threads  # common.py knows where the tests' folder is

LOADS = (50, 95, 120, 200)
TICKS = os.sysconf("SC_CLK_TCK")
QUIET = 20  # seconds after which a client gives its connection up; the server waits 30


def load_served():
    """The tests' own server and requests."""
    spec = importlib.util.spec_from_file_location("served", ROOT / "tests/serve/serve.py")
    served = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(served)
    return served


served = load_served()


class Peer:
    """The other server, as a context like served.Server."""

    def __init__(self, options):
        self.command = [sys.executable, ROOT / "bench/serve_peer.py", "--weights", options.weights, "--model", options.model,
                        "--dtype", options.dtype]

    def __enter__(self):
        self.process = subprocess.Popen(self.command, stderr=subprocess.PIPE, text=True)
        line = self.process.stderr.readline()
        if "listening on" not in line:
            raise SystemExit(f"serve.py: the peer did not start: {line}{self.process.stderr.read()}")
        self.port = int(line.rsplit(":", 1)[1])
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait(timeout=60)


def make_server(options, *more):
    return served.Server(*(("--dtype", options.dtype) if options.dtype else ()), *more)


def cpu_seconds(process):
    fields = pathlib.Path(f"/proc/{process.pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


def decode_request(options, side, is_peer=False):
    """(path, body): a latent of numbers in, bytes of pixels out, so that no picture file is made."""
    latent = side // 8
    body = served.f32(served.make_latent(options.channels, latent, latent))
    if is_peer:
        return f"/decode?height={latent}&width={latent}", body
    shape = served.query((1, options.channels, latent, latent), do_scaling=True, output_type="pt", partial_postprocess=True)
    return f"/remote/{options.model}/decode{shape}", body


# --- closed loop ---------------------------------------------------------------------------------

def ask_until(port, request, end, count):
    path, body = request
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=300)
    while time.monotonic() < end:
        connection.request("POST", path, body, served.TENSOR)
        answer = connection.getresponse()
        answer.read()
        if answer.status == 200:
            count.append(1)
        elif answer.status != 429:
            raise SystemExit(f"serve.py: {path}: {answer.status}")
    connection.close()


def closed_loop(server, request, clients, seconds):
    """(CPU milliseconds of the server for an answer, answers a second)"""
    count, begin, before = [], time.monotonic(), cpu_seconds(server.process)
    join_threads(start_threads(ask_until, [(server.port, request, begin + seconds, count) for _ in range(clients)]))
    done = max(len(count), 1)
    return 1e3 * (cpu_seconds(server.process) - before) / done, done / (time.monotonic() - begin)


def summary(values):
    return {"median": statistics.median(values), "lowest": min(values), "highest": max(values)}


def cost(options):
    contenders = {"batches": make_server(options), "alone": make_server(options, "--batch", "1")}
    if not options.no_peer:
        contenders["fastapi"] = Peer(options)
    results = {}
    with contextlib.ExitStack() as stack:
        for server in contenders.values():
            stack.enter_context(server)
        for side in options.sizes:
            rounds = {name: [] for name in contenders}
            for number in range(options.rounds + 1):  # the first warms up
                names = list(contenders)
                for name in names[number % len(names):] + names[:number % len(names)]:
                    request = decode_request(options, side, name == "fastapi")
                    measured = closed_loop(contenders[name], request, options.clients, options.seconds)
                    if number > 0:
                        rounds[name].append(measured)
            results[side] = describe_cost(side, rounds)
    return results


def describe_cost(side, rounds):
    result = {}
    for name, values in rounds.items():
        cpu, rate = zip(*values)
        result[name] = {"cpu_ms": summary(cpu), "per_second": summary(rate)}
        print(f"{side}x{side} {name:8} {statistics.median(cpu):8.2f} ms of CPU a decode  {statistics.median(rate):8.1f} decodes a second")
    for name in rounds:
        if name != "batches":
            ratios = summary([other[0] / ours[0] for other, ours in zip(rounds[name], rounds["batches"])])
            result[name]["cpu_ratio"] = ratios
            print(f"{side}x{side} {name} takes {ratios['median']:.2f} times the CPU time of batches "
                  f"({ratios['lowest']:.2f} .. {ratios['highest']:.2f})")
    return result


# --- one client ----------------------------------------------------------------------------------

def bench_ms(options, side):
    said = subprocess.run([options.zenith, "bench", "-m", options.model, "-w", options.weights, "--op", "decode", "--size",
                           f"{side}x{side}", "--dtype", options.dtype, "-n", str(options.repeats), "--no-tune", "--json"],
                          capture_output=True, text=True, check=True).stdout
    return json.loads(said.splitlines()[-1])["decode"]["ms"]


def client_ms(server, request, repeats):
    path, body = request
    connection, times = http.client.HTTPConnection("127.0.0.1", server.port, timeout=300), []
    for _ in range(repeats + 1):
        begin = time.perf_counter()
        connection.request("POST", path, body, served.TENSOR)
        answer = connection.getresponse()
        answer.read()
        if answer.status != 200:
            raise SystemExit(f"serve.py: {path}: {answer.status}")
        times.append(1e3 * (time.perf_counter() - begin))
    connection.close()
    return statistics.median(times[1:])


def overhead(options):
    results = {}
    with make_server(options) as server:
        for side in options.sizes:
            pairs = [(client_ms(server, decode_request(options, side), options.repeats), bench_ms(options, side))
                     for _ in range(options.rounds)]
            extra = summary([ours - bare for ours, bare in pairs])
            results[side] = {"client_ms": summary([a for a, _ in pairs]), "bench_ms": summary([b for _, b in pairs]),
                             "overhead_ms": extra}
            print(f"{side}x{side} one client {results[side]['client_ms']['median']:.2f} ms, zenith bench "
                  f"{results[side]['bench_ms']['median']:.2f} ms, more by {extra['median']:.2f} ms "
                  f"({extra['lowest']:.2f} .. {extra['highest']:.2f})")
    return results


# --- open loop -----------------------------------------------------------------------------------

class Pool:
    """Connections that are kept; as many as are needed at once."""

    def __init__(self, port):
        self.port, self.idle = port, []

    async def ask(self, request, timeout_ms):
        path, body = request
        streams = self.idle.pop() if self.idle else await asyncio.open_connection("127.0.0.1", self.port)
        reader, writer = streams
        writer.write(f"POST {path} HTTP/1.1\r\nHost: a\r\nContent-Type: tensor/binary\r\nX-Request-Timeout-Ms: {timeout_ms}\r\n"
                     f"Content-Length: {len(body)}\r\n\r\n".encode() + body)
        head = (await reader.readuntil(b"\r\n\r\n")).decode().lower()
        length = next(int(line.split(":")[1]) for line in head.splitlines() if line.startswith("content-length"))
        await reader.readexactly(length)
        if "connection: close" in head:
            writer.close()
        else:
            self.idle.append(streams)
        return int(head.split(" ")[1])

    def close(self):
        for _, writer in self.idle:
            writer.close()


async def open_loop(port, request, rate, seconds, timeout_ms):
    """[(code, seconds from when it should have come to its answer)]; requests come at random, on average `rate` a second."""
    pool, results, tasks = Pool(port), [], []
    chosen = random.Random(7)

    async def one(at):
        try:
            code = await pool.ask(request, timeout_ms)
        except (OSError, asyncio.IncompleteReadError):
            code = 0
        results.append((code, time.monotonic() - at))
    begin = at = time.monotonic()
    while at < begin + seconds:
        await asyncio.sleep(max(0, at - time.monotonic()))
        tasks.append(asyncio.create_task(one(at)))
        at += chosen.expovariate(rate)
    await asyncio.gather(*tasks)
    pool.close()
    return results


def percentile(times, share):
    """Of times in order; there is at least one."""
    return times[min(len(times) - 1, int(share * len(times)))]


def load(options):
    results = {}
    with make_server(options, "--queue-seconds", "30") as server:
        for side in options.sizes:
            request = decode_request(options, side)
            capacity = closed_loop(server, request, options.clients, options.seconds)[1]
            results[side] = {"capacity": capacity}
            print(f"{side}x{side}: {capacity:.1f} decodes a second in a closed loop of {options.clients} clients")
            for percent in LOADS:
                answers = asyncio.run(open_loop(server.port, request, capacity * percent / 100, options.seconds, options.timeout))
                good = sorted(t for code, t in answers if code == 200 and t <= options.timeout / 1e3)
                codes = {str(c): sum(code == c for code, _ in answers) for c in sorted({code for code, _ in answers})}
                p99 = 1e3 * percentile(good, 0.99) if good else float("nan")
                goodput = len(good) / options.seconds
                results[side][percent] = {"goodput": goodput, "share_of_capacity": goodput / capacity, "p99_ms": p99, "codes": codes}
                print(f"{side}x{side} at {percent:3} %: {goodput:8.1f} a second in time ({100 * goodput / capacity:.0f} % of capacity), "
                      f"p99 {p99:.0f} ms, codes {codes}")
                if not set(codes) <= {"200", "429", "504"}:
                    raise SystemExit(f"serve.py: answers that load does not explain: {codes}")
    return results


# --- pictures from text and decodes ---------------------------------------------------------------

def draw(options, server):
    """Seconds of a picture from text, by one client."""
    width, height = options.picture
    body = json.dumps({"prompt": "a lighthouse", "width": width, "height": height, "steps": options.steps, "seed": 1}).encode()
    begin = time.monotonic()
    code, _, answer = server.ask("POST", "/sdapi/v1/txt2img", body, {"Content-Type": "application/json"})
    if code != 200:
        raise SystemExit(f"serve.py: the picture is answered with {code} {answer[:200]}")
    return time.monotonic() - begin


def decodes(options, server, rate, seconds):
    """({"count", "p50_ms", "p99_ms"}, CPU seconds of the server) of decodes that come whether others are answered or not."""
    before = cpu_seconds(server.process)
    answers = asyncio.run(open_loop(server.port, decode_request(options, options.sizes[0]), rate, seconds, 60000))
    times = sorted(1e3 * t for code, t in answers if code == 200)
    if len(times) < len(answers):
        raise SystemExit("serve.py: decodes were refused")
    facts = {"count": len(times), "p50_ms": percentile(times, 0.5), "p99_ms": percentile(times, 0.99)}
    return facts, cpu_seconds(server.process) - before


def mixed(options):
    with make_server(options) as server:
        alone, work = decodes(options, server, options.rate, options.seconds)
        draw(options, server)  # plans are made, weights are read
        before = cpu_seconds(server.process)
        drawing = draw(options, server)
        cpu = cpu_seconds(server.process) - before
        results = {}

        def draw_beside():
            results["drawing"] = draw(options, server)
        before = cpu_seconds(server.process)
        thread = threading.Thread(target=draw_beside)
        thread.start()
        time.sleep(1)
        beside, _ = decodes(options, server, options.rate, max(1, drawing - 2))
        thread.join()
        both = cpu_seconds(server.process) - before
    asked = work / alone["count"] * beside["count"]  # CPU seconds that these decodes take alone
    print(f"decodes alone: {alone}\ndecodes beside a picture of {options.picture[0]}x{options.picture[1]}: {beside}")
    print(f"the picture: {drawing:.1f} s alone, {results['drawing']:.1f} s beside {beside['count']} decodes, whose work is {asked:.1f} CPU s; "
          f"CPU of the server {cpu:.1f} s alone, {both:.1f} s with them")
    return {"alone": alone, "beside": beside, "picture_seconds": [drawing, results["drawing"]], "cpu_seconds": [cpu, both],
            "decodes_cpu_seconds": asked}


# --- soak ----------------------------------------------------------------------------------------

def soak_requests(options, server):
    """[(path, body, hash of the answer)] of many sizes and all operations, each asked alone."""
    asked = []
    for i, (height, width) in enumerate(((8, 8), (8, 8), (16, 16), (12, 20), (32, 32), (48, 32))):
        body = served.f32(served.make_latent(options.channels, height, width, seed=i))
        shape = (1, options.channels, height, width)
        asked.append((f"/remote/{options.model}/decode" + served.query(shape, do_scaling=True, image_format="png"), body))
        asked.append((f"/remote/{options.model}/decode" + served.query(shape, do_scaling=True, output_type="pt"), body))
        picture = served.ramp(8 * width, 8 * height)
        asked.append((f"/remote/{options.model}/encode?do_scaling=true", picture))
    asked.append((f"/v1/reconstruct?model={options.model}&format=jpeg", served.ramp(128, 64)))
    hashed = []
    for path, body in asked:
        code, _, answer = server.ask("POST", path, body)
        if code != 200:
            raise SystemExit(f"serve.py: {path}: {code} {answer[:200]}")
        hashed.append((path, body, hashlib.sha256(answer).digest()))
    return hashed


class Soak:
    def __init__(self, server, asked, share):
        self.server, self.asked, self.share, self.lock = server, asked, share, threading.Lock()
        self.counts = {"answered": 0, "refused": 0, "bad": 0, "left": 0}
        self.failures = []

    def count(self, name):
        with self.lock:
            self.counts[name] += 1

    def fail(self, text):
        with self.lock:
            self.failures.append(text)

    def leave(self, path, body, chosen):
        head = f"POST {path} HTTP/1.1\r\nHost: a\r\nContent-Length: {len(body)}\r\n\r\n".encode()
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", self.server.port), timeout=60) as raw:
            raw.sendall((head + body)[:chosen.randrange(1, len(head) + len(body) + 1)])
            time.sleep(chosen.random() * 0.01)
        self.count("left")

    def one(self, connection, chosen):
        path, body, expected = chosen.choice(self.asked)
        kind = chosen.random()
        if kind < self.share:
            return self.leave(path, body, chosen)
        bad = kind < 2 * self.share
        connection.request("POST", path, body[:len(body) // 2] if bad else body, {})
        answer = connection.getresponse()
        data = answer.read()
        if bad:
            self.count("bad")
            if answer.status not in (400, 422, 429):
                self.fail(f"{path}: half a body is answered with {answer.status}")
        elif answer.status == 429 and answer.headers["Retry-After"]:
            self.count("refused")
        elif answer.status != 200 or hashlib.sha256(data).digest() != expected:
            self.fail(f"{path}: {answer.status}, or other bytes than alone")
        else:
            self.count("answered")
        return None

    def client(self, seed, end, pause):
        """pause: mean seconds from one request to the next, however long they take; 0: the next comes with the answer."""
        chosen, due = random.Random(seed), time.monotonic()
        while time.monotonic() < end:
            connection = http.client.HTTPConnection("127.0.0.1", self.server.port, timeout=300)
            try:
                for _ in range(chosen.randrange(1, 50)):
                    due += chosen.expovariate(1 / pause) if pause else 0
                    wait = max(0, due - time.monotonic())
                    if wait > QUIET:
                        connection.close()  # the next request opens it again
                    time.sleep(wait)
                    if time.monotonic() < end:
                        self.one(connection, chosen)
            except (OSError, http.client.HTTPException) as error:
                self.fail(f"a connection broke: {error}")
            finally:
                connection.close()

    def run(self, clients, seconds, seed, pause=0):
        """Resident bytes, every few seconds."""
        end, samples = time.monotonic() + seconds, []
        threads = start_threads(self.client, [(seed + i, end, pause) for i in range(clients)])
        while time.monotonic() < end:
            samples.append(self.server.metric("process_resident_memory_bytes"))
            time.sleep(min(5, seconds / 30))
        join_threads(threads)
        return samples


def open_files(server):
    """When all connections are closed."""
    begin = time.monotonic()
    files = server.metric("process_open_fds")
    while time.monotonic() - begin < 20:
        time.sleep(0.2)
        now = server.metric("process_open_fds")
        if now == files:
            break
        files = now
    return files


def soak(options):
    seconds = options.minutes * 60
    with make_server(options, "--max-pixels", "1M") as server:
        work = Soak(server, soak_requests(options, server), options.share / 100)
        before = min(60, seconds / 4)  # plans are made, and memory is what it will be; and what the server can do is counted
        work.run(options.clients, before, 1)
        rate = sum(work.counts.values()) / before
        files = open_files(server)
        samples = work.run(options.clients, seconds, 1000, options.clients / (rate * options.percent / 100))
        sixth = max(1, len(samples) // 6)
        begin, end = (statistics.mean(samples[:sixth]), files), (statistics.mean(samples[-sixth:]), open_files(server))
        depth = server.metric("zenith_queue_depth")
    print(f"{rate:.1f} requests a second at most; {options.percent:g} % of that for {options.minutes:g} minutes")
    allowed = begin[0] * (1 + options.growth / 100)
    if end[0] > allowed:
        work.fail(f"memory grew from {begin[0] / 1e6:.1f} to {end[0] / 1e6:.1f} MB")
    if end[1] > begin[1] + 2:
        work.fail(f"open files grew from {begin[1]:.0f} to {end[1]:.0f}")
    if depth != 0:
        work.fail(f"{depth:.0f} requests are left in the queue")
    if work.counts["answered"] == 0:
        work.fail("no request was answered")
    print(f"{work.counts}; memory {begin[0] / 1e6:.1f} -> {end[0] / 1e6:.1f} MB, open files {begin[1]:.0f} -> {end[1]:.0f}")
    for text in work.failures[:20]:
        print("failed:", text)
    return {"counts": work.counts, "failures": len(work.failures), "resident_bytes": [begin[0], end[0]], "open_files": [begin[1], end[1]]}


COMMANDS = {"cost": cost, "overhead": overhead, "load": load, "mixed": mixed, "soak": soak}


def read_options():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("command", choices=COMMANDS)
    parser.add_argument("--zenith", type=pathlib.Path, default=ROOT / "build/release/zenith")
    parser.add_argument("--model", default="taesd")
    parser.add_argument("--channels", type=int, default=4, help="of the model's latents")
    parser.add_argument("--weights", type=pathlib.Path, default=ROOT.parent / "shared/weights")
    parser.add_argument("--dtype", default="bf16", help="\"\": what the server takes by itself")
    parser.add_argument("--sizes", type=int, nargs="+", default=[64, 256])
    parser.add_argument("--clients", type=int, default=32)
    parser.add_argument("--seconds", type=float, default=10, help="of each measurement")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--repeats", type=int, default=100, help="decodes of one client")
    parser.add_argument("--timeout", type=int, default=1000, help="milliseconds after which an answer under load is of no use")
    parser.add_argument("--minutes", type=float, default=60, help="of the soak")
    parser.add_argument("--share", type=float, default=1, help="percent of a soak's requests that are wrong, and of those that leave")
    parser.add_argument("--percent", type=float, default=80, help="load of a soak, of what the server can do")
    parser.add_argument("--pipeline", type=pathlib.Path, help="folder of what makes the picture of mixed load")
    parser.add_argument("--picture", type=int, nargs=2, default=[1024, 1024], help="its width and height")
    parser.add_argument("--steps", type=int, default=2, help="its steps")
    parser.add_argument("--rate", type=float, default=5, help="decodes a second of mixed load")
    parser.add_argument("--growth", type=float, default=1, help="percent by which memory may grow in a soak")
    parser.add_argument("--no-peer", action="store_true")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    if options.quick:
        options.seconds, options.rounds, options.repeats, options.sizes = 1, 1, 3, options.sizes[:1]
    return options


def main():
    options = read_options()
    served.ZENITH = options.zenith.resolve()
    served.MODELS = [f"{options.model}={options.weights}", *([str(options.pipeline)] if options.pipeline else [])]
    result = COMMANDS[options.command](options)
    if options.json:
        print(json.dumps(result))
    return 1 if result.get("failures") or served.FAILURES else 0


if __name__ == "__main__":
    sys.exit(main())
