# SPDX-FileCopyrightText: 2026 The Zenith authors
# SPDX-License-Identifier: Apache-2.0
"""Training of text encoders with diffusion transformers."""
import array
import json
import math
import os
import random
import shutil
import struct

from run_checks import (check, check_same_bits, compare_steps, GOLDEN, judged_of, log_of, losses_of, read_json, refuse,
                        results_of, ROOT, safetensors, train, write_config, zenith)

TINY_WORDS = GOLDEN / "words_train"
TINY_WORDS_POOLED = GOLDEN / "words_pooled"


def words_start(folder, golden=TINY_WORDS):
    """The golden's weights with the tensor that is a formula (tools/make_words_goldens.py)."""
    start = folder / "start"
    if start.exists():
        return start
    shutil.copytree(golden, start)
    path = start / "transformer/model.safetensors"
    data = path.read_bytes()
    values = [struct.pack("<f", (k - 128) / 1024)[2:] for k in range(256)]  # exact in bf16
    made = b"".join(values[(i * 2654435761 & 0xffffffff) >> 24] for i in range(1024 * 256))
    metadata = safetensors.split(data)[0].get("__metadata__")
    path.write_bytes(safetensors.pack(safetensors.unpack(data) | {"t_embedder.mlp.0.weight": ("BF16", [1024, 256], made)}, metadata))
    return start


def write_latents(path, shape, values):
    path.write_bytes(safetensors.pack({"latent": ("F32", shape, array.array("f", values).tobytes())}))
    return str(path)


def plain_latents(path):
    """Four latents, which are -2 or 2 all over. Each is 32 tokens, so that there is no padding."""
    return write_latents(path, [4, 4, 8, 16], [2 - 4 * (i % 2) for i in range(4) for _ in range(4 * 8 * 16)])


def words_config(folder, name, of=TINY_WORDS, **more):
    golden = read_json(of / "ten_losses.json")
    return write_config(folder, name, {
        "model": "z-image", "task": "words", "init": {"weights": str(words_start(folder, of))}, "batch": golden["batch"],
        "steps": 10, "optimizer": golden["optimizer"],
        "data": {"latents": str(TINY_WORDS / "latents.safetensors"), "captions": str(TINY_WORDS / "captions.jsonl"),
                 "drop": golden["drop"], "seed": golden["seed"]},
        "dtype": "f32", "threads": 2, "checkpoint_every": 7, "output": str(folder / name)} | more)


def words_gradient_error(folder, name, beta, of):
    """The worst tensor's, and its name; of one tensor the golden has two factors."""
    moments = safetensors.floats(folder / name / "checkpoint-00000001.safetensors")
    golden = safetensors.floats(of / "gradients.safetensors")
    factored = "t_embedder.mlp.0.weight"
    left, right = golden.pop(f"{factored}.left"), golden.pop(f"{factored}.right")
    golden[factored] = [left[o] * right[i] + left[1024 + o] * right[256 + i] for o in range(1024) for i in range(256)]
    check({"m." + tensor for tensor in golden} == {key for key in moments if key.startswith("m.")}, "other tensors are trained")
    errors = []
    for tensor, theirs in golden.items():
        norm = sum(b * b for b in theirs)**0.5
        check(norm > 1e-6, f"{tensor} has no gradient")
        ours = moments["m." + tensor]
        errors.append((sum((a / (1 - beta) - b)**2 for a, b in zip(ours, theirs, strict=True))**0.5 / norm, tensor))
    print(f"{len(errors)} tensors have a gradient")
    return max(errors)


def words_as_pytorch(options, folder, of=TINY_WORDS, **more):
    """The run "whole", and its gradients and losses beside PyTorch's."""
    golden = read_json(of / "ten_losses.json")
    settings = golden["optimizer"]
    train(options, words_config(folder, "first", of, steps=1, optimizer=settings | {"clip": 0, "warmup": 0}, **more))
    worst, tensor = words_gradient_error(folder, "first", settings["beta1"], of)
    print(f"the worst tensor of the gradient, {tensor}, differs by {worst:.1e} of its norm")
    check(worst <= 1e-4, "the gradients differ")
    train(options, words_config(folder, "whole", of, **more))
    compare_steps(folder, "whole", golden["steps"], loss=1e-5, norm=1e-4)


def words_moments(options, folder, name, **more):
    """The gradient of the first step, but for a factor, as one list for each tensor."""
    train(options, words_config(folder, name, steps=1, optimizer={"clip": 0, "warmup": 0}, **more))
    return {key: value for key, value in safetensors.floats(folder / name / "checkpoint-00000001.safetensors").items() if key[:2] == "m."}


def test_words_stack(options, folder):
    """Several samples in one run: what they are by themselves."""
    words_as_pytorch(options, folder, stack=2)
    check_same_bits(options, folder, "whole", 4, words_config, stack=2)
    usual = {"data": {"latents": plain_latents(folder / "plain.safetensors"), "captions": str(TINY_WORDS / "captions.jsonl")},
             "batch": 6}
    usual["validation"] = usual["data"] | {"count": 4}
    single = words_moments(options, folder, "single", validate_every=1, **usual)
    for stack in (2, 3, 6):
        stacked = words_moments(options, folder, f"by{stack}", validate_every=1, **usual, stack=stack)
        worst = max((sum((a - b)**2 for a, b in zip(stacked[key], value, strict=True)) / sum(b * b for b in value))**0.5
                    for key, value in single.items() if any(value))
        print(f"{stack} in a run: the worst tensor of the gradient differs by {worst:.1e} of its norm")
        check(worst <= 1e-5, "the gradient is not the sum of those of single samples")
    judged = [next(line["validation"]["loss"] for line in log_of(folder, name) if "validation" in line) for name in ("single", "by2")]
    check(abs(judged[0] - judged[1]) <= 1e-5 * judged[0], f"judged as {judged}")
    check("multiple" in train(options, words_config(folder, "uneven", stack=3), code=1).stderr, "3 do not divide 2")
    refuse(options, "stack", "train", words_config(folder, "whole", stack=1), "--resume")


def test_words_pooled(options, folder):
    """A transformer whose caption also scales and shifts the image's tokens."""
    words_as_pytorch(options, folder, TINY_WORDS_POOLED)
    shutil.rmtree(folder / "first"), shutil.rmtree(folder / "whole")
    words_as_pytorch(options, folder, TINY_WORDS_POOLED, stack=2)


def test_words_distil(options, folder):
    """A student of few steps, whose teacher is what it begins with: losses beside PyTorch's, and the same bits however it is run."""
    golden = read_json(ROOT / "tests/golden/words_distil.json")
    train(options, words_config(folder, "whole", distil=golden["distil"]))
    compare_steps(folder, "whole", golden["steps"], loss=1e-5)
    check_same_bits(options, folder, "whole", 4, words_config, distil=golden["distil"])
    other = golden["distil"] | {"inner": 3}
    check("distil.inner" in train(options, words_config(folder, "whole", distil=other), "--resume", code=1).stderr, "resumed as another")
    refuse(options, "init.weights", "train", words_config(folder, "new", distil=other, init={"seed": 1}))
    refuse(options, "guidance", "train", words_config(folder, "new", distil=other, guidance=2))


def refuse_words(options, folder, data, start):
    """What does not fit is named."""
    captions = (TINY_WORDS / "captions.jsonl").read_text().splitlines(keepends=True)
    changes = {"no-empty": "".join(captions[1:]), "few": "".join(captions[:-1]), "unknown": "".join(captions).replace("39", "40"),
               "long": "".join(captions[:-1]) + json.dumps({"ids": [1] * 33}) + "\n"}
    for name, word in (("no-empty", "dropped"), ("few", "of 3 pictures"), ("unknown", "line 2"), ("long", "1 to 32")):
        (folder / f"{name}.jsonl").write_text(changes[name])
        refuse(options, word, "train", words_config(folder, name, data=data | {"captions": str(folder / f"{name}.jsonl")}))
    for name, change, word in (("width", {"text": start["text"] | {"hidden_size": 12}}, "cap_feat_dim"),
                               ("channels", {"network": start["network"] | {"in_channels": 5}}, "5"),
                               ("text", {"text": {"hidden_size": 0}}, "width"),
                               ("model", {"model": "qwen3"}, "must be z-image"),
                               ("crop", {"data": data | {"crop": 32}}, "crop"),
                               ("drop", {"data": data | {"drop": 2}}, "data.drop")):
        refuse(options, word, "train", words_config(folder, name, **start | change))
    return 0


def test_words(options, folder):
    words_as_pytorch(options, folder)
    check_same_bits(options, folder, "whole", 4, words_config)
    train(options, words_config(folder, "further", steps=2, init={"weights": str(folder / "whole/ema")}))

    text, network = (read_json(TINY_WORDS / name / "config.json") for name in ("text_encoder", "transformer"))
    data = json.loads(words_config(folder, "x").read_text())["data"]
    seen = {"latents": plain_latents(folder / "plain.safetensors"), "captions": data["captions"]}
    random_start = {"init": {"seed": 3}, "text": text, "network": network, "data": seen, "validation": seen | {"count": 3},
                    "validate_every": 40, "steps": 40, "batch": 4, "dtype": "bf16", "optimizer": {"lr": 1e-2, "warmup": 5}}
    train(options, words_config(folder, "bf16", **random_start))
    train(options, words_config(folder, "bf16-one", threads=1, **random_start), "--steps", "9")
    losses = losses_of(folder, "bf16")
    check(losses[:9] == losses_of(folder, "bf16-one"), "other losses on one thread in bf16")
    early, late = sum(losses[:10]) / 10, sum(losses[-10:]) / 10
    judged = judged_of(folder, "bf16")
    print(f"bf16, from random weights: {early:.4f} to {late:.4f}; held back: {judged}")
    check(4 < losses[0] < 6, "the first velocity is not zero, as the last layer's weights are")
    check(late < 0.7 * early, "it does not learn")
    check(0 < judged["loss"] < 5, "the judgement is none")
    return refuse_words(options, folder, data, random_start)


def test_words_captions(options, folder):
    """A picture has several captions: each epoch draws one. Weights stay as they are, so that losses tell which it was."""
    lists = [[[3, 17, 25], [30, 2]], [[11, 2], [7, 7, 7]], [[30, 30, 4], [21]], [[5, 28, 14], [9]]]
    files = {"first": [a for a, _ in lists], "second": [b for _, b in lists], "both": lists}
    for name, ids in files.items():
        (folder / f"{name}.jsonl").write_text("".join(json.dumps({"ids": one}) + "\n" for one in ids))
        data = json.loads(words_config(folder, "x").read_text())["data"] | {"captions": str(folder / f"{name}.jsonl"), "drop": 0}
        train(options, words_config(folder, name, data=data, batch=1, steps=24, optimizer={"lr": 1e-30, "weight_decay": 0}))
    first, second, both = (losses_of(folder, name) for name in files)
    taken = [0 if c == a else 1 if c == b else -1 for a, b, c in zip(first, second, both, strict=True)]
    print(f"captions of 24 samples of 4 pictures: {taken}")
    check(-1 not in taken and 6 <= sum(taken) <= 18, "captions are not drawn")
    check(len({tuple(taken[i:i + 4]) for i in range(0, 24, 4)}) > 2, "captions are not drawn anew")


def words_pictures(folder):
    """A tokenizer, four latents that zenith-f1-fast decodes, and their captions as texts."""
    lines = [{"captions": [f"glossy emoji of a {colour} apple", f"{colour} apple, glossy style"], "file": f"{colour}.png"}
             for colour in ("red", "green", "blue", "yellow")]
    (folder / "captions.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    values = [(i * 7919 % 65 - 32) / 32 for i in range(4 * 16 * 8 * 8)]
    return {"latents": write_latents(folder / "latents.safetensors", [4, 16, 8, 8], values), "captions": str(folder / "captions.jsonl")}


def test_words_generate(options, folder):
    """From captions that are texts to a folder that makes pictures, of the size that it was trained on."""
    options.environment = os.environ | {"ZENITH_MODELS": str(ROOT / "models")}
    data = words_pictures(folder)
    zenith(options, "tokenizer", "train", data["captions"], "-o", folder / "tokenizer", "--size", "300")
    text, network = (read_json(TINY_WORDS / name / "config.json") for name in ("text_encoder", "transformer"))
    start = {"init": {"seed": 3}, "text": text | {"vocab_size": 300}, "network": network | {"in_channels": 16, "sample_size": 8, "cap_pool": 1},
             "tokenizer": str(folder / "tokenizer"), "data": data, "batch": 4, "stack": 2, "optimizer": {"lr": 1e-2, "warmup": 2}}
    look = {"validation": data, "sample_every": 5, "samples": 3, "eval_steps": 4, "autoencoder": "zenith-f1-fast"}
    train(options, words_config(folder, "run", **start | look))
    train(options, words_config(folder, "alone", **start | look | {"threads": 1, "sample_every": 10}))
    train(options, words_config(folder, "fault", **start | look | {"autoencoder": "no-such-model"}))
    train(options, words_config(folder, "unseen", **start))
    for name in ("alone", "fault", "unseen"):
        check(results_of(folder, name) == results_of(folder, "run"), f"looking changes what is trained: {name}")
    faults = [line["fault"] for line in log_of(folder, "fault") if "fault" in line]
    check(len(faults) == 2 and "no-such-model" in faults[0], f"faults are {faults}")
    samples = [(folder / name).read_bytes() for name in ("run/samples/00000010.png", "alone/samples/00000010.png")]
    check(samples[0] == samples[1], "one thread and two draw different samples")
    check(struct.unpack(">II", samples[0][16:24]) == (2 * 64 + 4, 3 * 68 - 4), "the samples have another size")
    check((folder / "run/samples/00000005.png").read_bytes() != samples[0], "samples do not change")
    for missing in ("autoencoder", "validation"):
        refuse(options, missing, "train", words_config(folder, "less", **{k: v for k, v in (start | look).items() if k != missing}))
    pictures = []
    for threads in ("1", "2"):
        out = folder / f"{threads}.png"
        zenith(options, "generate", "glossy emoji of a red apple", "-w", folder / "run/ema", "-o", out, "--seed", "7", "--steps", "3",
               "--guidance", "2", "--threads", threads)
        pictures.append(out.read_bytes())
    check(pictures[0] == pictures[1], "one thread and two make different pictures")
    check(struct.unpack(">II", pictures[0][16:24]) == (64, 64), "the picture has another size")
    few = start | {"text": text | {"vocab_size": 270}}
    said = train(options, words_config(folder, "few", **few), code=1).stderr
    check("270" in said and "tokenizer" in said, said)
    (folder / "captions.jsonl").write_text((folder / "captions.jsonl").read_text().replace("a yellow", "a very very" * 20))
    said = train(options, words_config(folder, "left-out", **start), "--log").stderr
    check("1 caption" in said, said)
    (folder / "captions.jsonl").write_text((folder / "captions.jsonl").read_text().replace("yellow", "a very very" * 20))
    refuse(options, "line 4", "train", words_config(folder, "long", **start))


def write_draft(folder, width, inner, places, numbers, words):
    """A random draft, as tools/models/words_draft.py writes them."""
    drawn = random.Random(5)
    shapes = {"draft.words.weight": [words, width], "draft.norm.weight": [width], "draft.w1.weight": [inner, width],
              "draft.w3.weight": [inner, width], "draft.w2.weight": [places * numbers, inner], "draft.w2.bias": [places * numbers]}
    folder.mkdir()
    (folder / "model.safetensors").write_bytes(safetensors.pack({
        name: ("F32", shape, array.array("f", [drawn.gauss(0, 1) for _ in range(math.prod(shape))]).tobytes())
        for name, shape in shapes.items()}))
    return shapes


def test_words_draft(options, folder):
    """A draft that is not trained: it is in the results as it was, and decides pictures."""
    options.environment = os.environ | {"ZENITH_MODELS": str(ROOT / "models")}
    data = words_pictures(folder)
    zenith(options, "tokenizer", "train", data["captions"], "-o", folder / "tokenizer", "--size", "300")
    text, network = (read_json(TINY_WORDS / name / "config.json") for name in ("text_encoder", "transformer"))
    network |= {"in_channels": 16, "sample_size": 8, "draft_dim": 5, "draft_width": 18, "draft_places": 16, "draft_words": 300}
    shapes = write_draft(folder / "draft", 18, 5, 16, 64, 300)
    (folder / "draft/config.json").write_text(json.dumps(network))
    start = {"init": {"seed": 3}, "text": text | {"vocab_size": 300}, "network": network, "tokenizer": str(folder / "tokenizer"), "data": data,
             "draft": str(folder / "draft"), "batch": 4, "stack": 2, "optimizer": {"lr": 1e-2, "warmup": 2}}
    train(options, words_config(folder, "run", **start))
    made, given = (safetensors.floats(folder / name / "model.safetensors") for name in ("run/ema/transformer", "draft"))
    check(all(made[name] == given[name] for name in shapes), "the draft has changed")
    check("draft_embedder.weight" in made, "the denoiser does not see the draft")
    again = {key: value for key, value in start.items() if key not in ("draft", "text", "network")}
    train(options, words_config(folder, "further", **again | {"init": {"weights": str(folder / "run/ema")}}))
    pictures = {}
    for name, prompt in (("red", "red apple"), ("same", "red apple"), ("blue", "blue apple"), ("turned", "apple red")):
        zenith(options, "generate", prompt, "-w", folder / "run/ema", "-o", folder / "x.png", "--seed", "7", "--steps", "2",
               "--threads", "1" if name == "same" else "2")
        pictures[name] = (folder / "x.png").read_bytes()
    check(pictures["red"] == pictures["same"], "one thread and two make different pictures")
    check(len(set(pictures.values())) == 3, "words or their order decide nothing")
    refuse(options, "64x64 only", "generate", "red apple", "-w", folder / "run/ema", "-o", folder / "x.png", "--size", "128x128")
    refuse(options, "words_draft.py", "train", words_config(folder, "none", **{key: value for key, value in start.items() if key != "draft"}))
    refuse(options, "draft", "train", words_config(folder, "places", **start | {"network": network | {"draft_places": 15}}))
