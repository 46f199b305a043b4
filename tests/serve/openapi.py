#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Zenith authors
# SPDX-License-Identifier: Apache-2.0
"""apps/serve/openapi.json against the server: each route of http/routes.c is in it, and the other way round; methods and keys
agree; references lead somewhere; the running server answers it, and knows every address.

    openapi.py [--zenith PATH]
"""
import argparse
import json
import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import serve  # noqa: E402
from serve import ROOT, Server, check  # noqa: E402


def read_routes():
    """Path -> (methods, whether it needs no key), of the table in C."""
    source = (ROOT / "apps/serve/http/routes.c").read_text()
    table = source[source.index("serve_routes[] = {"):]
    table = table[:table.index("}};")]
    out = {}
    for row in re.findall(r"\{(\.path.*?)\}", table, re.S):
        if "SERVE_PAGE_SITE" in row:  # the page for people
            continue
        jobs = re.search(r"\.jobs = SERVE_JOBS_(\w+)", row)
        path = re.search(r'\.path = "([^"]*)"', row)[1].replace("*", "{id}" if jobs else "{model}")
        methods = {"get"} if ".page" in row or jobs else {"post"}
        if jobs:
            methods |= {"ALL": {"post"}, "ONE": {"delete"}}.get(jobs[1], set())
        if ".images" in row:
            methods.add("post")
        out[path] = methods, ".open = true" in row
    out.pop("other", None)
    return out


def references(value):
    if isinstance(value, dict):
        if "$ref" in value:
            yield value["$ref"]
        value = value.values()
    if not isinstance(value, str) and hasattr(value, "__iter__"):
        for each in value:
            yield from references(each)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--zenith", type=pathlib.Path, default=ROOT / "build/dev/zenith")
    serve.ZENITH = parser.parse_args().zenith.resolve()
    document = json.loads((ROOT / "apps/serve/openapi.json").read_text())
    routes = read_routes()
    described = document["paths"]
    check(document["openapi"].startswith("3.1."), "its version")
    check(len(routes) > 20, f"only {len(routes)} routes were found")
    for path in sorted(set(routes) | set(described)):
        check(path in described, f"{path} is a route and is not described")
        check(path in routes, f"{path} is described and is no route")
        if path not in described or path not in routes:
            continue
        methods, is_open = routes[path]
        check(set(described[path]) == methods, f"{path}: {sorted(described[path])}, not {sorted(methods)}")
        for method, operation in described[path].items():
            check((operation.get("security") == []) == is_open, f"{method} {path}: whether a key is needed")
            named = set(re.findall(r"\{(\w+)\}", path))
            listed = {p["name"] for p in operation.get("parameters", []) if p["in"] == "path"}
            check(named == listed, f"{method} {path}: parameters {listed}, not {named}")
    for reference in set(references(document)):
        value = document
        for name in reference.removeprefix("#/").split("/"):
            value = value.get(name, {})
        check(value, f"{reference} leads nowhere")
    with Server() as server:
        code, headers, body = server.ask("GET", "/openapi.json")
        check(code == 200 and json.loads(body) == document, f"the server's own: {code}")
        for path, methods in described.items():
            asked = path.replace("{id}", "0" * 32).replace("{model}", "taesd_decoder" if path.startswith("/v2") else "taesd")
            for method in methods:
                code, _, body = server.ask(method.upper(), asked, b"" if method == "post" else None)
                check(code != 405 and b"nothing at this address" not in body, f"{method} {asked}: {code}")
    print(f"{len(serve.FAILURES)} failures")
    return 1 if serve.FAILURES else 0


if __name__ == "__main__":
    sys.exit(main())
