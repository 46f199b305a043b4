#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Zenith authors
# SPDX-License-Identifier: Apache-2.0
"""The other runtimes that compare.py times, run with the interpreter of its virtual environment.

    peers.py prepare --op decode --size 512 --dtype bf16 --weights DIR --input F --reference F --cache DIR
    peers.py serve --peer openvino --op decode --size 512 --dtype bf16 --weights DIR --input F --cache DIR

`prepare` exports the network to ONNX, quantises it for OpenVINO if the type is int8, and computes
PyTorch's f32 output of --input into --reference. With --photos, --input is first overwritten with a
photograph (or its latent), and photographs calibrate the quantisation; without, synthetic pictures do.
It is apart from `serve` so that a served peer's memory holds only what it needs to run.

`serve` speaks the protocol of bench/contender.h. Input and output are f32 in CHW order.
"""
import argparse
import copy
import hashlib
import json
import os
import pathlib
import resource
import sys
import time

from common import ROOT, environment

environment.enter("numpy")

import numpy as np

CALIBRATION_PICTURES = 16
CALIBRATION_SIDE = 256


# --- preparing: everything that needs PyTorch besides the peer itself


def is_folder(options):
    """Are the weights a KL autoencoder's, as diffusers keeps it?"""
    return (options.weights / "config.json").exists()


def load_folder(folder):
    """(encoder, decoder) of diffusers: pictures on 0 .. 1, latents as diffusion takes them, no sampling."""
    import torch
    from diffusers import AutoencoderKL
    vae = AutoencoderKL.from_pretrained(str(folder), torch_dtype=torch.float32).eval()
    scale, shift = vae.config.scaling_factor, vae.config.shift_factor or 0.0

    class Encoder(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.vae = vae

        def forward(self, picture):
            mean = self.vae._encode(picture * 2 - 1).chunk(2, dim=1)[0]
            return (mean - shift) * scale

    class Decoder(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.vae = vae

        def forward(self, latent):
            return self.vae._decode(latent / scale + shift).sample / 2 + 0.5

    return Encoder().eval(), Decoder().eval()


def load_networks(options):
    """PyTorch's (encoder, decoder)."""
    if is_folder(options):
        return load_folder(options.weights)
    sys.path.insert(0, str(ROOT / "tools/goldens"))
    import taesd_reference
    return taesd_reference.load(options.model, options.weights)


def synthetic_picture(side, seed):
    """Smooth shapes with a little noise, [3,side,side] in 0 .. 1."""
    random = np.random.default_rng(seed)
    y, x = np.mgrid[0:side, 0:side] / side
    waves = [np.sin(2 * np.pi * (random.uniform(-4, 4) * x + random.uniform(-4, 4) * y)
                    + random.uniform(0, 6)) for _ in range(9)]
    picture = np.stack([sum(waves[c::3]) for c in range(3)]) / 6 + 0.5
    return np.clip(picture + random.normal(0, 0.02, picture.shape), 0, 1).astype(np.float32)


def load_picture(path, side):
    """The middle of a photograph, scaled up if it is too small."""
    from PIL import Image
    with Image.open(path) as image:
        image = image.convert("RGB")
        scale = max(1.0, side / min(image.size))
        image = image.resize([max(side, round(n * scale)) for n in image.size])
        left, top = (image.width - side) // 2, (image.height - side) // 2
        pixels = np.asarray(image.crop((left, top, left + side, top + side)), np.float32)
    return np.ascontiguousarray(pixels.transpose(2, 0, 1)) / 255


def photo_paths(options):
    if not options.photos:
        return []
    endings = {".jpg", ".jpeg", ".png", ".webp"}
    return sorted(p for p in options.photos.rglob("*") if p.suffix.lower() in endings)


def as_network_input(picture, encoder, options):
    """[1,c,h,w] for the network that is measured: the picture, or its latent."""
    import torch
    tensor = torch.from_numpy(picture)[None]
    return tensor if options.op == "encode" else encoder(tensor)


def calibration_inputs(encoder, options):
    paths = photo_paths(options)[:CALIBRATION_PICTURES]
    pictures = [load_picture(path, CALIBRATION_SIDE) for path in paths]
    pictures += [synthetic_picture(CALIBRATION_SIDE, i)
                 for i in range(0 if paths else CALIBRATION_PICTURES)]
    return [as_network_input(picture, encoder, options).numpy() for picture in pictures]


def cache_path(options, ending):
    """Named by all that the content depends on, so that a stale file is never used."""
    part = "encoder" if options.op == "encode" else "decoder"
    file = "diffusion_pytorch_model" if is_folder(options) else f"{options.model}_{part}"
    sha = hashlib.sha256((options.weights / f"{file}.safetensors").read_bytes())
    if ending.endswith("xml"):
        sha.update(" ".join(map(str, photo_paths(options)[:CALIBRATION_PICTURES])).encode())
    name = f"{options.model}-{options.op}-{options.size}-{sha.hexdigest()[:8]}"
    return options.cache / f"{name}{ending}"


def export_onnx(network, options):
    import torch
    path = cache_path(options, ".onnx")
    if path.exists():
        return
    example = torch.from_numpy(read_input(options))
    partial = path.with_suffix(".partial")
    torch.onnx.export(network, (example,), str(partial), dynamo=False, opset_version=17,
                      input_names=["x"], output_names=["y"])
    partial.replace(path)


def export_openvino(network, options):
    """OpenVINO's own conversion keeps attention as one operator, which ONNX does not."""
    import openvino
    import torch
    path = cache_path(options, "-f32.xml")
    if path.exists():
        return
    example = torch.from_numpy(read_input(options))
    model = openvino.convert_model(network, example_input=example, input=list(example.shape))
    openvino.save_model(model, path, compress_to_fp16=False)


def quantise(encoder, options):
    import nncf
    import openvino
    path = cache_path(options, "-int8.xml")
    if path.exists():
        return
    model = openvino.Core().read_model(cache_path(options, ".onnx"))
    shape = list(model.input(0).shape)
    model.reshape([1, shape[1], -1, -1])  # calibration pictures have another size
    inputs = calibration_inputs(encoder, options)
    quantised = nncf.quantize(model, nncf.Dataset(inputs), subset_size=len(inputs))
    quantised.reshape(shape)
    openvino.save_model(quantised, path, compress_to_fp16=False)


def prepare(options):
    import torch
    torch.set_num_threads(options.threads)
    encoder, decoder = load_networks(options)
    network = encoder if options.op == "encode" else decoder
    options.cache.mkdir(parents=True, exist_ok=True)
    with torch.inference_mode():
        if photos := photo_paths(options):
            picture = load_picture(photos[-1], options.size)
            as_network_input(picture, encoder, options).numpy().tofile(options.input)
        output = network(torch.from_numpy(read_input(options)))
        output.numpy().astype(np.float32).tofile(options.reference)
    if is_folder(options):
        export_openvino(network, options)
        return
    export_onnx(network, options)
    if options.dtype == "int8":
        with torch.inference_mode():
            quantise(encoder, options)


# --- peers: each has a note, run() and output()


def read_input(options):
    values = np.fromfile(options.input, np.float32)
    side = options.size if options.op == "encode" else options.size // 8
    return values.reshape(1, -1, side, side)


class OpenVino:
    def __init__(self, options):
        import openvino
        ending = "-int8.xml" if options.dtype == "int8" else "-f32.xml" if is_folder(options) else ".onnx"
        settings = {"INFERENCE_NUM_THREADS": options.threads, "NUM_STREAMS": 1,
                    "PERFORMANCE_HINT": "LATENCY"}
        if options.dtype != "int8":
            settings["INFERENCE_PRECISION_HINT"] = options.dtype
        elif os.environ.get("ONEDNN_MAX_CPU_ISA") == "AVX2":
            # What int8 leaves in floats runs in OpenVINO's default type. That it takes from the CPU,
            # not from the cap: bf16, which is garbage on AVX2. A real AVX2 machine has f32.
            settings["INFERENCE_PRECISION_HINT"] = "f32"
        model = openvino.Core().compile_model(cache_path(options, ending), "CPU", settings)
        self.request = model.create_infer_request()
        self.input = openvino.Tensor(read_input(options))  # kept alive: the request borrows it
        self.request.set_input_tensor(self.input)
        capabilities = openvino.Core().get_property("CPU", "OPTIMIZATION_CAPABILITIES")
        self.note = f"OpenVINO {openvino.__version__.split('-')[0]}, {' '.join(capabilities)}"

    def run(self):
        self.request.infer()

    def output(self):
        return self.request.get_output_tensor().data


class OnnxRuntime:
    def __init__(self, options):
        import onnxruntime
        settings = onnxruntime.SessionOptions()
        settings.intra_op_num_threads = options.threads
        settings.inter_op_num_threads = 1
        self.session = onnxruntime.InferenceSession(
            str(cache_path(options, ".onnx")), settings, providers=["CPUExecutionProvider"])
        self.input = {"x": read_input(options)}
        self.note = f"ONNX Runtime {onnxruntime.__version__}"

    def run(self):
        self.result = self.session.run(None, self.input)[0]

    def output(self):
        return self.result


class PyTorch:
    """channels_last. In bf16 either the weights are bf16 or autocast narrows: the faster is kept."""

    def __init__(self, options):
        import torch
        self.torch = torch
        torch.set_num_threads(options.threads)
        torch.set_grad_enabled(False)
        network = load_networks(options)[0 if options.op == "encode" else 1]
        self.network = network.to(memory_format=torch.channels_last)
        self.input = torch.from_numpy(read_input(options)).to(memory_format=torch.channels_last)
        self.way = self.run_f32
        if options.dtype == "bf16":
            self.narrow = copy.deepcopy(self.network).bfloat16()
            self.way = min((self.run_autocast, self.run_narrow), key=self.least_time)
        self.note = f"PyTorch {torch.__version__}, {self.way.__name__[4:]}"

    @staticmethod
    def least_time(way):
        times = []
        for _ in range(4):  # the first also warms up
            start = time.process_time()
            way()
            times.append(time.process_time() - start)
        return min(times)

    def run_f32(self):
        return self.network(self.input)

    def run_autocast(self):
        with self.torch.autocast("cpu", self.torch.bfloat16):
            return self.network(self.input).float()

    def run_narrow(self):
        return self.narrow(self.input.bfloat16()).float()

    def run(self):
        self.result = self.way()

    def output(self):
        return self.result.contiguous().numpy()

PEERS = {"openvino": OpenVino, "onnxruntime": OnnxRuntime, "pytorch": PyTorch}


# --- the protocol of contender.h


def answer_run(peer, count):
    cpu, wall = [], []
    for _ in range(count):
        wall_start, cpu_start = time.perf_counter(), time.process_time()
        peer.run()
        cpu.append(1e3 * (time.process_time() - cpu_start))
        wall.append(1e3 * (time.perf_counter() - wall_start))
    return {"cpu_ms": cpu, "wall_ms": wall}


def answer(peer, command, argument):
    if command == "run":
        return answer_run(peer, int(argument))
    if command == "rss":
        return {"rss_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024}
    if command == "dump":
        output = np.ascontiguousarray(peer.output(), np.float32)
        output.tofile(argument)
        return {"dumped": output.size}
    sys.exit(f"peers: {command} is no command: see contender.h")


def serve(peer):
    print(json.dumps({"ready": True, "note": peer.note}), flush=True)
    for line in sys.stdin:
        command, _, argument = line.strip().partition(" ")
        print(json.dumps(answer(peer, command, argument)), flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("action", choices=("prepare", "serve"))
    parser.add_argument("--peer", choices=PEERS)
    parser.add_argument("--op", choices=("decode", "encode"), default="decode")
    parser.add_argument("--size", type=int, default=512)
    parser.add_argument("--dtype", choices=("f32", "bf16", "int8"), default="f32")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--model", default="taesd")
    parser.add_argument("--weights", type=pathlib.Path, required=True)
    parser.add_argument("--input", type=pathlib.Path, required=True)
    parser.add_argument("--reference", type=pathlib.Path)
    parser.add_argument("--photos", type=pathlib.Path)
    parser.add_argument("--cache", type=pathlib.Path, required=True)
    options = parser.parse_args()
    prepare(options) if options.action == "prepare" else serve(PEERS[options.peer](options))


if __name__ == "__main__":
    main()
