# SPDX-FileCopyrightText: 2026 The Zenith authors
# SPDX-License-Identifier: Apache-2.0
"""Diffusion autoencoders: pictures to codes, which can be moved, mixed, drawn and classified, and back. They may still change with
any version."""
import ctypes
import dataclasses
import os
import weakref
from typing import Any, Callable, List, Optional, Sequence, Union

import numpy as np

from . import _arrays, _library as c
from ._library import library
from .autoencoder import Array, Context, Path, _choice, _dtype, _images, _pictures_shape, _text, _whole

Numbers = Any  # numpy.ndarray of float32


@dataclasses.dataclass(repr=False)
class Code:
    """A picture as its code and its noise."""
    numbers: Numbers  # float32 [numbers]
    noise: Optional[Numbers]  # float32 [channels, height / factor, width / factor]; None: there is none
    width: int
    height: int
    steps: int = 0  # to the noise; 0: not known
    weights: Optional[str] = None  # SHA-256 of the weights that made it: others refuse it

    def __repr__(self) -> str:
        return f"<zenith_latents.Code {self.width}x{self.height}: {self.numbers.size} numbers{'' if self.noise is None else ', and noise'}>"

    def _struct(self) -> c.CodeStruct:
        for array in (self.numbers, self.noise):
            if array is not None and (array.dtype != np.float32 or not array.flags.c_contiguous):
                raise TypeError("a code's numbers and its noise are arrays of float32, each number after the other")
        return c.CodeStruct(width=self.width, height=self.height, code=self.numbers.ctypes.data, numbers=self.numbers.size,
                            noise=None if self.noise is None else self.noise.ctypes.data,
                            noise_numbers=0 if self.noise is None else self.noise.size, steps=self.steps, weights=_text(self.weights))

    def copy(self) -> "Code":
        return dataclasses.replace(self, numbers=self.numbers.copy(), noise=None if self.noise is None else self.noise.copy())


@dataclasses.dataclass(frozen=True)
class DiffAEStep:
    """How far a call is. predicted: the picture that it leads to, float32 [3, h, w], 0 to 1; None on the way to noise."""
    step: int
    steps: int
    seconds: float
    predicted: Optional[Numbers] = dataclasses.field(repr=False)


Progress = Callable[[DiffAEStep], object]
Attribute = Union[int, str]
_BUNDLED = "zenith-avatars64"
_MOST_SIDE = 2**14  # of a picture, the library's


def _is_name(weights: Path) -> bool:
    return isinstance(weights, str) and "/" not in weights and not weights.endswith(".safetensors") and not os.path.exists(weights)


def _report(progress: Optional[Progress]) -> Optional[Callable[[Any], object]]:
    def report(said: Any) -> None:
        now, picture = said.contents, None
        assert progress is not None
        if now.predicted:
            image = now.predicted.contents
            floats = ctypes.cast(image.data, ctypes.POINTER(ctypes.c_float))
            picture = np.ctypeslib.as_array(floats, (3, image.height, image.width)).copy()
        progress(DiffAEStep(now.step, now.steps, now.seconds, picture))
    return None if progress is None else report


class DiffAE:
    """A diffusion autoencoder: the name of a bundled one, or a folder or file as tools/convert.py --diffae and zenith diffae join
    write it; None: zenith-avatars64, as the program has it."""

    def __init__(self, weights: Optional[Path] = None, *, name: Optional[str] = None, context: Optional[Context] = None) -> None:
        self.context = context or Context()
        self._handle = ctypes.c_void_p()
        if name is None and (weights is None or _is_name(weights)):
            name, weights = str(weights or _BUNDLED), None
        params = c.ModelParams(name=_text(name), weights=_text(weights))
        self.context._check(library.zenith_model_open, ctypes.byref(params), ctypes.byref(self._handle))
        self._finalizer = weakref.finalize(self, library.zenith_model_free, self._handle)
        info = c.DiffaeInfo()
        self.context._check(library.zenith_diffae_get_info, self._handle, ctypes.byref(info))
        self.width: int = info.width
        self.height: int = info.height
        self.multiple: int = info.multiple
        self.channels: int = info.channels
        self.numbers: int = info.numbers
        self.timesteps: int = info.timesteps
        self.factor: int = info.factor or 1
        self.has_encoder, self.has_decoder, self.has_prior = bool(info.has_encoder), bool(info.has_decoder), bool(info.has_prior)
        names = (library.zenith_diffae_attribute(self._handle, i) for i in range(info.attributes))
        self.attributes: List[Optional[str]] = [None if text is None else text.decode() for text in names]

    def __repr__(self) -> str:
        return f"<zenith_latents.DiffAE {self.width}x{self.height}: codes of {self.numbers} numbers, {len(self.attributes)} attributes>"

    def _empty(self, width: int, height: int, noise: bool) -> Code:
        shape = (self.channels, height // self.factor, width // self.factor)
        return Code(np.zeros(self.numbers, np.float32), np.zeros(shape, np.float32) if noise else None, width, height)

    def _params(self, steps: Optional[int], seed: int, dtype: Optional[str], max_memory: int, progress: Optional[Progress],
                seen: float = 0) -> c.DiffaeParams:
        return c.DiffaeParams(steps=0 if steps is None else _whole("steps", steps, 1, 2**32 - 1), seed=_whole("seed", seed), dtype=_dtype(dtype),
                              max_memory=_whole("max_memory", max_memory), seen=seen, no_pictures=progress is None)

    def encode(self, picture: Array, *, noise: bool = True, steps: Optional[int] = None, seed: int = 0, seen: float = 0,
               dtype: Optional[str] = None, max_memory: int = 0, progress: Optional[Progress] = None) -> Code:
        """A picture, uint8 [h, w, 3] or float32 [3, h, w], to its code and, unless `noise` is False, its noise, which takes most of
        the time. steps: None: 250. seen: the share of pixels that a sparse encoder looks at, drawn by `seed`; 0: all."""
        pictures = _arrays.dense(picture)
        shape, single = _pictures_shape(pictures)
        if not single:
            raise ValueError("one picture at a time: [h, w, 3] or [3, h, w]")
        code = self._empty(shape[2], shape[1], noise)
        params = self._params(steps, seed, dtype, max_memory, progress, seen)
        self.context._run(library.zenith_diffae_encode, self._handle, _images(pictures, shape), ctypes.byref(code._struct()),
                          ctypes.byref(params), params=params, report=_report(progress))
        text: bytes = library.zenith_model_weights_sha256(self._handle)
        code.weights, code.steps = text.decode(), (steps or 250) if noise else 0
        return code

    def decode(self, code: Code, *, steps: Optional[int] = None, seed: int = 0, number: str = "u8", dtype: Optional[str] = None,
               max_memory: int = 0, progress: Optional[Progress] = None) -> Array:
        """A code to a picture: uint8 [h, w, 3], or with number "f32" float32 [3, h, w]. steps: None: 100. A code without noise gets
        that of the seed: another picture of the same code."""
        as_bytes = _choice("number", number, {"u8": True, "f32": False})
        out = np.empty((code.height, code.width, 3) if as_bytes else (3, code.height, code.width), np.uint8 if as_bytes else np.float32)
        params = self._params(steps, seed, dtype, max_memory, progress)
        self.context._run(library.zenith_diffae_decode, self._handle, ctypes.byref(code._struct()),
                          _images(out, (1, code.height, code.width)), ctypes.byref(params), params=params, report=_report(progress))
        return out

    def _attribute(self, attribute: Attribute) -> int:
        if not isinstance(attribute, str):
            return _whole("attribute", attribute, most=2**32 - 1)
        if attribute not in self.attributes:
            known = ", ".join(name for name in self.attributes if name) or "none has a name"
            raise ValueError(f"{attribute!r} is no attribute of this model: {known}")
        return self.attributes.index(attribute)

    def edit(self, code: Code, attribute: Union[Attribute, Sequence[Attribute]], strength: float = 0.3) -> Code:
        """The code moved towards an attribute, by its name or number, or with a negative strength away from it; towards several in
        their order."""
        several = attribute if isinstance(attribute, (list, tuple)) else [attribute]
        moved = code.copy()
        for number in [self._attribute(one) for one in several]:
            self.context._check(library.zenith_diffae_edit, self._handle, ctypes.byref(moved._struct()), number, strength)
        return moved

    def interpolate(self, a: Code, b: Code, weight: float = 0.5) -> Code:
        """Between two codes of one size, weight 0 (a) to 1 (b): codes on the straight line, noise on the arc."""
        out = a.copy()
        if b.noise is None:
            out.noise = None
        self.context._check(library.zenith_diffae_mix, self._handle, ctypes.byref(a._struct()), ctypes.byref(b._struct()), weight,
                            ctypes.byref(out._struct()))
        return out

    def sample(self, count: int = 1, *, seed: int = 0, width: int = 0, height: int = 0, noise: bool = True, steps: Optional[int] = None,
               dtype: Optional[str] = None, max_memory: int = 0, progress: Optional[Progress] = None) -> List[Code]:
        """Codes drawn by the prior, or by known pictures. Code i is that of seed + i, alone and among others. steps: None: 200, or 20."""
        width, height = _whole("width", width, most=_MOST_SIDE), _whole("height", height, most=_MOST_SIDE)
        codes = [self._empty(width or self.width, height or self.height, noise) for _ in range(_whole("count", count, 1))]
        params = self._params(steps, seed, dtype, max_memory, progress)
        self.context._run(library.zenith_diffae_sample, self._handle, _structs(codes), count, ctypes.byref(params), params=params,
                          report=_report(progress))
        return codes

    def classify(self, codes: Union[Code, Sequence[Code]], *, dtype: Optional[str] = None, max_memory: int = 0) -> Numbers:
        """How probable each attribute is, 0 to 1: [attributes] of one code, [n, attributes] of several."""
        several = [codes] if isinstance(codes, Code) else list(codes)
        out = np.empty((len(several), len(self.attributes)), np.float32)
        params = self._params(None, 0, dtype, max_memory, None)
        self.context._run(library.zenith_diffae_classify, self._handle, _structs(several), len(several), out.ctypes.data,
                          ctypes.byref(params), params=params, report=None)
        return out[0] if isinstance(codes, Code) else out

    def save(self, code: Code, path: Path) -> None:
        """A code and its noise as safetensors, which zenith diffae takes too."""
        self.context._check(library.zenith_code_save, _text(path), self._handle, ctypes.byref(code._struct()))

    def load(self, path: Path) -> Code:
        """What save wrote, or zenith diffae encode."""
        file, found = ctypes.c_void_p(), c.CodeStruct()
        self.context._check(library.zenith_code_file_open, _text(path), ctypes.byref(file))
        try:
            library.zenith_code_file_get(file, ctypes.byref(found))
            code = self._empty(found.width, found.height, bool(found.noise))
            code.numbers = np.empty(found.numbers or self.numbers, np.float32)
            ctypes.memmove(code.numbers.ctypes.data, found.code, code.numbers.nbytes)
            if code.noise is not None:
                if found.noise_numbers not in (0, code.noise.size):
                    raise ValueError(f"{path}: its noise is not that of a picture of {found.width}x{found.height} of this model")
                ctypes.memmove(code.noise.ctypes.data, found.noise, code.noise.nbytes)
            code.steps, code.weights = found.steps, found.weights.decode() if found.weights else None
            return code
        finally:
            library.zenith_code_file_free(file)


def _structs(codes: Sequence[Code]) -> Any:
    return (c.CodeStruct * len(codes))(*(code._struct() for code in codes))
