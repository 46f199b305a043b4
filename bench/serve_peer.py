#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Zenith authors
# SPDX-License-Identifier: Apache-2.0
"""The server that bench/serve.py compares `zenith serve` with: FastAPI and PyTorch, as one writes it in an afternoon.

    serve_peer.py --weights DIR [--model taesd] [--dtype bf16] [--threads N]

POST /decode?height=H&width=W takes float32 latents [1, c, H, W] and answers uint8 pixels [8 H, 8 W, 3]. One picture is computed at
a time, by all threads, with the memory format that is fastest on CPUs; requests wait for a lock meanwhile. Prints the line
"listening on http://127.0.0.1:PORT". Needs fastapi, uvicorn and torch.
"""
import argparse
import pathlib
import socket
import sys
import threading

from common import ROOT, environment

environment.enter("torch", "uvicorn", "fastapi")

import torch
import uvicorn
from fastapi import FastAPI, Request, Response
from fastapi.concurrency import run_in_threadpool

sys.path.insert(0, str(ROOT / "tools/goldens"))
from taesd_reference import load  # noqa: E402


def make_app(decoder, dtype, channels):
    app, lock = FastAPI(), threading.Lock()

    def decode(body, height, width):
        latent = torch.frombuffer(bytearray(body), dtype=torch.float32).reshape(1, channels, height, width)
        with lock, torch.inference_mode():
            picture = decoder(latent.to(dtype).contiguous(memory_format=torch.channels_last))
            pixels = (picture.float().clamp(0, 1) * 255).round().to(torch.uint8)
        return pixels[0].permute(1, 2, 0).contiguous().numpy().tobytes()

    @app.post("/decode")
    async def answer(request: Request, height: int, width: int):
        pixels = await run_in_threadpool(decode, await request.body(), height, width)
        return Response(pixels, media_type="application/octet-stream")

    return app


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--weights", type=pathlib.Path, required=True)
    parser.add_argument("--model", default="taesd")
    parser.add_argument("--dtype", choices=("bf16", "f32"), default="bf16")
    parser.add_argument("--threads", type=int, default=0)
    options = parser.parse_args()
    if options.threads:
        torch.set_num_threads(options.threads)
    dtype = torch.bfloat16 if options.dtype == "bf16" else torch.float32
    decoder = load(options.model, options.weights)[1].eval()
    channels = next(p for p in decoder.parameters() if p.dim() == 4).shape[1]
    decoder = decoder.to(dtype).to(memory_format=torch.channels_last)
    app = make_app(decoder, dtype, channels)
    listener = socket.create_server(("127.0.0.1", 0))
    print(f"listening on http://127.0.0.1:{listener.getsockname()[1]}", file=sys.stderr, flush=True)
    uvicorn.Server(uvicorn.Config(app, log_level="error", access_log=False)).run(sockets=[listener])


if __name__ == "__main__":
    main()
