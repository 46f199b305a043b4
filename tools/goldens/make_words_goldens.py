#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Zenith authors
# SPDX-License-Identifier: Apache-2.0
"""What the training from words to pictures is compared with: gradients and ten losses of a tiny pair of networks, in PyTorch.

    python tools/goldens/make_words_goldens.py [--check DIR]        needs torch, numpy, safetensors

tests/golden/words_train has
    text_encoder, transformer       config.json and model.safetensors: first weights, random, exact in bf16
    latents.safetensors             a few latents
    captions.jsonl                  the caption of each, as numbers of tokens, and what a dropped caption is
    gradients.safetensors           the gradient of the first step, in float64, rounded
    ten_losses.json                 the loss and the gradient's norm, before each of ten steps of AdamW
and tests/golden/words_pooled the same of a transformer with "cap_pool": 1 and a draft, which is not trained.
tests/golden/words_distil.json has ten losses of a student that begins with the weights of words_train and learns from them.

The first layer of the timestep is large and its size is no setting. Its weights are a formula (tests/train/words_runs.py has it
too), and of its gradient there are the factors: the sum over samples of "left" times "right".

--check DIR compares both networks with the goldens of transformers and diffusers in DIR (qwen3, zimage_transformer).
"""
import argparse
import json
import math
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tools"))
import environment  # noqa: E402

environment.enter("numpy", "torch", "safetensors")

import numpy as np
import torch
import torch.nn.functional as F
from make_diffae_train_goldens import words
from make_kl_train_goldens import philox
from make_train_goldens import train
from safetensors.torch import load_file, save_file

ROOT = pathlib.Path(__file__).resolve().parents[2]
OUT, POOLED_OUT = ROOT / "tests/golden/words_train", ROOT / "tests/golden/words_pooled"
SEED, BATCH, STEPS, DROP, MULTIPLE = 5, 2, 10, 0.3, 32
SETTINGS = {"lr": 1e-4, "min_lr": 1e-5, "warmup": 2, "beta1": 0.9, "beta2": 0.999, "eps": 1e-8, "weight_decay": 0.01,
            "clip": 1.0, "ema": 0.9}
TEXT = {"architectures": ["Qwen3ForCausalLM"], "model_type": "qwen3", "vocab_size": 40, "hidden_size": 10,
        "intermediate_size": 14, "num_hidden_layers": 3, "num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 8,
        "rope_theta": 10000, "rms_norm_eps": 1e-6}
IMAGE = {"_class_name": "ZImageTransformer2DModel", "all_patch_size": [2], "all_f_patch_size": [1], "in_channels": 4, "dim": 12,
         "n_layers": 2, "n_refiner_layers": 1, "n_heads": 2, "cap_feat_dim": 10, "axes_dims": [2, 2, 2], "rope_theta": 256.0,
         "t_scale": 1000.0, "norm_eps": 1e-5}
DISTIL = {"steps": 4, "inner": 2, "guidance": 2.0}
HEIGHT, WIDTH = 6, 8
CAPTIONS, EMPTY = [[3, 17, 25, 8, 39], [11, 2], [30, 30, 4, 19, 22, 7, 1, 36, 9], [5, 28, 14]], [1]
FORMULA = "t_embedder.mlp.0.weight"


class Network:
    """Weights by name; those that are not there are drawn where they are first asked for."""

    def __init__(self, config, weights=None, seed=0):
        self.config, self.weights, self.made = config, weights if weights is not None else {}, {}
        self.random = torch.Generator().manual_seed(seed)

    def get(self, name, *shape):
        if name not in self.weights:
            self.weights[name] = formula(shape) if name == FORMULA else self.draw(name, shape)
        return self.weights[name]

    def draw(self, name, shape):
        values = torch.randn(shape, generator=self.random)
        if len(shape) == 2:
            values = values if "embed_tokens" in name else values / shape[1]**0.5
        elif name.endswith("bias") or "pad_token" in name:
            values = 0.3 * values
        else:
            values = 1 + 0.1 * values
        return values.bfloat16().float()

    def linear(self, name, x, out, bias=False):
        y = x @ self.get(f"{name}.weight", out, x.shape[-1]).T
        return y + self.get(f"{name}.bias", out) if bias else y

    def norm(self, name, x, epsilon):
        return x * torch.rsqrt(x.square().mean(-1, keepdim=True) + epsilon) * self.get(f"{name}.weight", x.shape[-1])


def formula(shape):
    """Numbers of eight bits that look random."""
    number = np.arange(math.prod(shape), dtype=np.uint64) * np.uint64(2654435761) % np.uint64(1 << 32)
    return torch.from_numpy(((number >> np.uint64(24)).astype(np.float32) - 128) / 1024).reshape(shape)


def attend(q, k, v, causal):
    """[tokens, heads, channels]; several heads of queries may share one of keys."""
    k, v = (x.repeat_interleave(q.shape[1] // x.shape[1], 1) for x in (k, v))
    scores = torch.einsum("qhc,khc->hqk", q, k) / q.shape[-1]**0.5
    if causal:
        scores = scores.masked_fill(torch.ones_like(scores, dtype=torch.bool).triu(1), -math.inf)
    return torch.einsum("hqk,khc->qhc", scores.softmax(-1), v).flatten(1)


def angles(positions, widths, theta, rounded):
    """Cosines and sines of [tokens, pairs]: each axis has its own channels. Rounded as the published networks have it."""
    parts = []
    for axis, width in enumerate(widths):
        frequency = theta**(-2.0 * np.arange(width // 2) / width)
        frequency = frequency.astype(np.float32).astype(np.float64) if rounded else frequency
        parts.append(np.outer(np.array(positions, np.float64)[:, axis], frequency).astype(np.float32).astype(np.float64))
    angle = np.concatenate(parts, 1)
    return tuple(torch.from_numpy(f(angle).astype(np.float32)) for f in (np.cos, np.sin))


def turn(x, table, halves):
    cos, sin = (part[:, None].to(x.dtype) for part in table)
    a, b = x.chunk(2, -1) if halves else (x[..., 0::2], x[..., 1::2])
    a, b = a * cos - b * sin, a * sin + b * cos
    return torch.cat([a, b], -1) if halves else torch.stack([a, b], -1).flatten(-2)


def gated(net, names, x, inner):
    gate, up, down = names
    return net.linear(down, F.silu(net.linear(gate, x, inner)) * net.linear(up, x, inner), x.shape[-1])


def text_features(net, ids):
    """The hidden state after the last layer but one."""
    c = net.config
    heads, keys, head, epsilon = c["num_attention_heads"], c["num_key_value_heads"], c["head_dim"], c["rms_norm_eps"]
    theta = c["rope_theta"] if "rope_theta" in c else c["rope_parameters"]["rope_theta"]
    table = angles([[i] for i in range(len(ids))], [head], float(theta), True)
    x = net.get("embed_tokens.weight", c["vocab_size"], c["hidden_size"])[torch.tensor(ids)]
    for i in range(c["num_hidden_layers"] - 1):
        at = f"layers.{i}"
        h = net.norm(f"{at}.input_layernorm", x, epsilon)
        q, k, v = (net.linear(f"{at}.self_attn.{n}_proj", h, count * head).unflatten(-1, (count, head))
                   for n, count in (("q", heads), ("k", keys), ("v", keys)))
        q, k = (turn(net.norm(f"{at}.self_attn.{n}_norm", y, epsilon), table, True) for n, y in (("q", q), ("k", k)))
        x = x + net.linear(f"{at}.self_attn.o_proj", attend(q, k, v, True), c["hidden_size"])
        h = net.norm(f"{at}.post_attention_layernorm", x, epsilon)
        x = x + gated(net, [f"{at}.mlp.{n}_proj" for n in ("gate", "up", "down")], h, c["intermediate_size"])
    return x


def block(net, at, x, table, condition):
    c = net.config
    width, heads, epsilon = c["dim"], c["n_heads"], c["norm_eps"]
    scale1 = gate1 = scale2 = gate2 = None
    if condition is not None:
        scale1, gate1, scale2, gate2 = net.linear(f"{at}.adaLN_modulation.0", condition, 4 * width, True).chunk(4)
        gate1, gate2 = gate1.tanh(), gate2.tanh()
    scaled = lambda y, scale: y if scale is None else y * (1 + scale)
    h = scaled(net.norm(f"{at}.attention_norm1", x, epsilon), scale1)
    q, k, v = (net.linear(f"{at}.attention.to_{n}", h, width).unflatten(-1, (heads, -1)) for n in "qkv")
    q, k = (turn(net.norm(f"{at}.attention.norm_{n}", y, 1e-5), table, False) for n, y in (("q", q), ("k", k)))
    y = net.norm(f"{at}.attention_norm2", net.linear(f"{at}.attention.to_out.0", attend(q, k, v, False), width), epsilon)
    x = x + (y if gate1 is None else gate1 * y)
    h = scaled(net.norm(f"{at}.ffn_norm1", x, epsilon), scale2)
    y = gated(net, [f"{at}.feed_forward.{n}" for n in ("w1", "w3", "w2")], h, int(width / 3 * 8))
    y = net.norm(f"{at}.ffn_norm2", y, epsilon)
    return x + (y if gate2 is None else gate2 * y)


def condition_of(net, time):
    scaled = np.float32(time) * np.float32(net.config["t_scale"])
    exponent = np.float32(-math.log(10000)) * np.arange(128, dtype=np.float32) / np.float32(128)
    angle = (scaled * np.exp(exponent.astype(np.float64)).astype(np.float32)).astype(np.float64)
    features = torch.from_numpy(np.concatenate([np.cos(angle), np.sin(angle)]).astype(np.float32))
    features = features.to(net.weights[FORMULA].dtype if FORMULA in net.weights else torch.float32)
    hidden = net.linear("t_embedder.mlp.0", features, 1024, True)
    if hidden.requires_grad:
        hidden.retain_grad()
    net.made.setdefault("hidden", []).append(hidden)
    net.made.setdefault("features", []).append(features)
    return net.linear("t_embedder.mlp.2", F.silu(hidden), min(net.config["dim"], 256), True)


def padded(x, token):
    more = -len(x) % MULTIPLE
    return torch.cat([x, token.expand(more, -1)]), more


def told(net, x, cap):
    """The caption as a whole scales and shifts all tokens of the image, where the config says so."""
    if not net.config.get("cap_pool"):
        return x
    cap = net.norm("cap_pool.norm", cap, net.config["norm_eps"])
    scale, shift = (net.linear(f"cap_pool.{n}", cap, x.shape[-1], True).sum(0) / len(cap)**0.5 for n in ("scale", "shift"))
    return x * (1 + scale) + shift


def drafted(net, x, ids):
    """The mean picture of the caption's words is added to the image's tokens, where the config says so. It is not trained."""
    c = net.config
    if not c.get("draft_dim"):
        return x
    width = c["draft_width"]
    table = angles([[i + 1, 0, 0] for i in range(len(ids))], c["axes_dims"], c["rope_theta"], False)
    y = net.get("draft.words.weight", c["draft_words"], width)[torch.tensor(ids)]
    y = turn(y.unflatten(-1, (-1, c["dim"] // c["n_heads"])), table, False).flatten(1).sum(0)
    y = net.norm("draft.norm", y, c["norm_eps"])
    y = F.silu(net.linear("draft.w1", y, c["draft_dim"])) * net.linear("draft.w3", y, c["draft_dim"])
    y = net.linear("draft.w2", y, c["draft_places"] * c["all_patch_size"][0]**2 * c["in_channels"], True)
    return x + net.linear("draft_embedder", y.reshape(c["draft_places"], -1), c["dim"], True)


def is_trained(name):
    return not name.startswith("draft.")


def velocity(net, latent, time, caption, ids=None):
    """Of a latent [channels, height, width]."""
    c = net.config
    width, patch, axes, theta = c["dim"], c["all_patch_size"][0], c["axes_dims"], c["rope_theta"]
    refiners = range(c["n_refiner_layers"])
    condition = condition_of(net, time)
    cap = net.linear("cap_embedder.1", net.norm("cap_embedder.0", caption, c["norm_eps"]), width, True)
    cap, _ = padded(cap, net.get("cap_pad_token", 1, width))
    rows, columns = latent.shape[1] // patch, latent.shape[2] // patch
    x = latent.unflatten(1, (rows, patch)).unflatten(3, (columns, patch)).permute(1, 3, 2, 4, 0).reshape(rows * columns, -1)
    x = net.linear(f"all_x_embedder.{patch}-1", x, width, True)
    x = drafted(net, x, ids)
    x, more = padded(x, net.get("x_pad_token", 1, width))
    places = [[len(cap) + 1, i // columns, i % columns] for i in range(rows * columns)] + more * [[0, 0, 0]]
    of_image = angles(places, axes, theta, False)
    of_caption = angles([[i + 1, 0, 0] for i in range(len(cap))], axes, theta, False)
    for i in refiners:
        cap = block(net, f"context_refiner.{i}", cap, of_caption, None)
    x = told(net, x, cap)
    for i in refiners:
        x = block(net, f"noise_refiner.{i}", x, of_image, condition)
    x, table = torch.cat([x, cap]), tuple(torch.cat(pair) for pair in zip(of_image, of_caption))
    for i in range(c["n_layers"]):
        x = block(net, f"layers.{i}", x, table, condition)
    x = F.layer_norm(x[:rows * columns], (width,), eps=1e-6)
    at = f"all_final_layer.{patch}-1"
    x = x * (1 + net.linear(f"{at}.adaLN_modulation.1", F.silu(condition), width, True))
    x = net.linear(f"{at}.linear", x, patch * patch * c["in_channels"], True)
    return x.reshape(rows, columns, patch, patch, -1).permute(4, 0, 2, 1, 3).reshape(latent.shape)


def check(folder):
    """Both networks beside the goldens of transformers and diffusers."""
    def opened(name):
        weights = {}
        for path in sorted((folder / name).glob("*model*.safetensors")):
            weights.update(load_file(path))
        return Network(json.loads((folder / name / "config.json").read_text()), weights), load_file(folder / name / "io.safetensors")

    net, golden = opened("qwen3")
    pairs = {"text": (text_features(net, golden["ids"][0].tolist()), golden["hidden.3"])}
    net, golden = opened("zimage_transformer")
    for case in ("even", "padded"):
        got = velocity(net, golden[f"{case}.x.0"][:, 0], golden[f"{case}.t"].item(), golden[f"{case}.cap.0"])
        pairs[case] = got, golden[f"{case}.out.0"][:, 0]
    for name, (got, expected) in pairs.items():
        error = ((got - expected).norm() / expected.norm()).item()
        print(f"{name}: {error:.1e} from the golden")
        assert error < 1e-5


def place_of(number):
    """Which latent a sample is: the order of its epoch (src/train/data/permutation.c)."""
    epoch, k = divmod(number, len(CAPTIONS))
    while True:
        left, right = k >> 4, k & 15
        for turn_ in range(6):
            drawn = philox(np.array([[right, turn_, epoch, 0]], np.uint64), (SEED, 0))[0]
            left, right = right, left ^ (int(drawn[0]) & 15)
        k = left << 4 | right
        if k < len(CAPTIONS):
            return k


def normals(drawn):
    drawn = drawn.astype(np.float64).reshape(-1, 2)
    radius, angle = np.sqrt(-2 * np.log((drawn[:, 0] + 1) * 2.0**-32)), 6.283185307179586 * 2.0**-32 * drawn[:, 1]
    return np.stack([radius * np.cos(angle), radius * np.sin(angle)], 1).astype(np.float32).reshape(-1)


def sample_of(number):
    """Noise [channels, height, width], sigma and whether the caption is dropped, by the run's seed and the sample's number."""
    first = words(~SEED & 0xffffffffffffffff, [number])[0].tolist()
    key, channels = first[0] << 32 | first[1], IMAGE["in_channels"]
    noise = normals(words(key, np.arange(HEIGHT * WIDTH * channels // 4))).reshape(HEIGHT, WIDTH, channels)
    own = words(key, [0xffffffffffffffff])[0]
    sigma = np.float32(1 / (1 + math.exp(-float(normals(own)[0]))))
    return torch.from_numpy(noise).permute(2, 0, 1), sigma, int(own[2]) < DROP * 2.0**32


def lesson_of(number, at, picture, noise, teacher):
    """A latent at the begin of one of the student's steps, its sigma, and the velocity that leads where the teacher's steps do."""
    steps, inner, guidance = DISTIL["steps"], DISTIL["inner"], DISTIL["guidance"]
    segment = int(words(~SEED & 0xffffffffffffffff, [~number & 0xffffffffffffffff])[0][0]) * steps >> 32
    sigmas = [np.float32(1 - i / steps) for i in range(steps + 1)]
    begin, end = sigmas[segment], sigmas[segment + 1]
    noisy = now = float(begin) * noise + float(np.float32(1) - begin) * picture
    ways = [begin + np.float32(i / inner) * (end - begin) for i in range(inner + 1)]
    with torch.no_grad():
        text, image = teacher
        for here, there in zip(ways, ways[1:]):
            asked, empty = (velocity(image, now, np.float32(1) - here, text_features(text, ids), ids) for ids in (CAPTIONS[at], EMPTY))
            now = now + float(here - there) * (asked + guidance * (asked - empty))
    return noisy, begin, (now - noisy) / float(begin - end)


def losses_of(text, image, latents, first_gradients=None, teacher=None):
    """With a teacher, which is a pair of networks, those of a student."""
    dtype = latents.dtype

    def gradient_of(step):
        loss = 0
        image.made.clear()
        for number in range(step * BATCH, (step + 1) * BATCH):
            noise, sigma, dropped = sample_of(number)
            at = place_of(number)
            picture, noise = latents[at], noise.to(dtype)
            noisy = float(sigma) * noise + float(np.float32(1) - sigma) * picture
            target = picture - noise
            if teacher:
                noisy, sigma, target = lesson_of(number, at, picture, noise, teacher)
            ids = EMPTY if dropped and not teacher else CAPTIONS[at]
            made = velocity(image, noisy, np.float32(1) - sigma, text_features(text, ids), ids)
            loss = loss + (made - target).square().mean() / BATCH
        loss.backward()
        if step == 0 and first_gradients is not None:
            first_gradients.update({name: value.grad.clone() for net in (text, image) for name, value in net.weights.items()
                                    if name != FORMULA and is_trained(name)})
            first_gradients[f"{FORMULA}.left"] = torch.stack([hidden.grad for hidden in image.made["hidden"]])
            first_gradients[f"{FORMULA}.right"] = torch.stack(image.made["features"])
            left, right = first_gradients[f"{FORMULA}.left"], first_gradients[f"{FORMULA}.right"]
            assert torch.allclose(left.T @ right, image.weights[FORMULA].grad)
        return loss.item()

    parameters = [value for net in (text, image) for name, value in net.weights.items() if is_trained(name)]
    ema = [value.detach().clone() for value in parameters]
    return [{"loss": loss, "norm": norm}
            for loss, norm in train(parameters, gradient_of, SETTINGS, STEPS, SETTINGS["clip"], ema)]


def save_network(net, folder, note):
    folder.mkdir(parents=True, exist_ok=True)
    stored = {name: value.bfloat16() for name, value in net.weights.items() if name != FORMULA}
    save_file(stored, folder / "model.safetensors", {"golden": note})
    (folder / "config.json").write_text(json.dumps(net.config, indent=1) + "\n")


def begin_with(networks, first, dtype):
    for net, start in zip(networks, first):
        net.weights.update({name: value.detach().to(dtype, copy=True).requires_grad_(is_trained(name)) for name, value in start.items()})


def make_distil(first, latents, note):
    runs = []
    for dtype in (torch.float64, torch.float32):
        networks, teacher = ([Network(TEXT), Network(IMAGE)] for _ in range(2))
        begin_with(networks, first, dtype), begin_with(teacher, first, dtype)
        runs.append(losses_of(*networks, latents.to(dtype), teacher=teacher))
    worst = max(abs(a["loss"] - b["loss"]) / a["loss"] for a, b in zip(*runs))
    print(f"distilling: float32 and float64 differ by {worst:.1e}")
    (OUT.parent / "words_distil.json").write_text(json.dumps({"made_by": note, "distil": DISTIL, "steps": runs[0]}, indent=1) + "\n")


def make(config, out):
    note = f"python tools/goldens/make_words_goldens.py; torch {torch.__version__}"
    text, image = Network(TEXT, seed=1), Network(config, seed=2)
    random = torch.Generator().manual_seed(3)
    latents = torch.randn(len(CAPTIONS), IMAGE["in_channels"], HEIGHT, WIDTH, generator=random)
    velocity(image, latents[0], 0.5, text_features(text, EMPTY), EMPTY)  # the networks say which parameters there are
    save_network(text, out / "text_encoder", note)
    save_network(image, out / "transformer", note)
    save_file({"latent": latents}, out / "latents.safetensors", {"golden": note})
    lines = [{"empty": EMPTY}, *({"ids": ids} for ids in CAPTIONS)]
    (out / "captions.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    first = [{name: value.clone() for name, value in net.weights.items()} for net in (text, image)]
    runs, gradients = [], {}
    for dtype in (torch.float64, torch.float32):
        begin_with((text, image), first, dtype)
        runs.append(losses_of(text, image, latents.to(dtype), gradients if dtype == torch.float64 else None))
    worst = {key: max(abs(a[key] - b[key]) / a[key] for a, b in zip(*runs)) for key in ("loss", "norm")}
    print(f"float32 and float64 differ by {worst}")
    save_file({name: value.float().contiguous() for name, value in gradients.items()}, out / "gradients.safetensors", {"golden": note})
    (out / "ten_losses.json").write_text(json.dumps(
        {"made_by": note, "seed": SEED, "batch": BATCH, "drop": DROP, "optimizer": SETTINGS, "rounding": worst, "steps": runs[0]},
        indent=1) + "\n")
    if out == OUT:
        make_distil(first, latents, note)
    dropped = sum(sample_of(number)[2] for number in range(BATCH * STEPS))
    print(json.dumps(runs[0][0]), json.dumps(runs[0][-1]), f"{dropped} of {BATCH * STEPS} captions are dropped")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Makes the goldens of training from words to pictures.")
    parser.add_argument("--check", type=pathlib.Path)
    options = parser.parse_args()
    torch.set_num_threads(1)
    if options.check:
        check(options.check)
    make(IMAGE, OUT)
    make(IMAGE | {"cap_pool": 1, "draft_dim": 6, "draft_width": 18, "draft_places": 12, "draft_words": 40}, POOLED_OUT)
