#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Zenith authors
# SPDX-License-Identifier: Apache-2.0
"""The first calls of somebody who has the package alone: bundled models open by their names, and mistakes are answered in
Python's words.

It needs nothing but numpy, so tools/check_wheel.py runs it with an installed wheel too. Skipped (77) without numpy.
"""
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

APPLE = "glossy emoji of a red apple"


def face(height=64, width=64):
    y, x = np.mgrid[:height, :width]
    return np.stack([x * 255 // width, y * 255 // height, (x + y) * 127 // width], 2).astype(np.uint8)


class Bundled(unittest.TestCase):
    def test_words(self):
        made = zenith_latents.generate(APPLE, steps=2)
        self.assertEqual((made.picture.shape, made.seed), ((128, 128, 3), 0))
        again = zenith_latents.generate(APPLE, "zenith-words", steps=2)
        np.testing.assert_array_equal(again.picture, made.picture)
        steps = []
        anew = zenith_latents.generate(APPLE, picture=made.picture, strength=0.5, progress=steps.append)
        self.assertEqual((anew.picture.shape, len(steps)), ((128, 128, 3), 4))  # half of the 8 that the pipeline advises

    def test_faces(self):
        usual = zenith_latents.DiffAE()
        self.assertEqual((usual.width, usual.height), (64, 64))
        named = zenith_latents.DiffAE("zenith-avatars64")
        self.assertEqual(named.attributes, usual.attributes)
        self.assertEqual(zenith_latents.DiffAE(name="zenith-avatars64").attributes, usual.attributes)
        self.assertEqual(zenith_latents.DiffAE("zenith-avatars256").width, 256)
        code = usual.encode(face(), noise=False)
        both = usual.edit(code, ["glasses", "hair"])
        in_turn = usual.edit(usual.edit(code, "glasses"), "hair")
        np.testing.assert_array_equal(both.numbers, in_turn.numbers)
        self.assertLess(len(repr(code)), 100)

    def test_tiny_autoencoders_of_others(self):
        """Published ones that lie in the folders of bundled pipelines."""
        for name, channels in (("taef1", 16), ("taesd3", 16), ("zenith-sd-fast", 4)):
            model = zenith_latents.open(name)
            self.assertEqual((model.name, model.channels), (name, channels))
            self.assertEqual(model.encode(face()).shape, (channels, 8, 8))


class Mistakes(unittest.TestCase):
    def refused(self, error, pattern, call):
        with self.assertRaisesRegex(error, pattern) as caught:
            call()
        self.assertNotRegex(str(caught.exception), r"zenith_(?!latents)\w+\.|ZENITH_[A-LN-Z]", "a name of C's")

    def test_of_another_kind(self):
        self.refused(ValueError, r'zenith-avatars64 is a diffusion autoencoder.*DiffAE\("zenith-avatars64"\)',
                     lambda: zenith_latents.open("zenith-avatars64"))
        self.refused(zenith_latents.Error, "zenith-words.*pipeline", lambda: zenith_latents.open("zenith-words"))
        self.refused(zenith_latents.Error, "zenith-sd-fast is no diffusion autoencoder",
                     lambda: zenith_latents.DiffAE(name="zenith-sd-fast"))
        self.refused(zenith_latents.Error, "no such", lambda: zenith_latents.DiffAE("no such"))
        self.refused(zenith_latents.Error, "name=.*weights=", zenith_latents.open)
        self.refused(zenith_latents.Error, "weights=.*ZENITH_MODELS", lambda: zenith_latents.open("wan2.1-vae"))
        with tempfile.TemporaryDirectory() as empty:
            self.refused(zenith_latents.Error, "model_index.json|pipeline", lambda: zenith_latents.Generator(empty))

    def test_arguments(self):
        model, faces = zenith_latents.open("zenith-sd-fast"), zenith_latents.DiffAE()
        words = zenith_latents.Generator("zenith-words")
        decoder = words.decoder()
        code = faces.encode(face(), noise=False)
        for pattern, call in (("steps is 0", lambda: words.generate(APPLE, steps=0, decoder=decoder)),
                              ("steps is -1", lambda: words.generate(APPLE, steps=-1, decoder=decoder)),
                              ("seed is -1", lambda: words.generate(APPLE, seed=-1, decoder=decoder)),
                              ("strength.*picture", lambda: words.generate(APPLE, strength=0.5, decoder=decoder)),
                              ("strength.*picture", lambda: zenith_latents.generate(APPLE, words, strength=0.5)),
                              ("strength is 2", lambda: zenith_latents.generate(APPLE, words, picture=face(128, 128), strength=2)),
                              ("guidance is -1", lambda: words.generate(APPLE, guidance=-1, decoder=decoder)),
                              ("width is -128", lambda: words.generate(APPLE, width=-128, decoder=decoder)),
                              ("seed is -1", lambda: model.encode(face(), seed=-1)),
                              ("max_memory is -1", lambda: model.encode(face(), max_memory=-1)),
                              ("number is 'f8'", lambda: model.encode(face(), number="f8")),
                              ("number is 'bf16'.*torch", lambda: model.encode(face(), number="bf16")),
                              ("number is 'f16'", lambda: model.decode(np.zeros((4, 8, 8), np.float32), number="f16")),
                              ("part is 'both'", lambda: model.estimate(64, 64, part="both")),
                              ("steps is 0", lambda: faces.decode(code, steps=0)),
                              ("seed is -1", lambda: faces.decode(code, seed=-1)),
                              ("steps is 0", lambda: faces.encode(face(), steps=0)),
                              ("seed is -1", lambda: faces.sample(seed=-1)),
                              ("count is 0", lambda: faces.sample(0)),
                              ("threads is -1", lambda: zenith_latents.Context(-1)),
                              ("threads is 5000", lambda: zenith_latents.open("zenith-sd-fast", threads=5000)),
                              ("streams is -1", lambda: zenith_latents.Context(streams=-1))):
            self.refused(ValueError, pattern, call)

    def test_types(self):
        model, faces = zenith_latents.open("zenith-sd-fast"), zenith_latents.DiffAE()
        code = faces.encode(face(), noise=False)
        for pattern, call in (("'photo.jpg'.*array", lambda: model.encode("photo.jpg")),
                              ("array", lambda: model.encode(pathlib.Path("photo.jpg"))),
                              ("'latent.npy'.*array", lambda: model.decode("latent.npy")),
                              ("array", lambda: zenith_latents.generate(APPLE, picture="photo.jpg")),
                              ("seed is 1.5", lambda: model.encode(face(), seed=1.5)),
                              ("attribute is 1.5", lambda: faces.edit(code, 1.5))):
            self.refused(TypeError, pattern, call)

    def test_size(self):
        faces = zenith_latents.DiffAE()
        self.refused(zenith_latents.Error, "works at 64x64 only", lambda: faces.encode(face(64, 128)))
        drawn = faces.sample(width=128, height=128)[0]
        self.refused(zenith_latents.Error, "works at 64x64 only", lambda: faces.decode(drawn))


class Advice(unittest.TestCase):
    def test_of_the_pipeline(self):
        """Where guidance and steps are left out, the pipeline's own count, as in the program and the server."""
        words = zenith_latents.Generator("zenith-words")
        self.assertEqual((words.steps, words.guidance), (8, 0))
        with tempfile.TemporaryDirectory() as folder:
            bundled = pathlib.Path(words.autoencoder).parent
            for part in bundled.iterdir():
                if part.name != "scheduler":
                    (pathlib.Path(folder) / part.name).symlink_to(part)
            scheduler = pathlib.Path(folder) / "scheduler"
            scheduler.mkdir()
            text = (bundled / "scheduler/scheduler_config.json").read_text()
            (scheduler / "scheduler_config.json").write_text(
                text.replace('"guidance_scale": 0', '"guidance_scale": 2').replace('"num_inference_steps": 8', '"num_inference_steps": 3'))
            advised = zenith_latents.Generator(folder)
            self.assertEqual((advised.steps, advised.guidance), (3, 2))
            decoder = advised.decoder()
            usual = advised.generate(APPLE, decoder=decoder).latent
            np.testing.assert_array_equal(usual, words.generate(APPLE, steps=3, guidance=2, decoder=decoder).latent)
            self.assertTrue((usual != advised.generate(APPLE, guidance=0, decoder=decoder).latent).any())


if __name__ == "__main__":
    unittest.main()
