#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Zenith authors
# SPDX-License-Identifier: Apache-2.0
"""PyTorch's side of words_train.py, run with the interpreter of its virtual environment.

    words_peer.py CONFIG [--batch 16] [--threads 2] [--dtype bf16] [--compile]

Trains the text encoder and the diffusion transformer of a config of `zenith train` as one would: all samples of a batch at once,
PyTorch's own attention, AdamW (fused), clipped gradients and an average of the weights; bf16 by autocast. Latents and captions are random and
lie in memory. Speaks in lines, as train_peer.py does. `--loss` prints the loss of the first step and ends.
"""
import argparse
import json
import pathlib

from common import environment, serve_steps

environment.enter("torch")

import torch
from torch import nn
from torch.nn import functional as F

TOKENS = 32  # of a caption


def rope(positions, widths, theta):
    """Cosines and sines [tokens, pairs]: each axis has its own channels."""
    parts = [torch.outer(positions[:, i].double(), theta ** (-torch.arange(0, w, 2).double() / w)) for i, w in enumerate(widths)]
    angle = torch.cat(parts, 1)
    return angle.cos().float(), angle.sin().float()


def turn(x, table, halves):
    """[batch, heads, tokens, channels]"""
    cos, sin = (part.to(x.dtype) for part in table)
    a, b = x.chunk(2, -1) if halves else (x[..., 0::2], x[..., 1::2])
    a, b = a * cos - b * sin, a * sin + b * cos
    return torch.cat([a, b], -1) if halves else torch.stack([a, b], -1).flatten(-2)


class Attention(nn.Module):
    def __init__(self, width, heads, keys, head, halves, causal):
        super().__init__()
        self.heads, self.keys, self.head, self.halves, self.causal = heads, keys, head, halves, causal
        self.joint = nn.Linear(width, (heads + 2 * keys) * head, bias=False)  # one product for queries, keys and values
        self.q_norm, self.k_norm = nn.RMSNorm(head, 1e-5), nn.RMSNorm(head, 1e-5)
        self.out = nn.Linear(heads * head, width, bias=False)

    def forward(self, x, table):
        q, k, v = (y.unflatten(-1, (-1, self.head)).transpose(1, 2)
                   for y in self.joint(x).split([n * self.head for n in (self.heads, self.keys, self.keys)], -1))
        q, k = turn(self.q_norm(q), table, self.halves), turn(self.k_norm(k), table, self.halves)
        y = F.scaled_dot_product_attention(q, k, v, is_causal=self.causal, enable_gqa=self.keys != self.heads)
        return self.out(y.transpose(1, 2).flatten(2))


class Gated(nn.Module):
    def __init__(self, width, inner):
        super().__init__()
        self.both, self.down = nn.Linear(width, 2 * inner, bias=False), nn.Linear(inner, width, bias=False)

    def forward(self, x):
        gate, up = self.both(x).chunk(2, -1)
        return self.down(F.silu(gate) * up)


class TextLayer(nn.Module):
    def __init__(self, c):
        super().__init__()
        width = c["hidden_size"]
        self.norms = nn.ModuleList(nn.RMSNorm(width, 1e-6) for _ in range(2))
        self.attention = Attention(width, c["num_attention_heads"], c["num_key_value_heads"], c["head_dim"], True, True)
        self.gated = Gated(width, c["intermediate_size"])

    def forward(self, x, table):
        x = x + self.attention(self.norms[0](x), table)
        return x + self.gated(self.norms[1](x))


class Block(nn.Module):
    def __init__(self, c, modulated):
        super().__init__()
        width = c["dim"]
        self.modulation = nn.Linear(min(width, 256), 4 * width) if modulated else None
        self.norms = nn.ModuleList(nn.RMSNorm(width, 1e-5) for _ in range(4))
        self.attention = Attention(width, c["n_heads"], c["n_heads"], width // c["n_heads"], False, False)
        self.gated = Gated(width, int(width / 3 * 8))

    def forward(self, x, table, condition=None):
        if self.modulation is None:
            x = x + self.norms[1](self.attention(self.norms[0](x), table))
            return x + self.norms[3](self.gated(self.norms[2](x)))
        scale1, gate1, scale2, gate2 = self.modulation(condition)[:, None].chunk(4, -1)
        x = x + gate1.tanh() * self.norms[1](self.attention(self.norms[0](x) * (1 + scale1), table))
        return x + gate2.tanh() * self.norms[3](self.gated(self.norms[2](x) * (1 + scale2)))


class Words(nn.Module):
    """Both networks: ids [batch, TOKENS] and how many are there, latents and sigmas to velocities."""

    def __init__(self, text, image):
        super().__init__()
        width, self.patch = image["dim"], image["all_patch_size"][0]
        numbers, side = self.patch ** 2 * image["in_channels"], image["sample_size"] // self.patch
        self.embed = nn.Embedding(text["vocab_size"], text["hidden_size"])
        self.text = nn.ModuleList(TextLayer(text) for _ in range(text["num_hidden_layers"] - 1))
        self.time = nn.Sequential(nn.Linear(256, 1024), nn.SiLU(), nn.Linear(1024, min(width, 256)))
        self.caption = nn.Sequential(nn.RMSNorm(text["hidden_size"], 1e-5), nn.Linear(text["hidden_size"], width))
        self.pad = nn.Parameter(torch.zeros(width))
        self.enter, self.leave = nn.Linear(numbers, width), nn.Linear(width, numbers)
        self.last = nn.Linear(min(width, 256), width)
        refiners = range(image["n_refiner_layers"])
        self.of_caption = nn.ModuleList(Block(image, False) for _ in refiners)
        self.of_noise = nn.ModuleList(Block(image, True) for _ in refiners)
        self.layers = nn.ModuleList(Block(image, True) for _ in range(image["n_layers"]))
        self.pool = nn.ModuleList([nn.RMSNorm(width, 1e-5), nn.Linear(width, 2 * width)]) if image.get("cap_pool") else None
        order = torch.arange(TOKENS)
        places = torch.stack([torch.full((side * side,), TOKENS + 1), torch.arange(side * side) // side, torch.arange(side * side) % side], 1)
        captions = torch.stack([order + 1, order * 0, order * 0], 1)
        self.text_table = rope(order[:, None], [text["head_dim"]], text["rope_theta"])
        self.tables = [rope(p, image["axes_dims"], image["rope_theta"]) for p in (captions, places, torch.cat([places, captions]))]
        self.frequencies = torch.exp(-torch.log(torch.tensor(10000.0)) * torch.arange(128) / 128)

    def forward(self, ids, there, latents, sigmas):
        cap = self.embed(ids)
        for layer in self.text:
            cap = layer(cap, self.text_table)
        cap = torch.where(there[..., None], self.caption(cap), self.pad)
        angle = (1 - sigmas)[:, None] * 1000 * self.frequencies
        condition = self.time(torch.cat([angle.cos(), angle.sin()], 1))
        p = self.patch
        x = self.enter(F.pixel_unshuffle(latents, p).flatten(2).transpose(1, 2))
        for block in self.of_caption:
            cap = block(cap, self.tables[0])
        if self.pool is not None:
            scale, shift = (self.pool[1](self.pool[0](cap)).sum(1, keepdim=True) / TOKENS ** 0.5).chunk(2, -1)
            x = x * (1 + scale) + shift
        for block in self.of_noise:
            x = block(x, self.tables[1], condition)
        count = x.shape[1]
        x = torch.cat([x, cap], 1)
        for block in self.layers:
            x = block(x, self.tables[2], condition)
        x = F.layer_norm(x[:, :count], x.shape[-1:]) * (1 + self.last(F.silu(condition))[:, None])
        return F.pixel_shuffle(self.leave(x).transpose(1, 2).unflatten(2, (latents.shape[2] // p, -1)), p)


def make_step(options):
    torch.manual_seed(1)
    config = json.loads(options.config.read_text())
    text, image = config["text"], config["network"]
    net = Words(text, image)
    run = torch.compile(net) if options.compile else net
    parameters = list(net.parameters())
    average = [p.detach().clone() for p in parameters]
    optimizer = torch.optim.AdamW(parameters, lr=1e-4, weight_decay=0.01, fused=True)
    latents = torch.randn(options.batch, image["in_channels"], image["sample_size"], image["sample_size"])
    ids = torch.randint(text["vocab_size"], (options.batch, TOKENS))
    there = torch.arange(TOKENS) < torch.randint(12, 25, (options.batch, 1))

    def step():
        sigmas, noise = torch.sigmoid(2 + 1.5 * torch.randn(options.batch)), torch.randn_like(latents)
        share = sigmas[:, None, None, None]
        optimizer.zero_grad(set_to_none=True)
        with torch.autocast("cpu", dtype=torch.bfloat16, enabled=options.dtype == "bf16"):
            made = run(ids, there, (1 - share) * latents + share * noise, sigmas)
        loss = F.mse_loss(made.float(), noise - latents)
        loss.backward()
        nn.utils.clip_grad_norm_(parameters, 1)
        optimizer.step()
        torch._foreach_lerp_(average, parameters, 0.001)
        return loss.item()

    return step


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("config", type=pathlib.Path)
    parser.add_argument("--batch", type=int, default=16)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--dtype", choices=("bf16", "f32"), default="bf16")
    parser.add_argument("--compile", action="store_true")
    parser.add_argument("--loss", action="store_true")
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    step = make_step(options)
    first = step()
    if options.loss:
        return print(first)
    return serve_steps(step, options.batch, warm=1)


if __name__ == "__main__":
    main()
