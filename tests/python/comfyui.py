#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Zenith authors
# SPDX-License-Identifier: Apache-2.0
"""ComfyUI's nodes: loaded as ComfyUI loads a folder of custom_nodes, and asked what its stock nodes ask of a VAE.

The stand-ins here do what ComfyUI's code of January 2026 does; tools/peers/check_comfyui.py runs that code itself. Arrays are torch's where
this Python has it, else numpy's. Skipped (77) without numpy.
"""
import importlib.util
import pathlib
import sys
import types
import unittest

try:
    import numpy as np
except ImportError:
    print("skipped: this Python has no numpy")
    sys.exit(77)
try:
    import torch
except ImportError:
    torch = None

import zenith_latents

ROOT = pathlib.Path(__file__).resolve().parents[2]
FOLDER = ROOT / "python/comfyui"
# Of comfy/latent_formats.py and VAELoader.load_taesd: scale_factor, shift_factor.
CONSTANTS = {"taesd": (0.18215, 0), "taesdxl": (0.13025, 0), "taesd3": (1.5305, 0.0609), "taef1": (0.3611, 0.1159),
             "zenith-sd-fast": (0.18215, 0), "zenith-sd-small": (0.18215, 0), "zenith-f1-fast": (0.3611, 0.1159),
             "zenith-f1-small": (0.3611, 0.1159)}


def tensor(array):
    return array if torch is None else torch.from_numpy(array)


def load_custom_node(folder):
    """As nodes.load_custom_node does."""
    name = str(folder).replace(".", "_x_")
    spec = importlib.util.spec_from_file_location(name, folder / "__init__.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


class ProgressBar:
    """As comfy.utils.ProgressBar with a hook."""
    seen = []

    def __init__(self, total, node_id=None):
        self.total = total

    def update_absolute(self, value, total=None, preview=None):
        ProgressBar.seen.append((value, total, preview))


class Interrupted(Exception):
    pass


class Patcher:
    """What the previews need of a ModelPatcher: clone, wrappers, latent_format; sample as CFGGuider.sample calls them."""

    def __init__(self, channels):
        self.model = types.SimpleNamespace(latent_format=types.SimpleNamespace(latent_channels=channels))
        self.channels, self.wrappers = channels, {}

    def clone(self):
        clone = Patcher(self.channels)
        clone.wrappers = {kind: dict(keys) for kind, keys in self.wrappers.items()}
        return clone

    def add_wrapper_with_key(self, kind, key, wrapper):
        self.wrappers.setdefault(kind, {}).setdefault(key, []).append(wrapper)

    def sample(self, callback):
        def original(noise, latent_image, sampler, sigmas, denoise_mask=None, callback=None, disable_pbar=False, seed=None,
                     latent_shapes=None):
            for step in range(3):
                x0 = tensor(np.full((2, self.channels, 8, 12), step / 3, np.float32))
                callback(step, x0, x0, 3)
            return "sampled"
        execute = original
        for wrappers in self.wrappers.get("outer_sample", {}).values():
            for wrapper in wrappers:
                execute = lambda *args, inner=execute, wrapper=wrapper, **named: wrapper(inner, *args, **named)
        return execute(None, None, None, None, None, callback, False, 1, latent_shapes=[])


class Nodes(unittest.TestCase):
    def setUp(self):
        self.interrupted = False

        def throw():
            if self.interrupted:
                raise Interrupted
        ProgressBar.seen = []
        comfy = {"comfy": types.ModuleType("comfy"), "comfy.utils": types.SimpleNamespace(ProgressBar=ProgressBar),
                 "comfy.model_management": types.SimpleNamespace(throw_exception_if_processing_interrupted=throw)}
        sys.modules.update(comfy)
        self.addCleanup(lambda: [sys.modules.pop(name) for name in comfy])
        self.nodes = load_custom_node(FOLDER)

    def load(self, *arguments, **named):
        node = self.nodes.NODE_CLASS_MAPPINGS["ZenithVAELoader"]
        inputs = node.INPUT_TYPES()
        self.assertIn("zenith-sd-fast", inputs["required"]["model"][0])
        return getattr(node(), node.FUNCTION)(*arguments, weights=str(ROOT / "models"), **named)[0]

    def test_names(self):
        self.assertEqual(set(self.nodes.NODE_CLASS_MAPPINGS), set(self.nodes.NODE_DISPLAY_NAME_MAPPINGS))
        self.assertEqual(self.nodes.NODE_CLASS_MAPPINGS["ZenithVAELoader"].RETURN_TYPES, ("VAE",))

    def test_stock_nodes(self):
        for name, channels in (("zenith-sd-fast", 4), ("zenith-f1-small", 16)):
            vae = self.load(name, "f32")
            pixels = np.random.default_rng(1).random((2, 70, 101, 4), dtype=np.float32)  # of no multiple, with alpha
            samples = vae.encode(tensor(pixels))  # VAEEncode
            self.assertEqual(tuple(samples.shape), (2, channels, 8, 12))
            self.assertEqual(type(samples), type(tensor(pixels)))
            model = zenith_latents.open(name, ROOT / "models")
            middle = np.ascontiguousarray(pixels[:, 3:67, 2:98, :3].transpose(0, 3, 1, 2))
            np.testing.assert_array_equal(np.asarray(samples), model.encode(middle, space="raw", dtype="f32"))
            images = vae.decode(samples)  # VAEDecode
            self.assertEqual(tuple(images.shape), (2, 64, 96, 3))
            self.assertTrue(0 <= float(images.min()) and float(images.max()) <= 1)
            # As comfy.taesd.TAESD.decode and VAE.process_output have it.
            scale, shift = CONSTANTS[name]
            scaled = (np.asarray(samples) - np.float32(shift)) * np.float32(scale)
            expected = np.clip(model.decode(scaled, number="f32", dtype="f32"), 0, 1).transpose(0, 2, 3, 1)
            np.testing.assert_allclose(np.asarray(images), expected, atol=1e-4)
            tiled = vae.decode_tiled(samples, tile_x=512 // vae.spacial_compression_decode(), tile_y=64, overlap=8, tile_t=None,
                                     overlap_t=vae.temporal_compression_decode())
            np.testing.assert_array_equal(np.asarray(tiled), np.asarray(images))
            self.assertEqual(tuple(vae.encode_tiled(tensor(pixels), tile_x=512, tile_y=512, overlap=64).shape), (2, channels, 8, 12))
            self.assertEqual((vae.downscale_ratio, vae.latent_channels, vae.spacial_compression_encode()), (8, channels, 8))

    def test_constants_are_comfyuis(self):
        for name, expected in CONSTANTS.items():
            folder = ROOT / "models" if name.startswith("zenith") else ROOT.parent / "shared/weights"
            if not (folder / f"{name}_decoder.safetensors").exists():
                continue  # published weights do not come along
            model = zenith_latents.open(name, folder)
            np.testing.assert_allclose((model.scale, model.shift), expected, rtol=1e-6, err_msg=name)

    def test_progress_and_interruption(self):
        vae = self.load("zenith-sd-fast")
        vae.decode(tensor(np.zeros((1, 4, 32, 32), np.float32)))
        self.assertEqual(ProgressBar.seen[-1][:2], (100, 100))
        self.interrupted = True
        with self.assertRaises(Interrupted):
            vae.decode(tensor(np.zeros((1, 4, 32, 32), np.float32)))

    def test_previews(self):
        node, heard, model = self.nodes.NODE_CLASS_MAPPINGS["ZenithPreviews"], [], Patcher(4)
        with self.assertRaisesRegex(ValueError, "channels"):
            node().patch(Patcher(16), "zenith-sd-fast", weights=str(ROOT / "models"))
        patched = node().patch(model, "zenith-sd-fast", side=99, weights=str(ROOT / "models"))[0]
        self.assertFalse(model.wrappers)  # the model that came in is as it was
        try:
            import PIL  # noqa: F401
        except ImportError:  # ComfyUI has it; CI's Python need not
            sys.modules["PIL"] = types.SimpleNamespace(Image=types.SimpleNamespace(fromarray=lambda array: array))
            self.addCleanup(lambda: sys.modules.pop("PIL"))
        self.assertEqual(patched.sample(lambda *step: heard.append(step[0])), "sampled")
        self.assertEqual(heard, [0, 1, 2])
        self.assertEqual([seen[:2] for seen in ProgressBar.seen], [(1, 3), (2, 3), (3, 3)])
        kind, picture, side = ProgressBar.seen[-1][2]
        expected = zenith_latents.open("zenith-sd-fast", ROOT / "models").decode(np.full((4, 8, 12), 2 / 3, np.float32))
        np.testing.assert_array_equal(np.asarray(picture), expected)
        self.assertEqual((kind, side), ("JPEG", 99))


if __name__ == "__main__":
    unittest.main()
