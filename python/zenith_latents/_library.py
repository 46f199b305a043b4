# SPDX-FileCopyrightText: 2026 The Zenith authors
# SPDX-License-Identifier: Apache-2.0
"""The headers of include/zenith for ctypes: their structs field by field, and their functions with their types.

The library is the one beside this file (in a wheel), else the file or folder that $ZENITH_LIBRARY names, else what the system's
loader finds. Structs say their size, so a newer library takes them as they are.
"""
import ctypes
import os
import pathlib
import re
from typing import Any, Dict, List, Optional, Tuple
from ctypes import POINTER, c_bool, c_char_p, c_double, c_float, c_int, c_size_t, c_ubyte, c_uint, c_uint32, c_uint64, c_void_p

from . import _openmp

OK, AMBIGUOUS, CANCELLED = 0, 41, 50
ENCODER, DECODER = 1, 2
U8, F32, F16, BF16 = 1, 2, 3, 4
HWC, CHW = 1, 2
SPACES = {"model": 0, "raw": 1}
DTYPES = {"f32": 1, "bf16": 2, "int8": 3}
MEAN, SAMPLE, MOMENTS = 0, 1, 2

NOISES = {"torch": 0, "cuda": 1}

ProgressFunction = ctypes.CFUNCTYPE(c_int, c_void_p, c_double)


class Sized(ctypes.Structure):
    """A struct that begins with its size."""

    def __init__(self, **fields: Any) -> None:
        super().__init__(size=ctypes.sizeof(type(self)), **fields)


class ContextParams(Sized):
    _fields_ = [("size", c_size_t), ("threads", c_int), ("streams", c_int), ("log", c_void_p), ("log_cookie", c_void_p),
                ("log_level", c_int), ("plan_memory", c_uint64), ("tuned_plans", c_char_p)]


class File(Sized):
    _fields_ = [("size", c_size_t), ("name", c_char_p), ("data", c_char_p), ("bytes", c_uint64), ("read", c_void_p),
                ("cookie", c_void_p)]


class ModelParams(Sized):
    _fields_ = [("size", c_size_t), ("name", c_char_p), ("weights", c_char_p), ("parts", c_uint), ("files", POINTER(File)),
                ("file_count", c_size_t)]


class ModelInfo(Sized):
    _fields_ = [("size", c_size_t), ("name", c_char_p), ("description", c_char_p), ("parts", c_uint), ("latent_channels", c_uint32),
                ("factor", c_uint32), ("has_raw", c_bool), ("scale", c_float), ("shift", c_float), ("parameters", c_uint64),
                ("weights_sha256", c_char_p), ("has_int8", c_bool), ("can_int8", c_bool), ("weights_path", c_char_p),
                ("has_moments", c_bool), ("frames", c_uint32), ("first_frames", c_uint32), ("calibration_problem", c_char_p)]


class Image(Sized):
    _fields_ = [("size", c_size_t), ("width", c_uint32), ("height", c_uint32), ("number", c_int), ("order", c_int),
                ("data", c_void_p), ("rows", c_void_p), ("cookie", c_void_p), ("row_bytes", c_size_t), ("restarts", c_bool),
                ("unused", c_ubyte * 7), ("channels", c_int)]


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


class TargetParams(Sized):
    _fields_ = [("size", c_size_t), ("format", c_char_p), ("quality", c_int), ("level", c_int), ("lossless", c_bool),
                ("parameters", c_char_p), ("frames", c_uint32), ("delay", c_uint32), ("cut_out", c_bool)]


# --- generate.h


class GeneratorParams(Sized):
    _fields_ = [("size", c_size_t), ("folder", c_char_p), ("transformer", c_char_p), ("text_encoder", c_char_p), ("tokenizer", c_char_p),
                ("autoencoder", c_char_p), ("shift", c_double)]


class GeneratorInfo(Sized):
    _fields_ = [("size", c_size_t), ("name", c_char_p), ("text", c_char_p), ("latents", c_char_p), ("autoencoder", c_char_p),
                ("latent_channels", c_uint32), ("factor", c_uint32), ("multiple", c_uint32), ("shift", c_double),
                ("parameters", c_uint64), ("process", c_uint32), ("processes", c_uint32), ("side", c_uint32),
                ("steps", c_uint32), ("guidance", c_double), ("pipeline", c_char_p)]


class GenerateReport(Sized):
    _fields_ = [("size", c_size_t), ("step", c_uint32), ("steps", c_uint32), ("seconds", c_double), ("latent", POINTER(Latent)),
                ("predicted", POINTER(Latent))]


GenerateFunction = ctypes.CFUNCTYPE(c_int, c_void_p, POINTER(GenerateReport))


class GenerateFacts(Sized):
    _fields_ = [("size", c_size_t), ("dtype", c_int), ("tokens", c_uint32), ("tokens_read", c_uint32), ("seconds", c_double),
                ("weights_bytes", c_uint64), ("prepare_seconds", c_double)]


class GenerateParams(Sized):
    _fields_ = [("size", c_size_t), ("prompt", c_char_p), ("negative", c_char_p), ("seed", c_uint64), ("steps", c_uint32),
                ("guidance", c_float), ("noise", c_int), ("dtype", c_int), ("max_memory", c_uint64), ("report", GenerateFunction),
                ("report_cookie", c_void_p), ("cancel", c_void_p), ("facts", POINTER(GenerateFacts)), ("picture", POINTER(Latent)),
                ("strength", c_double), ("held_memory", c_uint64)]


# --- diffae.h


class DiffaeInfo(Sized):
    _fields_ = [("size", c_size_t), ("width", c_uint32), ("height", c_uint32), ("multiple", c_uint32), ("channels", c_uint32),
                ("numbers", c_uint32), ("timesteps", c_uint32), ("has_encoder", c_bool), ("has_decoder", c_bool), ("has_prior", c_bool),
                ("attributes", c_uint32), ("factor", c_uint32)]


class CodeStruct(Sized):
    _fields_ = [("size", c_size_t), ("width", c_uint32), ("height", c_uint32), ("code", c_void_p), ("noise", c_void_p),
                ("steps", c_uint32), ("numbers", c_uint32), ("weights", c_char_p), ("noise_numbers", c_size_t)]


class DiffaeReport(Sized):
    _fields_ = [("size", c_size_t), ("step", c_uint32), ("steps", c_uint32), ("seconds", c_double), ("predicted", POINTER(Image))]


DiffaeFunction = ctypes.CFUNCTYPE(c_int, c_void_p, POINTER(DiffaeReport))


class DiffaeParams(Sized):
    _fields_ = [("size", c_size_t), ("steps", c_uint32), ("seed", c_uint64), ("dtype", c_int), ("max_memory", c_uint64),
                ("report", DiffaeFunction), ("report_cookie", c_void_p), ("cancel", c_void_p), ("facts", c_void_p),
                ("no_pictures", c_bool), ("seen", c_float)]


# What sentences of the library call things, and what they are called here.
_WORDS = ((re.compile(r"\bzenith_\w+_params\.(\w+)"), r"\1="), (re.compile(r"\bzenith_code\.weights NULL"), "code.weights = None"),
          (re.compile(r"\bzenith_inspect\b"), "'zenith inspect'"), (re.compile(r"\bzenith_model_name\b"), "zenith_latents.models()"))


def in_python(sentence: str) -> str:
    for pattern, word in _WORDS:
        sentence = pattern.sub(word, sentence)
    return sentence


class Error(RuntimeError):
    """What the library says of a call that failed. `status` is the number of zenith_status."""

    def __init__(self, status: int, sentence: str) -> None:
        super().__init__(sentence or f"zenith status {status}")
        self.status = status


# Name: (type of the result, types of the arguments).
FUNCTIONS: Dict[str, Tuple[Any, List[Any]]] = {
    "zenith_version": (c_char_p, []),
    "zenith_status_text": (c_char_p, [c_int]),
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
    "zenith_models_share_latents": (c_bool, [c_char_p, c_char_p]),
    "zenith_bytes_create": (c_int, [POINTER(c_void_p)]),
    "zenith_bytes_free": (None, [c_void_p]),
    "zenith_bytes_get": (c_void_p, [c_void_p, POINTER(c_size_t)]),
    "zenith_target_open_bytes": (c_int, [c_void_p, c_void_p, c_uint32, c_uint32, POINTER(TargetParams), POINTER(c_void_p)]),
    "zenith_target_rows": (c_int, [c_void_p, c_uint32, c_uint32, c_void_p]),
    "zenith_target_finish": (c_int, [c_void_p]),
    "zenith_target_free": (None, [c_void_p]),
    "zenith_generator_open": (c_int, [c_void_p, POINTER(GeneratorParams), POINTER(c_void_p)]),
    "zenith_generator_free": (None, [c_void_p]),
    "zenith_generator_get_info": (None, [c_void_p, POINTER(GeneratorInfo)]),
    "zenith_generator_trim": (None, [c_void_p, c_void_p]),
    "zenith_generate": (c_int, [c_void_p, c_void_p, POINTER(GenerateParams), POINTER(Latent)]),
    "zenith_diffae_get_info": (c_int, [c_void_p, c_void_p, POINTER(DiffaeInfo)]),
    "zenith_diffae_attribute": (c_char_p, [c_void_p, c_size_t]),
    "zenith_diffae_encode": (c_int, [c_void_p, c_void_p, POINTER(Image), POINTER(CodeStruct), POINTER(DiffaeParams)]),
    "zenith_diffae_decode": (c_int, [c_void_p, c_void_p, POINTER(CodeStruct), POINTER(Image), POINTER(DiffaeParams)]),
    "zenith_diffae_edit": (c_int, [c_void_p, c_void_p, POINTER(CodeStruct), c_uint32, c_double]),
    "zenith_diffae_mix": (c_int, [c_void_p, c_void_p, POINTER(CodeStruct), POINTER(CodeStruct), c_double, POINTER(CodeStruct)]),
    "zenith_diffae_sample": (c_int, [c_void_p, c_void_p, POINTER(CodeStruct), c_size_t, POINTER(DiffaeParams)]),
    "zenith_diffae_classify": (c_int, [c_void_p, c_void_p, POINTER(CodeStruct), c_size_t, c_void_p, POINTER(DiffaeParams)]),
    "zenith_code_file_open": (c_int, [c_void_p, c_char_p, POINTER(c_void_p)]),
    "zenith_code_file_free": (None, [c_void_p]),
    "zenith_code_file_get": (None, [c_void_p, POINTER(CodeStruct)]),
    "zenith_code_save": (c_int, [c_void_p, c_char_p, c_void_p, POINTER(CodeStruct)]),
}


def _path() -> str:
    beside = sorted(pathlib.Path(__file__).parent.glob("lib/libzenith.so*"))
    named = os.environ.get("ZENITH_LIBRARY")
    if named and pathlib.Path(named).is_dir():
        return str(pathlib.Path(named) / "libzenith.so")
    return named or (str(beside[0]) if beside else "libzenith.so.0.1")


def _open() -> ctypes.CDLL:
    path = _path()
    try:
        with _openmp.bounded_waiting():
            if "/" in path:
                _openmp.share(pathlib.Path(path))
            library = ctypes.CDLL(path)
    except OSError as error:
        help = "install it, such as by apt-get install libgomp1" if "libgomp.so.1" in str(error) else "set ZENITH_LIBRARY to its path"
        raise ImportError(f"libzenith cannot be opened ({error}); {help}") from error
    for name, (result, arguments) in FUNCTIONS.items():
        function = getattr(library, name)
        function.restype, function.argtypes = result, arguments
    return library


library = _open()


def version() -> str:
    """Of the library, such as '0.1.0'."""
    text: bytes = library.zenith_version()
    return text.decode()
