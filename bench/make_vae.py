#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Zenith authors
# SPDX-License-Identifier: Apache-2.0
"""Random weights of a full-size AutoencoderKL or AutoencoderKLWan, in diffusers' layout.

    bench/make_vae.py --model flux FOLDER        also sd, sdxl, sd3; 335 MB
    bench/make_vae.py --model sd --bf16 FOLDER   stored in bf16
    bench/make_vae.py --model wan2.1 FOLDER      video: 508 MB; wan2.2: 2.8 GB

Writes FOLDER/config.json and FOLDER/diffusion_pytorch_model.safetensors, the same bytes for the same seed. Shapes
are the published ones (AutoencoderKL: block_out_channels 128 256 512 512, two blocks in a level, 32 groups; Wan:
widths 96 192 384 384, in 2.2 160 320 640 640 and 256 512 1024 1024). Products have weights of variance 1 / inputs and norms a gain near 1, so that values stay near 1 in every layer, as they do in trained
weights. What is missing to the published weights is their content: use these for speed, memory and arithmetic.
Needs numpy.
"""
import argparse
import json
import pathlib

from common import environment

environment.enter("numpy")

import numpy as np

WIDTHS, BLOCKS, GROUPS = (128, 256, 512, 512), 2, 32
MODELS = {  # latent channels, scale, shift, quant convolutions
    "sd": (4, 0.18215, None, True),
    "sdxl": (4, 0.13025, None, True),
    "sd3": (16, 1.5305, 0.0609, False),
    "flux": (16, 0.3611, 0.1159, False),
}

WAN_MODELS = {  # latent channels, widths of the encoder and of the decoder, channels of a pixel, 2.2's shortcuts
    "wan2.1": (16, 96, 96, 3, False),
    "wan2.2": (48, 160, 256, 12, True),
}
WAN_MULTIPLES, WAN_HALVES_TIME = (1, 2, 4, 4), (False, True, True)


class Shapes(dict):
    """Name to shape, in the order of the network."""

    def conv(self, name, out, inputs, kernel):
        self[name + ".weight"] = (out, inputs, kernel, kernel)
        self[name + ".bias"] = (out,)

    def norm(self, name, channels):
        self[name + ".weight"] = (channels,)
        self[name + ".bias"] = (channels,)

    def residual(self, name, out, inputs):
        self.norm(name + ".norm1", inputs)
        self.conv(name + ".conv1", out, inputs, 3)
        self.norm(name + ".norm2", out)
        self.conv(name + ".conv2", out, out, 3)
        if out != inputs:
            self.conv(name + ".conv_shortcut", out, inputs, 1)

    def middle(self, name, channels):
        self.residual(name + ".resnets.0", channels, channels)
        self.norm(name + ".attentions.0.group_norm", channels)
        for matrix in ("to_q", "to_k", "to_v", "to_out.0"):
            self[f"{name}.attentions.0.{matrix}.weight"] = (channels, channels)
            self[f"{name}.attentions.0.{matrix}.bias"] = (channels,)
        self.residual(name + ".resnets.1", channels, channels)

    def levels(self, name, sampler, widths, blocks):
        before = widths[0]
        for i, width in enumerate(widths):
            for j in range(blocks):
                self.residual(f"{name}.{i}.resnets.{j}", width, before)
                before = width
            if i + 1 < len(widths):
                self.conv(f"{name}.{i}.{sampler}.0.conv", width, width, 3)


class WanShapes(dict):
    """The same of a network over time."""

    def conv(self, name, out, inputs, *kernel):
        self[name + ".weight"] = (out, inputs, *kernel)
        self[name + ".bias"] = (out,)

    def residual(self, name, out, inputs):
        self[name + ".norm1.gamma"] = (inputs, 1, 1, 1)
        self.conv(name + ".conv1", out, inputs, 3, 3, 3)
        self[name + ".norm2.gamma"] = (out, 1, 1, 1)
        self.conv(name + ".conv2", out, out, 3, 3, 3)
        if out != inputs:
            self.conv(name + ".conv_shortcut", out, inputs, 1, 1, 1)

    def middle(self, name, channels):
        self.residual(name + ".resnets.0", channels, channels)
        self[name + ".attentions.0.norm.gamma"] = (channels, 1, 1)
        self.conv(name + ".attentions.0.to_qkv", 3 * channels, channels, 1, 1)
        self.conv(name + ".attentions.0.proj", channels, channels, 1, 1)
        self.residual(name + ".resnets.1", channels, channels)

    def encoder(self, width, pixel, latent, shortcuts):
        widths = [width * multiple for multiple in WAN_MULTIPLES]
        self.conv("encoder.conv_in", width, pixel, 3, 3, 3)
        before, number = width, 0
        for i, width in enumerate(widths):
            for j in range(BLOCKS):
                self.residual(f"encoder.down_blocks.{i}.resnets.{j}" if shortcuts else f"encoder.down_blocks.{number}",
                              width, before)
                before, number = width, number + 1
            if i + 1 < len(widths):
                name = f"encoder.down_blocks.{i}.downsampler" if shortcuts else f"encoder.down_blocks.{number}"
                number += 1
                self.conv(name + ".resample.1", width, width, 3, 3)
                if WAN_HALVES_TIME[i]:
                    self.conv(name + ".time_conv", width, width, 3, 1, 1)
        self.middle("encoder.mid_block", before)
        self["encoder.norm_out.gamma"] = (before, 1, 1, 1)
        self.conv("encoder.conv_out", 2 * latent, before, 3, 3, 3)

    def decoder(self, width, pixel, latent, shortcuts):
        widths = [width * multiple for multiple in WAN_MULTIPLES[::-1]]
        before = widths[0]
        self.conv("decoder.conv_in", before, latent, 3, 3, 3)
        self.middle("decoder.mid_block", before)
        for i, width in enumerate(widths):
            for j in range(BLOCKS + 1):
                self.residual(f"decoder.up_blocks.{i}.resnets.{j}", width, before)
                before = width
            if i + 1 < len(widths):
                name = f"decoder.up_blocks.{i}.{'upsampler' if shortcuts else 'upsamplers.0'}"
                before = width if shortcuts else width // 2
                self.conv(name + ".resample.1", before, width, 3, 3)
                if WAN_HALVES_TIME[-1 - i]:
                    self.conv(name + ".time_conv", 2 * width, width, 3, 1, 1)
        self["decoder.norm_out.gamma"] = (before, 1, 1, 1)
        self.conv("decoder.conv_out", pixel, before, 3, 3, 3)


def wan_shapes_of(model):
    latent, encoder, decoder, pixel, shortcuts = WAN_MODELS[model]
    shapes = WanShapes()
    shapes.encoder(encoder, pixel, latent, shortcuts)
    shapes.conv("quant_conv", 2 * latent, 2 * latent, 1, 1, 1)
    shapes.conv("post_quant_conv", latent, latent, 1, 1, 1)
    shapes.decoder(decoder, pixel, latent, shortcuts)
    return shapes


def shapes_of(model):
    if model in WAN_MODELS:
        return wan_shapes_of(model)
    latent, _, _, quant = MODELS[model]
    shapes = Shapes()
    shapes.conv("encoder.conv_in", WIDTHS[0], 3, 3)
    shapes.levels("encoder.down_blocks", "downsamplers", WIDTHS, BLOCKS)
    shapes.middle("encoder.mid_block", WIDTHS[-1])
    shapes.norm("encoder.conv_norm_out", WIDTHS[-1])
    shapes.conv("encoder.conv_out", 2 * latent, WIDTHS[-1], 3)
    shapes.conv("decoder.conv_in", WIDTHS[-1], latent, 3)
    shapes.middle("decoder.mid_block", WIDTHS[-1])
    shapes.levels("decoder.up_blocks", "upsamplers", WIDTHS[::-1], BLOCKS + 1)
    shapes.norm("decoder.conv_norm_out", WIDTHS[0])
    shapes.conv("decoder.conv_out", 3, WIDTHS[0], 3)
    if quant:
        shapes.conv("quant_conv", 2 * latent, 2 * latent, 1)
        shapes.conv("post_quant_conv", latent, latent, 1)
    return shapes


def values_of(name, shape, random):
    noise = random.standard_normal(shape, dtype=np.float32)
    gain = name.endswith((".weight", ".gamma"))
    if len(shape) > 1 and not name.endswith(".gamma"):
        return noise / np.float32(np.prod(shape[1:]) ** 0.5)
    return np.float32(0.1) * noise + np.float32(gain)


def to_bf16(values):
    bits = values.view(np.uint32)
    return ((bits + 0x7fff + (bits >> 16 & 1)) >> 16).astype(np.uint16)


def write_safetensors(path, shapes, seed, bf16):
    """Header, then the tensors in the order of their names."""
    size, at, header = 2 if bf16 else 4, 0, {}
    for name in sorted(shapes):
        end = at + size * int(np.prod(shapes[name]))
        header[name] = {"dtype": "BF16" if bf16 else "F32", "shape": list(shapes[name]), "data_offsets": [at, end]}
        at = end
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    random = np.random.default_rng(seed)
    with open(path, "wb") as file:
        file.write(len(text).to_bytes(8, "little") + text)
        for name in sorted(shapes):
            values = values_of(name, shapes[name], random)
            file.write((to_bf16(values) if bf16 else values).tobytes())


def wan_config_of(model):
    """Without latents_mean and latents_std, which are no part of the network."""
    latent, encoder, decoder, pixel, shortcuts = WAN_MODELS[model]
    config = {"_class_name": "AutoencoderKLWan", "base_dim": encoder, "z_dim": latent, "dim_mult": WAN_MULTIPLES,
              "num_res_blocks": BLOCKS, "attn_scales": [], "temperal_downsample": WAN_HALVES_TIME, "dropout": 0.0}
    if shortcuts:
        config |= {"decoder_base_dim": decoder, "in_channels": pixel, "out_channels": pixel, "is_residual": True,
                   "patch_size": 2, "scale_factor_spatial": 16, "scale_factor_temporal": 4}
    return config


def config_of(model):
    if model in WAN_MODELS:
        return wan_config_of(model)
    latent, scale, shift, quant = MODELS[model]
    return {"_class_name": "AutoencoderKL", "act_fn": "silu", "block_out_channels": list(WIDTHS),
            "down_block_types": ["DownEncoderBlock2D"] * 4, "up_block_types": ["UpDecoderBlock2D"] * 4,
            "in_channels": 3, "out_channels": 3, "latent_channels": latent, "layers_per_block": BLOCKS,
            "norm_num_groups": GROUPS, "sample_size": 1024, "scaling_factor": scale, "shift_factor": shift,
            "use_quant_conv": quant, "use_post_quant_conv": quant, "mid_block_add_attention": True,
            "force_upcast": True}


def make(model, folder, seed=1, bf16=False):
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    write_safetensors(folder / "diffusion_pytorch_model.safetensors", shapes_of(model), seed, bf16)
    (folder / "config.json").write_text(json.dumps(config_of(model), indent=2) + "\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--model", choices=[*MODELS, *WAN_MODELS], default="flux")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--bf16", action="store_true")
    options = parser.parse_args()
    make(options.model, options.folder, options.seed, options.bf16)


if __name__ == "__main__":
    main()
