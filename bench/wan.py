#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Zenith authors
# SPDX-License-Identifier: Apache-2.0
"""How fast is a Wan autoencoder beside diffusers, and does its memory stay what it was over a clip?

    bench/wan.py speed FOLDER [--size 512x512] [--frames 1] [--dtype f32] [--threads 2] [--runs 3] [--encode]
    bench/wan.py memory FOLDER [--size 832x480] [--limit 3G] [--dtype bf16] [--frames 17,33] [--latents FILE]

FOLDER holds weights in diffusers' layout; bench/make_vae.py makes some. Latents are noise, or those of FILE (.pth or
.npy, [c, t, h, w] with any ones before), of which the corner of --size is taken.

speed: `zenith` and diffusers (channels last, as it is fastest) take turns, so that both see the same machine; a row
for each turn, then the medians and the range of the ratio. Seconds of diffusers are of its call alone; those of
`zenith` are what it reports, which for clips includes packing the weights.

memory: decodes clips of these lengths. Prints resident memory when each tenth of the frames was there, and the peak.
Bars: the peak is within the limit and 64 MB, and peaks differ by no more than 2 %. Exit code 1 if one is missed.

speed needs torch and diffusers; both need numpy.
"""
import argparse
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

from common import ROOT, environment

environment.enter("numpy")

import numpy as np

UNITS = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30}
WORKER = """
import json, sys, time, torch, numpy, diffusers
folder, path, dtype, threads, encode = sys.argv[1:6]
torch.set_num_threads(int(threads))
kind = {"f32": torch.float32, "bf16": torch.bfloat16}[dtype]
model = diffusers.AutoencoderKLWan.from_pretrained(folder, torch_dtype=kind).eval()
for layer in model.modules():
    for name, weight in layer.named_parameters(recurse=False):
        shape = {4: torch.channels_last, 5: torch.channels_last_3d}.get(weight.dim())
        if shape: weight.data = weight.data.contiguous(memory_format=shape)
x = torch.from_numpy(numpy.load(path)).to(kind).contiguous(memory_format=torch.channels_last_3d)
print("ready", flush=True)
for line in sys.stdin:
    begin = time.monotonic()
    with torch.no_grad():
        model.encode(x) if encode == "1" else model.decode(x)
    print(time.monotonic() - begin, flush=True)
"""


def facts_of(folder):
    config = json.loads((folder / "config.json").read_text())
    return config["z_dim"], config.get("scale_factor_spatial", 8)


def noise(*shape):
    return np.random.default_rng(1).standard_normal(shape, dtype=np.float32)


def load_latents(path):
    """[t, c, h, w]"""
    if path.suffix == ".npy":
        values = np.load(path)
    else:
        import torch
        values = torch.load(path, map_location="cpu", weights_only=True)
        values = next(iter(values.values())) if isinstance(values, dict) else values
        values = values.float().numpy()
    return np.ascontiguousarray(values.reshape(values.shape[-4:]).transpose(1, 0, 2, 3))


def zenith_command(options, *arguments):
    return [str(options.zenith), *map(str, arguments), "--weights", str(options.folder), "--dtype", options.dtype,
            "--threads", str(options.threads), "--json", "--quiet"]


# --- speed

def write_inputs(options, work):
    """What diffusers reads and what zenith does: [1, c, t, h, w], and a file of latents or pictures."""
    channels, factor = facts_of(options.folder)
    width, height = options.size
    steps = 1 + (options.frames - 1) // 4
    if not options.encode:
        latents = noise(steps, channels, height // factor, width // factor)
        np.save(work / "x.npy", latents.transpose(1, 0, 2, 3)[None])
        np.save(work / "latents.npy", latents)
        return ["decode", work / "latents.npy", "-o", work / ("out.npy" if options.frames == 1 else "out.y4m")]
    pixels = np.clip(127 + 60 * noise(options.frames, height, width, 3), 0, 255).astype(np.uint8)
    np.save(work / "x.npy", (pixels.astype(np.float32) / 127.5 - 1).transpose(3, 0, 1, 2)[None])
    names = []
    for i, frame in enumerate(pixels):
        names.append(work / f"{i:03}.ppm")
        names[-1].write_bytes(b"P6 %d %d 255\n" % (width, height) + frame.tobytes())
    return ["encode", *names, "-o", work / "out.npy"]


def speed(options):
    with tempfile.TemporaryDirectory() as temporary:
        work = pathlib.Path(temporary)
        arguments = write_inputs(options, work)
        if options.frames > 1:
            arguments.append("--video")
        peer = subprocess.Popen([sys.executable, "-c", WORKER, str(options.folder), str(work / "x.npy"), options.dtype,
                                 str(options.threads), str(int(options.encode))], text=True, stdin=subprocess.PIPE,
                                stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        peer.stdout.readline()
        rows = []
        print("| run | zenith s | diffusers s | ratio |\n|---|---|---|---|")
        for run in range(options.runs):
            said = subprocess.run(zenith_command(options, *arguments), check=True, capture_output=True, text=True)
            ours = json.loads(said.stdout.splitlines()[-1])["ms"] / 1e3
            peer.stdin.write("run\n")
            peer.stdin.flush()
            theirs = float(peer.stdout.readline())
            rows.append((ours, theirs, theirs / ours))
            print(f"| {run + 1} | {ours:.2f} | {theirs:.2f} | {theirs / ours:.2f} |", flush=True)
        peer.stdin.close()
        peer.wait()
    ours, theirs, ratios = zip(*rows)
    print(f"median: zenith {statistics.median(ours):.2f} s, diffusers {statistics.median(theirs):.2f} s, "
          f"ratio {statistics.median(ratios):.2f} ({min(ratios):.2f} to {max(ratios):.2f})")
    return 0


# --- memory

def resident(pid):
    """Bytes now and at most, of a process that may have ended."""
    try:
        lines = pathlib.Path(f"/proc/{pid}/status").read_text().splitlines()
    except OSError:
        return None
    found = {line.split(":")[0]: int(line.split()[1]) << 10 for line in lines if line.startswith(("VmRSS", "VmHWM"))}
    return (found["VmRSS"], found["VmHWM"]) if len(found) == 2 else None


def run_clip(options, latents, work):
    """(frames, resident bytes) as frames were written, and the peak."""
    np.save(work / "latents.npy", latents)
    frames = work / "frames"
    command = zenith_command(options, "decode", work / "latents.npy", "-o", f"{frames}/", "--format", "ppm", "--video")
    if options.limit:
        command += ["--max-memory", options.limit]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    seen, peak = [], 0
    while process.poll() is None:
        now = resident(process.pid)
        done = len(list(frames.glob("*.ppm"))) if frames.exists() else 0
        if now:
            peak = max(peak, now[1])
            if done and (not seen or done > seen[-1][0]):
                seen.append((done, now[0]))
        time.sleep(0.05)
    if process.returncode != 0:
        raise subprocess.CalledProcessError(process.returncode, command)
    count = len(list(frames.glob("*.ppm")))
    for path in frames.glob("*.ppm"):
        path.unlink()
    return seen, peak, count


def memory(options):
    channels, factor = facts_of(options.folder)
    width, height = options.size
    real = load_latents(options.latents)[:, :, :height // factor, :width // factor] if options.latents else None
    lengths = [1 + 4 * (len(real) - 1)] if options.latents else options.lengths
    limit = int(options.limit[:-1]) * UNITS[options.limit[-1]] if options.limit else None
    peaks, held = [], True
    with tempfile.TemporaryDirectory() as temporary:
        for frames in lengths:
            latents = real if options.latents else noise(1 + (frames - 1) // 4, channels, height // factor, width // factor)
            seen, peak, count = run_clip(options, latents, pathlib.Path(temporary))
            peaks.append(peak)
            print(f"{frames} frames of {latents.shape[3] * factor}x{latents.shape[2] * factor}: "
                  f"{count} written, peak {peak / 1e6:.0f} MB", flush=True)
            print("  after " + ", ".join(f"{done}: {now / 1e6:.0f}" for done, now in seen[::max(1, len(seen) // 10)]))
            held &= count == frames and (not limit or peak <= limit + (64 << 20))
    held &= max(peaks) <= 1.02 * min(peaks)
    print("held" if held else "missed")
    return 0 if held else 1


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["speed", "memory"])
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--size")
    parser.add_argument("--frames")
    parser.add_argument("--dtype", choices=["f32", "bf16"])
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--encode", action="store_true")
    parser.add_argument("--limit")
    parser.add_argument("--latents", type=pathlib.Path)
    parser.add_argument("--zenith", type=pathlib.Path, default=ROOT / "build/release/zenith")
    options = parser.parse_args()
    fast = options.what == "speed"
    options.size = [int(side) for side in (options.size or ("512x512" if fast else "832x480")).split("x")]
    options.dtype = options.dtype or ("f32" if fast else "bf16")
    options.lengths = [int(length) for length in (options.frames or ("1" if fast else "17,33")).split(",")]
    options.frames = options.lengths[0]
    if not fast and not options.limit and not options.latents:
        options.limit = "3G"
    try:
        return speed(options) if fast else memory(options)
    except (OSError, subprocess.CalledProcessError) as failure:
        print(f"wan: {failure}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
