#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Zenith authors
# SPDX-License-Identifier: Apache-2.0
"""Normal numbers of torch's CPU generator, by seed and count: fewer than 16, whole blocks of 16, and others.

    python tools/goldens/make_noise_goldens.py         writes tests/golden/noise.safetensors

torch on x86 with AVX2 or AVX-512 has these; with ATEN_CPU_CAPABILITY=default its logarithm and cosine are the C
library's, and the last bits differ.
"""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tools"))
import environment  # noqa: E402

environment.enter("torch", "safetensors", most=0)

import torch
from safetensors.torch import save_file

GOLDEN = pathlib.Path(__file__).resolve().parents[2] / "tests" / "golden"
SEEDS, COUNTS = (0, 42, 2**40 + 7), (1, 2, 15, 16, 17, 100, 1536)

print(torch.backends.cpu.get_cpu_capability())
save_file({f"torch.{seed}.{count}": torch.randn(count, generator=torch.Generator().manual_seed(seed))
           for seed in SEEDS for count in COUNTS}, str(GOLDEN / "noise.safetensors"))
