#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Zenith authors
# SPDX-License-Identifier: Apache-2.0
"""PyTorch's side of train.py, run with the interpreter of its virtual environment.

    train_peer.py --weights DIR [--crop 128] [--batch 16] [--threads 2] [--encoder] [--compile]

Trains TAESD's decoder as one would: bf16 autocast, channels last, MSE, AdamW (fused). Latents and
pictures are random and lie in memory. With --encoder the latents are made by the frozen encoder from
the pictures, in every step. Speaks in lines: serve_steps of common.py says which.
"""
import argparse
import sys

from common import ROOT, environment, serve_steps

environment.enter("torch")

import torch


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--weights", required=True)
    parser.add_argument("--crop", type=int, default=128)
    parser.add_argument("--batch", type=int, default=16)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--encoder", action="store_true")
    parser.add_argument("--compile", action="store_true")
    return parser.parse_args()


def make_step(options):
    sys.path.insert(0, str(ROOT / "tools/goldens"))
    import taesd_reference
    torch.manual_seed(1)
    encoder, decoder = taesd_reference.load("taesd", options.weights)
    encoder.requires_grad_(False)
    encoder, decoder = (net.to(memory_format=torch.channels_last) for net in (encoder, decoder))
    decoder.train()
    for parameter in decoder.parameters():
        parameter.requires_grad_(True)
    optimizer = torch.optim.AdamW(decoder.parameters(), lr=1e-4, fused=True)
    run = torch.compile(decoder) if options.compile else decoder
    side = options.crop
    pictures = torch.rand(options.batch, 3, side, side).to(memory_format=torch.channels_last)
    latents = torch.randn(options.batch, 4, side // 8, side // 8).to(memory_format=torch.channels_last)

    def step():
        optimizer.zero_grad(set_to_none=True)
        with torch.autocast("cpu", dtype=torch.bfloat16):
            given = latents
            if options.encoder:
                with torch.no_grad():
                    given = encoder(pictures)
            made = run(given)
        loss = torch.nn.functional.mse_loss(made.float(), pictures)
        loss.backward()
        optimizer.step()
        return loss.item()

    return step


def main():
    options = parse()
    torch.set_num_threads(options.threads)
    serve_steps(make_step(options), options.batch)


if __name__ == "__main__":
    main()
