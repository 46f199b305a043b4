#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Zenith authors
# SPDX-License-Identifier: Apache-2.0
"""What a dataset of latents takes at a size that nobody here can run: a simulation of shards, workers, failures, stragglers, lists
and requests. docs/SCALE.md says what came out, and what to believe of it.

    bench/notes/scale.py [--rates FILE] [--set NAME=VALUE ..] [--json]
    bench/notes/scale.py --check FILE [--within 15]

--rates: a JSON file with measured parameters (those of `Parameters` below); the last line of `bench/dataset.py --json` is one, by
its images_per_second_core. --set overrides one of them. --check: the last line of `tests/fleet/long.py --json`, or of
tests/fleet/faults.py: simulates those runs, and fails where the time is further off than so many percent.
"""
import argparse
import dataclasses
import heapq
import json
import math
import pathlib
import random

DAY, HOUR, MILLION = 86400.0, 3600.0, 1e6


@dataclasses.dataclass
class Parameters:
    """Assumptions, where the comment names no source. Sizes in bytes, times in seconds, money in dollars."""
    images_per_second_core: float = 20.0  # bench/dataset.py measures it
    cores_per_worker: int = 16
    shard_pictures: int = 10000
    input_bytes: float = 38e3  # of a picture: LAION-5B at 384 pixels, 220 TB for 5.8e9
    output_bytes: float = 9.4e3  # 256x256, 4 channels, f16, with the headers of the tar
    shard_spread: float = 0.15  # deviation of the logarithm of a shard's time
    slow_workers: float = 0.02  # the share of workers that run at half speed: neighbours, throttling, bad disks
    hours_between_failures: float = 100.0  # of one worker; machines that may be taken away: 5 to 20
    restart_seconds: float = 120.0
    lease_seconds: float = 60.0
    # Of the queue, on one server that syncs each message: measured 1200 to 2100 a second on two cores.
    publish_rate: float = 1200.0
    queue_rate: float = 1200.0  # acknowledgements a second
    # Of object storage.
    list_page: int = 1000
    list_seconds: float = 0.1  # of one page; pages come one after the other
    get_rate: float = 5500.0  # requests a second and prefix, as S3 documents them
    put_rate: float = 3500.0
    get_bytes: float = 64e6  # of one request for a part of a shard
    put_bytes: float = 64e6
    node_bits: float = 5e9  # a second, of a worker's network
    shared_bits: float = 40e9  # a second, of a file server that all workers share
    # Money.
    core_hour: float = 0.04
    storage_tb_month: float = 23.0
    put_1000: float = 0.005
    get_1000: float = 0.0004


@dataclasses.dataclass
class Outcome:
    seconds: float = 0.0  # until the last record
    last_percent: float = 0.0  # of it, the time in which the last hundredth of the shards ended
    worked: float = 0.0  # seconds of workers at work
    wasted: float = 0.0  # of them, on shards that were lost
    failures: int = 0
    duplicates: int = 0


def shard_seconds(p, choose, speed):
    mean = p.shard_pictures / (p.images_per_second_core * p.cores_per_worker)
    compute = mean * math.exp(choose.gauss(0, p.shard_spread) - p.shard_spread ** 2 / 2) / speed
    network = p.shard_pictures * (p.input_bytes + p.output_bytes) * 8 / p.node_bits
    return max(compute, network)  # a thread reads ahead, so the slower one of the two counts


def simulate(p, shards, workers, shared, seed=1):
    """shared: by a queue; otherwise each worker has its own share from the beginning (--partition)."""
    choose, out, ends = random.Random(seed), Outcome(), []
    speeds = [0.5 if choose.random() < p.slow_workers else 1.0 for _ in range(workers)]
    waiting = shards  # in the queue
    own = [shards // workers + (number < shards % workers) for number in range(workers)]
    again = []  # of the queue: times at which a lost shard is handed out again
    rate = 1 / (p.hours_between_failures * HOUR)
    ready = [(choose.random(), number) for number in range(workers)]
    heapq.heapify(ready)
    while ready:
        now, number = heapq.heappop(ready)
        if shared and again and again[0] <= now:
            heapq.heappop(again)
        elif shared and waiting > 0:
            waiting -= 1
        elif shared and again:
            heapq.heappush(ready, (again[0], number))
            continue
        elif shared or own[number] == 0:
            continue
        takes = shard_seconds(p, choose, speeds[number])
        fails = choose.expovariate(rate)
        if fails < takes:
            out.failures += 1
            out.wasted += fails
            out.worked += fails
            if shared:
                heapq.heappush(again, now + fails + p.lease_seconds)
            heapq.heappush(ready, (now + fails + p.restart_seconds, number))
            continue
        out.worked += takes
        own[number] -= 0 if shared else 1
        ends.append(now + takes)
        heapq.heappush(ready, (now + takes, number))
    ends.sort()
    out.seconds = ends[-1]
    out.last_percent = ends[-1] - ends[max(0, math.ceil(len(ends) * 0.99) - 1)]
    return out


def loads(p, shards, pictures, seconds, workers):
    """Each thing that can be the first to give way: (what, how much of it is used, of 1)."""
    gets = shards * math.ceil(p.shard_pictures * p.input_bytes / p.get_bytes) + 3 * shards  # and three looks at the record
    puts = shards * (math.ceil(p.shard_pictures * p.output_bytes / p.put_bytes) + 3)  # lease, tar, record, and the lease again
    moved = pictures * (p.input_bytes + p.output_bytes) * 8 / seconds
    found = [("a file server that all share", moved / p.shared_bits), ("a worker's network", moved / workers / p.node_bits),
             ("requests for one prefix, reading", gets / seconds / p.get_rate), ("requests for one prefix, writing", puts / seconds / p.put_rate),
             ("the queue's acknowledgements", 2 * shards / seconds / p.queue_rate)]
    return sorted(found, key=lambda entry: -entry[1]), gets, puts


def study(p, pictures, cores, seed=1):
    shards, workers = math.ceil(pictures / p.shard_pictures), max(1, cores // p.cores_per_worker)
    p = dataclasses.replace(p, cores_per_worker=min(cores, p.cores_per_worker))
    queue, own = simulate(p, shards, workers, True, seed), simulate(p, shards, workers, False, seed)
    used, gets, puts = loads(p, shards, pictures, queue.seconds, workers)
    ideal = pictures / (p.images_per_second_core * cores)
    paid = cores * queue.seconds / HOUR  # core-hours: all cores until the end
    requests = puts / 1000 * p.put_1000 + gets / 1000 * p.get_1000
    return {"pictures": pictures, "cores": cores, "shards": shards, "workers": workers, "seconds": queue.seconds,
            "seconds_of_shares": own.seconds, "efficiency": ideal / queue.seconds, "last_percent": queue.last_percent / queue.seconds,
            "failures": queue.failures, "wasted": queue.wasted / queue.worked, "core_hours": paid, "compute_dollars": paid * p.core_hour,
            "request_dollars": requests, "dollars_per_million": (paid * p.core_hour + requests) / (pictures / MILLION),
            "output_tb": pictures * p.output_bytes / 1e12, "storage_dollars_month": pictures * p.output_bytes / 1e12 * p.storage_tb_month,
            "publish_seconds": shards / p.publish_rate, "list_pages": math.ceil(shards / p.list_page),
            "list_seconds": math.ceil(shards / p.list_page) * p.list_seconds,
            "lists_of_all_workers": workers * math.ceil(shards / p.list_page), "first_to_give_way": used[0][0], "its_load": used[0][1],
            "loads": dict(used)}


def span(seconds):
    for size, unit in ((DAY, "days"), (HOUR, "h"), (60.0, "min")):
        if seconds >= 1.5 * size:
            return f"{seconds / size:.1f} {unit}"
    return f"{seconds:.0f} s"


def table(rows):
    print("| pictures | cores | shards | time, queue | time, shares | efficiency | failures | compute | $ per million | latents | first to give way (load) |")
    print("|---|---|---|---|---|---|---|---|---|---|---|")
    for r in rows:
        print(f"| {r['pictures']:.0e} | {r['cores']} | {r['shards']} | {span(r['seconds'])} | {span(r['seconds_of_shares'])} | "
              f"{100 * r['efficiency']:.0f} % | {r['failures']} | ${r['compute_dollars']:,.2f} | {r['dollars_per_million']:.2f} | "
              f"{r['output_tb']:.2f} TB | {r['first_to_give_way']} ({100 * r['its_load']:.0f} %) |".replace("e+0", "e"))


# --- against runs that were measured ----------------------------------------------------------------------------------------------

START, FETCH, RECONNECT, SECOND = 0.15, 0.01, 0.5, 1.0  # of a process; of a message; of a connection; between looks


def outage_end(faults, host, now, kinds):
    """When the last outage ends that holds this host up at a time."""
    end = now
    for fault in faults:
        begins, what = fault["at"], fault["what"]
        of_it = what in kinds or what.startswith(f"host{host} ") and what.split(" ", 1)[1] in kinds
        if of_it and begins <= end < begins + fault["seconds"] + RECONNECT:
            end = begins + fault["seconds"] + RECONNECT
    return end


def replay(run, seed=1):
    """One run of tests/fleet/faults.py: its hosts, its faults at their times, and shards that take what they took there."""
    choose, faults = random.Random(seed), run["faults"]
    kills = {host: sorted(f["at"] for f in faults if f["what"] == f"host{host} killed") for host in range(run["hosts"])}
    ready = [(START, host) for host in range(run["hosts"])]
    again, waiting, ends = [], run["shards"], []
    heapq.heapify(ready)
    while ready:
        now, host = heapq.heappop(ready)
        now = outage_end(faults, host, now, ("server killed", "cut off")) + FETCH  # it is asked for a message
        if again and again[0] <= now:
            heapq.heappop(again)
        elif waiting > 0:
            waiting -= 1
        elif again:
            heapq.heappush(ready, (again[0], host))
            continue
        else:
            continue
        takes = max(0.3 * run["shard_seconds"], choose.gauss(run["shard_seconds"], run["shard_deviation"]))
        full = next((f for f in faults if f["what"] == "disk full" and now < f["at"] + f["seconds"] and f["at"] < now + takes), None)
        if full is not None:  # the shard is begun again when there is room
            takes += full["at"] + full["seconds"] + SECOND / 2 - now
        killed = next((at for at in kills[host] if now <= at < now + takes), None)
        if killed is not None:
            heapq.heappush(again, killed + 0.875 * run["lease"])  # the last sign of life was an eighth of a lease ago
            heapq.heappush(ready, (killed + run["restart"] + START, host))
            continue
        ends.append(now + takes)
        heapq.heappush(ready, (now + takes, host))
    return max(ends) + SECOND  # workers end when they have looked once more


def check(path, within):
    facts = json.loads(path.read_text().strip().splitlines()[-1])
    worst = 0.0
    for run in facts.get("runs", [facts]):
        seconds = sum(replay(run, seed) for seed in range(20)) / 20
        off = 100 * (seconds / run["seconds"] - 1)
        worst = max(worst, abs(off))
        print(f"{run['shards']} shards, {run['hosts']} hosts, {len(run['faults'])} faults: {run['seconds']:.1f} s measured, "
              f"{seconds:.1f} s simulated, {off:+.1f} %")
    if worst > within:
        raise SystemExit(f"scale.py: further off than {within} %")


def read_parameters(options):
    p = Parameters()
    given = json.loads(options.rates.read_text().strip().splitlines()[-1]) if options.rates else {}
    pairs = [(name, given[name]) for name in given if hasattr(p, name)] + [text.split("=", 1) for text in options.set]
    for name, value in pairs:
        if not hasattr(p, name):
            raise SystemExit(f"scale.py: there is no parameter {name}")
        setattr(p, name, type(getattr(p, name))(float(value)))
    return p


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rates", type=pathlib.Path)
    parser.add_argument("--set", action="append", default=[], metavar="NAME=VALUE")
    parser.add_argument("--check", type=pathlib.Path, metavar="FILE")
    parser.add_argument("--within", type=float, default=15)
    parser.add_argument("--pictures", type=float, nargs="+", default=[1e6, 1e9, 5e9])
    parser.add_argument("--cores", type=int, nargs="+", default=[10, 100, 1000, 10000])
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    if options.check:
        check(options.check, options.within)
        return
    p = read_parameters(options)
    rows = [study(p, pictures, cores) for pictures in options.pictures for cores in options.cores]
    if options.json:
        print(json.dumps({"parameters": dataclasses.asdict(p), "rows": rows}))
    else:
        table(rows)


if __name__ == "__main__":
    main()
