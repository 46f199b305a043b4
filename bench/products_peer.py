# SPDX-FileCopyrightText: 2026 The Zenith authors
# SPDX-License-Identifier: Apache-2.0
"""PyTorch's products, attention and norm on one thread, for products.py. Each line on standard input is answered by the seconds of
one run: those of the thread, except of norm.

    products_peer.py linear DTYPE INPUTS OUTPUTS           a line is a number of tokens
    products_peer.py attention DTYPE HEADS WIDTH TOKENS    the maps are [1, tokens, heads, width] in memory, as Zenith's are
    products_peer.py norm DTYPE SIDE CHANNELS GROUPS       group norm, statistics included, and SiLU in place; PyTorch's own layout
"""
import json
import sys
import time

from common import environment

environment.enter("torch", most=5)

import torch


def linear(dtype, inputs, outputs):
    layer = torch.nn.Linear(inputs, outputs, bias=False)
    if dtype == "int8":
        layer = torch.ao.quantization.quantize_dynamic(torch.nn.Sequential(layer), {torch.nn.Linear}, torch.qint8)
    kind = torch.bfloat16 if dtype == "bf16" else torch.float32
    layer = layer if dtype == "int8" else layer.to(kind)
    return lambda line: (layer, torch.randn(int(line), inputs, dtype=kind))


def attention(dtype, heads, width, tokens):
    kind = torch.bfloat16 if dtype == "bf16" else torch.float32
    maps = [torch.randn(1, tokens, heads, width, dtype=kind).transpose(1, 2) for _ in range(3)]
    return lambda line: (torch.nn.functional.scaled_dot_product_attention, *maps)


def norm(dtype, side, channels, groups):
    kind = torch.bfloat16 if dtype == "bf16" else torch.float32
    x, ones = torch.randn(1, channels, side, side).to(kind), torch.ones(channels, dtype=kind)

    def run(x):
        torch.nn.functional.silu(torch.nn.functional.group_norm(x, groups, ones, ones), inplace=True)

    return lambda line: (run, x)


@torch.inference_mode()
def main():
    what, dtype, sizes = sys.argv[1], sys.argv[2], [int(word) for word in sys.argv[3:]]
    clock = time.perf_counter if what == "norm" else time.thread_time
    torch.set_num_threads(1)
    make = {"linear": linear, "attention": attention, "norm": norm}[what](dtype, *sizes)
    for line in sys.stdin:
        call, *given = make(line)
        begin = clock()
        call(*given)
        print(json.dumps({"seconds": clock() - begin}), flush=True)


if __name__ == "__main__":
    main()
