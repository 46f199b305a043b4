#!/usr/bin/env python3
"""The drawing of folders in docs/ARCHITECTURE.md as a test: every include of ours is written from the root and points downwards."""
import collections
import pathlib
import re
import sys

BELOW = {  # folder -> folders whose headers it may include, besides its own and include/zenith
    "base": "",
    "tensor": "base",
    "kernel": "base tensor",
    "dnn": "base tensor",
    "graph": "base tensor kernel",
    "op": "base tensor kernel dnn graph",
    "nn": "base tensor graph op",
    "format": "base tensor kernel",
    "data": "base format",
    "model": "base tensor graph op nn format",
    "diffusion": "base tensor",
    "ranks": "base",
    "text": "base format",
    "task": "base tensor graph op nn format data model diffusion text dnn kernel ranks",
    "train": "base tensor graph op nn format data model dnn diffusion text ranks",
    "api": "base tensor graph op nn format model task train",
    "apps/cli/terminal": "",
    "apps/net": "apps/cli/terminal",
    "apps/fleet": "apps/cli apps/cli/terminal apps/cli/session",
    "apps/cli/options": "apps/cli apps/cli/terminal",
    "apps/cli/session": "apps/cli apps/cli/terminal apps/cli/options apps/net",
    "apps/cli/commands": "apps/cli apps/cli/terminal apps/cli/options apps/cli/session apps/net apps/fleet",
    "apps/cli": "apps/cli/terminal apps/cli/options apps/cli/session apps/cli/commands",  # main.c; the others take command.h
    "apps/serve": "",
}
OWNERS = {  # third-party header -> the only folders that may include it
    r"dnnl": {"dnn"},
    r"jpeglib\.h|jerror\.h|spng\.h|webp/|lcms2\.h": {"format"},
    r"pcre2\.h|utf8proc\.h": {"text"},
    r"curl/|expat\.h": {"net"},
    r"nats/": {"fleet"},
    r"microhttpd\.h": {"serve"},
    r"mpi\.h": {"ranks"},
    r"omp\.h": {"base"},
    r"jansson\.h": {"base", "format", "task", "cli", "net", "fleet", "serve"},
    r"pthread\.h|unistd\.h|fcntl\.h|sys/|dirent\.h|sched\.h|windows\.h": {"base", "cli", "net", "fleet", "serve"},
}
SHARED = {  # any folder of apps may include these
    "apps/serve/serve.h", "apps/serve/metrics/worker.h", "apps/serve/settings.h", "src/base/cpu.h", "src/base/sha256.h"}
MOST = 40  # files directly in a folder
root = pathlib.Path(__file__).resolve().parents[2]
include = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]', re.M)


def folder_of(path):
    """The row of BELOW for a path: a folder of src, or the longest one of apps that fits."""
    parts = path.split("/")
    if parts[0] == "src":
        return parts[1]
    return max((row for row in BELOW if path.startswith(row + "/")), key=len, default="/".join(parts[:2]))


names, bad, seen = {}, [], collections.Counter()
for path in sorted([*root.glob("src/**/*.[ch]"), *root.glob("apps/**/*.[ch]")]):
    where = path.relative_to(root)
    folder = folder_of(str(where))
    seen[str(where.parent)] += 1
    name = (where.parts[:-1][: 1 if where.parts[0] == "src" else 2], where.parts[-2:])
    if name in names and path.suffix == ".c":
        bad.append(f"{where}: the name of file and folder is used twice ({names[name]})")
    names[name] = where
    allowed = {folder, *BELOW.get(folder, "").split()}
    if folder not in BELOW:
        bad.append(f"{where}: the folder is not in the picture")
    for bracket, target in include.findall(path.read_text()):
        parts = target.split("/")
        if bracket == '"' and parts[0] not in ("src", "zenith", "apps"):
            bad.append(f"{where}: include \"{target}\" is not written from the root")
        elif parts[0] in ("src", "apps") and folder_of(target) not in allowed and not (
                where.parts[0] == "apps" and target in SHARED):
            bad.append(f"{where}: {folder} may not include {folder_of(target)} ({target})")
        for pattern, owners in OWNERS.items():
            if bracket == "<" and re.match(pattern, target) and where.parts[1] not in owners:
                bad.append(f"{where}: only {', '.join(sorted(owners))} may include <{target}>")
bad += [f"{folder}: {count} files in one folder" for folder, count in seen.items() if count > MOST]
print("\n".join(bad) or f"{sum(seen.values())} files, every include points down")
sys.exit(bool(bad))
