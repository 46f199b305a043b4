# SPDX-FileCopyrightText: 2026 The Zenith authors
# SPDX-License-Identifier: Apache-2.0
"""zenith.h for ctypes: its structs field by field, and its functions with their types.

The library is the one beside this file (in a wheel), else the file or folder that $ZENITH_LIBRARY names, else what the system's
loader finds. Structs say their size, so a newer library takes them as they are.
"""
import ctypes
import os
import pathlib
from ctypes import POINTER, c_bool, c_char_p, c_double, c_float, c_int, c_size_t, c_uint, c_uint32, c_uint64, c_void_p

OK, CANCELLED = 0, 50
ENCODER, DECODER = 1, 2
U8, F32, F16, BF16 = 1, 2, 3, 4
HWC, CHW = 1, 2
SPACES = {"model": 0, "raw": 1}
DTYPES = {None: 0, "f32": 1, "bf16": 2, "int8": 3}
MEAN, SAMPLE, MOMENTS = 0, 1, 2

ProgressFunction = ctypes.CFUNCTYPE(c_int, c_void_p, c_double)


class Sized(ctypes.Structure):
    """A struct that begins with its size."""

    def __init__(self, **fields):
        super().__init__(size=ctypes.sizeof(type(self)), **fields)


class ContextParams(Sized):
    _fields_ = [("size", c_size_t), ("threads", c_int), ("streams", c_int), ("log", c_void_p), ("log_cookie", c_void_p),
                ("log_level", c_int), ("plan_memory", c_uint64), ("tuned_plans", c_char_p)]


class ModelParams(Sized):
    _fields_ = [("size", c_size_t), ("name", c_char_p), ("weights", c_char_p), ("parts", c_uint)]


class ModelInfo(Sized):
    _fields_ = [("size", c_size_t), ("name", c_char_p), ("description", c_char_p), ("parts", c_uint), ("latent_channels", c_uint32),
                ("factor", c_uint32), ("has_raw", c_bool), ("scale", c_float), ("shift", c_float), ("parameters", c_uint64),
                ("weights_sha256", c_char_p), ("has_int8", c_bool), ("can_int8", c_bool), ("weights_path", c_char_p),
                ("has_moments", c_bool), ("frames", c_uint32), ("first_frames", c_uint32)]


class Image(Sized):
    _fields_ = [("size", c_size_t), ("width", c_uint32), ("height", c_uint32), ("number", c_int), ("order", c_int),
                ("data", c_void_p), ("rows", c_void_p), ("cookie", c_void_p), ("row_bytes", c_size_t), ("restarts", c_bool)]


class Latent(Sized):
    _fields_ = [("size", c_size_t), ("width", c_uint32), ("height", c_uint32), ("channels", c_uint32), ("space", c_int),
                ("number", c_int), ("order", c_int), ("data", c_void_p), ("rows", c_void_p), ("cookie", c_void_p), ("kind", c_int),
                ("seed", c_uint64)]


class RunParams(Sized):
    _fields_ = [("size", c_size_t), ("dtype", c_int), ("bands", c_int), ("band_rows", c_uint32), ("max_memory", c_uint64),
                ("progress", ProgressFunction), ("progress_cookie", c_void_p), ("cancel", c_void_p), ("facts", c_void_p),
                ("results", c_void_p), ("spill", c_char_p), ("untuned", c_bool)]


class EstimateInfo(Sized):
    _fields_ = [("size", c_size_t), ("dtype", c_int), ("banded", c_bool), ("band_rows", c_uint32), ("arena_bytes", c_uint64),
                ("weights_bytes", c_uint64), ("buffer_bytes", c_uint64), ("total_bytes", c_uint64), ("flops", c_double),
                ("spill_bytes", c_uint64)]


class Error(RuntimeError):
    """What the library says of a call that failed. `status` is the number of zenith_status."""

    def __init__(self, status, sentence):
        super().__init__(sentence or f"zenith status {status}")
        self.status = status


# Name: (type of the result, types of the arguments).
FUNCTIONS = {
    "zenith_version": (c_char_p, []),
    "zenith_context_create": (c_int, [POINTER(ContextParams), POINTER(c_void_p)]),
    "zenith_context_free": (None, [c_void_p]),
    "zenith_context_error": (c_char_p, [c_void_p]),
    "zenith_context_trim": (None, [c_void_p]),
    "zenith_cancel_create": (c_int, [POINTER(c_void_p)]),
    "zenith_cancel_free": (None, [c_void_p]),
    "zenith_cancel_request": (None, [c_void_p]),
    "zenith_model_open": (c_int, [c_void_p, POINTER(ModelParams), POINTER(c_void_p)]),
    "zenith_model_free": (None, [c_void_p]),
    "zenith_model_get_info": (None, [c_void_p, POINTER(ModelInfo)]),
    "zenith_model_weights_sha256": (c_char_p, [c_void_p]),
    "zenith_model_name": (c_char_p, [c_size_t]),
    "zenith_model_description": (c_char_p, [c_size_t]),
    "zenith_encode": (c_int, [c_void_p, c_void_p, POINTER(Image), POINTER(Latent), c_size_t, POINTER(RunParams)]),
    "zenith_decode": (c_int, [c_void_p, c_void_p, POINTER(Latent), POINTER(Image), c_size_t, POINTER(RunParams)]),
    "zenith_estimate": (c_int, [c_void_p, c_void_p, c_uint, c_uint32, c_uint32, c_bool, POINTER(RunParams), POINTER(EstimateInfo)]),
}


def _path():
    beside = sorted(pathlib.Path(__file__).parent.glob("lib/libzenith.so*"))
    named = os.environ.get("ZENITH_LIBRARY")
    if named and pathlib.Path(named).is_dir():
        return str(pathlib.Path(named) / "libzenith.so")
    return named or (str(beside[0]) if beside else "libzenith.so.0")


def _open():
    try:
        library = ctypes.CDLL(_path())
    except OSError as error:
        raise ImportError(f"libzenith cannot be opened ({error}); set ZENITH_LIBRARY to its path") from error
    for name, (result, arguments) in FUNCTIONS.items():
        function = getattr(library, name)
        function.restype, function.argtypes = result, arguments
    return library


library = _open()


def version():
    """Of the library, such as '0.1.0'."""
    return library.zenith_version().decode()
