#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Zenith authors
# SPDX-License-Identifier: Apache-2.0
"""Random weights of a full-size Z-Image: text encoder Qwen3-4B and transformer, in the forms that people download.

    bench/make_zimage.py FOLDER                          all forms: 48 GB
    bench/make_zimage.py FOLDER --forms bf16 q4_0        some of them
    bench/make_zimage.py FOLDER --layers 2               2 layers of the published widths, in FOLDER as well
    bench/make_zimage.py FOLDER --outliers 4             4 columns of each large matrix are 50 times the others

Each form is a folder below FOLDER that `zenith generate -w` takes, with model_index.json, text_encoder, transformer,
tokenizer, scheduler and vae:

    bf16        safetensors in shards, diffusers' names: 20.5 GB
    q4_0, q8_0  GGUF: the transformer's own layers in that type, its refiners in Q8_0, the rest in F32; names as
                published for both networks; 6.1 GB and 10.9 GB
    int8        safetensors with ComfyUI's names: rows of INT8 with a scale each, rotated by 256 ("convrot"), the text
                encoder's likewise; 10.6 GB
    int8_plain  the same without rotation; only where --forms names it

All forms are of the same numbers, rounded to bf16 first, and the same bytes for the same seed. Shapes are the published ones. Products
have weights of variance 1 / inputs and norms a gain near 1, so that values stay near 1. What is missing to the
published weights is their content: use these for speed, memory and arithmetic.

The rows of a matrix are rows of one random table for each number of inputs, which has 4099 rows: a matrix begins at a
row by its name and takes those that follow, from the first again after the last. So each row is as random as it
should be, but a matrix of 10240 outputs has each row two or three times, and a table is quantised once for all
matrices: disks are then what this waits for. Memory stays below 2 GB.

Needs numpy.
"""
import argparse
import collections
import json
import math
import pathlib
import shutil
import struct
import sys
import zlib

from common import ROOT, environment

environment.enter("numpy")

import numpy as np

import make_vae

TABLE_ROWS = 4099  # a prime: rows that two matrices share do not meet in step
HEAVY, LEAST_HEAVY_INPUTS = 50, 2560
WIDTH, INNER, REFINERS, LAYERS, CONDITION, CAPTION, HEAD = 3840, 10240, 2, 30, 256, 2560, 128
TEXT_WIDTH, TEXT_INNER, TEXT_LAYERS, QUERIES, KEYS, VOCABULARY = 2560, 9728, 36, 4096, 1024, 151936
SHARD_BYTES, GROUP, ALIGN = 5_000_000_000, 256, 32
FORMS = ("bf16", "q4_0", "q8_0", "int8", "int8_plain")
USUAL = FORMS[:4]
GGUF_TYPES = {"F32": 0, "Q4_0": 2, "Q8_0": 8}
BLOCK_BYTES = {"Q4_0": 18, "Q8_0": 34}  # of 32 weights

# A matrix as a network has it, or a vector: its rows are those of `pieces`, each a name and a number of rows.
Weight = collections.namedtuple("Weight", "name pieces inputs gain large")
# What a file has: name, type, shape, and a function that gives its bytes chunk by chunk.
Stored = collections.namedtuple("Stored", "name kind shape chunks")


# --- networks: names are diffusers' and transformers'


def matrix(name, outputs, inputs, large=True, gain=1.0):
    return Weight(name + ".weight", ((name + ".weight", outputs),), inputs, gain, large)


def vector(name, count):
    return Weight(name, ((name, 1),), count, 1.0, False)


def block(prefix, modulated):
    yield from (matrix(f"{prefix}.attention.to_{x}", WIDTH, WIDTH) for x in "qkv")
    yield matrix(prefix + ".attention.to_out.0", WIDTH, WIDTH)
    yield from (vector(f"{prefix}.attention.norm_{x}.weight", HEAD) for x in "qk")
    yield matrix(prefix + ".feed_forward.w1", INNER, WIDTH)
    yield matrix(prefix + ".feed_forward.w2", WIDTH, INNER)
    yield matrix(prefix + ".feed_forward.w3", INNER, WIDTH)
    for norm in ("attention_norm1", "attention_norm2", "ffn_norm1", "ffn_norm2"):
        yield vector(f"{prefix}.{norm}.weight", WIDTH)
    if modulated:
        yield matrix(prefix + ".adaLN_modulation.0", 4 * WIDTH, CONDITION, gain=0.3)
        yield vector(prefix + ".adaLN_modulation.0.bias", 4 * WIDTH)


def transformer(layers):
    for name, outputs, inputs in (("all_x_embedder.2-1", WIDTH, 64), ("all_final_layer.2-1.linear", 64, WIDTH),
                                  ("all_final_layer.2-1.adaLN_modulation.1", WIDTH, CONDITION),
                                  ("t_embedder.mlp.0", 1024, CONDITION), ("t_embedder.mlp.2", CONDITION, 1024),
                                  ("cap_embedder.1", WIDTH, CAPTION)):
        yield matrix(name, outputs, inputs, large=False)
        yield vector(name + ".bias", outputs)
    yield vector("cap_embedder.0.weight", CAPTION)
    yield vector("x_pad_token", WIDTH)
    yield vector("cap_pad_token", WIDTH)
    for i in range(REFINERS):
        yield from block(f"noise_refiner.{i}", True)
        yield from block(f"context_refiner.{i}", False)
    for i in range(layers):
        yield from block(f"layers.{i}", True)


def text_encoder(layers):
    yield matrix("model.embed_tokens", VOCABULARY, TEXT_WIDTH)
    for i in range(layers):
        prefix = f"model.layers.{i}."
        for name, outputs, inputs in (("q_proj", QUERIES, TEXT_WIDTH), ("k_proj", KEYS, TEXT_WIDTH),
                                      ("v_proj", KEYS, TEXT_WIDTH), ("o_proj", TEXT_WIDTH, QUERIES)):
            yield matrix(prefix + "self_attn." + name, outputs, inputs)
        yield matrix(prefix + "mlp.gate_proj", TEXT_INNER, TEXT_WIDTH)
        yield matrix(prefix + "mlp.up_proj", TEXT_INNER, TEXT_WIDTH)
        yield matrix(prefix + "mlp.down_proj", TEXT_WIDTH, TEXT_INNER)
        for norm, count in (("self_attn.q_norm", HEAD), ("self_attn.k_norm", HEAD), ("input_layernorm", TEXT_WIDTH),
                            ("post_attention_layernorm", TEXT_WIDTH)):
            yield vector(prefix + norm + ".weight", count)
    yield vector("model.norm.weight", TEXT_WIDTH)


# --- names of single files

FUSED = (("attention.to_out.0.", "attention.out."), ("attention.norm_q.", "attention.q_norm."),
         ("attention.norm_k.", "attention.k_norm."), ("all_x_embedder.2-1.", "x_embedder."),
         ("all_final_layer.2-1.", "final_layer."))
GGUF_TEXT = (("model.embed_tokens.", "token_embd."), ("model.norm.", "output_norm."), ("model.layers.", "blk."),
             ("self_attn.o_proj.", "attn_output."), ("self_attn.q_norm.", "attn_q_norm."),
             ("self_attn.k_norm.", "attn_k_norm."), ("self_attn.q_proj.", "attn_q."), ("self_attn.k_proj.", "attn_k."),
             ("self_attn.v_proj.", "attn_v."), ("input_layernorm.", "attn_norm."),
             ("post_attention_layernorm.", "ffn_norm."), ("mlp.gate_proj.", "ffn_gate."),
             ("mlp.up_proj.", "ffn_up."), ("mlp.down_proj.", "ffn_down."))


def rename(name, table):
    for old, new in table:
        name = name.replace(old, new)
    return name


def fused(weights):
    """Queries, keys and values of the transformer as one matrix; names of single files."""
    pieces = []
    for weight in weights:
        if ".attention.to_" in weight.name and ".to_out." not in weight.name:
            pieces += weight.pieces
            if ".to_v." not in weight.name:
                continue
            weight = weight._replace(name=weight.name.replace("to_v", "qkv"), pieces=tuple(pieces))
            pieces = []
        yield weight._replace(name=rename(weight.name, FUSED))


# --- numbers


def to_bf16(values):
    return make_vae.to_bf16(np.ascontiguousarray(values, np.float32))


def from_bf16(bits):
    return (bits.astype(np.uint32) << 16).view(np.float32)


def rotate(values):
    """Each run of 256 columns by the rotation of convrot, in place: four passes over quads that are 1, 4, 16, 64 apart."""
    for stride in (1, 4, 16, 64):
        quads = values.reshape(-1, 4, stride)
        half = quads.sum(axis=1, keepdims=True) * np.float32(0.5)
        quads[...] = half - quads[:, ::-1]
    return values


def int8_rows(values):
    scales = np.maximum(np.abs(values).max(axis=1), np.float32(1e-30)) / np.float32(127)
    return np.rint(values / scales[:, None]).astype(np.int8), scales.astype(np.float32)


def blocks_q8_0(values):
    runs = values.reshape(-1, 32)
    steps = np.abs(runs).max(axis=1) / np.float32(127)
    numbers = np.rint(runs / np.where(steps == 0, 1, steps)[:, None]).astype(np.int8)
    out = np.empty((len(runs), 34), np.uint8)
    out[:, :2] = steps.astype(np.float16)[:, None].view(np.uint8)
    out[:, 2:] = numbers.view(np.uint8)
    return out.reshape(len(values), -1)


def blocks_q4_0(values):
    """The number of largest magnitude is -8; number j lies in the low half of byte j, number j + 16 in the high half."""
    runs = values.reshape(-1, 32)
    largest = np.take_along_axis(runs, np.abs(runs).argmax(axis=1)[:, None], axis=1)[:, 0]
    steps = largest / np.float32(-8)
    numbers = np.floor(runs / np.where(steps == 0, 1, steps)[:, None] + np.float32(8.5)).clip(0, 15).astype(np.uint8)
    out = np.empty((len(runs), 18), np.uint8)
    out[:, :2] = steps.astype(np.float16)[:, None].view(np.uint8)
    out[:, 2:] = numbers[:, :16] | numbers[:, 16:] << 4
    return out.reshape(len(values), -1)


class Numbers:
    """The random tables, and what forms make of them."""

    def __init__(self, seed, outliers):
        self.seed, self.outliers = seed, outliers
        self.made = {}

    def table(self, inputs, gain):
        """[TABLE_ROWS, inputs], rounded to bf16."""
        random = np.random.default_rng((self.seed, inputs))
        values = random.standard_normal((TABLE_ROWS, inputs), dtype=np.float32)
        variance = float(inputs)
        if self.outliers and inputs >= LEAST_HEAVY_INPUTS:
            values[:, random.choice(inputs, self.outliers, replace=False)] *= HEAVY
            variance += self.outliers * (HEAVY ** 2 - 1)
        values *= np.float32(gain / math.sqrt(variance))
        return from_bf16(to_bf16(values))

    def encode(self, values, kind):
        if kind == "F32":
            return values
        if kind == "BF16":
            return to_bf16(values)
        if kind == "Q4_0":
            return blocks_q4_0(values)
        if kind == "Q8_0":
            return blocks_q8_0(values)
        return int8_rows(rotate(values) if kind == "I8R" else values)

    def encoded(self, inputs, gain, kind):
        key = (inputs, gain, kind)
        if key not in self.made:
            self.made[key] = self.encode(self.table(inputs, gain), kind)
        return self.made[key]

    def vector(self, name, count):
        noise = np.random.default_rng((self.seed, zlib.crc32(name.encode()))).standard_normal(count, dtype=np.float32)
        if "norm" in name or name == "cap_embedder.0.weight":
            noise = np.float32(0.1) * noise + np.float32(1)
        elif name.endswith(".bias"):
            noise *= np.float32(0.02)
        return from_bf16(to_bf16(noise))

    def chunks(self, weight, kind, part=None):
        """The bytes of a weight; part: of a pair of arrays, which one."""
        if weight.pieces[0][1] == 1:
            yield self.encode(self.vector(weight.pieces[0][0], weight.inputs), kind)
            return
        table = self.encoded(weight.inputs, weight.gain, kind)
        table = table if part is None else table[part]
        for name, rows in weight.pieces:
            at = zlib.crc32(name.encode()) % TABLE_ROWS
            while rows:
                count = min(rows, TABLE_ROWS - at)
                yield table[at:at + count]
                rows, at = rows - count, (at + count) % TABLE_ROWS


# --- files


def shape_of(weight):
    rows = sum(rows for _, rows in weight.pieces)
    if weight.name.endswith("pad_token"):
        return (1, weight.inputs)
    return (weight.inputs,) if rows == 1 else (rows, weight.inputs)


def size_of(kind, shape):
    count = int(np.prod(shape))
    return count // 32 * BLOCK_BYTES[kind] if kind in BLOCK_BYTES else count * {"F32": 4, "BF16": 2}.get(kind, 1)


def write_chunks(file, stored):
    for chunk in stored.chunks():
        file.write(np.ascontiguousarray(chunk).data)


def write_safetensors(path, tensors):
    header, at = {}, 0
    for stored in tensors:
        end = at + size_of(stored.kind, stored.shape)
        header[stored.name] = {"dtype": stored.kind, "shape": list(stored.shape), "data_offsets": [at, end]}
        at = end
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as file:
        file.write(len(text).to_bytes(8, "little") + text)
        for stored in tensors:
            write_chunks(file, stored)
        if file.tell() != 8 + len(text) + at:
            sys.exit(f"make_zimage: {path}: {file.tell()} bytes, and {8 + len(text) + at} are expected")


def write_shards(folder, name, tensors):
    shards, total = [[]], 0
    for stored in tensors:
        size = size_of(stored.kind, stored.shape)
        if shards[-1] and sum(size_of(s.kind, s.shape) for s in shards[-1]) + size > SHARD_BYTES:
            shards.append([])
        shards[-1].append(stored)
        total += size
    if len(shards) == 1:
        write_safetensors(folder / f"{name}.safetensors", shards[0])
        return
    places = {}
    for i, shard in enumerate(shards):
        file = f"{name}-{i + 1:05}-of-{len(shards):05}.safetensors"
        write_safetensors(folder / file, shard)
        places |= {stored.name: file for stored in shard}
    index = {"metadata": {"total_size": total}, "weight_map": places}
    (folder / f"{name}.safetensors.index.json").write_text(json.dumps(index, indent=1) + "\n")


def gguf_text(text):
    return struct.pack("<Q", len(text)) + text.encode()


def gguf_head(tensors, facts):
    head = b"GGUF" + struct.pack("<IQQ", 3, len(tensors), len(facts))
    for key, value in facts.items():
        head += gguf_text(key)
        head += struct.pack("<I", 8) + gguf_text(value) if isinstance(value, str) else struct.pack("<II", 4, value)
    at = 0
    for stored in tensors:
        dims = [n for i, n in enumerate(stored.shape) if n > 1 or i == len(stored.shape) - 1][::-1]
        head += gguf_text(stored.name) + struct.pack(f"<I{len(dims)}Q", len(dims), *dims)
        head += struct.pack("<IQ", GGUF_TYPES[stored.kind], at)
        at += -(-size_of(stored.kind, stored.shape) // ALIGN) * ALIGN
    return head + bytes(-len(head) % ALIGN)


def write_gguf(path, tensors, facts):
    with open(path, "wb") as file:
        file.write(gguf_head(tensors, facts))
        for stored in tensors:
            write_chunks(file, stored)
            file.write(bytes(-file.tell() % ALIGN))


# --- forms


def plain(numbers, weight, kind, name=None):
    return Stored(name or weight.name, kind, shape_of(weight), lambda: numbers.chunks(weight, kind))


def eight_bit(numbers, weight, rotated):
    """The rows, their scales, and the note that says what they are."""
    note = {"format": "int8_tensorwise"} | ({"convrot": True, "convrot_groupsize": GROUP} if rotated else {})
    note = json.dumps(note).encode()
    kind, shape = "I8R" if rotated else "I8P", shape_of(weight)
    module = weight.name.removesuffix(".weight")
    return [Stored(weight.name, "I8", shape, lambda: numbers.chunks(weight, kind, 0)),
            Stored(weight.name + "_scale", "F32", (shape[0], 1), lambda: numbers.chunks(weight, kind, 1)),
            Stored(module + ".comfy_quant", "U8", (len(note),), lambda: [np.frombuffer(note, np.uint8)])]


def write_bf16(numbers, layers, folder):
    text, image = folder / "text_encoder", folder / "transformer"
    write_shards(text, "model", [plain(numbers, w, "BF16") for w in text_encoder(layers[0])])
    write_shards(image, "diffusion_pytorch_model", [plain(numbers, w, "BF16") for w in transformer(layers[1])])


def gguf_kind(weight, kind):
    """As the files of the transformer are published."""
    if not weight.large:
        return "F32"
    return "Q8_0" if "_refiner" in weight.name else kind


def write_ggufs(numbers, layers, folder, kind):
    text = [plain(numbers, w, gguf_kind(w, kind), rename(w.name, GGUF_TEXT)) for w in text_encoder(layers[0])]
    write_gguf(folder / f"text_encoder/qwen3-4b-{kind}.gguf", text,
               {"general.architecture": "qwen3", "qwen3.block_count": layers[0]})
    image = [plain(numbers, w, gguf_kind(w, kind)) for w in fused(transformer(layers[1]))]
    write_gguf(folder / f"transformer/z_image-{kind}.gguf", image, {})


def write_int8(numbers, layers, folder, rotated):
    text, image = [], []
    for weight in text_encoder(layers[0]):
        low = weight.large and "embed_tokens" not in weight.name
        text += eight_bit(numbers, weight, rotated) if low else [plain(numbers, weight, "BF16")]
    for weight in fused(transformer(layers[1])):
        image += eight_bit(numbers, weight, rotated) if weight.large else [plain(numbers, weight, "F32")]
    write_safetensors(folder / "text_encoder/model.safetensors", text)
    write_safetensors(folder / "transformer/diffusion_pytorch_model.safetensors", image)


def write_form(form, numbers, layers, folder):
    if form == "bf16":
        write_bf16(numbers, layers, folder)
    elif form.startswith("q"):
        write_ggufs(numbers, layers, folder, form.upper())
    else:
        write_int8(numbers, layers, folder, form == "int8")


# --- what lies around them


def transformer_config(layers):
    return {"_class_name": "ZImageTransformer2DModel", "all_patch_size": [2], "all_f_patch_size": [1],
            "in_channels": 16, "dim": WIDTH, "n_layers": layers, "n_refiner_layers": REFINERS, "n_heads": 30,
            "n_kv_heads": 30, "norm_eps": 1e-5, "qk_norm": True, "cap_feat_dim": CAPTION, "rope_theta": 256.0,
            "t_scale": 1000.0, "axes_dims": [32, 48, 48], "axes_lens": [1536, 512, 512]}


def text_config(layers):
    return {"architectures": ["Qwen3ForCausalLM"], "model_type": "qwen3", "hidden_size": TEXT_WIDTH,
            "num_hidden_layers": layers, "num_attention_heads": QUERIES // HEAD, "num_key_value_heads": KEYS // HEAD,
            "head_dim": HEAD, "intermediate_size": TEXT_INNER, "vocab_size": VOCABULARY, "rms_norm_eps": 1e-6,
            "rope_theta": 1000000, "tie_word_embeddings": True, "attention_bias": False, "hidden_act": "silu",
            "max_position_embeddings": 40960, "torch_dtype": "bfloat16"}

INDEX = {"_class_name": "ZImagePipeline", "scheduler": ["diffusers", "FlowMatchEulerDiscreteScheduler"],
         "text_encoder": ["transformers", "Qwen3Model"], "tokenizer": ["transformers", "Qwen2Tokenizer"],
         "transformer": ["diffusers", "ZImageTransformer2DModel"], "vae": ["diffusers", "AutoencoderKL"]}
SCHEDULE = {"_class_name": "FlowMatchEulerDiscreteScheduler", "num_train_timesteps": 1000, "shift": 3.0,
            "use_dynamic_shifting": False}


def write_json(path, value):
    path.write_text(json.dumps(value, indent=2) + "\n")


def write_around(folder, layers, tokenizer):
    for name in ("text_encoder", "transformer", "tokenizer", "scheduler"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    write_json(folder / "model_index.json", INDEX)
    write_json(folder / "scheduler/scheduler_config.json", SCHEDULE)
    write_json(folder / "text_encoder/config.json", text_config(layers[0]))
    write_json(folder / "transformer/config.json", transformer_config(layers[1]))
    shutil.copyfile(tokenizer, folder / "tokenizer/qwen.tiktoken")
    if not (folder / "vae").is_symlink():
        (folder / "vae").symlink_to("../vae")


def make(folder, forms=USUAL, layers=LAYERS, seed=1, outliers=0, tokenizer=ROOT / ".deps/qwen.tiktoken"):
    """Forms that are there already, of the same facts, stay."""
    numbers = Numbers(seed, outliers)
    # Of the text encoder one layer more: the last is in the file and never computed.
    counts = (TEXT_LAYERS if layers == LAYERS else min(layers + 1, TEXT_LAYERS), layers)
    facts = {"layers": counts, "seed": seed, "outliers": outliers}
    folder.mkdir(parents=True, exist_ok=True)
    if not (folder / "vae/config.json").exists():
        make_vae.make("flux", folder / "vae", seed, bf16=True)
    for form in forms:
        done = folder / form / "made.json"
        if done.exists() and json.loads(done.read_text()) == json.loads(json.dumps(facts)):
            continue
        done.unlink(missing_ok=True)
        write_around(folder / form, counts, tokenizer)
        write_form(form, numbers, counts, folder / form)
        write_json(done, facts)
        numbers.made.clear()
        print(folder / form, flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--forms", nargs="+", choices=FORMS, default=USUAL)
    parser.add_argument("--layers", type=int, default=LAYERS)
    parser.add_argument("--outliers", type=int, default=0, metavar="COLUMNS")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--tokenizer", type=pathlib.Path, default=ROOT / ".deps/qwen.tiktoken",
                        help="the vocabulary; tools/bootstrap fetches it")
    options = parser.parse_args()
    if not options.tokenizer.exists():
        sys.exit(f"make_zimage: {options.tokenizer} is missing: run tools/bootstrap, or name it by --tokenizer")
    make(options.folder, options.forms, options.layers, options.seed, options.outliers, options.tokenizer)


if __name__ == "__main__":
    main()
