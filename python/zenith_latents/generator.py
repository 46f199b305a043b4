# SPDX-FileCopyrightText: 2026 The Zenith authors
# SPDX-License-Identifier: Apache-2.0
"""Pictures from text: zenith_generator, which may still change with any version."""
import ctypes
import dataclasses
import weakref
from typing import Any, Callable, Optional, Union

import numpy as np

from . import _arrays, _library as c
from ._library import Error, library
from .autoencoder import Array, Autoencoder, Context, Path, _choice, _dtype, _latents, _text, _whole
from .pictures import png

Numbers = Any  # numpy.ndarray of float32
_MOST_SIDE = 2**20  # of a picture; what a pipeline can do is less


@dataclasses.dataclass(frozen=True)
class Step:
    """How far a picture is. `predicted` is the latent of the picture that the step leads to: for previews."""
    step: int
    steps: int
    seconds: float
    latent: Numbers = dataclasses.field(repr=False)
    predicted: Numbers = dataclasses.field(repr=False)


@dataclasses.dataclass(frozen=True)
class Generated:
    """A picture that was made from text; a notebook shows it."""
    picture: Numbers = dataclasses.field(repr=False)  # uint8 [h, w, 3]
    latent: Numbers = dataclasses.field(repr=False)  # float32 [c, h / factor, w / factor]
    prompt: str
    seed: int
    tokens: int  # of the prompt in its template
    tokens_read: int  # fewer: the prompt was too long and lost its end
    seconds: float

    def _repr_png_(self) -> bytes:
        return png(self.picture)


def _numbers(latent: Any) -> Numbers:
    """A copy of a latent of the library's."""
    shape = (latent.channels, latent.height, latent.width)
    return np.ctypeslib.as_array(ctypes.cast(latent.data, ctypes.POINTER(ctypes.c_float)), shape).copy()


def _floats(latent: Array) -> Numbers:
    """One latent of any kind as float32 [1, c, h, w]."""
    dense = _arrays.dense(latent)
    return np.ascontiguousarray(np.asarray(dense.float() if hasattr(dense, "float") else dense, np.float32))[None]


def _guidance(guidance: float) -> float:
    if not guidance >= 0:
        raise ValueError(f"guidance is {guidance}: it must be 0 or more")
    return guidance


def _strength(strength: Optional[float], picture: bool) -> float:
    if strength is None:
        return 0
    if not picture:
        raise ValueError("strength is how much of a picture is made anew: give the picture, or its latent, too")
    if not 0 < strength <= 1:
        raise ValueError(f"strength is {strength}: it must be above 0 and at most 1")
    return strength


class Generator:
    """The networks of a pipeline. folder: in diffusers' layout, or its name where models are searched for; None: zenith-words, which
    is bundled. The others take the place of its parts, as zenith generate has it."""

    def __init__(self, folder: Optional[Path] = None, *, transformer: Optional[Path] = None, text_encoder: Optional[Path] = None,
                 tokenizer: Optional[Path] = None, autoencoder: Optional[Path] = None, shift: float = 0,
                 context: Optional[Context] = None) -> None:
        self.context = context or Context()
        self._handle = ctypes.c_void_p()
        params = c.GeneratorParams(folder=_text(folder), transformer=_text(transformer), text_encoder=_text(text_encoder),
                                   tokenizer=_text(tokenizer), autoencoder=_text(autoencoder), shift=shift)
        self.context._check(library.zenith_generator_open, ctypes.byref(params), ctypes.byref(self._handle))
        self._finalizer = weakref.finalize(self, library.zenith_generator_free, self._handle)
        info = c.GeneratorInfo()
        library.zenith_generator_get_info(self._handle, ctypes.byref(info))
        self.name: str = info.name.decode()
        self.text: str = info.text.decode()
        self.latents: str = info.latents.decode()  # a model that has the same latents
        self.autoencoder: Optional[str] = info.autoencoder.decode() if info.autoencoder else None
        self.channels: int = info.latent_channels
        self.factor: int = info.factor
        self.multiple: int = info.multiple
        self.shift: float = info.shift
        self.parameters: int = info.parameters
        self.side: int = info.side or 1024
        self.steps: int = info.steps  # the pipeline's advice, and so is the guidance
        self.guidance: float = info.guidance

    def __repr__(self) -> str:
        return f"<zenith_latents.Generator {self.name}: {self.parameters} parameters, text by {self.text}>"

    def trim(self) -> None:
        """Frees the packed weights, such as before a picture is decoded: the next call packs them again."""
        library.zenith_generator_trim(self.context._handle, self._handle)

    def decoder(self, name: Optional[str] = None, weights: Optional[Path] = None) -> Autoencoder:
        """An autoencoder of these latents: the pipeline's own, or, where it has none, zenith-f1-fast."""
        if name is None and weights is None and self.autoencoder:
            model = self._own_autoencoder()
        else:
            model = Autoencoder(name if name or weights else "zenith-f1-fast", weights, self.context)
        if not library.zenith_models_share_latents(model.name.encode(), self.latents.encode()):
            raise ValueError(f"{model.name} does not decode the latents of {self.name}: take a model that has those of {self.latents}")
        return model

    def _own_autoencoder(self) -> Autoencoder:
        """Its files can be those of several models that are alike: the one is meant whose latents these are."""
        failure: Optional[Error] = None
        for name in (None, self.latents, "taef1"):
            try:
                return Autoencoder(name, self.autoencoder, self.context)
            except Error as error:
                if name is None and error.status != c.AMBIGUOUS:
                    raise
                failure = error if name is None or name == self.latents else failure
        assert failure is not None
        raise failure

    def generate(self, prompt: str, *, width: int = 0, height: int = 0, negative: Optional[str] = None, seed: int = 0,
                 steps: Optional[int] = None, guidance: Optional[float] = None, noise: str = "torch", dtype: Optional[str] = None,
                 max_memory: int = 0, held_memory: int = 0, latent: Optional[Array] = None, strength: Optional[float] = None,
                 progress: Optional[Callable[[Step], object]] = None, decoder: Optional[Autoencoder] = None) -> Generated:
        """Makes a picture.

        width, height: of the picture, multiples of `multiple`; 0: those of `latent`, or the side that the pipeline was made for.
        steps, guidance: None: as the pipeline has it (`steps` and `guidance` here). guidance 0: none.
        noise: "torch" or "cuda", whose random numbers.
        latent: of a picture to begin with, of which `strength` (above 0, at most 1; None: 0.6) is made anew.
        progress: is called with a Step after each; it may raise, which ends the call.
        decoder: an Autoencoder of these latents; None: what `decoder()` gives.
        """
        params = c.GenerateParams(prompt=prompt.encode(), negative=_text(negative), seed=_whole("seed", seed),
                                  steps=0 if steps is None else _whole("steps", steps, 1, 2**31 - 1),
                                  guidance=self.guidance if guidance is None else _guidance(guidance),
                                  noise=_choice("noise", noise, c.NOISES), dtype=_dtype(dtype), max_memory=_whole("max_memory", max_memory),
                                  held_memory=_whole("held_memory", held_memory), strength=_strength(strength, latent is not None))
        width, height = _whole("width", width, most=_MOST_SIDE), _whole("height", height, most=_MOST_SIDE)
        first = None if latent is None else _floats(latent)
        if first is not None:
            height, width = (height or first.shape[2] * self.factor), (width or first.shape[3] * self.factor)
        width, height = width or self.side, height or self.side
        out = np.empty((1, self.channels, height // self.factor, width // self.factor), np.float32)
        facts = c.GenerateFacts()
        params.facts = ctypes.pointer(facts)
        if first is not None:
            params.picture = ctypes.pointer(_latents(first, first.shape[1], "model", c.MEAN, 0)[0])

        def report(said: Any) -> None:
            now = said.contents
            assert progress is not None
            progress(Step(now.step, now.steps, now.seconds, _numbers(now.latent.contents), _numbers(now.predicted.contents)))
        decoder = decoder or self.decoder()
        self.context._run(library.zenith_generate, self._handle, ctypes.byref(params), _latents(out, self.channels, "model", c.MEAN, 0),
                          params=params, report=None if progress is None else report)
        return Generated(decoder.decode(out[0]), out[0], prompt, seed, facts.tokens, facts.tokens_read, facts.seconds)


def generate(prompt: str, pipeline: Union[Generator, Path, None] = None, *, picture: Optional[Array] = None,
             decoder: Union[Autoencoder, str, None] = None, threads: int = 0, **how: Any) -> Generated:
    """A picture from text.

    pipeline: a folder in diffusers' layout, or the name of one where models are searched for, or a Generator, which is kept for
        many pictures; None: zenith-words, which is bundled.
    picture: one to begin with, uint8 [h, w, 3].
    decoder: an Autoencoder, or the name of one; None: the pipeline's own.
    The other arguments are those of Generator.generate.
    """
    generator = pipeline if isinstance(pipeline, Generator) else Generator(pipeline, context=Context(threads))
    model = decoder if isinstance(decoder, Autoencoder) else generator.decoder(decoder)
    if picture is not None:
        how["latent"] = model.encode(picture)
    return generator.generate(prompt, decoder=model, **how)
