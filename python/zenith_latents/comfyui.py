# SPDX-FileCopyrightText: 2026 The Zenith authors
# SPDX-License-Identifier: Apache-2.0
"""Nodes for ComfyUI: a loader whose VAE works in the stock nodes, and previews while a picture is sampled.

python/comfyui is the folder for ComfyUI's custom_nodes; it imports this module. Latents between ComfyUI's nodes are those of the full
VAE (space "raw" here): its latent formats scale and shift them for the diffusion model, and Zenith does so with the same constants
(tests/python/comfyui.py compares them). What a sampler reports has been scaled already: previews take "model".
"""
import importlib
from typing import Any, Callable, Dict, List, Optional, Tuple

import numpy as np

from . import _arrays
from .autoencoder import Autoencoder, Context, models

Tensor = Any  # torch.Tensor
SEARCHED = "where Zenith searches for models"


def _comfy(name: str) -> Any:
    """A module of ComfyUI's; None outside of it."""
    try:
        return importlib.import_module(name)
    except ImportError:
        return None


def _progress() -> Callable[[float], None]:
    """Moves the bar of the node that runs, and ends the run when its user says so."""
    utils, management = _comfy("comfy.utils"), _comfy("comfy.model_management")
    bar = utils.ProgressBar(100) if utils else None

    def report(fraction: float) -> None:
        if management:
            management.throw_exception_if_processing_interrupted()
        if bar:
            bar.update_absolute(round(fraction * 100), 100)
    return report


def _floats(tensor: Tensor) -> Any:
    """A tensor of any device and type as an array, without a copy where it is such a one already."""
    return np.asarray(tensor.detach().cpu().float() if hasattr(tensor, "detach") else tensor, np.float32)


def _like(tensor: Tensor, array: Any) -> Tensor:
    torch = _arrays._torch_of(tensor)
    return array if torch is None else torch.from_numpy(array)


class ZenithVAE:
    """What ComfyUI's nodes ask of a VAE: pictures [n, h, w, 3], 0 to 1, and latents [n, c, h / factor, w / factor], as torch tensors."""

    latent_dim = 2
    output_channels = 3

    def __init__(self, model: Autoencoder, dtype: Optional[str] = None, max_memory: int = 0) -> None:
        if model.scale is None or model.frames:
            raise ValueError(f"{model.name}: ComfyUI's latents of such models are in another form than Zenith's; take its own loader")
        self.model, self.dtype, self.max_memory = model, dtype, max_memory
        self.latent_channels = model.channels
        self.upscale_ratio = self.downscale_ratio = model.factor

    def throw_exception_if_invalid(self) -> None:
        """Asked for by ComfyUI; one that could not be opened is not here."""

    def spacial_compression_decode(self) -> int:  # so spelled in ComfyUI
        return self.upscale_ratio

    def spacial_compression_encode(self) -> int:
        return self.downscale_ratio

    def temporal_compression_decode(self) -> None:
        return None

    def vae_encode_crop_pixels(self, pixels: Tensor) -> Tensor:
        """The middle, down to a multiple of the factor, and the first three channels."""
        factor = self.model.factor
        height, width = (length // factor * factor for length in pixels.shape[1:3])
        top, left = (pixels.shape[1] - height) // 2, (pixels.shape[2] - width) // 2
        return pixels[:, top:top + height, left:left + width, :3]

    def decode(self, samples: Tensor, vae_options: Optional[Dict[str, Any]] = None) -> Tensor:
        if samples.ndim == 5:  # a clip's first picture
            samples = samples[:, :, 0]
        pictures = self.model.decode(_floats(samples), space="raw", number="f32", dtype=self.dtype, max_memory=self.max_memory,
                                     progress=_progress())
        return _like(samples, np.moveaxis(np.clip(pictures, 0, 1, out=pictures), 1, -1))

    def encode(self, pixels: Tensor) -> Tensor:
        planes = np.moveaxis(_floats(self.vae_encode_crop_pixels(pixels)), -1, 1)
        return _like(pixels, self.model.encode(planes, space="raw", dtype=self.dtype, max_memory=self.max_memory, progress=_progress()))

    # Tiles are ComfyUI's way to bound memory. Zenith's gives the same bits as no bound at all, so tiles are not looked at.

    def decode_tiled(self, samples: Tensor, **tiles: Any) -> Tensor:
        return self.decode(samples)

    def encode_tiled(self, pixels: Tensor, **tiles: Any) -> Tensor:
        return self.encode(pixels)


def _names() -> List[str]:
    """Models to choose from, those that come along first."""
    return sorted(models(), key=lambda name: (not name.startswith("zenith-"), name))


class ZenithVAELoader:
    """An autoencoder by its name; its weights come with Zenith, or are where it searches for them, or in a folder."""

    RETURN_TYPES = ("VAE",)
    FUNCTION = "load"
    CATEGORY = "loaders"
    DESCRIPTION = "Loads an autoencoder that Zenith computes on the CPU."

    @classmethod
    def INPUT_TYPES(cls) -> Dict[str, Any]:
        return {"required": {"model": (_names(), {"default": "zenith-sd-fast"}),
                             "dtype": (["default", "f32", "bf16", "int8"], {"tooltip": "What to compute in."})},
                "optional": {"weights": ("STRING", {"default": "", "tooltip": f"A folder or file; empty: {SEARCHED}."}),
                             "threads": ("INT", {"default": 0, "min": 0, "max": 1024, "tooltip": "0: the physical cores."}),
                             "max_memory": ("INT", {"default": 0, "min": 0, "max": 1 << 20, "tooltip": "In MiB; 0: no bound."})}}

    def load(self, model: str, dtype: str = "default", weights: str = "", threads: int = 0, max_memory: int = 0) -> Tuple[ZenithVAE]:
        opened = Autoencoder(model, weights or None, Context(threads))
        return (ZenithVAE(opened, None if dtype == "default" else dtype, max_memory << 20),)


class Previewer:
    """A latent on its way, as ComfyUI's own previewers show it: ("JPEG", PIL picture, largest side)."""

    def __init__(self, model: Autoencoder, side: int = 512) -> None:
        self.model, self.side = model, side

    def decode_latent_to_preview(self, x0: Tensor) -> Any:
        from PIL import Image  # ComfyUI needs it itself
        return Image.fromarray(self.model.decode(_floats(x0[0])))

    def decode_latent_to_preview_image(self, preview_format: str, x0: Tensor) -> Tuple[str, Any, int]:
        return "JPEG", self.decode_latent_to_preview(x0), self.side

    def wrap(self, executor: Any, *arguments: Any, **named: Any) -> Any:
        """ComfyUI's sampling (wrapper OUTER_SAMPLE), whose sixth argument hears of each step."""
        utils = _comfy("comfy.utils")
        given: List[Any] = list(arguments)
        others = given[5] if len(given) > 5 else named.get("callback")
        bar = utils.ProgressBar(100)

        def callback(step: int, x0: Tensor, x: Tensor, total_steps: int) -> None:
            if others:
                others(step, x0, x, total_steps)
            bar.update_absolute(step + 1, total_steps, self.decode_latent_to_preview_image("JPEG", x0))
        if len(given) > 5:
            given[5] = callback
        else:
            named["callback"] = callback
        return executor(*given, **named)


class ZenithPreviews:
    """A model whose pictures are shown while they are sampled."""

    RETURN_TYPES = ("MODEL",)
    FUNCTION = "patch"
    CATEGORY = "advanced/model"
    DESCRIPTION = "Shows what each step of sampling leads to, decoded on the CPU by Zenith."

    @classmethod
    def INPUT_TYPES(cls) -> Dict[str, Any]:
        return {"required": {"model": ("MODEL",), "decoder": (_names(), {"default": "zenith-sd-fast"}),
                             "side": ("INT", {"default": 512, "min": 64, "max": 4096, "tooltip": "Larger previews are made smaller."})},
                "optional": {"weights": ("STRING", {"default": "", "tooltip": f"A folder or file; empty: {SEARCHED}."}),
                             "threads": ("INT", {"default": 0, "min": 0, "max": 1024, "tooltip": "0: the physical cores."})}}

    def patch(self, model: Any, decoder: str, side: int = 512, weights: str = "", threads: int = 0) -> Tuple[Any]:
        opened = Autoencoder(decoder, weights or None, Context(threads))
        channels = model.model.latent_format.latent_channels
        if opened.channels != channels:
            raise ValueError(f"{decoder} decodes latents of {opened.channels} channels, and this model's have {channels}: "
                             f"take {'zenith-f1-fast' if channels == 16 else 'zenith-sd-fast'}")
        clone = model.clone()
        clone.add_wrapper_with_key("outer_sample", "zenith_previews", Previewer(opened, side).wrap)
        return (clone,)


NODE_CLASS_MAPPINGS = {"ZenithVAELoader": ZenithVAELoader, "ZenithPreviews": ZenithPreviews}
NODE_DISPLAY_NAME_MAPPINGS = {"ZenithVAELoader": "Zenith VAE loader", "ZenithPreviews": "Zenith previews"}
