#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Zenith authors
# SPDX-License-Identifier: Apache-2.0
"""What tests of the judge of picture quality compare with: the measures of docs/EVALUATION.md, written down once more with
PyTorch, on pictures that both sides make by the same formula.

    python tools/goldens/make_metric_goldens.py --squeezenet DIR/squeezenet1_0_dc.safetensors

writes tests/task/metric_goldens.h. Needs torch and safetensors.
"""
import argparse
import math
import pathlib
import sys
import textwrap

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tools"))
import environment  # noqa: E402

environment.enter("torch", "safetensors")

import torch
import torch.nn.functional as F
from safetensors.torch import load_file

ROOT = pathlib.Path(__file__).resolve().parents[2]
SIZES = [(200, 192), (71, 67), (40, 33), (10, 9)]  # width, height
GRADIENT = 64  # side of the pictures that the distance's gradient is taken of
LUMA = (0.299, 0.587, 0.114)
WEIGHTS = (0.0448, 0.2856, 0.3001, 0.2363, 0.1333)


# --- pictures: tests/task/test_judge.c has the same ---------------------------------------------

def original(x, y, c):
    wave = (x * (5 + c) + y * 3) % 128
    wave = wave * 3 if wave < 64 else (127 - wave) * 3
    noise = ((x * 73856093) ^ (y * 19349663) ^ (c * 83492791)) & 0xffffffff
    return wave + (noise >> 7) % 32


def picture(x, y, c):
    mean = (original(x, y, c) + original(x + 1, y, c) + 2 * original(x, y + 1, c) + 2) // 4
    return min(mean + (9 if x % 4 == 0 and y % 4 == 0 else 0), 255)


def make(size, pixel):
    width, height = size
    rows = [[[pixel(x, y, c) for c in range(3)] for x in range(width)] for y in range(height)]
    return torch.tensor(rows, dtype=torch.float64).permute(2, 0, 1)[None] / 255


# --- measures -----------------------------------------------------------------------------------

def luma(image):
    return (image * torch.tensor(LUMA, dtype=torch.float64).view(1, 3, 1, 1)).sum(1, keepdim=True)


def psnr(a, b):
    return -10 * math.log10(((a - b) ** 2).mean().item())


def similarity(a, b):
    """Means of SSIM and of its contrast-structure term, where the window is inside; NaN: nowhere."""
    if min(a.shape[2:]) < 11:
        return math.nan, math.nan
    window = torch.exp(-(torch.arange(11, dtype=torch.float64) - 5) ** 2 / (2 * 1.5 ** 2))
    window /= window.sum()

    def mean(x):
        return F.conv2d(x, (window[:, None] * window[None, :]).view(1, 1, 11, 11))

    c1, c2 = 0.01 ** 2, 0.03 ** 2
    ma, mb = mean(a), mean(b)
    va, vb, vab = mean(a * a) - ma * ma, mean(b * b) - mb * mb, mean(a * b) - ma * mb
    contrast = (2 * vab + c2) / (va + vb + c2)
    whole = (2 * ma * mb + c1) / (ma * ma + mb * mb + c1) * contrast
    return whole.mean().item(), contrast.mean().item()


def ms_ssim(a, b):
    result = 1.0
    for scale, weight in enumerate(WEIGHTS):
        whole, contrast = similarity(a, b)
        part = whole if scale == len(WEIGHTS) - 1 else contrast
        if math.isnan(part):
            return math.nan
        result *= max(part, 0.0) ** weight
        a, b = F.avg_pool2d(a, 2), F.avg_pool2d(b, 2)
    return result


def gmsd(a, b):
    across = torch.tensor([[1, 0, -1]] * 3, dtype=torch.float64).view(1, 1, 3, 3) / 3

    def gradient(x):
        x = F.pad(F.avg_pool2d(x, 2), (1, 1, 1, 1))
        return (F.conv2d(x, across) ** 2 + F.conv2d(x, across.transpose(2, 3)) ** 2).sqrt()

    p, q, small = gradient(a), gradient(b), 170 / 255 ** 2
    return ((2 * p * q + small) / (p * p + q * q + small)).std(unbiased=False).item()


def finest_band(x):
    half = F.avg_pool2d(x, 2)
    large = F.interpolate(half, scale_factor=2, mode="bilinear", align_corners=False)
    return x[:, :, :large.shape[2], :large.shape[3]] - large


def hf(a, b):
    p, q = finest_band(a), finest_band(b)
    ratio = (q.pow(2).mean() / p.pow(2).mean()).sqrt().item()
    p, q = p - p.mean(), q - q.mean()
    return ratio, ((p * q).sum() / (p.norm() * q.norm())).item()


def mesh4(x):
    x = x[0, 0]
    if min(x.shape) < 64:
        return math.nan
    power = torch.zeros(64, 64, dtype=torch.float64)
    for top in range(0, x.shape[0] - 63, 64):
        for left in range(0, x.shape[1] - 63, 64):
            power += torch.fft.fft2(x[top:top + 64, left:left + 64]).abs() ** 2
    ratios = []
    for u in range(0, 64, 16):
        for v in range(0, 64, 16):
            if u % 32 == 0 and v % 32 == 0:
                continue
            around = [power[(u + i) % 64, (v + j) % 64] for i in (-1, 0, 1) for j in (-1, 0, 1) if i or j]
            ratios.append((power[u, v] / (sum(around) / 8)).item())
    return sum(ratios) / len(ratios)


def squeezenet(weights, image):
    """conv1 and fire3 .. fire9, after relu."""
    def conv(x, name, **how):
        return F.relu(F.conv2d(x, weights[name + ".weight"], weights[name + ".bias"], **how))

    kind = weights["conv1.weight"].dtype
    x = image.to(kind).flip(1) * 255 - torch.tensor([104, 117, 123], dtype=kind).view(1, 3, 1, 1)
    x = conv(x, "conv1", stride=2)
    features = [x]
    for i in range(2, 10):
        if i in (2, 5, 9):
            x = F.max_pool2d(x, 3, 2, ceil_mode=True)
        x = conv(x, f"fire{i}/conv1x1_1")
        x = torch.cat([conv(x, f"fire{i}/conv1x1_2"), conv(x, f"fire{i}/conv3x3_2", padding=1)], 1)
        if i > 2:
            features.append(x)
    return features


def distance(a, b):
    def unit(x):
        return x / (x.norm(dim=1, keepdim=True) + 1e-10)

    return sum(((unit(p) - unit(q)) ** 2).sum(1).mean().double() for p, q in zip(a, b))


def distance_gradient(weights, size):
    """In float64: the distance, and of its gradient by the picture, in HWC order, the length and four projections."""
    weights = {name: value.double() for name, value in weights.items()}
    image = make(size, picture).requires_grad_()
    value = distance(squeezenet(weights, make(size, original)), squeezenet(weights, image))
    value.backward()
    gradient = image.grad[0].permute(1, 2, 0).flatten()
    count = torch.arange(1, len(gradient) + 1, dtype=torch.float64)
    return [value.item(), gradient.norm().item(), *[(gradient * torch.cos(count * k)).sum().item() for k in range(1, 5)]]


# --- the file -----------------------------------------------------------------------------------

def number(value):
    return "(double)NAN" if math.isnan(value) else repr(value)


def measure(weights, size):
    a, b = make(size, original), make(size, picture)
    la, lb = luma(a), luma(b)
    distances = math.nan
    if min(size) >= 15:  # below, PyTorch's pooling refuses
        distances = distance(squeezenet(weights, a), squeezenet(weights, b)).item()
    values = [psnr(a, b), similarity(la, lb)[0], ms_ssim(la, lb), distances, gmsd(la, lb), *hf(la, lb), mesh4(lb),
              mesh4(la)]
    return f"    {{{size[0]}, {size[1]}, {{" + ", ".join(map(number, values)) + "}},"


def samples(feature):
    flat = feature[0].permute(1, 2, 0).flatten()
    picked = [flat[len(flat) * k // 5 + k].item() for k in range(5)]
    return ("    {" + ", ".join(str(n) for n in (feature.shape[2], feature.shape[3], feature.shape[1])) + ", "
            + repr(flat.double().sum().item()) + ", {" + ", ".join(map(repr, picked)) + "}},")


def wrapped(line):  # rows of numbers, at 100 columns
    indent = " " * (len(line) - len(line.lstrip()) + 4)
    return textwrap.wrap(line, 100, subsequent_indent=indent, break_on_hyphens=False) or [""]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--squeezenet", required=True)
    weights = {name: value.float() for name, value in load_file(parser.parse_args().squeezenet).items()}
    features = squeezenet(weights, make(SIZES[1], original))
    lines = ["// SPDX-FileCopyrightText: 2026 The Zenith authors", "// SPDX-License-Identifier: Apache-2.0", "//",
             "// Made by tools/goldens/make_metric_goldens.py.", "// clang-format off",
             "#ifndef ZN_TESTS_TASK_METRIC_GOLDENS_H", "#define ZN_TESTS_TASK_METRIC_GOLDENS_H", "",
             "#include <math.h>", "#include <stdint.h>", "",
             "// psnr, ssim, ms_ssim, squeezenet, gmsd, hf, hf_correlation, mesh4, original_mesh4",
             "static const struct { uint32_t width, height; double values[9]; } metric_goldens[] = {",
             *[measure(weights, size) for size in SIZES], "};", "",
             f"// SqueezeNet's features of the original of {SIZES[1][0]} x {SIZES[1][1]}: height, width, channels, the sum of all,",
             "// and the elements n k / 5 + k of the n in HWC order.",
             "static const struct { int64_t height, width, channels; double sum, samples[5]; }", "    feature_goldens[] = {",
             *[samples(feature) for feature in features], "};", "",
             f"// The SqueezeNet distance of the pictures of {GRADIENT} x {GRADIENT}; of its gradient by the changed one the",
             "// length, and the sums of element i, in HWC order, times cos((i + 1) k), k = 1 .. 4.",
             "static const double distance_gradient_golden[6] = {"
             + ", ".join(map(repr, distance_gradient(weights, (GRADIENT, GRADIENT)))) + "};", "", "#endif"]
    lines = [part for line in lines for part in wrapped(line)]
    (ROOT / "tests/task/metric_goldens.h").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
