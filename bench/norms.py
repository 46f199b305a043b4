# SPDX-FileCopyrightText: 2026 The Zenith authors
# SPDX-License-Identifier: Apache-2.0
"""`--what norm`: group norm with SiLU over a map of 1024x1024x128, on one thread, beside one pass that reads and writes
the map (bench_norms) and beside PyTorch.

    bench/norms.py [BUILD [PYTHON]]

PYTHON is one that has PyTorch; without it the ratio is null.
"""
import json
import os
import pathlib
import subprocess
import sys

SIDE, CHANNELS, GROUPS, ROUNDS = 1024, 128, 32, 4


def lines_of(command: list) -> list[dict]:
    environment = dict(os.environ, OMP_NUM_THREADS="1")
    out = subprocess.run([str(part) for part in command], check=True, capture_output=True, text=True,
                         env=environment).stdout
    return [json.loads(line) for line in out.splitlines()]


def peer(dtype: str) -> None:
    """Prints the best time of PyTorch's group norm, statistics included, and SiLU in place; its own layout of maps."""
    import time

    import torch

    torch.set_num_threads(1)
    kind = {"f32": torch.float32, "bf16": torch.bfloat16}[dtype]
    x, ones = torch.randn(1, CHANNELS, SIDE, SIDE).to(kind), torch.ones(CHANNELS, dtype=kind)
    best = float("inf")
    with torch.inference_mode():
        for _ in range(ROUNDS):
            begin = time.perf_counter()
            torch.nn.functional.silu(torch.nn.functional.group_norm(x, GROUPS, ones, ones), inplace=True)
            best = min(best, time.perf_counter() - begin)
    print(json.dumps({"seconds": best}))


def measure(build: pathlib.Path, dtype: str, python: str = sys.executable) -> dict:
    """ratio_to_pass: seconds of the last step with SiLU over those of the pass. ratio_to_pytorch: PyTorch's seconds over
    ours, statistics included on both sides; above 1 ours is faster."""
    rows = lines_of([build / "bench_norms", SIDE, CHANNELS, ROUNDS])
    row = next((row for row in rows if row["type"] == dtype), None)
    if row is None:
        raise ValueError(f"there is no norm in {dtype}")
    try:
        torch = lines_of([python, __file__, "--peer", dtype])[0]["seconds"]
    except (OSError, subprocess.CalledProcessError):
        torch = None
    return {"what": "norm", "dtype": dtype, "share_of_probe": None, "ratio_to_onednn": None,
            "ratio_to_pytorch": torch / (row["norm_silu_s"] + row["moments_s"]) if torch else None,
            "ratio_to_pass": row["ratio"], "scratch_bytes": row["scratch_bytes"], "pass_s": row["pass_s"],
            "norm_silu_s": row["norm_silu_s"], "moments_s": row["moments_s"], "pytorch_s": torch}


if __name__ == "__main__":
    if sys.argv[1:2] == ["--peer"]:
        peer(sys.argv[2])
    else:
        where = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else "build/release")
        for name in ("f32", "bf16"):
            print(json.dumps(measure(where, name, sys.argv[2] if len(sys.argv) > 2 else sys.executable)))
