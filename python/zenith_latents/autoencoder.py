# SPDX-FileCopyrightText: 2026 The Zenith authors
# SPDX-License-Identifier: Apache-2.0
"""Contexts and autoencoders: zenith_context and zenith_model with Python's manners."""
import ctypes
import dataclasses
import operator
import os
import threading
import weakref
from typing import Any, Callable, Dict, List, Mapping, Optional, Tuple, TypeVar, Union

from . import _arrays, _library as c
from ._library import Error, library


Path = Union[str, "os.PathLike[str]"]
Array = Any  # a numpy array or a torch tensor
Progress = Callable[[float], object]
Result = TypeVar("Result")
_MOST_THREADS = 1024  # the library's


def models() -> Dict[str, str]:
    """Names of the models that the library knows, with a line about each."""
    found: Dict[str, str] = {}
    index = 0
    while (name := library.zenith_model_name(index)) is not None:
        found[name.decode()] = library.zenith_model_description(index).decode()
        index += 1
    return found


def _text(value: Optional[Path]) -> Optional[bytes]:
    return None if value is None else str(value).encode()


def _in_thread(work: Callable[[], Result], on_interrupt: Callable[[], None]) -> Result:
    """Python's main thread waits for a lock, which Ctrl-C interrupts, while another is in the library."""
    results: List[Result] = []
    errors: List[BaseException] = []
    over = threading.Event()

    def run() -> None:
        try:
            results.append(work())
        except BaseException as error:  # noqa: BLE001: raised again below
            errors.append(error)
        over.set()
    threading.Thread(target=run, daemon=True).start()
    interrupted = False
    # Arrays are in use until it ends, however often Ctrl-C is pressed. Not Thread.join: in CPython 3.11 one that was
    # interrupted takes a thread that runs for one that has ended.
    while not over.is_set():
        try:
            over.wait()
        except KeyboardInterrupt:
            interrupted = True
            on_interrupt()
    if interrupted:
        raise KeyboardInterrupt
    if errors:
        raise errors[0]
    return results[0]


class Context:
    """Threads and memory that models compute with. `threads`: 0 for the physical cores of this process."""

    def __init__(self, threads: int = 0, streams: int = 0) -> None:
        self._handle = ctypes.c_void_p()
        params = c.ContextParams(threads=_whole("threads", threads, most=_MOST_THREADS),
                                 streams=_whole("streams", streams, most=_MOST_THREADS))
        status = library.zenith_context_create(ctypes.byref(params), ctypes.byref(self._handle))
        if status != c.OK:
            raise Error(status, f"the context could not be made: {library.zenith_status_text(status).decode()}")
        self._finalizer = weakref.finalize(self, library.zenith_context_free, self._handle)

    def trim(self) -> None:
        """Gives back the memory that is kept for the next call."""
        library.zenith_context_trim(self._handle)

    def _call(self, function: Any, *arguments: Any) -> Tuple[int, str]:
        """One call, and the sentence of its failure: the library has it for the thread that made the call."""
        status = function(self._handle, *arguments)
        return status, "" if status == c.OK else c.in_python(library.zenith_context_error(self._handle).decode(errors="replace"))

    def _check(self, function: Any, *arguments: Any) -> None:
        status, sentence = self._call(function, *arguments)
        if status != c.OK:
            raise Error(status, sentence)

    def _run(self, function: Any, *arguments: Any, params: Any, report: Optional[Callable[[Any], object]]) -> None:
        """The same of a long call, which a report function that raises and Ctrl-C end. `params` is among the arguments; `report`
        gets the second argument of the library's own."""
        raised: List[BaseException] = []
        cancel = ctypes.c_void_p()

        def on_report(_: Any, said: Any) -> int:
            try:
                report(said)  # type: ignore[misc] # set only where there is one
            except BaseException as error:  # noqa: BLE001: it must not pass through C
                raised.append(error)
                return 1
            return 0
        if library.zenith_cancel_create(ctypes.byref(cancel)) != c.OK:
            raise MemoryError
        params.cancel = cancel
        if report is not None:
            field = "progress" if isinstance(params, c.RunParams) else "report"
            kind: Any = dict(params._fields_)[field]
            setattr(params, field, kind(on_report))

        def work() -> Tuple[int, str]:
            return self._call(function, *arguments)
        try:
            if threading.current_thread() is threading.main_thread():
                status, sentence = _in_thread(work, lambda: library.zenith_cancel_request(cancel))
            else:
                status, sentence = work()
        finally:
            library.zenith_cancel_free(cancel)
        if raised:
            raise raised[0]
        if status != c.OK:
            raise Error(status, sentence)


@dataclasses.dataclass(frozen=True)
class Estimate:
    """What one picture will need: bytes, and floating-point operations."""
    total_bytes: int
    arena_bytes: int
    weights_bytes: int
    flops: float


class Autoencoder:
    """A model that turns pictures into latents and back. zenith_latents.open makes one."""

    def __init__(self, name: Optional[str] = None, weights: Optional[Path] = None, context: Optional[Context] = None,
                 files: Optional[Mapping[str, bytes]] = None) -> None:
        self.context = context or Context()
        self._handle = ctypes.c_void_p()
        self._files = dict(files or {})  # the library uses their bytes where they are
        listed = [c.File(name=file.encode(), data=data, bytes=len(data)) for file, data in self._files.items()]
        params = c.ModelParams(name=_text(name), weights=_text(weights), files=(c.File * len(listed))(*listed), file_count=len(listed))
        self.context._check(library.zenith_model_open, ctypes.byref(params), ctypes.byref(self._handle))
        self._finalizer = weakref.finalize(self, library.zenith_model_free, self._handle)
        info = c.ModelInfo()
        library.zenith_model_get_info(self._handle, ctypes.byref(info))
        if info.latent_channels == 0:
            raise ValueError(_not_this_kind(info.name.decode(), str(weights or name or "these files")))
        self.name: str = info.name.decode()
        self.description: str = info.description.decode()
        self.channels: int = info.latent_channels
        self.factor: int = info.factor
        self.scale: Optional[float] = info.scale if info.has_raw else None
        self.shift: Optional[float] = info.shift if info.has_raw else None
        self.has_encoder, self.has_decoder = bool(info.parts & c.ENCODER), bool(info.parts & c.DECODER)
        self.has_moments: bool = info.has_moments
        self.parameters: int = info.parameters
        self.frames: int = info.frames  # of models of video; 0: pictures only

    def __repr__(self) -> str:
        return f"<zenith_latents.Autoencoder {self.name}: {self.channels} channels, factor {self.factor}>"

    @property
    def weights_sha256(self) -> str:
        text: bytes = library.zenith_model_weights_sha256(self._handle)
        return text.decode()

    def encode(self, picture: Array, *, space: str = "model", kind: str = "mean", seed: int = 0, number: str = "f32",
               dtype: Optional[str] = None, max_memory: int = 0, progress: Optional[Progress] = None) -> Array:
        """Pictures to latents.

        picture: uint8 [h, w, 3] or [n, h, w, 3], 0 to 255; or float32 [3, h, w] or [n, 3, h, w], 0 to 1. Sides are multiples of
            `factor`.
        space: "model", latents as the diffusion model sees them, or "raw", as the full VAE gives them.
        kind: "mean"; of a variational encoder also "sample", by `seed`, and "moments", mean and log variance.
        number: type of the latents: "f32", "f16", or "bf16" (torch alone).
        dtype: type to compute in: "f32", "bf16", "int8"; None: the usual one of this CPU.
        Returns [c, h / factor, w / factor], with n before it where the picture has it; of the kind that came in.
        """
        pictures = _arrays.dense(picture)
        shape, single = _pictures_shape(pictures)
        count, height, width = shape
        code = _choice("kind", kind, {"mean": c.MEAN, "sample": c.SAMPLE, "moments": c.MOMENTS})
        channels = self.channels * (2 if kind == "moments" else 1)
        stored = _choice("number", number, {"f32": c.F32, "f16": c.F16, "bf16": c.BF16})
        out = _arrays.empty((count, channels, height // self.factor, width // self.factor), stored, pictures)
        latents = _latents(out, channels, space, code, _whole("seed", seed))
        params = _params(dtype, max_memory)
        self.context._run(library.zenith_encode, self._handle, _images(pictures, shape), latents, count, ctypes.byref(params),
                          params=params, report=progress)
        return out[0] if single else out

    def decode(self, latent: Array, *, space: str = "model", number: str = "u8", dtype: Optional[str] = None, max_memory: int = 0,
               progress: Optional[Progress] = None) -> Array:
        """Latents to pictures.

        latent: [c, h, w] or [n, c, h, w], float32, float16 or torch.bfloat16.
        number: "u8" gives uint8 [h * factor, w * factor, 3]; "f32" gives float32 [3, ..], 0 to 1 and what the network gives
            beyond that.
        The other arguments are those of encode.
        """
        latents = _arrays.dense(latent)
        single = latents.ndim == 3
        if latents.ndim not in (3, 4):
            raise ValueError(f"a latent has 3 or 4 dimensions, not {latents.ndim}")
        if single:
            latents = latents[None]
        count, channels, rows, columns = latents.shape
        height, width = rows * self.factor, columns * self.factor
        as_bytes = _choice("number", number, {"u8": True, "f32": False})
        shape = (count, height, width, 3) if as_bytes else (count, 3, height, width)
        out = _arrays.empty(shape, c.U8 if as_bytes else c.F32, latents)
        params = _params(dtype, max_memory)
        self.context._run(library.zenith_decode, self._handle, _latents(latents, channels, space, c.MEAN, 0),
                          _images(out, (count, height, width)), count, ctypes.byref(params), params=params, report=progress)
        return out[0] if single else out

    def estimate(self, width: int, height: int, *, part: str = "decoder", dtype: Optional[str] = None,
                 max_memory: int = 0) -> Estimate:
        """What a picture of this size will take; a max_memory that is too small raises Error, with the bytes it takes."""
        info = c.EstimateInfo()
        flag = _choice("part", part, {"encoder": c.ENCODER, "decoder": c.DECODER})
        self.context._check(library.zenith_estimate, self._handle, flag, _whole("width", width), _whole("height", height), False,
                            ctypes.byref(_params(dtype, max_memory)), ctypes.byref(info))
        return Estimate(info.total_bytes, info.arena_bytes, info.weights_bytes, info.flops)


def open(name: Optional[str] = None, weights: Optional[Path] = None, threads: int = 0,  # noqa: A001: as the command line has it
         files: Optional[Mapping[str, bytes]] = None) -> Autoencoder:
    """An autoencoder by its name (`models()` lists them), by the path of its weights, or both.

    files: the weights in memory instead of a path, by the names they would have on disk ("taesd_decoder.safetensors",
        "diffusion_pytorch_model.safetensors", "config.json").
    """
    return Autoencoder(name, weights, Context(threads), files)


def _not_this_kind(kind: str, asked: str) -> str:
    if kind == "diffae":
        return f'{asked} is a diffusion autoencoder: zenith_latents.DiffAE("{asked}") opens it'
    return f"{asked} is {kind}, which is no autoencoder of pictures"


# --- arguments, and arrays as the library's structs


def _whole(name: str, value: Any, least: int = 0, most: int = 2**64 - 1) -> int:
    """A whole number of these: ctypes would take others for some number, too."""
    try:
        number = operator.index(value)
    except TypeError:
        raise TypeError(f"{name} is {value!r}, not a whole number") from None
    if not least <= number <= most:
        raise ValueError(f"{name} is {number}: it must be {least} to {most}" if most < 2**32 else
                         f"{name} is {number}: it must be {least} or more{'' if number < least else ', below 2**64'}")
    return number


def _choice(name: str, value: Any, choices: Mapping[str, Result]) -> Result:
    if value not in choices:
        raise ValueError(f"{name} is {value!r}, not one of {', '.join(choices)}")
    return choices[value]


def _dtype(name: Optional[str]) -> int:
    return 0 if name is None else _choice("dtype", name, c.DTYPES)


def _params(dtype: Optional[str], max_memory: int) -> c.RunParams:
    return c.RunParams(dtype=_dtype(dtype), max_memory=_whole("max_memory", max_memory))


def _pictures_shape(pictures: Array) -> Tuple[Tuple[int, int, int], bool]:
    """(count, height, width), and whether it is one picture without a count."""
    shape = tuple(pictures.shape)
    number = _arrays.number_of(pictures)
    if number not in (c.U8, c.F32) or len(shape) not in (3, 4):
        raise ValueError(f"a picture is uint8 [h, w, 3] or float32 [3, h, w], or several of them; this is {pictures.dtype} {list(shape)}")
    single = len(shape) == 3
    count, first, second, third = (1, *shape) if single else shape
    height, width, colours = (first, second, third) if number == c.U8 else (second, third, first)
    if colours != 3:
        raise ValueError(f"a picture has 3 colours; {pictures.dtype} {list(shape)} has {colours} where they belong")
    return (count, height, width), single


def _images(pictures: Array, shape: Tuple[int, int, int]) -> Any:
    count, height, width = shape
    number = _arrays.number_of(pictures)
    step = height * width * 3 * (1 if number == c.U8 else 4)
    order = c.HWC if number == c.U8 else c.CHW
    return (c.Image * count)(*(c.Image(width=width, height=height, number=number, order=order,
                                       data=_arrays.address_of(pictures) + i * step) for i in range(count)))


def _latents(latents: Array, channels: int, space: str, kind: int, seed: int) -> Any:
    where = _choice("space", space, c.SPACES)
    count, _, height, width = latents.shape
    number = _arrays.number_of(latents)
    step = channels * height * width * (4 if number == c.F32 else 2)
    return (c.Latent * count)(*(c.Latent(width=width, height=height, channels=channels, space=where, number=number,
                                         order=c.CHW, data=_arrays.address_of(latents) + i * step, kind=kind, seed=seed + i)
                                for i in range(count)))
