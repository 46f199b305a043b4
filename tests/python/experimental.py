#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Zenith authors
# SPDX-License-Identifier: Apache-2.0
"""Pictures from text and diffusion autoencoders by the Python package, against PyTorch: the goldens of the C tests.

Goldens: $ZENITH_TEST_GOLDEN, else ../shared/reference/golden/out. Skipped (77) without them or without numpy.
"""
import os
import pathlib
import sys
import tempfile
import unittest

try:
    import numpy as np
except ImportError:
    print("skipped: this Python has no numpy")
    sys.exit(77)

import zenith_latents

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests"))
from lib import safetensors  # noqa: E402

GOLDEN = pathlib.Path(os.environ.get("ZENITH_TEST_GOLDEN", ROOT.parent / "shared/reference/golden/out"))
os.environ["ZENITH_MODELS"] = str(ROOT / "models")  # where the ones that come along are found
PROMPT = "a photo of a cat sitting on a red chair"
WEIGHT = 0.25  # of the golden's mix
TYPES = {"F32": np.float32, "I64": np.int64}


def tensors_of(path):
    return {name: np.frombuffer(data, TYPES[kind]).reshape(shape) for name, (kind, shape, data) in safetensors.unpack(path.read_bytes()).items()}


def of_floats(array):
    return "F32", array.shape, array.tobytes()


def distance(ours, theirs):
    return float(np.linalg.norm((ours - theirs).ravel()) / np.linalg.norm(theirs.ravel()))


class Text(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.generator = zenith_latents.Generator(GOLDEN / "pipeline", context=zenith_latents.Context(2))
        cls.golden = tensors_of(GOLDEN / "pipeline/io_turbo.safetensors")

    def test_steps_and_picture(self):
        seen = []
        made = zenith_latents.generate(PROMPT, self.generator, width=96, height=64, seed=42, dtype="f32", progress=seen.append)
        self.assertEqual([(step.step, step.steps) for step in seen], [(i, 8) for i in range(1, 9)])
        for step in seen:
            self.assertLess(distance(step.latent, self.golden[f"latents.{step.step}"][0]), 1e-4)
        np.testing.assert_array_equal(made.latent, seen[-1].latent)
        np.testing.assert_array_equal(made.latent, seen[-1].predicted)
        self.assertEqual((made.tokens, made.tokens_read, made.seed, made.picture.shape), (18, 18, 42, (64, 96, 3)))
        theirs = np.clip(self.golden["image"][0].transpose(1, 2, 0), 0, 1) * 255
        self.assertLess(np.abs(made.picture - theirs).mean(), 1)
        self.assertEqual(made._repr_png_()[:8], b"\x89PNG\r\n\x1a\n")

    def test_from_a_picture(self):
        picture = np.random.default_rng(1).integers(0, 256, (64, 96, 3), dtype=np.uint8)
        whole = self.generator.generate(PROMPT, width=96, height=64, seed=42, dtype="f32")
        anew = zenith_latents.generate(PROMPT, self.generator, picture=picture, seed=42, dtype="f32", strength=1)
        np.testing.assert_array_equal(anew.latent, whole.latent)
        steps = []
        some = zenith_latents.generate(PROMPT, self.generator, picture=picture, seed=42, dtype="f32", progress=steps.append)
        self.assertEqual(len(steps), 5)
        self.assertGreater(distance(some.latent, whole.latent), 0.01)

    def test_mistakes(self):
        def refuse(step):
            raise KeyError("enough")
        with self.assertRaises(KeyError):
            self.generator.generate(PROMPT, width=96, height=64, progress=refuse)
        for call, error in ((lambda: self.generator.generate(PROMPT, width=90, height=64), zenith_latents.Error),
                            (lambda: self.generator.generate(PROMPT, noise="other"), ValueError),
                            (lambda: zenith_latents.generate(PROMPT, self.generator, decoder="zenith-sd-fast"), ValueError),
                            (lambda: zenith_latents.Generator("no such folder"), zenith_latents.Error)):
            with self.assertRaises(error):
                call()
        self.assertIn("z-image", repr(self.generator))
        self.generator.trim()


class Diffae(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.io = tensors_of(GOLDEN / "diffae/io.safetensors")
        cls.folder = tempfile.TemporaryDirectory()
        folder = pathlib.Path(cls.folder.name)
        networks = {name: tensor for name, tensor in safetensors.unpack((GOLDEN / "diffae/model.safetensors").read_bytes()).items() if "linear_emb" not in name}
        weight = cls.io["classifier.weight"]
        rest = {"conds_mean": cls.io["stats.mean"], "conds_std": cls.io["stats.std"], "classifier.weight": weight,
                "classifier.bias": np.zeros(len(weight), np.float32)}
        (folder / "model.safetensors").write_bytes(safetensors.pack(networks | {name: of_floats(array) for name, array in rest.items()}))
        (folder / "config.json").write_bytes((GOLDEN / "diffae/config.json").read_bytes())
        cls.model = zenith_latents.DiffAE(folder, context=zenith_latents.Context(2))
        cls.picture = cls.io["image"][0] * np.float32(0.5) + np.float32(0.5)

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def golden_code(self, index):
        return zenith_latents.Code(self.io["z"][index].copy(), self.io["x_T"][index].copy(), 32, 32)

    def test_there_and_back(self):
        code = self.model.encode(self.picture, steps=10, dtype="f32")
        self.assertLess(distance(code.numbers, self.io["z"][0]), 1e-5)
        self.assertLess(distance(code.noise, self.io["x_T"][0]), 2e-4)
        seen = []
        back = self.model.decode(code, steps=10, dtype="f32", number="f32", progress=seen.append)
        self.assertLess(distance(back, self.io["reconstruction"][0] * 0.5 + 0.5), 1e-3)
        self.assertEqual(len(seen), 10)
        np.testing.assert_allclose(np.clip(seen[-1].predicted, 0, 1), np.clip(back, 0, 1), atol=1e-4)
        as_bytes = self.model.decode(code, steps=10, dtype="f32")
        self.assertLessEqual(np.abs(as_bytes.transpose(2, 0, 1) - np.clip(back, 0, 1) * 255).max(), 0.51)
        alone = self.model.encode(self.picture, noise=False, dtype="f32")
        self.assertIsNone(alone.noise)
        np.testing.assert_array_equal(alone.numbers, code.numbers)

    def test_codes(self):
        a, b = self.golden_code(0), self.golden_code(1)
        between = self.model.interpolate(a, b, WEIGHT)
        self.assertLess(distance(between.numbers, self.io["z.lerp"][0]), 1e-6)
        self.assertLess(distance(between.noise, self.io["x_T.slerp"][0]), 1e-6)
        moved = self.model.edit(a, 3, 0.3)
        self.assertLess(distance(moved.numbers, self.io["z.manipulated"][0]), 1e-6)
        back = self.model.edit(moved, 3, -0.3)
        self.assertGreater(distance(moved.numbers, a.numbers), 0.01)
        self.assertLess(distance(back.numbers, a.numbers), 1e-5)
        np.testing.assert_array_equal(a.numbers, self.io["z"][0])  # as it was
        probabilities = self.model.classify([a, moved])
        self.assertEqual(probabilities.shape, (2, 40))
        self.assertGreater(probabilities[1, 3], probabilities[0, 3])
        np.testing.assert_array_equal(self.model.classify(a), probabilities[0])

    def test_samples(self):
        codes = self.model.sample(2, seed=5, steps=10, dtype="f32")
        self.assertEqual(codes[0].noise.shape, (3, 32, 32))
        np.testing.assert_array_equal(self.model.sample(1, seed=6, steps=10, dtype="f32")[0].numbers, codes[1].numbers)
        self.assertGreater(distance(codes[0].numbers, codes[1].numbers), 0.01)

    def test_files_and_mistakes(self):
        path = pathlib.Path(self.folder.name) / "code.safetensors"
        code = self.model.encode(self.picture, steps=10, dtype="f32")
        self.model.save(code, path)
        again = self.model.load(path)
        np.testing.assert_array_equal(again.numbers, code.numbers)
        np.testing.assert_array_equal(again.noise, code.noise)
        self.assertEqual((again.steps, again.weights, again.width), (10, code.weights, 32))
        again.weights = "0" * 64

        def refuse(step):
            raise KeyError("enough")
        for call, error in ((lambda: self.model.decode(again, steps=10), zenith_latents.Error),
                            (lambda: self.model.decode(code, steps=100000), zenith_latents.Error),
                            (lambda: self.model.decode(code, steps=10, progress=refuse), KeyError),
                            (lambda: self.model.edit(code, "no such attribute"), ValueError),
                            (lambda: self.model.edit(code, 40), zenith_latents.Error),
                            (lambda: self.model.encode(self.picture[None]), ValueError),
                            (lambda: zenith_latents.DiffAE(ROOT / "models/zenith-sd-fast_decoder.safetensors", name="zenith-sd-fast"),
                             zenith_latents.Error)):
            with self.assertRaises(error):
                call()
        self.assertIn("64 numbers", repr(self.model))


if __name__ == "__main__":
    if not (GOLDEN / "pipeline").is_dir():
        print(f"skipped: {GOLDEN} is not there")
        sys.exit(77)
    unittest.main()
