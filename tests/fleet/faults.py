#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Zenith authors
# SPDX-License-Identifier: Apache-2.0
"""Three hosts work on one dataset while machines, links, disks and files fail. At the end all of it must be there, with the bytes
of a run that nobody disturbed; no shard may be committed twice, and nothing may be left in the queue.

    faults.py --zenith PATH [--pictures N] [--shards N] [--faults N] [--seed N] [--json]

The faults follow from the seed; each comes at its share of the progress. The hosts are network namespaces (hosts.py); output is
a folder that they share, on a disk of its own that can be full. --faults 0 measures an undisturbed run.
"""
import argparse
import collections
import json
import os
import pathlib
import random
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time

import hosts
from nats import Server
from sets import MODEL, hashes, make_tars

KINDS = ("worker", "server", "partition", "loss", "full", "corrupt")
HOSTS, LEASE, RESTART = 3, 3, 0.7
ENVIRONMENT = {**os.environ, "ZENITH_TUNE": "", "OMP_WAIT_POLICY": "passive"}


class Worker:
    def __init__(self, run, number):
        self.run, self.number, self.process, self.again, self.codes = run, number, None, 0.0, []
        self.log = open(run.folder / f"host{number}.log", "w+", encoding="utf-8")
        self.errors = open(run.folder / f"host{number}.err", "w+", encoding="utf-8")

    def start(self):
        host, port = self.run.network.server(self.number, self.run.server.port)
        words = [*self.run.network.words(self.number), *self.run.encode("out"), "--json", "--queue", f"nats://{host}:{port}/faults"]
        self.process = subprocess.Popen(words, stdout=self.log, stderr=self.errors, env=ENVIRONMENT)

    def kill(self):
        if self.process and self.process.poll() is None:
            self.process.send_signal(signal.SIGKILL)

    def look(self):
        """True while it has work. One that was killed, or gave up, is started again, as a supervisor would."""
        if self.process is None:
            if time.monotonic() < self.again:
                return True
            self.start()
        code = self.process.poll()
        if code is None:
            return True
        if code in (0, 1) and "output" in (self.lines() or [{}])[-1]:  # it has said what it did, and that it ended
            return False
        self.codes.append(code)
        self.process, self.again = None, time.monotonic() + RESTART
        return True

    def lines(self):
        self.log.flush()
        text = (self.run.folder / f"host{self.number}.log").read_text()
        found = []
        for line in text.splitlines():
            try:
                found.append(json.loads(line))
            except ValueError:
                pass  # cut off by a kill
        return found


class Run:
    def __init__(self, arguments, network, folder, seed):
        self.arguments, self.network, self.folder = arguments, network, folder
        self.choose = random.Random(seed)
        self.server = Server(folder, network.address)
        self.out, self.healing, self.flapping, self.damaged = folder / "out", [], set(), collections.Counter()
        self.workers = [Worker(self, number) for number in range(HOSTS)]
        self.happened = []

    def encode(self, output):
        return [self.arguments.zenith, "dataset", "encode", self.folder / "in", self.folder / output, "-m", "taesd", "--weights", MODEL,
                "--dtype", "f32", "--size", f"{self.arguments.size}x{self.arguments.size}", "--threads", "1", "--lease", str(LEASE)]

    def zenith(self, *words, codes=(0,)):
        done = subprocess.run([self.arguments.zenith, *map(str, words)], capture_output=True, text=True, env=ENVIRONMENT)
        assert done.returncode in codes, (words, done)
        return done

    def prepare(self):
        make_tars(self.folder / "in", self.arguments.shards, self.arguments.pictures)
        broken = self.folder / "in/00001.tar"  # one archive is cut off from the beginning on
        broken.write_bytes(broken.read_bytes()[:broken.stat().st_size // 2 + 700])
        subprocess.run(self.encode("whole"), env=ENVIRONMENT, stderr=subprocess.DEVNULL, check=False)
        self.out.mkdir()
        room = sum(path.stat().st_size for path in (self.folder / "whole").iterdir())
        if isinstance(self.network, hosts.Namespaces):
            hosts.tool("mount", "-t", "tmpfs", "-o", f"size={2 * room + (8 << 20)}", "x", self.out)
        self.server.start()
        self.zenith("dataset", "publish", self.folder / "in", "--queue", self.server.url("faults"), "--lease", LEASE)

    # --- faults: each returns what ends it -----------------------------------------------------------------------------------

    def fault_worker(self):
        worker = self.choose.choice(self.workers)
        worker.kill()
        return f"host{worker.number} killed", 0, lambda: None

    def fault_server(self):
        self.server.kill()
        return "server killed", self.choose.uniform(0.2, 1.5), self.server.start

    def fault_partition(self):
        number = self.choose.randrange(HOSTS)
        self.network.cut(number, True)
        return f"host{number} cut off", self.choose.uniform(0.5, 1.5 * LEASE), lambda: self.network.cut(number, False)

    def fault_loss(self):
        number = self.choose.randrange(HOSTS)
        self.network.lossy(number, True)
        self.flapping.add(number)

        def end():
            self.flapping.discard(number)
            self.network.lossy(number, False)
        return f"host{number} loses packets", self.choose.uniform(1, 3), end

    def fault_full(self):
        filler = self.out / ".filler"
        if not isinstance(self.network, hosts.Namespaces):
            return "no disk of its own to fill", 0, lambda: None
        with open(filler, "wb", buffering=0) as file:
            try:
                while True:
                    file.write(bytes(1 << 16))
            except OSError:
                pass
        return "disk full", self.choose.uniform(1, 2.5), lambda: filler.unlink(missing_ok=True)

    def fault_corrupt(self):
        done = sorted(path.stem for path in self.out.glob("[0-9]*.json"))
        if not done:
            return "nothing to damage yet", 0, lambda: None
        name = self.choose.choice(done)
        self.damaged[name] += 1
        os.truncate(self.out / f"{name}.tar", 700)
        return f"{name}.tar cut short", 0, lambda: None

    # --- the run ---------------------------------------------------------------------------------------------------------------

    def progress(self):
        return len(list(self.out.glob("[0-9]*.json"))) / self.arguments.shards

    def plan(self):
        kinds = []
        while len(kinds) < self.arguments.faults:
            kinds += self.choose.sample(KINDS, len(KINDS))
        kinds = kinds[:self.arguments.faults]
        return [((i + 0.5) / len(kinds) * 0.9, kind) for i, kind in enumerate(kinds)]

    def heal(self, everything=False):
        due = [entry for entry in self.healing if everything or entry[0] <= time.monotonic()]
        self.healing = [entry for entry in self.healing if entry not in due]
        for _, end in due:
            end()
        for number in self.flapping:
            self.network.flap(number)

    def strike(self, kind, begin):
        if any(entry[1].__name__ == kind for entry in self.healing):
            self.heal(True)  # a second one of a kind comes after the first
        text, seconds, end = getattr(self, f"fault_{kind}")()
        self.happened.append({"at": round(time.monotonic() - begin, 2), "what": text, "seconds": round(seconds, 2)})
        self.healing.append((time.monotonic() + seconds, end))

    def work(self, plan, begin, patience):
        """Until every worker has ended by itself."""
        while True:
            self.heal()
            if plan and self.progress() >= plan[0][0]:
                if self.healing:  # one after the other: two at once can only be told apart by their ends
                    time.sleep(0.02)
                    continue
                self.strike(plan.pop(0)[1], begin)
            busy = [worker.look() for worker in self.workers]
            if not any(busy) and not self.healing:
                return
            assert time.monotonic() - begin < patience, ("it does not end", self.state())
            time.sleep(0.02)

    def state(self):
        return {"faults": self.happened, "records": self.progress(), "codes": [w.codes for w in self.workers],
                "errors": [(self.folder / f"host{w.number}.err").read_text()[-2000:] for w in self.workers]}

    def go(self):
        self.prepare()
        begin = time.monotonic()
        self.work(self.plan(), begin, self.arguments.patience)
        seconds, rounds = time.monotonic() - begin, 0
        # What was damaged, or given up, is published again by the records: never by what the queue says.
        while self.publish_missing() > 0:
            rounds += 1
            assert rounds <= 3, self.state()
            for worker in self.workers:
                worker.start()
            self.work([], time.monotonic(), self.arguments.patience)
        self.check()
        return self.facts(seconds, rounds)

    def publish_missing(self):
        done = self.zenith("dataset", "publish", self.folder / "in", self.out, "--queue", self.server.url("faults"), "--lease", LEASE, "--json")
        return json.loads(done.stdout)["published"]

    def commits(self):
        return collections.Counter(line["shard"] for worker in self.workers for line in worker.lines() if line.get("result") == "done")

    def check(self):
        subprocess.run(self.encode("out"), env=ENVIRONMENT, stderr=subprocess.DEVNULL, check=True)  # finds nothing to do, and sweeps
        whole = self.folder / "whole"
        assert hashes(self.out) == hashes(whole), self.state()
        names = {path.name for path in self.out.iterdir()} ^ {path.name for path in whole.iterdir()}
        assert not names, (names, self.state())
        faults = json.loads(self.zenith("dataset", "verify", self.folder / "in", self.out, "--json", codes=(1,)).stdout)["faults"]
        assert [(fault["shard"], fault["fault"]) for fault in faults] == [("00001", "input")], faults
        for shard, count in self.commits().items():
            assert count <= 1 + self.damaged[shard], (shard, count, self.state())
        assert self.server.messages("faults") == 0 and self.server.messages("faults_DEAD") == 0, self.state()

    def facts(self, seconds, rounds):
        lines = [line for worker in self.workers for line in worker.lines() if "result" in line]
        done = [line for line in lines if line["result"] == "done"]
        # What a shard takes where no fault holds it up, which a mean would not tell.
        middle = statistics.median(line["seconds"] for line in done)
        deviation = 1.4826 * statistics.median(abs(line["seconds"] - middle) for line in done)
        return {"hosts": HOSTS, "network": self.network.what, "pictures": self.arguments.pictures, "shards": self.arguments.shards,
                "lease": LEASE, "restart": RESTART, "seconds": round(seconds, 2), "rounds": rounds,
                "results": dict(collections.Counter(line["result"] for line in lines)), "faults": self.happened,
                "shard_seconds": round(middle, 4), "shard_deviation": round(deviation, 4)}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--zenith", required=True, type=lambda text: str(pathlib.Path(text).resolve()))
    parser.add_argument("--pictures", type=int, default=300)
    parser.add_argument("--shards", type=int, default=20)
    parser.add_argument("--size", type=int, default=256)
    parser.add_argument("--faults", type=int, default=5)
    parser.add_argument("--seed", type=int, default=None)
    parser.add_argument("--patience", type=float, default=120, help="seconds after which a run is stuck")
    parser.add_argument("--keep", action="store_true", help="keep the folder of a run that failed")
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    able = hosts.enter()
    network = hosts.Namespaces(HOSTS) if able else hosts.Loopback(HOSTS)
    seed = random.randrange(1 << 30) if arguments.seed is None else arguments.seed
    print(f"seed {seed}, {network.what}", flush=True)
    folder = pathlib.Path(tempfile.mkdtemp(prefix="zenith-faults-"))
    run = Run(arguments, network, folder, seed)
    good = False
    try:
        facts = {"seed": seed, **run.go()}
        good = True
    finally:
        for worker in run.workers:
            worker.kill()
        run.server.kill()
        if able and run.out.is_dir():
            subprocess.run(["umount", run.out], capture_output=True)
        if good or not arguments.keep:
            shutil.rmtree(folder, ignore_errors=True)
    if arguments.json:
        print(json.dumps(facts))
        return
    for fault in facts["faults"]:
        print(f"  {fault['at']:6.2f} s: {fault['what']}" + (f", {fault['seconds']} s" if fault["seconds"] else ""))
    print(f"{facts['shards']} shards in {facts['seconds']} s: {facts['results']}")


if __name__ == "__main__":
    sys.exit(main())
