# SPDX-FileCopyrightText: 2026 The Zenith authors
# SPDX-License-Identifier: Apache-2.0
"""Images to the latents of diffusion models and back, on CPUs.

    import zenith_latents

    model = zenith_latents.open("taesd", weights="weights")
    latent = model.encode(picture)      # uint8 [h, w, 3] -> float32 [4, h / 8, w / 8]
    picture = model.decode(latent)

numpy arrays and torch tensors are taken without a copy, and results are of the kind that came in. docs/PYTHON.md has more.
"""
from ._library import Error, version
from .autoencoder import Autoencoder, Context, Estimate, models, open

__all__ = ["Autoencoder", "Context", "Error", "Estimate", "models", "open", "version"]
__version__ = version()
