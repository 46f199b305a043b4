#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Zenith authors
# SPDX-License-Identifier: Apache-2.0
"""The other runtimes that zimage.py times.

    bench/zimage_peer.py build FOLDER                 stable-diffusion.cpp, from its source, into FOLDER
    bench/zimage_peer.py diffusers PIPELINE DTYPE THREADS SIDE INPUTS
    bench/zimage_peer.py sdcpp PIPELINE DTYPE THREADS SIDE INPUTS

`build` compiles with -O3 and all instructions that this machine has, for more than ten minutes on one core (--jobs: on
more). stable-diffusion.cpp multiplies by its llamafile kernels then, which are off by default and make it faster.
ZENITH_SDCPP names FOLDER to the third command.

The others answer the commands of bench_zimage (zimage_server.c): text, step, sample, dump and rss. diffusers runs the
same inputs. stable-diffusion.cpp has no call for one step: `step` makes a picture of one step from a prompt of as many tokens
as the inputs have, `sample N` one of N; seconds are those of the steps alone, and of its
text encoder `text` tells what the last picture took. dump is only of diffusers.
"""
import argparse
import json
import os
import pathlib
import re
import resource
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
SETTINGS = ("-DGGML_NATIVE=ON", "-DGGML_LLAMAFILE=ON", "-DCMAKE_C_FLAGS=-O3", "-DCMAKE_CXX_FLAGS=-O3")
STEPS, SHIFT = 8, 3.0
AROUND = 8  # tokens that the template puts around a prompt


def build(options):
    environment = os.environ | {"CMAKE_ARGS": " ".join(SETTINGS), "CMAKE_BUILD_PARALLEL_LEVEL": str(options.jobs)}
    tools = options.folder / "build"
    subprocess.run([ROOT / "tools/fetch", "python", "sdcpp-build", tools], check=True)
    environment["PATH"] = f"{tools}/bin:{environment['PATH']}"
    subprocess.run([tools / "bin/pip", "install", "--no-deps", "--no-build-isolation", "--require-hashes", "--target", options.folder,
                    "-r", ROOT / "tools/locks/sdcpp.txt"], env=environment, check=True)
    print(f"ZENITH_SDCPP={options.folder}")


def sigmas_of(steps):
    """As Z-Image's schedule has them: see src/diffusion/flow_match.h."""
    even = [1 + (1 / steps - 1) * i / max(steps - 1, 1) for i in range(steps)]
    return [SHIFT * s / (1 + (SHIFT - 1) * s) for s in even] + [0.0]


def clocks(call):
    wall, cpu = time.perf_counter(), time.process_time()
    call()
    return {"seconds": time.perf_counter() - wall, "cpu": time.process_time() - cpu}


class Diffusers:
    def __init__(self, options):
        import numpy
        import torch
        torch.set_num_threads(options.threads)
        torch.set_grad_enabled(False)
        self.torch, self.options = torch, options
        self.kind = {"f32": torch.float32, "bf16": torch.bfloat16}[options.dtype]
        side = options.side // 8
        noise = numpy.fromfile(options.inputs / "noise.f32", numpy.float32).reshape(-1, side, side)
        self.noise = torch.from_numpy(noise)
        self.caption = torch.from_numpy(numpy.fromfile(options.inputs / "caption.f32", numpy.float32))
        self.ids = torch.from_numpy(numpy.fromfile(options.inputs / "ids.i32", numpy.int32)).long()[None]
        self.text_model = self.transformer = self.result = None

    def open_transformer(self):
        from diffusers import ZImageTransformer2DModel
        if not self.transformer:
            self.transformer = ZImageTransformer2DModel.from_pretrained(
                self.options.pipeline / "transformer", torch_dtype=self.kind, low_cpu_mem_usage=True).eval()
            self.caption = self.caption.reshape(-1, self.transformer.config.cap_feat_dim)

    def predict(self, latent, sigma):
        out = self.transformer([latent[:, None].to(self.kind)], self.torch.tensor([1 - sigma], dtype=self.kind),
                               [self.caption.to(self.kind)], return_dict=False)[0][0]
        return out[:, 0].float()

    def run(self, call):
        def keep():
            self.result = call()
        return clocks(keep)

    def text(self, _):
        from transformers import Qwen3Model
        if not self.text_model:
            self.text_model = Qwen3Model.from_pretrained(self.options.pipeline / "text_encoder", dtype=self.kind).eval()
        return self.run(lambda: self.text_model(input_ids=self.ids, use_cache=False,
                                                output_hidden_states=True).hidden_states[-2][0].float())

    def step(self, at):
        self.open_transformer()
        return self.run(lambda: self.predict(self.noise, sigmas_of(STEPS)[int(at)]))

    def sample(self, steps):
        self.open_transformer()
        sigmas = sigmas_of(int(steps))

        def euler():
            latent = self.noise
            for now, after in zip(sigmas, sigmas[1:]):
                latent = latent - (after - now) * self.predict(latent, now)
            return latent
        return self.run(euler)

    def dump(self, path):
        self.result.contiguous().numpy().tofile(path)
        return {"dumped": self.result.numel()}


class SdCpp:
    def __init__(self, options):
        sys.path.insert(0, os.environ["ZENITH_SDCPP"])
        import stable_diffusion_cpp
        self.options, self.seen, self.said = options, [], {}
        self.prompt = " ".join(["apple"] * ((options.inputs / "ids.i32").stat().st_size // 4 - AROUND))
        image, text = (next((options.pipeline / part).glob("*.gguf")) for part in ("transformer", "text_encoder"))
        vae = next((options.pipeline / "vae").glob("*.safetensors"))
        self.log(stable_diffusion_cpp)
        self.model = stable_diffusion_cpp.StableDiffusion(
            diffusion_model_path=str(image), llm_path=str(text), vae_path=str(vae), n_threads=options.threads,
            diffusion_flash_attn=True, vae_decode_only=True, verbose=False)

    def log(self, package):
        """What it says on the way goes to standard error; one line of it is the text encoder's time."""
        library = package.stable_diffusion_cpp

        @library.sd_log_callback
        def listen(_level, text, _data):
            text = text.decode(errors="replace")
            sys.stderr.write(text)
            if found := re.search(r"get_learned_condition completed, taking ([\d.]+) ?(m?s)", text):
                self.said["seconds"] = float(found[1]) / (1000 if found[2] == "ms" else 1)
        self.listen = listen
        library.sd_set_log_callback(listen, None)

    def stepped(self, step, steps, _seconds):
        """Called before the first step, and after each."""
        if steps == self.steps and len(self.seen) <= steps and step == len(self.seen):
            self.seen.append((time.perf_counter(), time.process_time()))

    def sample(self, steps):
        self.seen, self.steps = [], int(steps)
        self.model.generate_image(prompt=self.prompt, width=self.options.side, height=self.options.side,
                                  cfg_scale=1.0, sample_steps=self.steps, seed=1, progress_callback=self.stepped)
        (wall, cpu), (wall_end, cpu_end) = self.seen[0], self.seen[self.steps]
        return {"seconds": wall_end - wall, "cpu": cpu_end - cpu, "text_seconds": self.said.get("seconds")}

    def step(self, _):
        return self.sample(1)

    def text(self, _):
        if "seconds" not in self.said:
            self.sample(1)
        return dict(self.said)


def serve(peer):
    for line in sys.stdin:
        word, _, argument = line.strip().partition(" ")
        if word == "rss":
            result = {"rss_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024}
        else:
            result = getattr(peer, word)(argument)
        print(json.dumps(result), file=answers, flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    actions = parser.add_subparsers(dest="action", required=True)
    making = actions.add_parser("build")
    making.add_argument("folder", type=pathlib.Path)
    making.add_argument("--jobs", type=int, default=1)
    for name in ("diffusers", "sdcpp"):
        serving = actions.add_parser(name)
        serving.add_argument("pipeline", type=pathlib.Path)
        serving.add_argument("dtype")
        serving.add_argument("threads", type=int)
        serving.add_argument("side", type=int)
        serving.add_argument("inputs", type=pathlib.Path)
    options = parser.parse_args()
    if options.action == "build":
        build(options)
    else:
        serve(Diffusers(options) if options.action == "diffusers" else SdCpp(options))


if __name__ == "__main__":
    # Libraries print too: answers have the standard output for themselves.
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    main()
