# SPDX-FileCopyrightText: 2026 The Zenith authors
# SPDX-License-Identifier: Apache-2.0
"""Training of diffusion autoencoders, of what draws their codes, and of classifiers."""
import json
import os
import pathlib
import subprocess
import sys
import time

from run_checks import (ALL_PICTURES, check, check_judged, check_resume, check_same, check_same_bits, compare_steps, Failure,
                        FIRST_PICTURE, GOLDEN, gradient_error, HERE, judged_of, log_of, losses_of, read_json, refuse,
                        results_of, ROOT, run_stopped, safetensors, train, write_config, zenith)

TINY_DIFFAE = GOLDEN / "diffae_train"
TINY_DIFFAE_LINEAR = GOLDEN / "diffae_linear_train"
TINY_CODES = GOLDEN / "diffae_codes"


def diffae_config(folder, name, **more):
    golden = read_json(TINY_DIFFAE / "ten_losses.json")
    return write_config(folder, name, {
        "model": "diffae", "task": "diffae", "init": {"weights": str(TINY_DIFFAE)}, "batch": golden["batch"], "steps": 10,
        "data": FIRST_PICTURE | {"crop": 32, "seed": golden["seed"]}, "optimizer": golden["optimizer"], "dtype": "f32", "threads": 2,
        "checkpoint_every": 7, "output": str(folder / name)} | more)


def as_pytorch(options, folder, tiny, name):
    """Gradients and ten losses beside PyTorch's, which may differ by what f32 and f64 differ by there."""
    golden = read_json(tiny / "ten_losses.json")
    settings, start = golden["optimizer"], {"init": {"weights": str(tiny)}}
    bounds = {key: max(least, 4 * golden["rounding"][key]) for key, least in (("loss", 1e-4), ("norm", 1e-3))}
    train(options, diffae_config(folder, f"{name}-first", steps=1, optimizer=settings | {"clip": 0, "warmup": 0}, **start))
    worst = gradient_error(folder, f"{name}-first", settings["beta1"], tiny)
    print(f"{name}: the worst tensor of the gradient differs by {worst:.1e} of its norm")
    check(worst <= 1e-4, "the gradients differ")
    train(options, diffae_config(folder, name, optimizer=settings, **start))
    compare_steps(folder, name, golden["steps"], **bounds)


def sparse_encoder(options, folder, start):
    """An encoder that sees some of the pixels is trained to the same bits on any number of threads, and gives codes of any share."""
    some = start | {"network": start["network"] | {"sparse_encoder": 1, "patch": 2}, "steps": 20, "dtype": "f32"}
    for name, threads in (("sparse", 2), ("sparse-one", 1)):
        train(options, diffae_config(folder, name, threads=threads, **some))
    check(losses_of(folder, "sparse") == losses_of(folder, "sparse-one"), "other losses of a sparse encoder on one thread")
    codes = []
    for share in ("0.2", "0.2", "1"):
        out = folder / f"seen-{len(codes)}.npy"
        zenith(options, "diffae", "features", HERE / "data", "-m", folder / "sparse/ema", "-o", out, "--seen", share, "-q")
        codes.append(out.read_bytes())
    check(codes[0] == codes[1] and codes[0] != codes[2], "the share that is seen does not matter, or what is seen is not repeated")
    for model, noise, word in (("bf16", ["--no-noise"], "sparse_encoder"), ("sparse", ["--steps", "4"], "noise")):
        arguments = ["diffae", "encode", HERE / "data/0.png", "-m", folder / model / "ema", "-o", folder / "one.safetensors"]
        refuse(options, word, *arguments, "--seen", "0.2", *noise)


def linear_codes(options, folder):
    """Codes are PyTorch's; noise gives a picture back; there are no codes of other sizes, and none of networks of other codes."""
    model, picture = folder / "linear/ema", HERE / "data/0.png"
    golden = read_json(TINY_DIFFAE_LINEAR / "ten_losses.json")
    f32 = ("--dtype", "f32", "-q")  # the bounds below are this type's
    zenith(options, "diffae", "encode", picture, "-m", model, "-o", folder / "linear.safetensors", *f32)
    code = safetensors.floats(folder / "linear.safetensors")["z"]
    worst = max(abs(a - b) for a, b in zip(code, golden["code"], strict=True)) / max(map(abs, golden["code"]))
    print(f"linear codes differ by {worst:.1e} of the largest number")
    check(worst <= 1e-5, "the codes differ")
    zenith(options, "diffae", "decode", folder / "linear.safetensors", "-m", model, "-o", folder / "linear.png", *f32)
    zenith(options, "diffae", "encode", folder / "linear.png", "-m", model, "-o", folder / "again.safetensors", "--no-noise", *f32)
    again = safetensors.floats(folder / "again.safetensors")["z"]
    far = (sum((a - b)**2 for a, b in zip(code, again)) / sum(a * a for a in code))**0.5
    print(f"the code of what code and noise give back differs by {far:.1e} of its norm")
    check(far <= 0.15, "code and noise do not give the picture back")
    zenith(options, "diffae", "join", model, "-o", folder / "joined.safetensors", "--store", "f16")
    zenith(options, "diffae", "encode", picture, "-m", folder / "joined.safetensors", "-o", folder / "f16.safetensors", "--no-noise", *f32)
    rounded = safetensors.floats(folder / "f16.safetensors")["z"]
    check(max(abs(a - b) for a, b in zip(code, rounded)) <= 2e-3 * max(map(abs, code)), "codes of the joined file differ")
    refuse(options, "works at 32x32 only", "diffae", "encode", picture, "-m", model, "-o", folder / "other.safetensors", "--size", "64x64")
    network = read_json(TINY_DIFFAE_LINEAR / "config.json")
    for change, word in (({"code": 9}, "9 numbers"), ({"linear_code": 0}, None), ({"sparse_encoder": 1}, "sizes")):
        config = diffae_config(folder, "mixed", init={"seed": 1}, steps=1, optimizer={"lr": 1e-3}, network=network | change,
                               **({"draft": str(TINY_DIFFAE_LINEAR)} if word else {}))
        said = zenith(options, "train", config, code=None)
        check(said.returncode == 0 if word is None else word in said.stderr, f"{change}: {said.stderr}")
    said = zenith(options, "train", diffae_config(folder, "alone", init={"seed": 1}, network=network), code=None)
    check(said.returncode != 0 and "diffae_components.py" in said.stderr, said.stderr)


def with_rounding(options, folder):
    """Training with the rounding of 8-bit floats sees the weights that 'diffae join' stores."""
    stored = folder / "f8.safetensors"
    zenith(options, "diffae", "join", TINY_DIFFAE, "-o", stored, "--store", "f8_e4m3")
    rounding, first = {"quantise": {"type": "f8_e4m3"}}, {}
    for name, start, more in (("plain", TINY_DIFFAE, {}), ("rounding", TINY_DIFFAE, rounding), ("stored", stored, {})):
        train(options, diffae_config(folder, name, init={"weights": str(start)}, steps=1, optimizer={"lr": 1e-3}, **more))
        first[name] = losses_of(folder, name)
    check(first["rounding"] == first["stored"] != first["plain"], f"losses are {first}")


def with_numpy():
    """An interpreter that has numpy: this one, or the system's."""
    for python in (sys.executable, "/usr/bin/python3"):
        if subprocess.run([python, "-c", "import numpy"], capture_output=True).returncode == 0:
            return python
    raise Failure("no numpy: 'tools/bootstrap' installs it")


def test_recall(options, folder):
    """Codes of four pictures become what draws faces, by the tool and by join; each code is drawn the same alone and on any number of
    threads, and with everything telling of everything it is one of the four; edits need a classifier."""
    model, known = TINY_DIFFAE_LINEAR, folder / "known.safetensors"
    zenith(options, "diffae", "features", HERE / "data", "-m", model, "-o", known, "-q")
    tool = [with_numpy(), ROOT / "tools/models/diffae_recall.py", known, "--model", model, "-o", folder / "recall", "--depends", "-9"]
    subprocess.run(list(map(str, tool)), check=True, capture_output=True)
    joined = folder / "joined.safetensors"
    zenith(options, "diffae", "join", model, folder / "recall", "-o", joined, "--store", "f8_e4m3")
    drawn = {}
    for name, count, seed, threads in (("all", 6, 1, 2), ("one", 6, 1, 1), ("third", 1, 3, 2)):
        out = folder / name
        zenith(options, "diffae", "sample", "-m", joined, "-n", count, "--seed", seed, "--steps", 2, "--threads", threads, "-o", f"{out}/", "-q")
        drawn[name] = [path.read_bytes() for path in sorted(out.glob("*.png"))]
    check(len(drawn["all"]) == 6 and drawn["all"] == drawn["one"], "other pictures on one thread")
    check(drawn["third"] == drawn["all"][2:3], "another picture alone")
    check(1 < len(set(drawn["all"])), "all pictures are the same")
    zenith(options, "diffae", "features", folder / "all", "-m", joined, "-o", folder / "again.safetensors", "-q")
    said = zenith(options, "diffae", "edit", HERE / "data/0.png", "-m", joined, "-a", "0", "--strength", "1", "-o", folder / "no.png", code=None)
    check(said.returncode != 0 and "classifier" in said.stderr, said.stderr)
    said = zenith(options, "diffae", "join", TINY_DIFFAE, folder / "recall", "-o", folder / "wrong.safetensors", code=None)
    check(said.returncode != 0 and "recall" in said.stderr, said.stderr)


def test_diffae(options, folder):
    for name, tiny in (("whole", TINY_DIFFAE), ("scan", GOLDEN / "diffae_scan_train"), ("patch", GOLDEN / "diffae_patch_train"),
                       ("linear", TINY_DIFFAE_LINEAR)):
        as_pytorch(options, folder, tiny, name)
    linear_codes(options, folder)
    with_rounding(options, folder)

    check_same_bits(options, folder, "whole", 2, diffae_config)
    check(read_json(folder / "whole/ema/config.json")["code"] == 8, "there is no config.json of the results")

    network = read_json(TINY_DIFFAE / "config.json") | {"attention_resolutions": []}
    seen = ALL_PICTURES | {"count": 2}
    random_start = {"init": {"seed": 3}, "network": network, "batch": 2, "steps": 50, "dtype": "bf16", "validation": seen,
                    "data": ALL_PICTURES | {"crop": 32, "flip": True}, "optimizer": {"lr": 4e-3, "ema": 0.9},
                    "validate_every": 50, "sample_every": 50, "samples": 2, "results_every": 30, "eval_steps": 4}
    train(options, diffae_config(folder, "bf16", **random_start))
    lines = log_of(folder, "bf16")
    losses = losses_of(folder, "bf16")
    early, late = sum(losses[:10]) / 10, sum(losses[-10:]) / 10
    print(f"bf16, from random weights: {early:.4f} to {late:.4f}")
    check(0.8 < losses[0] < 1.2, "the first prediction is not zero, as the last layer's weights are")
    check(late < 0.8 * early, "it does not learn")
    judged = next(line["validation"] for line in lines if "validation" in line)
    print(judged)
    check(judged["psnr"] > 5 and judged["code_psnr"] > 3, "the judgement is none")
    check_judged(folder / "bf16/samples/00000050.png", judged)

    sparse_encoder(options, folder, random_start)
    train(options, diffae_config(folder, "fault", **random_start | {"steps": 2, "validate_every": 1, "eval_steps": 600}))
    faults = [line["fault"] for line in log_of(folder, "fault") if "fault" in line]
    check(len(faults) >= 2 and all("600" in fault for fault in faults), f"faults are {faults}")
    check(len(results_of(folder, "fault")) == 2, "a judgement that failed has ended the run")
    refuse(options, "must be diffae", "train", diffae_config(folder, "model", model="taesd"))


def test_latents(options, folder):
    """Of 32x32 pictures, 4x4 latents."""
    options.environment = os.environ | {"ZENITH_MODELS": str(ROOT / "models")}
    network = {"model": "diffae", "image_size": 32, "autoencoder": "zenith-f1-fast", "in_channels": 16, "channels": 32,
               "channel_mult": [1, 1], "encoder_mult": [1, 1], "res_blocks": 1, "attention_resolutions": [2], "code": 8,
               "timesteps": 100, "clip": False}
    seen = ALL_PICTURES | {"count": 2}
    usual = {"init": {"seed": 3}, "network": network, "batch": 2, "steps": 4, "validation": seen, "checkpoint_every": 1,
             "data": ALL_PICTURES | {"crop": 32, "flip": True}, "optimizer": {"lr": 1e-3, "ema": 0.5},
             "validate_every": 4, "sample_every": 4, "samples": 2, "eval_steps": 4}
    train(options, diffae_config(folder, "whole", **usual))
    broken = diffae_config(folder, "broken", **usual)
    train(options, broken, "--steps", "2")
    stored = next((folder / "broken").glob("latents-*.safetensors"))
    made = stored.stat().st_mtime_ns
    train(options, broken, "--resume", "--steps", "3")
    check(stored.stat().st_mtime_ns == made, "latents were made again")
    stored.unlink()
    train(options, broken, "--resume")
    train(options, diffae_config(folder, "one", **usual | {"threads": 1}))
    check_same(folder, "whole", "broken", "one")
    judged = judged_of(folder, "whole")
    check(judged["psnr"] > 3, f"the judgement is none: {judged}")
    check_judged(folder / "whole/samples/00000004.png", judged)
    config = read_json(folder / "whole/ema/config.json")
    check(len(config["latent_mean"]) == 16 and min(config["latent_std"]) > 0, "config.json has no numbers of latents")

    code, back = folder / "code.safetensors", folder / "back.png"
    for arguments in (("encode", HERE / "data/0.png", "-o", code), ("decode", code, "-o", back)):
        zenith(options, "diffae", *arguments, "-m", folder / "whole/ema", "--steps", "4")
    check(len(safetensors.floats(code)["x_T"]) == 16 * 4 * 4, "the noise is not that of latents")
    again = {"init": {"weights": str(folder / "whole/ema")}, "steps": 1, "validate_every": 0, "sample_every": 0}
    again = {key: value for key, value in (usual | again).items() if key != "network"}
    train(options, diffae_config(folder, "again", **again))
    check(read_json(folder / "again/ema/config.json") == config, "a run from results has another config")
    refuse(options, "autoencoder_sha256", "train", diffae_config(folder, "other", **usual | {"network": network | {"autoencoder_sha256": "00"}}))
    refuse(options, "multiple of 16", "train", diffae_config(folder, "crop", **usual | {"data": usual["data"] | {"crop": 24}}))


def codes_config(folder, name, part, **more):
    golden = read_json(TINY_CODES / part / "ten_losses.json")
    data = {"codes": str(TINY_CODES / "codes.safetensors"), "seed": golden["seed"]}
    if part == "classifier":
        data["labels"] = str(TINY_CODES / "labels.json")
    return write_config(folder, name, {
        "model": "diffae", "task": f"diffae-{part}", "init": {"weights": str(TINY_CODES / part)}, "batch": golden["batch"],
        "steps": 10, "data": data, "optimizer": golden["optimizer"], "threads": 2, "checkpoint_every": 7,
        "output": str(folder / name)} | more)


def test_codes(options, folder):
    for part, least in (("prior", 18), ("classifier", 1)):
        golden = read_json(TINY_CODES / part / "ten_losses.json")
        settings = golden["optimizer"]
        train(options, codes_config(folder, f"{part}-first", part, steps=1, optimizer=settings | {"clip": 0, "warmup": 0}))
        worst = gradient_error(folder, f"{part}-first", settings["beta1"], TINY_CODES / part, least)
        print(f"{part}: the worst tensor of the gradient differs by {worst:.1e} of its norm")
        check(worst <= 1e-4, "the gradients differ")
        train(options, codes_config(folder, part, part))
        compare_steps(folder, part, golden["steps"], loss=1e-4, norm=1e-3)
        run_stopped(options, codes_config(folder, f"{part}-broken", part), 3, 7)
        train(options, codes_config(folder, f"{part}-one", part, threads=1))
        check_same(folder, part, f"{part}-broken", f"{part}-one")
        check(len(results_of(folder, part)) == 2, "there are no results")

        held = {"validation": {"codes": str(TINY_CODES / "codes.safetensors")}, "validate_every": 300, "steps": 300,
                "init": {"seed": 1}, "autoencoder": str(TINY_CODES / part), "optimizer": {"lr": 1e-2, "ema": 0.9}, "batch": 128}
        train(options, codes_config(folder, f"{part}-learns", part, **held))
        losses = losses_of(folder, f"{part}-learns")
        judged = judged_of(folder, f"{part}-learns")
        print(f"{part}, from random weights: {losses[0]:.3f} to {losses[-1]:.3f}; {judged}")
        check(losses[-1] < 0.8 * losses[0], "it does not learn")
        told = safetensors.floats(folder / f"{part}-learns/ema/model.safetensors")
        check(told["conds_mean"] == safetensors.floats(TINY_CODES / "codes.safetensors")["conds_mean"], "the mean of codes is another")
    accuracy = read_json(folder / "classifier-learns/ema/accuracy.json")
    check(accuracy["attributes"] == ["glasses", "smiling", "hair=dark", "hair=red"] and accuracy["codes"] == 17, str(accuracy))
    check(min(accuracy["accuracy"]) >= 0.9 and max(accuracy["commoner"]) < 0.9, str(accuracy))
    check(read_json(folder / "classifier-learns/ema/config.json")["attributes"] == accuracy["attributes"], "other names")

    data = {"codes": str(TINY_CODES / "codes.safetensors")}
    for change, words in (({"data": {}}, "data.codes"), ({"data": data | {"sources": ["x"]}}, "sources"),
                          ({"data": data | {"labels": "x"}}, "labels"), ({"losses": [{"kind": "logistic", "weight": 1}]}, "l1 and mse"),
                          ({"sample_every": 1}, "sample_every"), ({"init": {}}, "autoencoder"),
                          ({"init": {}, "network": {"code": 9}}, "8 numbers")):
        refuse(options, words, "train", codes_config(folder, "refused", "prior", **change))


def test_stages(options, folder):
    pictures = sorted((HERE / "data").glob("*.png"))
    network = read_json(TINY_DIFFAE / "config.json")
    network |= {"prior_width": 16, "prior_layers": 3}
    train(options, diffae_config(folder, "first", steps=3, init={"seed": 3}, network=network,
                                 data=ALL_PICTURES | {"crop": 32}))
    codes = folder / "codes.safetensors"
    zenith(options, "diffae", "features", *pictures, "-m", folder / "first/ema", "-o", codes, "-q")
    labels = folder / "labels.csv"
    labels.write_text("picture,even,kind\n" + "".join(f"{path.name},{i % 2},{'abc'[i % 3]}\n" for i, path in enumerate(pictures)))
    start = {"init": {"seed": 1}, "autoencoder": str(folder / "first/ema"), "steps": 20, "optimizer": {"lr": 1e-2, "ema": 0.9}}
    train(options, codes_config(folder, "prior", "prior", **start | {"data": {"codes": str(codes)}}))
    train(options, codes_config(folder, "classifier", "classifier", **start | {
        "data": {"codes": str(codes), "labels": str(labels)}, "validation": {"codes": str(codes)}, "validate_every": 20}))

    parts = [folder / name / "ema" for name in ("classifier", "first", "prior")]
    sizes = {}
    for store in ("f32", "f16", "f8_e4m3"):
        model = folder / f"{store}.safetensors"
        zenith(options, "diffae", "join", *parts, "-o", model, "--store", store, "-q")
        sizes[store] = model.stat().st_size
        zenith(options, "diffae", "sample", "-m", model, "-n", 2, "--seed", 1, "--steps", 2, "--prior-steps", 2, "-o",
               folder / "drawn.png", "-q")
        told = zenith(options, "diffae", "classify", pictures[0], "-m", model).stdout
        check(all(name in told for name in ("even", "kind=a", "kind=b", "kind=c")), told)
        zenith(options, "diffae", "edit", pictures[0], "-m", model, "--attribute", "kind=b", "--noise-steps", 2, "--steps", 2,
               "-o", folder / "edited.png", "-q")
    check(sizes["f32"] > sizes["f16"] > sizes["f8_e4m3"], str(sizes))
    check(sorted(path.name for path in folder.glob("*.joining*")) == [], "something is left behind")
    zenith(options, "diffae", "decode", "-m", folder / "f32.safetensors", "-o", folder / "x.png", codes, code=1)

    # What was trained on codes of other weights is refused, and so is a classifier of other codes than the prior's.
    train(options, diffae_config(folder, "other", steps=3, init={"seed": 4}, network=network,
                                 data=ALL_PICTURES | {"crop": 32}))
    refused = ("diffae", "join", folder / "other/ema", folder / "prior/ema", "-o", folder / "no.safetensors")
    check("codes of other weights" in zenith(options, *refused, code=1).stderr, "it is joined")
    zenith(options, *refused, "--force", "-q")
    refuse(options, "U-Net", "diffae", "join", folder / "prior/ema", "-o", folder / "no.safetensors")
    refuse(options, "name each stage once", "diffae", "join", parts[1], parts[1], "-o", folder / "no.safetensors")


def mixed_pictures(folder):
    """200 pictures as a new user has them."""
    good = sorted((HERE / "data").glob("*.png"))
    (folder / "more").mkdir(parents=True)
    for i in range(195):
        size = (64 + i * 7 % 90, 64 + i * 11 % 70)
        path = folder / ("more" if i % 5 == 0 else ".") / f"{i}.ppm"
        path.write_bytes(b"P6 %d %d 255 " % size + bytes((i + k * 37) & 255 for k in range(size[0])) * 3 * size[1])
    whole = good[0].read_bytes()
    (folder / "cut.png").write_bytes(whole[:len(whole) // 2])
    (folder / "empty.jpg").write_bytes(b"")
    (folder / "text.webp").write_bytes(b"not a picture")
    for name in ("small.ppm", "thin.ppm"):
        (folder / name).write_bytes(b"P6 9 90 255 " + bytes(9 * 90 * 3))


def test_folder(options, folder):
    mixed_pictures(folder / "pictures")
    config = read_json(ROOT / "models/training/diffae64.json")
    config["network"] |= {"channels": 32, "channel_mult": [1, 2], "encoder_mult": [1, 2], "code": 16}
    config |= {"steps": 60, "batch": 4, "checkpoint_every": 20, "sample_every": 0, "results_every": 0}
    config["optimizer"]["warmup"] = 5
    (folder / "small.json").write_text(json.dumps(config))
    out = folder / "runs/mine"
    said = train(options, folder / "small.json", "--data", folder / "pictures", "-o", out, "--steps", "50").stderr
    check(" left" in said and "images/s" in said, said)
    said += train(options, out / "run.json", "--resume").stderr
    check(str(out / "weights") in said, said)
    log = log_of(folder, "runs/mine")
    skipped = {pathlib.Path(line["skipped"]).name: line["reason"] for line in log if "skipped" in line}
    check(set(skipped) == {"cut.png", "empty.jpg", "text.webp", "small.ppm", "thin.ppm"}, str(skipped))
    for name in skipped:
        check(name in said, f"{name} is not named: {said}")
    zenith(options, "diffae", "encode", folder / "pictures/more", "-m", out / "ema", "-o", folder / "codes", "--no-noise", "-q")
    refuse(options, "nowhere", "train", folder / "small.json", "--data", folder / "nowhere", "-o", folder / "no")


def test_kills(options, folder):
    for name, settings in (("diffae", {"make": diffae_config, "steps": 16, "last": 12, "pause": 0.02}),
                           ("prior", {"make": lambda *place, **more: codes_config(*place, "prior", **more), "steps": 120,
                                      "last": 80, "pause": 0.005, "batch": 240})):
        (folder / name).mkdir()
        begin = time.monotonic()
        check_resume(options, folder / name, **settings)
        print(f"{name}: {time.monotonic() - begin:.1f} s")
