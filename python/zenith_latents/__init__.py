# SPDX-FileCopyrightText: 2026 The Zenith authors
# SPDX-License-Identifier: Apache-2.0
"""Images to the latents of diffusion models and back, on CPUs.

    import zenith_latents

    model = zenith_latents.open("zenith-sd-fast")
    latent = model.encode(picture)      # uint8 [h, w, 3] -> float32 [4, h / 8, w / 8]
    picture = model.decode(latent)

numpy arrays and torch tensors are taken without a copy, and results are of the kind that came in. docs/PYTHON.md has more.
"""
from ._library import Error, version
from .autoencoder import Autoencoder, Context, Estimate, models, open
from .diffae import Code, DiffAE, DiffAEStep
from .generator import Generated, Generator, Step, generate
from .pictures import png, show

__all__ = ["Autoencoder", "Code", "Context", "DiffAE", "DiffAEStep", "Error", "Estimate", "Generated", "Generator", "Step", "generate",
           "models", "open", "png", "show", "version"]
__version__ = version()
