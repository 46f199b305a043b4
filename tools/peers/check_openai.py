#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Zenith authors
# SPDX-License-Identifier: Apache-2.0
"""OpenAI's own client against a running `zenith serve` with a pipeline: models, pictures, streams and edits. Needs openai; the
tests of CTest do without it.

    zenith serve Z-Image-Turbo --port 8188 &
    tools/peers/check_openai.py --address http://127.0.0.1:8188 --size 512x512
"""
import argparse
import base64
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tools"))
import environment  # noqa: E402

environment.enter("openai")

import openai

FAILURES = []


def check(condition, what):
    print("ok    " if condition else "FAILED", what)
    if not condition:
        FAILURES.append(what)


def is_png(text):
    return base64.b64decode(text)[:4] == b"\x89PNG"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--address", default="http://127.0.0.1:8188")
    parser.add_argument("--key", default="none")
    parser.add_argument("--size", default="512x512")
    parser.add_argument("--steps", type=int, default=4)
    arguments = parser.parse_args()
    client = openai.OpenAI(base_url=f"{arguments.address}/v1", api_key=arguments.key, timeout=3600, max_retries=0)
    names = [model.id for model in client.models.list() if getattr(model, "generate", False)]
    check(names, f"models that make pictures: {names}")
    more = {"seed": 42, "num_inference_steps": arguments.steps}
    asked = {"model": names[0], "prompt": "a red apple", "size": arguments.size}
    one = client.images.generate(**asked, extra_body=more)
    picture = one.data[0].b64_json
    check(is_png(picture) and one.size == arguments.size, "a picture")
    two = client.images.generate(**asked, n=2, response_format="b64_json", extra_body=more)
    check([each.b64_json == picture for each in two.data] == [True, False], "two, the first of which is the same")
    jpeg = client.images.generate(**asked, output_format="jpeg", output_compression=80, extra_body=more)
    check(base64.b64decode(jpeg.data[0].b64_json)[:2] == b"\xff\xd8", "a JPEG file")
    events = list(client.images.generate(**asked, stream=True, partial_images=2, extra_body=more))
    kinds = [event.type for event in events]
    check(kinds == ["image_generation.partial_image"] * 2 + ["image_generation.completed"], f"a stream: {kinds}")
    check(events[-1].b64_json == picture, "its last event is the picture")
    edited = client.images.edit(model=names[0], prompt="in oil", image=("a.png", base64.b64decode(picture), "image/png"),
                                extra_body=more | {"strength": 0.7})
    check(is_png(edited.data[0].b64_json) and edited.data[0].b64_json != picture, "an edit")
    events = list(client.images.edit(model=names[0], prompt="in oil", image=("a.png", base64.b64decode(picture), "image/png"),
                                     stream=True, extra_body=more | {"strength": 0.7}))
    check([event.type for event in events] == ["image_edit.completed"], "a stream of an edit")
    check(events[-1].b64_json == edited.data[0].b64_json, "the same picture")
    for expected, wrong in ((openai.UnprocessableEntityError, asked | {"size": "513x513"}),
                            (openai.NotFoundError, asked | {"model": "nothing"}),
                            (openai.BadRequestError, asked | {"prompt": ""})):
        try:
            client.images.generate(**wrong)
            check(False, f"{expected.__name__} was expected")
        except expected as failure:
            check(True, f"{expected.__name__}: {failure.message}")
    print(f"{len(FAILURES)} failures")
    return 1 if FAILURES else 0


if __name__ == "__main__":
    sys.exit(main())
