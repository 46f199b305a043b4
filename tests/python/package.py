#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Zenith authors
# SPDX-License-Identifier: Apache-2.0
"""The Python package: its structs are those of the header, its bits those of the program, and it stops when it is asked to.

ZENITH_LIBRARY and ZENITH_PROGRAM name what is tested. Skipped (77) without numpy. tools/peers/check_diffusers.py tries diffusers' classes.
"""
import ctypes
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import threading
import unittest

try:
    import numpy as np
except ImportError:
    print("skipped: this Python has no numpy")
    sys.exit(77)

import zenith_latents
from zenith_latents import _library

ROOT = pathlib.Path(__file__).resolve().parents[2]
MODELS = ROOT / "models"  # zenith-sd-fast comes along
PICTURE = ROOT / "tests/cli/data/small.png"


def picture(height=64, width=96, seed=1):
    return np.random.default_rng(seed).integers(0, 256, (height, width, 3), dtype=np.uint8)


class Package(unittest.TestCase):
    def setUp(self):
        self.model = zenith_latents.open("zenith-sd-fast", MODELS, threads=2)

    def test_structs_are_the_headers(self):
        """A C program says where each field of each struct lies."""
        names = {"ContextParams": "zenith_context_params", "File": "zenith_file", "ModelParams": "zenith_model_params", "ModelInfo": "zenith_model_info",
                 "Image": "zenith_image", "Latent": "zenith_latent", "RunParams": "zenith_run_params",
                 "EstimateInfo": "zenith_estimate_info", "TargetParams": "zenith_target_params",
                 "GeneratorParams": "zenith_generator_params", "GeneratorInfo": "zenith_generator_info",
                 "GenerateReport": "zenith_generate_report", "GenerateFacts": "zenith_generate_facts",
                 "GenerateParams": "zenith_generate_params", "DiffaeInfo": "zenith_diffae_info", "CodeStruct": "zenith_code",
                 "DiffaeReport": "zenith_diffae_report", "DiffaeParams": "zenith_diffae_params"}
        self.assertEqual({name for name, value in vars(_library).items() if isinstance(value, type) and
                          issubclass(value, _library.Sized)} - {"Sized"}, set(names))
        lines, expected = [], []
        for ours, theirs in names.items():
            struct = getattr(_library, ours)
            lines.append(f'printf("{theirs} %zu\\n", sizeof({theirs}));')
            expected.append(f"{theirs} {ctypes.sizeof(struct)}")
            for field, _ in struct._fields_:
                lines.append(f'printf("{theirs}.{field} %zu\\n", offsetof({theirs}, {field}));')
                expected.append(f"{theirs}.{field} {getattr(struct, field).offset}")
        source = "#include <stdio.h>\n#include <zenith/diffae.h>\n#include <zenith/generate.h>\nint main(void) {" + "".join(lines) + "return 0;}"
        with tempfile.TemporaryDirectory() as folder:
            program = pathlib.Path(folder) / "offsets"
            subprocess.run(["cc", "-x", "c", "-", "-I", ROOT / "include", "-o", program], input=source, text=True, check=True)
            said = subprocess.run([program], capture_output=True, text=True, check=True).stdout.split("\n")[:-1]
        self.assertEqual(said, expected)

    def test_numbers_are_the_headers(self):
        header = "".join((ROOT / "include/zenith" / name).read_text() for name in ("zenith.h", "status.h"))
        for ours, theirs in {"CANCELLED": "ZENITH_CANCELLED", "U8": "ZENITH_U8", "F32": "ZENITH_F32", "F16": "ZENITH_F16",
                             "BF16": "ZENITH_BF16", "HWC": "ZENITH_HWC", "CHW": "ZENITH_CHW",
                             "MOMENTS": "ZENITH_LATENT_MOMENTS"}.items():
            self.assertEqual(int(re.search(rf"\b{theirs} = (\d+)", header)[1]), getattr(_library, ours), theirs)

    def test_bits_are_the_programs(self):
        with tempfile.TemporaryDirectory() as folder:
            source, latent = pathlib.Path(folder) / "in.ppm", pathlib.Path(folder) / "latent.npy"
            pixels = picture()
            source.write_bytes(b"P6 96 64 255 " + pixels.tobytes())
            how = ["-m", "zenith-sd-fast", "-w", MODELS, "-q"]
            subprocess.run([os.environ["ZENITH_PROGRAM"], "encode", source, "-o", latent, *how], check=True)
            ours = self.model.encode(pixels)
            np.testing.assert_array_equal(ours, np.load(latent).reshape(ours.shape))
            back = pathlib.Path(folder) / "back.ppm"
            subprocess.run([os.environ["ZENITH_PROGRAM"], "decode", latent, "-o", back, *how], check=True)
            self.assertTrue(back.read_bytes().endswith(self.model.decode(ours).tobytes()))

    def test_batches_types_and_orders(self):
        pictures = np.stack([picture(seed=1), picture(seed=2)])
        both = self.model.encode(pictures, dtype="f32")  # which the bounds below are of
        self.assertEqual(both.shape, (2, 4, 8, 12))
        np.testing.assert_array_equal(both[1], self.model.encode(pictures[1], dtype="f32"))
        planes = np.ascontiguousarray(pictures.transpose(0, 3, 1, 2)).astype(np.float32) / np.float32(255)
        np.testing.assert_allclose(self.model.encode(planes, dtype="f32"), both, atol=1e-5)
        turned = pictures.transpose(0, 2, 1, 3)  # rows do not follow each other
        np.testing.assert_array_equal(self.model.encode(turned), self.model.encode(np.ascontiguousarray(turned)))
        half = self.model.encode(pictures, number="f16")
        self.assertEqual(half.dtype, np.float16)
        self.assertEqual(self.model.decode(half).shape, pictures.shape)
        self.assertEqual(self.model.decode(both, number="f32").shape, (2, 3, 64, 96))
        raw = self.model.encode(pictures[0], space="raw", dtype="f32")
        np.testing.assert_allclose((raw - self.model.shift) * self.model.scale, both[0], rtol=1e-5, atol=1e-5)

    def test_weights_in_memory(self):
        files = {file.name: file.read_bytes() for file in MODELS.glob("zenith-sd-fast_*.safetensors")}
        loaded = zenith_latents.open("zenith-sd-fast", files=files)
        np.testing.assert_array_equal(loaded.encode(picture(), dtype="f32"), self.model.encode(picture(), dtype="f32"))
        self.assertEqual(loaded.weights_sha256, self.model.weights_sha256)

    def test_mistakes(self):
        for call, error in ((lambda: self.model.encode(picture(63)), zenith_latents.Error),
                            (lambda: self.model.encode(picture()[..., :2]), ValueError),
                            (lambda: self.model.encode(picture().astype(np.int32)), TypeError),
                            (lambda: self.model.encode(picture(), dtype="f64"), ValueError),
                            (lambda: self.model.encode(picture(), kind="moments"), zenith_latents.Error),
                            (lambda: self.model.decode(np.zeros((5, 8, 8), np.float32)), zenith_latents.Error),
                            (lambda: self.model.decode(np.zeros((8, 8), np.float32)), ValueError),
                            (lambda: self.model.decode(np.full((4, 8, 8), np.nan, np.float32)), zenith_latents.Error),
                            (lambda: self.model.decode(np.zeros((4, 64, 64), np.float32), max_memory=1000), zenith_latents.Error),
                            (lambda: zenith_latents.open("no such model"), zenith_latents.Error)):
            with self.assertRaises(error) as caught:
                call()
            self.assertTrue(str(caught.exception))

    def test_progress_and_stopping(self):
        seen, latent = [], np.zeros((4, 32, 32), np.float32)
        self.model.decode(latent, progress=seen.append)
        self.assertEqual(seen[-1], 1)
        self.assertEqual(seen, sorted(seen))

        def refuse(fraction):
            raise KeyError("enough")
        with self.assertRaises(KeyError):
            self.model.decode(latent, progress=refuse)

        sent = []

        def interrupt(fraction):
            if not sent:
                sent.append(os.kill(os.getpid(), signal.SIGINT))
        with self.assertRaises(KeyboardInterrupt):
            self.model.decode(np.zeros((8, 4, 64, 64), np.float32), progress=interrupt)
        self.assertEqual(self.model.decode(latent).shape, (256, 256, 3))  # and it goes on

    def test_threads_share_a_model(self):
        expected, found = self.model.encode(picture()), [None] * 4

        def work(index):
            found[index] = self.model.encode(picture())
        threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        for latent in found:
            np.testing.assert_array_equal(latent, expected)

    def test_facts(self):
        self.assertIn("taesd", zenith_latents.models())
        self.assertEqual((self.model.channels, self.model.factor), (4, 8))
        self.assertRegex(self.model.weights_sha256, "^[0-9a-f]{64}$")
        self.assertGreater(self.model.estimate(512, 512).total_bytes, 512 * 512 * 3)
        self.assertIn("zenith-sd-fast", repr(self.model))


if __name__ == "__main__":
    unittest.main()
