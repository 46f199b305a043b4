#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Zenith authors
# SPDX-License-Identifier: Apache-2.0
"""Converts a PyTorch checkpoint (.pth, .pt, .ckpt, .bin) into a .safetensors file that Zenith reads.

The checkpoint is loaded with weights_only=True, so that a hostile pickle cannot run code. Names are kept; nested
dictionaries are joined by dots. Where the outermost dictionary has a "state_dict" (or one of its usual other names),
the weights are that one, and what lies beside it (epochs, optimisers) is left out and listed. Anything else that is
not a tensor stops the conversion with a list, unless --skip says that it may be left out too.

    tools/convert.py IN.pth OUT.safetensors [--dtype keep|f32|bf16|f16] [--skip]
"""
import argparse
import os
import pickle
import sys

import torch
from safetensors.torch import save_file

DTYPES = {"f32": torch.float32, "bf16": torch.bfloat16, "f16": torch.float16}
WRAPPERS = ("state_dict", "model_state_dict", "params_ema", "params")


def load(path):
    try:
        return torch.load(path, map_location="cpu", weights_only=True)
    except pickle.UnpicklingError as error:
        reason = next((line for line in str(error).splitlines() if "global" in line), "not a pickle of weights")
        sys.exit(f"convert: {path} holds more than weights, and reading that could run code: {reason.strip()}")
    except (OSError, EOFError, RuntimeError, ValueError) as error:
        sys.exit(f"convert: {path} cannot be read: {error}")


def unwrap(checkpoint):
    """The weights, and the names of what lies beside them."""
    if isinstance(checkpoint, dict):
        for key in WRAPPERS:
            if isinstance(checkpoint.get(key), dict):
                return checkpoint[key], [str(other) for other in checkpoint if other != key]
    return checkpoint, []


def flatten(value, name, tensors, others):
    """Collects tensors by dotted name, and the names of everything else."""
    if isinstance(value, torch.Tensor):
        if name in tensors:
            sys.exit(f"convert: the name {name} results twice")
        tensors[name] = value
    elif isinstance(value, dict):
        for key, inner in value.items():
            flatten(inner, f"{name}.{key}" if name else str(key), tensors, others)
    else:
        others.append(f"{name or '(the whole file)'}: {type(value).__name__}")


def converted(tensor, dtype):
    """A dense tensor of its own on the CPU; only floating-point ones change their type."""
    tensor = tensor.detach().to("cpu")
    if tensor.layout is not torch.strided or tensor.is_quantized:
        raise ValueError(f"layout {tensor.layout}, dtype {tensor.dtype}")
    if dtype != "keep" and tensor.is_floating_point():
        tensor = tensor.to(DTYPES[dtype])
    return tensor.clone(memory_format=torch.contiguous_format)  # tied weights must not share memory


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("input")
    parser.add_argument("output")
    parser.add_argument("--dtype", choices=["keep", *DTYPES], default="keep")
    parser.add_argument("--skip", action="store_true", help="leave out what is not a tensor")
    options = parser.parse_args()
    if not options.output.endswith(".safetensors"):
        parser.error("the output's name must end in .safetensors")

    weights, beside = unwrap(load(options.input))
    found, others = {}, []
    flatten(weights, "", found, others)
    tensors = {}
    for name, tensor in found.items():
        try:
            tensors[name] = converted(tensor, options.dtype)
        except ValueError as error:
            others.append(f"{name}: {error}")
    if others and not options.skip:
        listed = "\n  ".join(others)
        sys.exit(f"convert: {options.input} holds what is not a plain tensor (--skip leaves it out):\n  {listed}")
    if not tensors:
        sys.exit(f"convert: {options.input} holds no tensors")

    partial = options.output + ".partial"
    try:
        save_file(tensors, partial, metadata={"format": "pt"})
        os.replace(partial, options.output)
    finally:
        if os.path.exists(partial):
            os.remove(partial)
    size = sum(tensor.numel() * tensor.element_size() for tensor in tensors.values())
    types = ", ".join(sorted({str(tensor.dtype).removeprefix("torch.") for tensor in tensors.values()}))
    print(f"{options.output}: {len(tensors)} tensors, {size} bytes, {types}")
    for line in beside + others:
        print(f"left out: {line}")


if __name__ == "__main__":
    main()
