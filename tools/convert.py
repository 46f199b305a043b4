#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Zenith authors
# SPDX-License-Identifier: Apache-2.0
"""Converts a PyTorch checkpoint (.pth, .pt, .ckpt, .bin) into a .safetensors file that Zenith reads.

The checkpoint is loaded with weights_only=True, so that a hostile pickle cannot run code. Names are kept; nested
dictionaries are joined by dots. Where the outermost dictionary has a "state_dict" (or one of its usual other names),
the weights are that one, and what lies beside it (epochs, optimisers) is left out and listed. Anything else that is
not a tensor stops the conversion with a list, unless --skip says that it may be left out too.

    tools/convert.py IN.pth OUT.safetensors [--dtype keep|f32|bf16|f16] [--skip]

With --diffae the checkpoint is a Lightning .ckpt of a diffusion autoencoder, and the output is a folder with
config.json and model.safetensors: the averaged weights (ema_model) and the statistics of codes. TEMPLATE is a name or
a file of models/diffae. latent.pkl has the statistics too; the classifier of attributes is a checkpoint of its own.

    tools/convert.py --diffae TEMPLATE IN.ckpt FOLDER [--latents latent.pkl] [--classifier CLS.ckpt] [--dtype ..]

Such checkpoints hold objects of the training program beside weights. Those are read as empty objects: no class or
function but those that tensors are made of is ever called.
"""
import argparse
import json
import os
import pathlib
import pickle
import sys

import environment  # noqa: E402

environment.enter("torch", "safetensors", make=False)

import torch
from safetensors.torch import save_file

DTYPES = {"f32": torch.float32, "bf16": torch.bfloat16, "f16": torch.float16}
WRAPPERS = ("state_dict", "model_state_dict", "params_ema", "params")


def load(path):
    try:
        return torch.load(path, map_location="cpu", weights_only=True)
    except pickle.UnpicklingError as error:
        reason = next((line for line in str(error).splitlines() if "global" in line), "not a pickle of weights")
        sys.exit(f"convert: {path} holds more than weights, and reading that could run code: {reason.strip()}")
    except (OSError, EOFError, RuntimeError, ValueError) as error:
        sys.exit(f"convert: {path} cannot be read: {error}")


def unwrap(checkpoint):
    """The weights, and the names of what lies beside them."""
    if isinstance(checkpoint, dict):
        for key in WRAPPERS:
            if isinstance(checkpoint.get(key), dict):
                return checkpoint[key], [str(other) for other in checkpoint if other != key]
    return checkpoint, []


def flatten(value, name, tensors, others):
    """Collects tensors by dotted name, and the names of everything else."""
    if isinstance(value, torch.Tensor):
        if name in tensors:
            sys.exit(f"convert: the name {name} results twice")
        tensors[name] = value
    elif isinstance(value, dict):
        for key, inner in value.items():
            flatten(inner, f"{name}.{key}" if name else str(key), tensors, others)
    else:
        others.append(f"{name or '(the whole file)'}: {type(value).__name__}")


def converted(tensor, dtype):
    """A dense tensor of its own on the CPU; only floating-point ones change their type."""
    tensor = tensor.detach().to("cpu")
    if tensor.layout is not torch.strided or tensor.is_quantized:
        raise ValueError(f"layout {tensor.layout}, dtype {tensor.dtype}")
    if dtype != "keep" and tensor.is_floating_point():
        tensor = tensor.to(DTYPES[dtype])
    return tensor.clone(memory_format=torch.contiguous_format)  # tied weights must not share memory


class Inert:
    """Stands for an object of a class that is not known here: takes whatever a pickle does to it, and forgets it."""

    def __init__(self, *_, **__):
        pass

    def __call__(self, *_, **__):
        return Inert()

    __setstate__ = __setitem__ = append = extend = add = update = lambda *_: None


class TensorsOnly(pickle.Unpickler):
    """Knows what tensors are made of; every other class or function is Inert."""

    KNOWN = {("collections", "OrderedDict"), ("torch._utils", "_rebuild_tensor_v2"),
             ("torch._utils", "_rebuild_parameter"), ("torch", "Size")}

    def find_class(self, module, name):
        if (module, name) in self.KNOWN:
            return super().find_class(module, name)
        if module == "torch" and isinstance(getattr(torch, name, None), torch.dtype):
            return getattr(torch, name)
        return Inert


class TensorsOnlyPickle:
    """What torch.load asks of a pickle module."""

    __name__ = "tensors_only"
    Unpickler = TensorsOnly

    @staticmethod
    def load(file, **options):
        return TensorsOnly(file, **options).load()


def load_lightning(path):
    """The state_dict of a checkpoint, or a dictionary of tensors as it is."""
    try:
        loaded = torch.load(path, map_location="cpu", weights_only=False, pickle_module=TensorsOnlyPickle)
    except (OSError, EOFError, RuntimeError, ValueError, TypeError, AttributeError, pickle.UnpicklingError) as error:
        sys.exit(f"convert: {path} cannot be read: {error}")
    tensors = loaded.get("state_dict", loaded) if isinstance(loaded, dict) else {}
    tensors = {name: value for name, value in tensors.items()
               if isinstance(name, str) and isinstance(value, torch.Tensor)}
    if not tensors:
        sys.exit(f"convert: {path} holds no tensors")
    return tensors


def take_statistics(found, tensors):
    for name in ("conds_mean", "conds_std"):
        if name in found:
            tensors[name] = found[name].flatten()


def check_template(tensors, config, path):
    """A template of another model would be refused when it is opened; here the sentence is better."""
    first, code = tensors.get("input_blocks.0.0.weight"), tensors.get("encoder.out.3.weight")
    if first is None or code is None:
        sys.exit(f"convert: {path} has no ema_model of a diffusion autoencoder")
    channels = config["channels"] * config["channel_mult"][0]
    layers = len([name for name in tensors if name.startswith("latent_net.") and name.endswith(".linear.weight")])
    if first.shape[0] != channels or code.shape[0] != config["code"]:
        sys.exit(f"convert: {path} has {first.shape[0]} channels and codes of {code.shape[0]}, the template says "
                 f"{channels} and {config['code']}: name another of models/diffae")
    if layers and layers != config["prior_layers"]:
        sys.exit(f"convert: the prior of {path} has {layers} layers, the template says {config['prior_layers']}")


def collect_diffae(options, config):
    found = load_lightning(options.input)
    tensors = {name.removeprefix("ema_model."): value for name, value in found.items() if name.startswith("ema_model.")}
    for name in list(tensors):  # the prior's scales are there twice
        if ".linear_emb." in name and name.replace("linear_emb", "cond_layers.1") in tensors:
            del tensors[name]
    check_template(tensors, config, options.input)
    take_statistics(found, tensors)
    if options.latents:
        take_statistics(load_lightning(options.latents), tensors)
    if options.classifier:
        found = load_lightning(options.classifier)
        for part in ("weight", "bias"):
            if f"ema_classifier.{part}" not in found:
                sys.exit(f"convert: {options.classifier} has no ema_classifier.{part}")
            tensors[f"classifier.{part}"] = found[f"ema_classifier.{part}"]
        if "conds_mean" not in tensors:
            take_statistics(found, tensors)
    return tensors


def convert_diffae(options):
    template = options.diffae
    if not os.path.exists(template):
        template = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../models/diffae", f"{template}.json")
    try:
        with open(template, encoding="utf-8") as file:
            text = file.read()
        config = json.loads(text)
    except (OSError, ValueError) as error:
        sys.exit(f"convert: the template cannot be read: {error}")
    tensors = {name: converted(value, options.dtype) for name, value in collect_diffae(options, config).items()}
    os.makedirs(options.output, exist_ok=True)
    with open(os.path.join(options.output, "config.json"), "w", encoding="utf-8") as file:
        file.write(text)
    save(tensors, os.path.join(options.output, "model.safetensors"))
    for part, name in (("prior", "latent_net.time_embed.0.weight"), ("statistics of codes", "conds_mean"),
                       ("classifier", "classifier.weight")):
        if name not in tensors:
            print(f"without: {part}")


def save(tensors, path):
    partial = path + ".partial"
    try:
        save_file(tensors, partial, metadata={"format": "pt"})
        os.replace(partial, path)
    finally:
        if os.path.exists(partial):
            os.remove(partial)
    size = sum(tensor.numel() * tensor.element_size() for tensor in tensors.values())
    types = ", ".join(sorted({str(tensor.dtype).removeprefix("torch.") for tensor in tensors.values()}))
    print(f"{path}: {len(tensors)} tensors, {size} bytes, {types}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("input")
    parser.add_argument("output")
    parser.add_argument("--diffae", metavar="TEMPLATE", help="a Lightning checkpoint of a diffusion autoencoder")
    parser.add_argument("--latents", metavar="latent.pkl", help="with --diffae: statistics of codes")
    parser.add_argument("--classifier", metavar="CLS.ckpt", help="with --diffae: the classifier of attributes")
    parser.add_argument("--dtype", choices=["keep", *DTYPES], default="keep")
    parser.add_argument("--skip", action="store_true", help="leave out what is not a tensor")
    options = parser.parse_args()
    if options.diffae:
        return convert_diffae(options)
    if not options.output.endswith(".safetensors"):
        parser.error("the output's name must end in .safetensors")

    weights, beside = unwrap(load(options.input))
    found, others = {}, []
    flatten(weights, "", found, others)
    tensors = {}
    for name, tensor in found.items():
        try:
            tensors[name] = converted(tensor, options.dtype)
        except ValueError as error:
            others.append(f"{name}: {error}")
    if others and not options.skip:
        listed = "\n  ".join(others)
        sys.exit(f"convert: {options.input} holds what is not a plain tensor (--skip leaves it out):\n  {listed}")
    if not tensors:
        sys.exit(f"convert: {options.input} holds no tensors")

    save(tensors, options.output)
    for line in beside + others:
        print(f"left out: {line}")


if __name__ == "__main__":
    main()
