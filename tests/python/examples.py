#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Zenith authors
# SPDX-License-Identifier: Apache-2.0
"""The Python examples of docs/PYTHON.md run as they stand, section by section, with bundled models.

tools/check_wheel.py runs them with an installed wheel. Skipped (77) without numpy. The example for diffusers needs torch and
diffusers.
"""
import contextlib
import importlib.util
import io
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest
import unittest.mock

try:
    import numpy as np
except ImportError:
    print("skipped: this Python has no numpy")
    sys.exit(77)

import zenith_latents

ROOT = pathlib.Path(__file__).resolve().parents[2]
TEXT = (ROOT / "docs/PYTHON.md").read_text()
EXAMPLES = {title: re.findall(r"^```python\n(.*?)^```$", section, re.MULTILINE | re.DOTALL)
            for title, section in re.findall(r"^## (.*?)\n(.*?)(?=^## |\Z)", TEXT, re.MULTILINE | re.DOTALL)}


def picture(height=64, width=96, seed=1):
    return np.random.default_rng(seed).integers(0, 256, (height, width, 3), dtype=np.uint8)


class Examples(unittest.TestCase):
    def run_section(self, title, **names):
        self.assertTrue(EXAMPLES[title], title)
        said = io.StringIO()
        with contextlib.redirect_stdout(said):
            for code in EXAMPLES.pop(title):
                exec(compile(code, f"docs/PYTHON.md, {title}", "exec"), names)
        return names, said.getvalue()

    def test_all(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        folder = temporary.name
        names, said = self.run_section("Pictures and latents", picture=picture(), pictures=np.stack([picture(), picture()]))
        self.assertEqual((names["latent"].shape, names["planes"].shape, names["half"].dtype), ((4, 8, 12), (2, 3, 64, 96), np.float16))
        self.assertTrue(said.endswith("1.0\n"))
        names, _ = self.run_section("Notebooks and PNG", zenith_latents=zenith_latents, picture=picture(), folder=folder)
        self.assertEqual(pathlib.Path(folder, "picture.png").read_bytes(), names["data"])
        names, said = self.run_section("Pictures from text", zenith_latents=zenith_latents)
        self.assertEqual(names["again"].picture.shape, (128, 128, 3))
        self.assertEqual(said.split("\n")[-2], "8 of 8")
        names, _ = self.run_section("Diffusion autoencoders", zenith_latents=zenith_latents, face=picture(64, 64), folder=folder)
        self.assertEqual((names["back"].shape, len(names["drawn"])), ((64, 64, 3), 4))
        self.diffusers()
        self.assertFalse([title for title, found in EXAMPLES.items() if found], "sections with examples that no test runs")

    def diffusers(self):
        """On a pipeline with random weights, where torch and diffusers are installed; tools/peers/check_diffusers.py has more."""
        if not all(importlib.util.find_spec(name) for name in ("torch", "diffusers")):
            EXAMPLES.pop("diffusers")
            return
        import diffusers
        import torch
        vae = diffusers.AutoencoderTiny()

        class Pipe:
            def __init__(self):
                self.vae = vae

            def __call__(self, prompt):
                with torch.no_grad():
                    return type("Output", (), {"images": list(self.vae.decode(torch.zeros(1, 4, 8, 8)).sample)})
        with unittest.mock.patch.object(diffusers.DiffusionPipeline, "from_pretrained", lambda name: Pipe()):
            names, _ = self.run_section("diffusers")
        self.assertEqual(type(names["pipe"].vae).__name__, "ZenithAutoencoderTiny")
        self.assertEqual(tuple(names["image"].shape), (3, 64, 64))


class Png(unittest.TestCase):
    """What the examples show is the picture: read back by the program."""

    def test_bytes_planes_and_several(self):
        pixels = picture(24, 40)
        planes = pixels.transpose(2, 0, 1).astype(np.float32) / np.float32(255)
        self.assertEqual(zenith_latents.png(planes), zenith_latents.png(pixels))
        self.assertEqual(zenith_latents.show(pixels)._repr_png_(), zenith_latents.png(pixels))
        both = zenith_latents.png(np.stack([pixels, pixels]))
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "both.png"
            path.write_bytes(both)
            said = subprocess.run([os.environ["ZENITH_PROGRAM"], "inspect", path, "--json"], capture_output=True, text=True, check=True)
        self.assertRegex(said.stdout, r'"width": *80')
        with self.assertRaises(ValueError):
            zenith_latents.show(np.zeros((4, 4), np.uint8))


if __name__ == "__main__":
    unittest.main()
