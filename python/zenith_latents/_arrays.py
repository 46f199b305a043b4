# SPDX-FileCopyrightText: 2026 The Zenith authors
# SPDX-License-Identifier: Apache-2.0
"""numpy arrays and torch tensors alike: where their numbers lie, and new ones of the same kind.

torch is looked at only where a caller brings a tensor, and so has imported it.
"""
import os
import sys
from typing import Any, Dict, Sequence

import numpy as np

from . import _library as c

_NUMPY: Dict[Any, int] = {np.dtype("uint8"): c.U8, np.dtype("float32"): c.F32, np.dtype("float16"): c.F16}


def _torch_of(array: Any) -> Any:
    torch = sys.modules.get("torch")
    return torch if torch is not None and isinstance(array, torch.Tensor) else None


def _torch_numbers(torch: Any) -> Dict[Any, int]:
    return {torch.uint8: c.U8, torch.float32: c.F32, torch.float16: c.F16, torch.bfloat16: c.BF16}


def dense(array: Any) -> Any:
    """The same numbers, one after the other: the array itself where they lie so already."""
    if isinstance(array, (str, bytes, os.PathLike)):
        raise TypeError(f"{os.fsdecode(array)!r} is a path, and an array is needed: open the file first, such as by "
                        f"numpy.asarray(PIL.Image.open(path).convert('RGB')) or numpy.load(path)")
    torch = _torch_of(array)
    if torch is None:
        return np.ascontiguousarray(array)
    if array.device.type != "cpu":
        raise TypeError(f"a tensor on {array.device}: Zenith computes on CPUs, so give it tensor.cpu()")
    return array.detach().contiguous()


def number_of(array: Any) -> int:
    """The zenith_number of an array's type."""
    torch = _torch_of(array)
    known = _NUMPY if torch is None else _torch_numbers(torch)
    if array.dtype not in known:
        raise TypeError(f"numbers of type {array.dtype}: uint8, float32, float16 and torch.bfloat16 are taken")
    return known[array.dtype]


def address_of(array: Any) -> int:
    return int(array.ctypes.data if _torch_of(array) is None else array.data_ptr())


def empty(shape: Sequence[int], number: int, like: Any) -> Any:
    """A new array of the kind of another."""
    torch = _torch_of(like)
    known = _NUMPY if torch is None else _torch_numbers(torch)
    dtype = next((t for t, n in known.items() if n == number), None)
    if dtype is None:
        raise ValueError("number is 'bf16', which torch has and numpy has not: give a torch tensor, or take f32 or f16")
    return np.empty(tuple(shape), dtype) if torch is None else torch.empty(tuple(shape), dtype=dtype)
