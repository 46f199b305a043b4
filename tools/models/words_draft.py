#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Zenith authors
# SPDX-License-Identifier: Apache-2.0
"""Solves for the draft of a model from words to pictures: a network of two layers that draws the mean picture of a caption's words.

    python3 tools/models/words_draft.py train.jsonl words/train.safetensors --tokenizer words/tokenizer -o words/draft \\
        --shapes shapes.jsonl words/shapes.safetensors --held val.jsonl words/val.safetensors

Training by gradients finds what words look like only late: names are a small part of what pictures differ in. Here nothing is
trained. A least squares fit from words to latents says what each word adds to a picture; its singular vectors are the table of
words. Of a caption's words, summed, a fixed random layer makes numbers, and a second least squares fit says which picture they
are. "draft" in a config of 'zenith train' takes the folder (docs/TRAINING.md, "From words to pictures"). It needs numpy and
tokenizers.
"""
import argparse
import json
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tools"))
import environment  # noqa: E402

environment.enter("numpy", "tokenizers")

import numpy as np
import plain_safetensors
from tokenizers import Tokenizer

CHAT = "<|im_start|>user\n{}<|im_end|>\n<|im_start|>assistant\n"
END = "<|im_end|>"  # once in every prompt, whatever it says
PATCH, THETA, TURNED = 2, 256.0, 8  # of each head's channels, those that the place in the caption turns
PART = 4096  # captions at a time


def read_latents(path):
    """[n, tokens, numbers of a token], as the denoiser has them."""
    raw = plain_safetensors.read(path)[0]["latent"]
    n, c, h, w = raw.shape
    x = raw.reshape(n, c, h // PATCH, PATCH, w // PATCH, PATCH).transpose(0, 2, 4, 3, 5, 1)
    return np.ascontiguousarray(x, np.float32).reshape(n, h // PATCH * (w // PATCH), -1)


def read_lines(path):
    return [json.loads(line) for line in open(path, encoding="utf-8")]


def read_pictures(lines, options):
    """What the draft of each line is: its latent, or, of a shape in colours, that of the same shape in black. Which colours it has is
    learned soon, and a sum of words cannot tell what two colours and a shape make together."""
    latents = read_latents(options.latents)
    if not options.shapes:
        return latents
    number = {line["file"]: i for i, line in enumerate(read_lines(options.shapes[0]))}
    black = read_latents(options.shapes[1])
    for i, line in enumerate(lines):
        if line.get("shape") in number:
            latents[i] = black[number[line["shape"]]]
    return latents


def tokens_of(captions, tokenizer, kinds):
    """For each of `kinds` captions of a picture, the tokens of all pictures."""
    return [[e.ids for e in tokenizer.encode_batch([CHAT.format(c[k % len(c)]) for c in captions])] for k in kinds]


def bags(captions, words):
    counts = np.zeros((len(captions), words), np.float32)
    for row, ids in zip(counts, captions):
        np.add.at(row, ids, 1)
    return counts


def solve(gram, product, ridge):
    return np.linalg.solve(gram + ridge * np.eye(len(gram), dtype=gram.dtype), product)


def words_of(captions, pictures, words, width, heads, power):
    """The table: singular vectors of what each word adds to a picture. Channels that places turn have the first ones again, so that
    a sum tells "red on blue" from "blue on red"."""
    gram, product = np.zeros((words, words), np.float32), np.zeros((words, pictures.shape[1]), np.float32)
    for ids in captions:
        for i in range(0, len(ids), PART):
            a = bags(ids[i:i + PART], words)
            gram += a.T @ a
            product += a.T @ pictures[i:i + PART]
    u, s, _ = np.linalg.svd(solve(gram, product, np.float32(1)), full_matrices=False)
    head, turned = width // heads, TURNED // 2 * heads
    plain = width - 2 * turned
    order = np.zeros((heads, head), np.int64)
    order[:, :TURNED:2] = np.arange(turned).reshape(heads, -1)
    order[:, TURNED:] = np.arange(plain).reshape(heads, -1)
    values = u[:, :max(plain, turned)] * s[:max(plain, turned)]**power
    table = values[:, order.reshape(-1)]
    table.reshape(words, heads, head)[:, :, 1:TURNED:2] = 0
    return table, plain


def turned_sums(captions, table, heads):
    """Of each caption the sum of its words, turned by their places (3-axis RoPE: the first axis counts tokens from 1)."""
    head, out = table.shape[1] // heads, np.empty((len(captions), table.shape[1]), np.float32)
    rates = THETA**(-np.arange(0, TURNED, 2) / TURNED)
    for row, ids in zip(out, captions):
        x = table[ids].reshape(len(ids), heads, head).copy()
        angle = (1 + np.arange(len(ids)))[:, None, None] * rates
        a, b = x[..., :TURNED:2].copy(), x[..., 1:TURNED:2].copy()
        x[..., :TURNED:2], x[..., 1:TURNED:2] = a * np.cos(angle) - b * np.sin(angle), a * np.sin(angle) + b * np.cos(angle)
        row[:] = x.sum(0).reshape(-1)
    return out


def hidden(sums, w1, w3, epsilon=1e-5):
    x = sums / np.sqrt((sums * sums).mean(1, keepdims=True) + epsilon)
    gate = x @ w1.T
    h = gate / (1 + np.exp(-gate)) * (x @ w3.T)
    return np.concatenate([h, np.ones((len(h), 1), np.float32)], 1)


def found(drawn, true, lines, others, pictures):
    """How many emoji are among the five nearest of all of their style: those of `lines` and, beside these, of `others`."""
    hits = count = 0
    for style in sorted({line["style"] for line in lines if "shape" not in line}):
        own = [i for i, line in enumerate(lines) if line["style"] == style and "shape" not in line]
        more = [i for i, line in enumerate(others) if line["style"] == style and "shape" not in line]
        all_of_it = np.concatenate([true[own], pictures[more]])
        far = (drawn[own]**2).sum(1)[:, None] + (all_of_it**2).sum(1) - 2 * drawn[own] @ all_of_it.T
        hits += ((far < far[np.arange(len(own)), np.arange(len(own))][:, None]).sum(1) < 5).sum()
        count += len(own)
    return hits / count


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("captions", type=pathlib.Path)
    parser.add_argument("latents", type=pathlib.Path)
    parser.add_argument("--tokenizer", type=pathlib.Path, required=True, help="folder of tokenizer.json")
    parser.add_argument("--shapes", type=pathlib.Path, nargs=2, metavar=("LINES", "LATENTS"), help="of black shapes: shapes.jsonl of the set")
    parser.add_argument("--held", type=pathlib.Path, nargs=2, metavar=("LINES", "LATENTS"), help="captions and latents to judge it by")
    parser.add_argument("-o", "--output", type=pathlib.Path, required=True)
    parser.add_argument("--width", type=int, default=384, help="\"draft_width\": numbers of a word")
    parser.add_argument("--head", type=int, default=32, help="channels of the transformer's heads")
    parser.add_argument("--inner", type=int, default=2048, help="\"draft_dim\": numbers that are made of a caption")
    parser.add_argument("--power", type=float, default=0.3, help="of singular values: how much frequent differences count")
    parser.add_argument("--ridge", type=float, default=10)
    parser.add_argument("--kinds", type=int, nargs="+", default=[0, 2, 4, 7], help="which captions of a picture")
    options = parser.parse_args()
    options.heads = options.width // options.head
    tokenizer = Tokenizer.from_file(str(options.tokenizer / "tokenizer.json"))
    words, random = tokenizer.get_vocab_size(), np.random.default_rng(1)
    lines = read_lines(options.captions)
    latents = read_pictures(lines, options)
    n, places, numbers = latents.shape
    pictures = latents.reshape(n, -1)
    mean, spread = pictures.mean(0), pictures.std()
    pictures = (pictures - mean) / spread
    captions = tokens_of([line["captions"] for line in lines], tokenizer, options.kinds)
    table, plain = words_of([captions[0], captions[-2]], pictures, words, options.width, options.heads, options.power)
    # what all captions have in common is taken away by the one token that all of them have
    sums = turned_sums(captions[0], table, options.heads)
    centre = sums.mean(0).reshape(options.heads, -1)
    centre[:, :TURNED] = 0
    table[tokenizer.token_to_id(END)] -= centre.reshape(-1)
    w1, w3 = (random.standard_normal((2, options.inner, options.width)) / options.width**0.5).astype(np.float32)
    gram = np.zeros((options.inner + 1, options.inner + 1), np.float32)
    product = np.zeros((options.inner + 1, pictures.shape[1]), np.float32)
    none = hidden(turned_sums([tokenizer.encode(CHAT.format("")).ids], table, options.heads), w1, w3)
    gram += n / 10 * none.T @ none  # a caption that says nothing means the mean picture, which is zero here
    for ids in captions:
        for i in range(0, n, PART):
            h = hidden(turned_sums(ids[i:i + PART], table, options.heads), w1, w3)
            gram += h.T @ h
            product += h.T @ pictures[i:i + PART]
    result = solve(gram, product, np.float32(options.ridge))

    def draw(ids):
        return np.concatenate([hidden(turned_sums(ids[i:i + PART], table, options.heads), w1, w3) @ result for i in range(0, len(ids), PART)])

    drawn = draw(captions[0])
    print(f"{((drawn - pictures)**2).mean() / pictures.var(0).mean():.3f} of the variance is left, of first captions")
    print(f"{found(drawn, pictures, lines, [], pictures):.3f} of the drafts have their picture among the five nearest of its style")
    if options.held:
        held = read_lines(options.held[0])
        seen = (read_latents(options.held[1]).reshape(len(held), -1) - mean) / spread
        drawn = draw(tokens_of([line["captions"] for line in held], tokenizer, [0])[0])
        print(f"{found(drawn, seen, held, lines, pictures):.3f} of those that are held back")
    options.output.mkdir(parents=True, exist_ok=True)
    turned, rest = TURNED, (options.head - TURNED) // 2
    config = {"_class_name": "ZImageTransformer2DModel", "dim": options.head, "n_heads": 1, "in_channels": numbers // PATCH**2,
              "all_patch_size": [PATCH], "all_f_patch_size": [1], "axes_dims": [turned, rest, rest], "rope_theta": THETA,
              "draft_dim": options.inner, "draft_width": options.width, "draft_places": places, "draft_words": words}
    (options.output / "config.json").write_text(json.dumps(config, indent=1) + "\n")
    plain_safetensors.write(options.output / "model.safetensors", {
        "draft.words.weight": table, "draft.norm.weight": np.ones(options.width), "draft.w1.weight": w1, "draft.w3.weight": w3,
        "draft.w2.weight": result[:-1].T, "draft.w2.bias": result[-1]})


if __name__ == "__main__":
    main()
