#!/usr/bin/env python3
"""The picture of docs/ARCHITECTURE.md as a test: every include of ours is written from the root and points downwards."""
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
}
OWNERS = {  # third-party header -> the only folders that may include it
    r"dnnl": {"dnn"},
    r"jpeglib\.h|jerror\.h|spng\.h|webp/|lcms2\.h": {"format"},
    r"pcre2\.h|utf8proc\.h": {"text"},
    r"curl/|expat\.h|nats/": {"cli"},
    r"microhttpd\.h": {"serve"},
    r"mpi\.h": {"ranks"},
    r"omp\.h": {"base"},
    r"jansson\.h": {"base", "format", "task", "cli", "serve"},
    r"pthread\.h|unistd\.h|fcntl\.h|sys/|dirent\.h|sched\.h|windows\.h": {"base", "cli", "serve"},
}
SHARED = {"apps/serve/serve.h"}  # what one program of apps shows to another
root = pathlib.Path(__file__).resolve().parents[2]
include = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]', re.M)
names, bad, seen = {}, [], 0
for path in sorted([*root.glob("src/**/*.[ch]"), *root.glob("apps/**/*.[ch]")]):
    where = path.relative_to(root)
    folder = where.parts[1]
    seen += 1
    if path.name in names and path.suffix == ".c":
        bad.append(f"{where}: the file name is used twice ({names[path.name]})")
    names[path.name] = where
    allowed = {"base"} if where.parts[0] == "apps" else {folder, *BELOW.get(folder, "").split()}
    if where.parts[0] == "src" and folder not in BELOW:
        bad.append(f"{where}: the folder is not in the picture")
    for bracket, target in include.findall(path.read_text()):
        parts = target.split("/")
        if bracket == '"' and parts[0] not in ("src", "zenith", "apps"):
            bad.append(f"{where}: include \"{target}\" is not written from the root")
        elif parts[0] == "apps" and parts[1] != folder and target not in SHARED:
            bad.append(f"{where}: programs do not include each other ({target})")
        elif parts[0] == "src" and parts[1] not in allowed:
            bad.append(f"{where}: {folder} may not include {parts[1]} ({target})")
        for pattern, owners in OWNERS.items():
            if bracket == "<" and re.match(pattern, target) and folder not in owners:
                bad.append(f"{where}: only {', '.join(sorted(owners))} may include <{target}>")
print("\n".join(bad) or f"{seen} files, every include points down")
sys.exit(bool(bad))
