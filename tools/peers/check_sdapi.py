#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Zenith authors
# SPDX-License-Identifier: Apache-2.0
"""webuiapi, a client of AUTOMATIC1111's API, against a running `zenith serve` with a pipeline. Needs webuiapi and Pillow; the
tests of CTest do without them.

    zenith serve Z-Image-Turbo --port 8188 &
    tools/peers/check_sdapi.py --port 8188 --size 512
"""
import argparse
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tools"))
import environment  # noqa: E402

environment.enter("webuiapi")

import webuiapi

FAILURES = []


def check(condition, what):
    print("ok    " if condition else "FAILED", what)
    if not condition:
        FAILURES.append(what)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=8188)
    parser.add_argument("--size", type=int, default=512)
    parser.add_argument("--steps", type=int, default=4)
    arguments = parser.parse_args()
    client = webuiapi.WebUIApi(host=arguments.host, port=arguments.port)
    side, more = arguments.size, {"seed": 42, "steps": arguments.steps, "cfg_scale": 1}
    names = [model["model_name"] for model in client.get_sd_models()]
    check(names and client.get_options()["sd_model_checkpoint"] in names, f"models: {names}")
    client.set_options({"sd_model_checkpoint": names[-1]})
    check(client.get_options()["sd_model_checkpoint"] == names[-1], "a model is chosen")
    check([sampler["name"] for sampler in client.get_samplers()] == ["Euler"], "samplers")
    result = client.txt2img(prompt="a red apple", width=side, height=side, **more)
    check(result.image.size == (side, side) and result.info["seed"] == 42, f"txt2img: {result.image.size}")
    check("Seed: 42" in result.image.info.get("parameters", ""), "the file says how it was made")
    again = client.txt2img(prompt="a red apple", width=side, height=side, batch_size=2, **more)
    check(len(again.images) == 2 and list(again.image.getdata()) == list(result.image.getdata()), "two, the first the same")
    edited = client.img2img(images=[result.image], prompt="in oil", width=side, height=side, denoising_strength=0.7, **more)
    check(edited.image.size == (side, side) and edited.info["denoising_strength"] == 0.7, "img2img")
    check(client.get_progress()["progress"] == 0, "progress")
    client.interrupt()
    try:
        client.txt2img(prompt="", width=side, height=side)
        check(False, "an empty prompt is refused")
    except RuntimeError as failure:
        check(failure.args[0] == 400, f"an empty prompt: {failure.args[1][:100]}")
    print(f"{len(FAILURES)} failures")
    return 1 if FAILURES else 0


if __name__ == "__main__":
    sys.exit(main())
