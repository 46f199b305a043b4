# SPDX-FileCopyrightText: 2026 The Zenith authors
# SPDX-License-Identifier: Apache-2.0
"""Autoencoders of diffusers that compute by Zenith.

    from zenith_latents.diffusers import patch

    pipe = DiffusionPipeline.from_pretrained(...)
    patch(pipe)              # pipe.vae is of one of the classes below now, with the weights it had
    image = pipe("a cat").images[0]

A call goes to diffusers' own code where Zenith is not asked for: tensors on another device, gradients, training.
"""
from typing import Any, Optional

import safetensors.torch
import torch
from diffusers import AutoencoderKL, AutoencoderTiny
from diffusers.models.autoencoders.autoencoder_tiny import AutoencoderTinyOutput
from diffusers.models.autoencoders.vae import DecoderOutput, DiagonalGaussianDistribution
from diffusers.models.modeling_outputs import AutoencoderKLOutput

from .autoencoder import Autoencoder, Context


class _ByZenith:
    """What both classes have in common."""

    zenith: Optional[Autoencoder] = None  # Autoencoder, once patch has made it
    zenith_dtype: Optional[str] = None  # to compute in; None: the usual one of this CPU

    @staticmethod
    def _zenith_name(config: Any) -> Optional[str]:
        raise NotImplementedError

    @classmethod
    def take_over(cls, vae: Any, context: Optional[Context] = None) -> Any:
        """Makes a diffusers autoencoder one of this class; its weights stay where they are."""
        weights = safetensors.torch.save({name: tensor.contiguous() for name, tensor in vae.state_dict().items()})
        files = {"diffusion_pytorch_model.safetensors": weights, "config.json": vae.to_json_string().encode()}
        opened = Autoencoder(cls._zenith_name(vae.config), None, context, files)
        vae.__class__ = cls
        vae.zenith = opened
        return vae.eval()

    def _takes(self: Any, x: Any) -> bool:
        return self.zenith is not None and bool(x.device.type == "cpu" and not self.training and not (
            torch.is_grad_enabled() and (x.requires_grad or any(p.requires_grad for p in self.parameters()))))

    def _pictures(self: Any, latents: Any, space: str) -> Any:
        """-1 .. 1, in the type of the latents."""
        pictures = self.zenith.decode(latents, space=space, number="f32", dtype=self.zenith_dtype)
        return pictures.mul_(2).sub_(1).to(latents.dtype)


def _latents(vae: Any, x: Any, **how: Any) -> Any:
    pictures = x.float().add(1).div_(2)
    return vae.zenith.encode(pictures, dtype=vae.zenith_dtype, **how).to(x.dtype)


class ZenithAutoencoderTiny(_ByZenith, AutoencoderTiny):  # type: ignore[misc] # diffusers has no types
    """AutoencoderTiny (TAESD and its kin)."""

    @staticmethod
    def _zenith_name(config: Any) -> str:
        # Networks of one number of channels are alike; their names differ in how full VAEs scale latents, which is not used here.
        return {4: "taesd", 16: "taef1", 32: "taef2"}[config.latent_channels]

    def encode(self, x: Any, return_dict: bool = True) -> Any:
        if not self._takes(x):
            return super().encode(x, return_dict)
        latents = _latents(self, x)
        return AutoencoderTinyOutput(latents=latents) if return_dict else (latents,)

    def decode(self, x: Any, generator: Any = None, return_dict: bool = True) -> Any:
        if not self._takes(x):
            return super().decode(x, generator, return_dict)
        pictures = self._pictures(x, "model")
        return DecoderOutput(sample=pictures) if return_dict else (pictures,)


class ZenithAutoencoderKL(_ByZenith, AutoencoderKL):  # type: ignore[misc]
    """AutoencoderKL (Stable Diffusion, SDXL, SD3, FLUX, Z-Image)."""

    @staticmethod
    def _zenith_name(config: Any) -> None:
        return None  # told from config.json

    def encode(self, x: Any, return_dict: bool = True) -> Any:
        if not self._takes(x):
            return super().encode(x, return_dict)
        posterior = DiagonalGaussianDistribution(_latents(self, x, kind="moments", space="raw"))
        return AutoencoderKLOutput(latent_dist=posterior) if return_dict else (posterior,)

    def decode(self, z: Any, return_dict: bool = True, generator: Any = None) -> Any:
        if not self._takes(z):
            return super().decode(z, return_dict, generator)
        pictures = self._pictures(z, "raw")
        return DecoderOutput(sample=pictures) if return_dict else (pictures,)


_CLASSES = {AutoencoderTiny: ZenithAutoencoderTiny, AutoencoderKL: ZenithAutoencoderKL}


def patch(pipe: Any, threads: int = 0) -> Any:
    """Has the autoencoder of a pipeline compute by Zenith, and returns the pipeline."""
    kind = _CLASSES.get(type(pipe.vae))
    if kind is None:
        raise TypeError(f"{type(pipe.vae).__name__}: Zenith takes the place of AutoencoderTiny and AutoencoderKL")
    kind.take_over(pipe.vae, Context(threads))
    return pipe
