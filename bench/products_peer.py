# SPDX-FileCopyrightText: 2026 The Zenith authors
# SPDX-License-Identifier: Apache-2.0
"""PyTorch's linear on one thread, for products.py: products_peer.py DTYPE INPUTS OUTPUTS. A line with a
number of tokens on standard input is answered by the seconds of one run, or by null where it has none."""
import json
import sys
import time

import torch


def make(dtype, inputs, outputs):
    layer = torch.nn.Linear(inputs, outputs, bias=False)
    if dtype == "int8":
        return torch.ao.quantization.quantize_dynamic(torch.nn.Sequential(layer), {torch.nn.Linear}, torch.qint8)
    return layer.to(torch.bfloat16 if dtype == "bf16" else torch.float32)


@torch.inference_mode()
def main():
    dtype, inputs, outputs = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    torch.set_num_threads(1)
    layer = make(dtype, inputs, outputs)
    for line in sys.stdin:
        x = torch.randn(int(line), inputs, dtype=torch.bfloat16 if dtype == "bf16" else torch.float32)
        begin = time.thread_time()
        layer(x)
        print(json.dumps({"seconds": time.thread_time() - begin}), flush=True)


if __name__ == "__main__":
    main()
