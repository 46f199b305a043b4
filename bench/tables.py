#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Zenith authors
# SPDX-License-Identifier: Apache-2.0
"""Markdown tables from what compare.py and accuracy.py measured.

    bench/compare.py --dtype bf16 --json > runs/decode-bf16.txt      one file for each run
    bench/accuracy.py --json > runs/accuracy.txt
    bench/tables.py runs                                             prints the tables
    bench/tables.py runs --write                                     puts them into the documents
    bench/tables.py runs --measure --write                           all three: measures first, too

Of each file (folders: of every file in it) the last line that is a JSON object of one of them counts.
Of several runs of one thing, the last one named counts; files of a folder come in the order of their
names. README.md gets the speed on the CPU as it is, and at its top the contenders of one decode in f32;
docs/SPEED.md gets all of the speed; README.md and docs/PRECISION.md get the accuracy: between the markers
that are below. --measure runs compare.py for every row of MEASURED (about five minutes each) with results
in the one folder named. Exit code: 0 done, 2 nothing to read, no place to write to, or not measured.
"""
import argparse
import datetime
import json
import pathlib
import subprocess
import sys
import textwrap

ROOT = pathlib.Path(__file__).resolve().parents[1]
FIRST = ("<!-- first table: bench/tables.py -->", "<!-- end of first table -->")
SPEED = ("<!-- speed table: bench/tables.py -->", "<!-- end of speed table -->")
RESULTS = ("<!-- results: bench/tables.py -->", "<!-- end of results -->")
ACCURACY = ("<!-- accuracy table: bench/accuracy.py -->", "<!-- end of accuracy table -->")
OPS, TYPES, CLASSES = ("decode", "encode"), ("bf16", "int8", "f32"), (None, "amx", "avx512", "avx2")
COLUMNS = ("what", "type", "threads", "Zenith, ms", "best peer", "its time / Zenith's",
           "bare oneDNN / Zenith", "bare in bands / Zenith", "peak MB")
ACCURACY_COLUMNS = ("model", "type", "encode: max difference", "encode: worst relative L2",
                    "decode: max difference", "decode: PSNR against f32, lowest / mean",
                    "photo PSNR f32 / type")
MORE_COLUMNS = ("CPU class", "rounds", "probe, GFLOP/s")
FIRST_COLUMNS = ("TAESD decode, 512x512, f32, one thread", "time", "times Zenith's", "memory")
# (name of the file, arguments of compare.py). bf16 only where the CPU has AMX: elsewhere f32 is faster.
MEASURED = (("decode-f32", "--op decode --dtype f32"), ("decode-int8", "--op decode --dtype int8"),
            ("encode-f32", "--op encode --dtype f32"), ("encode-int8", "--op encode --dtype int8"),
            ("decode-f32-avx2", "--op decode --dtype f32 --cpu avx2"))
MEASURED_AMX = (("decode-bf16", "--op decode --dtype bf16"), ("encode-bf16", "--op encode --dtype bf16"))


class Failure(Exception):
    """Something could not be read or written; the message says what."""


# --- measuring


def measure(folder, more):
    """One file in the folder for each row; `more` are further arguments of every run."""
    folder.mkdir(parents=True, exist_ok=True)
    rows = MEASURED + (MEASURED_AMX if "amx_bf16" in cpu_flags() else ())
    for name, arguments in rows:
        print(f"tables: measuring {name}", file=sys.stderr)
        command = [sys.executable, str(ROOT / "bench/compare.py"), *arguments.split(), *more, "--json"]
        with open(folder / f"{name}.txt", "w", encoding="utf-8") as file:
            code = subprocess.run(command, stdout=file, check=False).returncode
        if code != 0:
            raise Failure(f"compare.py {arguments} ended with code {code}")


# --- reading


def last_result(path):
    """The last line of JSON by compare.py or accuracy.py, or None."""
    for line in reversed(path.read_text(errors="replace").splitlines()):
        try:
            result = json.loads(line)
        except ValueError:
            continue
        if isinstance(result, dict) and ("contenders" in result or "rows" in result):
            return result
    return None


def files_of(paths):
    for path in paths:
        yield from sorted(p for p in path.iterdir() if p.is_file()) if path.is_dir() else [path]


def identity(result):
    """What was measured, in the order of the tables."""
    return (CLASSES.index(result["cpu"]), result["model"], result["size"], OPS.index(result["op"]),
            TYPES.index(result["dtype"]), result["threads"])


def read_results(paths):
    """(results of compare.py in order, rows of accuracy.py)"""
    speed, accuracy = {}, []
    for path in files_of(paths):
        result = last_result(path)
        if result is None:
            print(f"tables: {path} has no result of compare.py or accuracy.py --json", file=sys.stderr)
        elif "rows" in result:
            accuracy = result["rows"]
        else:
            speed[identity(result)] = result
    if not speed and not accuracy:
        raise Failure("no results: make some with bench/compare.py ... --json > FILE")
    return [speed[key] for key in sorted(speed)], accuracy


# --- tables


def ratio_text(ratio, interval):
    return "-" if ratio is None else f"{ratio:.2f} [{interval[0]:.2f}, {interval[1]:.2f}]"


def cells(result, more):
    intervals, size = result["intervals"], result["size"]
    row = [f"{result['model']} {result['op']} {size}x{size}", result["dtype"], str(result["threads"]),
           f"{result['ms']:.0f}" if result["ms"] >= 100 else f"{result['ms']:.1f}",
           result["best_peer"] or "-",
           ratio_text(result["ratio_to_best_peer"], intervals["best_peer"]),
           ratio_text(result["ratio_to_bare"], intervals["bare"]),
           ratio_text(result["ratio_to_bare_bands"], intervals["bare_bands"]),
           f"{result['rss_mb']:.0f}"]
    if more:
        kept = f"{result['rounds_kept']} kept, {result['rounds_dropped']} dropped"
        probe = result["probe"]
        row += [result["cpu"] or "as is", kept if result["rounds_kept"] else "none steady",
                f"{probe['unit']} {probe['median_gflops']:.0f}"]
    return row


def accuracy_cells(row):
    exact = row["dtype"] == "f32"
    return [row["model"], row["dtype"], f"{row['encode_max_abs']:.1e}",
            f"{100 * row['encode_rel_l2_max']:.2g} %", f"{row['decode_max_abs']:.1e}",
            "-" if exact else f"{row['psnr_vs_f32_min']:.1f} / {row['psnr_vs_f32_mean']:.1f} dB",
            f"{row['photo_psnr_f32']:.3f} / {row['photo_psnr']:.3f} dB"]


def markdown(head, rows):
    return "\n".join("| " + " | ".join(row) + " |" for row in [head, ["---"] * len(head), *rows])


def speed_table(results, more, machine):
    head = COLUMNS + (MORE_COLUMNS if more else ())
    return f"{markdown(head, [cells(result, more) for result in results])}\n\n{caption(results, machine)}"


def first_table(results, machine):
    """Everybody in the decode in f32 by one thread, or None where that was not measured."""
    for result in results:
        key = result["cpu"], result["op"], result["dtype"], result["threads"], result["model"], result["size"]
        if key != (None, "decode", "f32", 1, "taesd", 512):
            continue
        rows = [row for row in result["contenders"] if row["kind"] != "anchor"]
        times = [[row["name"], f"{row['cpu_ms'] / 1000:.2f} s", f"{row['cpu_ratio']:.2f}",
                  f"{row['rss_mb']:.0f} MB"] for row in rows]
        times[0][2] = "1"
        return (f"{markdown(FIRST_COLUMNS, times)}\n\n" + textwrap.fill(
            f"Measured in one run of `bench/compare.py` on one core of {machine}.", 110))
    return None


def peers_of(results):
    """"OpenVINO 1.2, PyTorch 3.4": what the peers said they are, before the first comma."""
    notes = {row["note"].split(",")[0]: None for result in results for row in result["contenders"]
             if row["kind"] == "peer"}
    return ", ".join(notes)


def caption(results, machine):
    lowered = ", with `--cpu CLASS` where a class is named" if any(r["cpu"] for r in results) else ""
    peers = peers_of(results)
    text = (f"Machine: {machine}. Command of a row: `bench/compare.py --op OP --size N --dtype TYPE "
            f"--threads N --json`{lowered}. {f'Peers: {peers}. ' if peers else ''}Milliseconds are CPU "
            "time for one thread, wall time for more. A ratio above 1 means that Zenith is faster; in "
            "brackets the 95 % interval. Peak MB: of Zenith's process.")
    return textwrap.fill(text, 110, break_on_hyphens=False)


def make_tables(speed, accuracy, machine):
    """[(document, its markers, the text between them)]"""
    tables = []
    if speed:
        as_is = [result for result in speed if result["cpu"] in (None, "amx")]
        tables += [("README.md", SPEED, speed_table(as_is, False, machine)),
                   ("docs/SPEED.md", RESULTS, speed_table(speed, True, machine))]
        first = first_table(speed, machine)
        tables += [("README.md", FIRST, first)] if first else []
    if accuracy:
        table = markdown(ACCURACY_COLUMNS, [accuracy_cells(row) for row in accuracy])
        tables += [(name, ACCURACY, table) for name in ("README.md", "docs/PRECISION.md")]
    return tables


# --- documents


def replace_between(text, begin, end, table, name):
    if text.count(begin) != 1 or text.count(end) != 1 or text.index(begin) > text.index(end):
        raise Failure(f"{name} must have the lines {begin} and {end} once, in this order")
    before, rest = text.split(begin)
    return f"{before}{begin}\n{table}\n{end}{rest.split(end)[1]}"


def write_documents(tables, root):
    changed = {}
    for name, markers, table in tables:
        text = changed.get(root / name) or (root / name).read_text()
        changed[root / name] = replace_between(text, *markers, table, name)
    for path, text in changed.items():  # only when all could be made
        path.write_text(text)


def cpu_fact(name):
    try:
        lines = pathlib.Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        lines = []
    return next((line.split(":", 1)[1].strip() for line in lines if line.startswith(name)), "unknown")


def cpu_flags():
    return cpu_fact("flags").split()


def machine_name():
    return f"{cpu_fact('model name')}, {datetime.date.today().isoformat()}"


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("paths", nargs="+", type=pathlib.Path, metavar="FILE|FOLDER")
    parser.add_argument("--machine", default=machine_name(),
                        help="how to name it; default: this CPU's name and the date of today")
    parser.add_argument("--measure", action="store_true", help="run compare.py first, into the one FOLDER")
    parser.add_argument("--with", dest="more", default="", metavar="ARGUMENTS",
                        help='for every run of --measure, such as "--minutes 2"')
    parser.add_argument("--write", action="store_true", help="into the documents")
    parser.add_argument("--root", type=pathlib.Path, default=ROOT, help="the tree with these documents")
    options = parser.parse_args()
    try:
        if options.measure and len(options.paths) != 1:
            raise Failure("--measure needs one folder for its results")
        if options.measure:
            measure(options.paths[0], options.more.split())
        tables = make_tables(*read_results(options.paths), options.machine)
        if options.write:
            write_documents(tables, options.root)
    except (Failure, OSError) as failure:
        print(f"tables: {failure}", file=sys.stderr)
        sys.exit(2)
    if not options.write:
        print("\n\n".join(f"{name}:\n\n{table}" for name, _, table in tables))


if __name__ == "__main__":
    main()
