#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Zenith authors
# SPDX-License-Identifier: Apache-2.0
"""Triton's own HTTP client against a running `zenith serve`: each served autoencoder, encoded and decoded by the Open Inference
Protocol, with binary tensors and with JSON. Needs tritonclient[http] and numpy; the tests of CTest do without them.

    zenith serve taesd --port 8188 &
    tools/peers/check_oip.py --address 127.0.0.1:8188
"""
import argparse
import json
import pathlib
import sys
import urllib.request

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tools"))
import environment  # noqa: E402

environment.enter("numpy", "tritonclient")

import numpy
import tritonclient.http as triton

FAILURES = []


def check(condition, what):
    print("ok    " if condition else "FAILED", what)
    if not condition:
        FAILURES.append(what)


def run(client, model, name, array, binary, output, kind="FP32", outputs=True):
    tensor = triton.InferInput(name, list(array.shape), kind)
    tensor.set_data_from_numpy(array, binary_data=binary)
    wanted = [triton.InferRequestedOutput(output, binary_data=binary)] if outputs else None
    return client.infer(model, [tensor], outputs=wanted, request_id="7")


def check_model(client, model):
    numbers = numpy.random.default_rng(1)
    name, channels, factor = model["id"], model["latent_channels"], model["factor"]
    latent = numbers.standard_normal((1, channels, 4, 6)).astype(numpy.float32)
    decoder, encoder = f"{name}_decoder", f"{name}_encoder"
    check(client.is_model_ready(decoder) and client.is_model_ready(decoder, "1"), f"{decoder} is ready")
    check(client.get_model_metadata(decoder)["inputs"][0]["shape"] == [-1, channels, -1, -1], f"{decoder}: its metadata")
    answer = run(client, decoder, "latent", latent, True, "image")
    image = answer.as_numpy("image")
    check(answer.get_response()["id"] == "7", f"{decoder}: the id")
    check(image.shape == (1, 3, 4 * factor, 6 * factor) and image.dtype == numpy.float32, f"{decoder}: {image.shape}")
    for binary, outputs in ((False, True), (True, False)):
        other = run(client, decoder, "latent", latent, binary, "image", outputs=outputs).as_numpy("image")
        check(numpy.array_equal(other, image), f"{decoder}: binary {binary}, outputs {outputs}")
    half = run(client, decoder, "latent", latent.astype(numpy.float16), True, "image", "FP16").as_numpy("image")
    check(half.dtype == numpy.float16 and float(abs(half - image).max()) < 0.1, f"{decoder}: FP16")
    try:
        run(client, decoder, "latent", latent[:, :2], True, "image")
        check(False, f"{decoder}: wrong channels")
    except triton.InferenceServerException as failure:
        check("channels" in failure.message(), f"{decoder}: wrong channels: {failure.message()}")
    if not model["encode"]:
        return
    back = run(client, encoder, "image", numpy.clip(image, -1, 1), True, "latent").as_numpy("latent")
    check(back.shape == latent.shape and numpy.isfinite(back).all(), f"{encoder}: {back.shape}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--address", default="127.0.0.1:8188")
    arguments = parser.parse_args()
    client = triton.InferenceServerClient(arguments.address)
    check(client.is_server_live() and client.is_server_ready(), "the server is ready")
    check(client.get_server_metadata()["name"] == "zenith", "its metadata")
    with urllib.request.urlopen(f"http://{arguments.address}/v1/models") as answer:
        models = json.load(answer)["data"]
    for model in models:
        if model.get("decode"):
            check_model(client, model)
    print(f"{len(FAILURES)} failures")
    return 1 if FAILURES else 0


if __name__ == "__main__":
    sys.exit(main())
