# SPDX-FileCopyrightText: 2026 The Zenith authors
# SPDX-License-Identifier: Apache-2.0
"""PyTorch's scaled_dot_product_attention on one thread, for attention.py: attention_peer.py DTYPE HEADS WIDTH
TOKENS. Each line on standard input is answered by the seconds (CPU time) of one run. The maps are [1, tokens,
heads, width] in memory, as Zenith's are."""
import json
import sys
import time

import torch


@torch.inference_mode()
def main():
    dtype, (heads, width, tokens) = sys.argv[1], map(int, sys.argv[2:])
    torch.set_num_threads(1)
    kind = torch.bfloat16 if dtype == "bf16" else torch.float32
    q, k, v = (torch.randn(1, tokens, heads, width, dtype=kind).transpose(1, 2) for _ in range(3))
    for _ in sys.stdin:
        begin = time.process_time()
        torch.nn.functional.scaled_dot_product_attention(q, k, v)
        print(json.dumps({"seconds": time.process_time() - begin, "version": torch.__version__}), flush=True)


if __name__ == "__main__":
    main()
