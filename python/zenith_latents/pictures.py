# SPDX-FileCopyrightText: 2026 The Zenith authors
# SPDX-License-Identifier: Apache-2.0
"""Pictures as PNG, for notebooks and files, by the library's own writer."""
import ctypes
from typing import Any, Optional

import numpy as np

from . import _arrays, _library as c
from ._library import Error, library
from .autoencoder import Array, Context, _pictures_shape


def _bytes_of(picture: Array) -> "np.ndarray[Any, Any]":
    """uint8 [h, w, 3] of one picture in any form that decode gives; several stand side by side."""
    pictures = _arrays.dense(picture)
    shape, single = _pictures_shape(pictures)
    array = np.asarray(pictures).reshape((shape[0], *np.asarray(pictures).shape[0 if single else 1:]))
    if array.dtype != np.uint8:
        array = np.rint(np.clip(array, 0, 1) * 255).astype(np.uint8).transpose(0, 2, 3, 1)
    return np.ascontiguousarray(np.concatenate(list(array), axis=1))


def png(picture: Array, *, parameters: Optional[str] = None) -> bytes:
    """A picture as a PNG file. parameters: a text that the file keeps, where other programs look for how it was made."""
    pixels = _bytes_of(picture)
    height, width = pixels.shape[:2]
    context, store, target = Context(1), ctypes.c_void_p(), ctypes.c_void_p()
    if library.zenith_bytes_create(ctypes.byref(store)) != c.OK:
        raise MemoryError
    try:
        params = c.TargetParams(format=b"png", parameters=None if parameters is None else parameters.encode())
        context._check(library.zenith_target_open_bytes, store, width, height, ctypes.byref(params), ctypes.byref(target))
        status = library.zenith_target_rows(target, 0, height, pixels.ctypes.data)
        if status == c.OK:
            status = library.zenith_target_finish(target)
        if status != c.OK:
            raise Error(status, "the picture could not be written as PNG")
        size = ctypes.c_size_t()
        data = library.zenith_bytes_get(store, ctypes.byref(size))
        return ctypes.string_at(data, size.value)
    finally:
        library.zenith_target_free(target)
        library.zenith_bytes_free(store)


class Shown:
    """What a notebook shows as a picture."""

    def __init__(self, picture: Array) -> None:
        self.picture = picture

    def _repr_png_(self) -> bytes:
        return png(self.picture)


def show(picture: Array) -> Shown:
    """As the last line of a notebook's cell: shows a picture, or several side by side."""
    _pictures_shape(_arrays.dense(picture))
    return Shown(picture)
