# SPDX-FileCopyrightText: 2026 The Zenith authors
# SPDX-License-Identifier: Apache-2.0
"""Training of autoencoders: losses beside PyTorch's, bits, types, kinds of losses, pruning."""
import array
import json
import os
import pathlib
import shutil
import signal
import subprocess
import time
import xml.dom.minidom

from run_checks import (ALL_PICTURES, check, check_resume, check_same_bits, check_threads, compare_steps, FIRST_PICTURE, GOLDEN,
                        HERE, inspect, log_of, losses_of, read_json, refuse, results_of, ROOT, run_stopped, safetensors,
                        SKIPPED, small_config, TINY, train, WEIGHTS, zenith)

TINY_KL = GOLDEN / "tiny_kl"
DATA = pathlib.Path(os.environ.get("ZENITH_TEST_DATA", ROOT.parent / "shared" / "data"))
SQUEEZENET = DATA / "squeezenet/squeezenet1_0_dc.safetensors"


def test_losses(options, folder):
    if not WEIGHTS.is_dir():
        print(f"skipped: no weights in {WEIGHTS}")
        return SKIPPED
    golden = read_json(GOLDEN / "ten_losses.json")
    steps = [{"loss": loss, "norm": norm} for loss, norm in zip(golden["losses"], golden["norms"], strict=True)]
    for dtype, bounds in (("f32", {"loss": 1e-5, "norm": 1e-3}), ("f16", {"loss": 5e-4, "norm": 5e-3})):
        train(options, small_config(folder, dtype, init={"weights": str(WEIGHTS)}, frozen={"weights": str(WEIGHTS)}, batch=4, steps=10,
                                    data=ALL_PICTURES | {"crop": 32}, optimizer=golden["optimizer"], dtype=dtype,
                                    losses=[{"kind": "charbonnier", "weight": 1}, {"kind": "mse", "weight": 0.5}]))
        compare_steps(folder, dtype, steps, **bounds)
    return 0


def kl_config(folder, name, **more):
    golden = read_json(TINY_KL / "ten_losses.json")
    return small_config(folder, name, **{
        "model": "sd-vae", "part": "both", "init": {"weights": str(TINY_KL)}, "frozen": {}, "batch": golden["batch"], "steps": 10,
        "data": FIRST_PICTURE | {"crop": 32, "seed": golden["seed"]}, "optimizer": golden["optimizer"],
        "losses": [{"kind": "mse", "weight": 1}, {"kind": "kl", "weight": golden["kl_weight"]}]} | more)


def test_kl(options, folder):
    train(options, kl_config(folder, "whole"))
    compare_steps(folder, "whole", read_json(TINY_KL / "ten_losses.json")["steps"], loss=1e-4, mse=1e-4, kl=1e-4, norm=1e-3)
    check_same_bits(options, folder, "whole", 4, kl_config)

    random_start = {"init": {"layout": "g4l1qw8-16-16-16", "rule": "pytorch", "seed": 3}}
    train(options, kl_config(folder, "bf16", dtype="bf16", steps=60, optimizer={"lr": 4e-3, "warmup": 5}, **random_start,
                             losses=[{"kind": "mse", "weight": 1}, {"kind": "kl", "weight": 1e-3}]))
    losses = losses_of(folder, "bf16")
    print(f"bf16, from random weights: {losses[0]:.4f} to {losses[-1]:.4f}")
    check(losses[-1] < losses[0] / 2, "it does not learn")
    zenith(options, "reconstruct", HERE / "data/0.png", "-m", "sd-vae", "--weights", folder / "bf16/ema", "-o", folder / "out.png")
    check((folder / "out.png").exists(), "results do not decode")

    refuse(options, "\"part\" must be encoder or both", "train", kl_config(folder, "decoder", part="decoder"))
    refuse(options, "needs an encoder that gives a mean and a variance", "train", kl_config(folder, "taesd", model="taesd", init={"width": 8}))


def quantise_config(folder, name, weights, kind, **more):
    golden = read_json(ROOT / "tests/golden/quantise.json")
    return small_config(folder, name, **{
        "model": "zenith-sd-small", "part": "both", "init": {"weights": str(weights)}, "frozen": {}, "batch": 1, "steps": 10,
        "data": FIRST_PICTURE | {"crop": 32}, "optimizer": golden["optimizer"], "quantise": {"type": kind},
        "losses": [{"kind": "charbonnier", "weight": 1}, {"kind": "mse", "weight": 0.5}]} | more)


def calibrated_network(options, folder):
    """The golden network with a calibration of its own beside it."""
    golden = read_json(ROOT / "tests/golden/quantise.json")
    (folder / "calibrated").mkdir()
    weights = folder / "calibrated/zenith-sd-small.safetensors"
    shutil.copy(ROOT / "tests/golden/zenith-three.safetensors", weights)
    facts = inspect(options, weights)
    calibration = {"format": 1, "model": "zenith-sd-small", "weights": facts["sha256"], "pictures": 8, "values": golden["values"],
                   "int8": golden["int8"]}
    (folder / "calibrated/zenith-sd-small.calib.json").write_text(json.dumps(calibration))
    return weights


def test_quantise(options, folder):
    golden = read_json(ROOT / "tests/golden/quantise.json")["losses"]
    weights = calibrated_network(options, folder)
    for kind, theirs in golden.items():
        train(options, quantise_config(folder, kind, weights, kind))
        compare_steps(folder, kind, theirs, loss=1e-4, norm=5e-3)
    check(golden["int8"] != golden["f8_e4m3"], "both roundings have the same losses")

    check_same_bits(options, folder, "int8", 4, lambda *place, **more: quantise_config(*place, weights, "int8", **more))

    for part in ("weights", "ema"):
        zenith(options, "reconstruct", HERE / "data/0.png", "-o", folder / f"{part}.png", "--model", "zenith-sd-small",
               "--weights", folder / "int8" / part, "--dtype", "int8")
    (folder / "calibrated/zenith-sd-small.calib.json").unlink()
    refuse(options, "needs the calibration", "train", quantise_config(folder, "none", weights, "int8"))


def test_resume(options, folder):
    return check_resume(options, folder)


def test_halve(options, folder):
    train(options, small_config(folder, "run", steps=150, optimizer={"lr": 4e-3, "warmup": 5}))
    losses = losses_of(folder, "run")
    first = next(line["psnr"] for line in log_of(folder, "run") if "loss" in line)
    print(f"from {losses[0]:.4f}, {first:.1f} dB to {losses[-1]:.4f}")
    check(first > 3, "random weights make a picture that is worse than a black one")
    check(losses[-1] <= losses[0] / 2, "the loss was not halved")


def test_threads(options, folder):
    check_threads(options, folder, ("f32", "bf16"))


def losses_of_whole_lines(folder):
    lines = (folder / "run/train.jsonl").read_text().split("\n")[:-1]
    return [line for line in lines if '"loss"' in line]


def test_stop(options, folder):
    config = small_config(folder, "run", steps=100000)
    process = subprocess.Popen([options.zenith, "train", config], stderr=subprocess.PIPE, text=True)
    while not (folder / "run/train.jsonl").exists() or len(losses_of_whole_lines(folder)) < 3:
        check(process.poll() is None, "it ended by itself")
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=60)
    print(said)
    steps = losses_of_whole_lines(folder)
    check(process.returncode == 130, f"exit code {process.returncode}")
    check(f"stopped after step {len(steps)} of 100000" in said and "--resume" in said, "it does not say so")
    check((folder / f"run/checkpoint-{len(steps):08d}.safetensors").exists(), "there is no checkpoint")
    train(options, config, "--resume", "--steps", str(len(steps) + 2))
    check(len(losses_of(folder, "run")) == len(steps) + 2, "it did not go on")
    refuse(options, "--resume", "train", config)
    other = small_config(folder, "run", steps=100000, batch=3)
    refuse(options, "it has 'batch = 2' where the config has 'batch = 3'", "train", other, "--resume")


def scales_of(folder, name):
    """Of each attempt at a step: the step, whether it overflowed, the scale it leaves, and the overflows so far."""
    return [(line["step"], "overflow" in line, line["loss_scale"], line["overflows"]) for line in log_of(folder, name)]


def check_scales(scales, first, window):
    """Every attempt: halved after an overflow, doubled after so many steps without."""
    scale, good, overflows, step = first, 0, 0, 1
    for number, overflowed, left, counted in scales:
        check(number == step, f"step {number} where {step} was due")
        if overflowed:
            scale, good, overflows = scale / 2, 0, overflows + 1
        else:
            step, good = step + 1, good + 1
            scale, good = (scale * 2, 0) if good == window else (scale, good)
        check((left, counted) == (scale, overflows), f"step {number} leaves {left}, {counted}; not {scale}, {overflows}")
    return overflows


def test_f16(options, folder):
    for dtype in ("f32", "f16"):
        train(options, small_config(folder, dtype, dtype=dtype, optimizer={"lr": 1e-4, "warmup": 5}))
    first, second = losses_of(folder, "f32"), losses_of(folder, "f16")
    worst = max(abs(a - b) / a for a, b in zip(first, second, strict=True))
    print(f"losses of f16 and f32 differ by {worst:.1e} at most, from {first[0]:.4f} to {first[-1]:.4f}")
    check(0 < worst <= 0.005, "the losses differ")
    check_scales(scales_of(folder, "f16"), 65536, 2000)

    # From an absurd scale down, and up again until the next overflow. Failed attempts leave no trace in the weights.
    scaled = {"dtype": "f16", "optimizer": {"lr": 2e-3, "warmup": 5, "loss_scale": 2**40, "scale_window": 3}}
    for threads in (1, 2, 3):
        train(options, small_config(folder, str(threads), threads=threads, **scaled))
    scales = scales_of(folder, "1")
    overflows = check_scales(scales, 2**40, 3)
    down = next(i for i, (_, overflowed, _, _) in enumerate(scales) if not overflowed)
    print(f"{down} overflows before the first step, {overflows} in all")
    check(2 < down < overflows < len(scales), "the scale did not go down and up")
    check(losses_of(folder, "1")[0] == second[0], "a step that was not done changed something")
    check(results_of(folder, "1") == results_of(folder, "2") == results_of(folder, "3"), "threads change the weights")

    run_stopped(options, small_config(folder, "broken", **scaled), 7, 29, 38)
    check(scales_of(folder, "broken") == scales, "another scale after a stop")
    check(results_of(folder, "broken") == results_of(folder, "1"), "other weights after a stop")


def change_last_byte(path):
    data = bytearray(path.read_bytes())
    data[-1] ^= 1
    path.write_bytes(data)


def test_weights(options, folder):
    frozen = folder / "frozen"
    shutil.copytree(TINY, frozen)
    more = {"steps": 20, "frozen": {"weights": str(frozen)}}
    subjects = {"frozen.sha256": next(frozen.rglob("*.safetensors"))}
    if SQUEEZENET.exists():
        subjects["squeezenet.sha256"] = pathlib.Path(shutil.copy(SQUEEZENET, folder))
        more["squeezenet"] = str(subjects["squeezenet.sha256"])
        more["losses"] = [{"kind": "squeezenet", "weight": 1}]
    config = small_config(folder, "run", **more)
    train(options, config, "--steps", "2")
    for stop, (name, path) in enumerate(subjects.items(), 3):
        change_last_byte(path)
        said = train(options, config, "--resume", code=1).stderr
        check("the checkpoint is of another run" in said and name in said, said)
        change_last_byte(path)
        train(options, config, "--resume", "--steps", str(stop))


def test_kinds(options, folder):
    kinds = ("l1", "mse", "charbonnier", "feature", "gradient", "walsh", "lattice", "texture", "stages", "latent", "adversarial")
    more = {}
    if SQUEEZENET.exists():
        kinds += ("squeezenet",)
        more = {"squeezenet": str(SQUEEZENET)}
    losses = [{"kind": kind, "weight": 0.5} for kind in kinds]
    for part in ("decoder", "encoder", "both"):
        for dtype in ("f32", "bf16", "f16"):
            name = f"{part}-{dtype}"
            # What a random decoder makes, fifty times as bright as a picture, is too much for SqueezeNet in f16.
            init = {"weights": str(TINY)} if dtype == "f16" else {"seed": 3, "width": 8}
            train(options, small_config(folder, name, part=part, init=init, dtype=dtype, steps=4, optimizer={"lr": 1e-4}, losses=losses, sample_every=2, samples=2,
                                        validation=ALL_PICTURES | {"count": 3}, validate_every=2, **more))
            line = [line for line in log_of(folder, name) if "losses" in line][-1]
            check(set(line["losses"]) == set(kinds), f"{line}")
            check(abs(line["loss"] - 0.5 * sum(line["losses"].values())) < 1e-5 * line["loss"] + 1e-6, f"{line}")
            check(len([line for line in log_of(folder, name) if "validation" in line]) == 2, "validations are missing")
            check((folder / name / "samples/00000002.png").read_bytes().startswith(b"\x89PNG"), "no sample")
            xml.dom.minidom.parse(str(folder / name / "plot.svg"))
            parts = {"both": ["taesd_decoder", "taesd_encoder"]}.get(part, [f"taesd_{part}"])
            files = sorted(path.stem for path in (folder / name / "weights").iterdir())
            check(files == parts, f"{files}")
            check((folder / name / "config.json").read_bytes() == (folder / f"{name}.json").read_bytes(), "another config")


def test_distill(options, folder):
    """A small network begins with the layers it shares with the tiny one, and learns from that one's pictures."""
    losses = [{"kind": "l1", "weight": 0.3}] + [
        {"kind": kind, "weight": 0.3, "target": "teacher"} for kind in ("l1", "feature", "stages", "gradient")]
    for part in ("decoder", "encoder"):
        config = small_config(folder, part, model="zenith-sd-small", part=part, losses=losses, steps=30, feature_window=16,
                              init={"model": "taesd", "weights": str(TINY), "layout": "8x1 8x1 16x1", "seed": 3},
                              frozen={"model": "taesd", "weights": str(TINY)})
        train(options, config)
        lines = [line for line in log_of(folder, part) if "losses" in line]
        check(set(lines[0]["losses"]) == {"l1", "l1.teacher", "feature.teacher", "stages.teacher", "gradient.teacher"}, f"{lines[0]}")
        check(lines[-1]["losses"]["l1.teacher"] < 0.8 * lines[0]["losses"]["l1.teacher"], f"{lines[0]} to {lines[-1]}")
        weights = folder / part / "ema" / f"zenith-sd-small_{part}.safetensors"
        facts = inspect(options, weights)
        check(facts["fits"] == ["zenith-sd-small"], f"{facts}")


def test_walsh_skip(options, folder):
    """Skips through the Walsh domain begin as plain ones do, and then learn: added to weights they change nothing at first."""
    frozen = {"model": "taesd", "weights": str(TINY)}
    for name, weights, model, layout in (("plain", TINY, "taesd", "8x1 8x2 16x1"), ("same", folder / "plain/weights", "zenith-sd-fast", "8x1 8x2 16x1"),
                                         ("skips", folder / "plain/weights", "zenith-sd-fast", "8x1w8 8x2w16 16x1w8")):
        train(options, small_config(folder, name, model="zenith-sd-fast", steps=10, losses=[{"kind": "l1", "weight": 1}], frozen=frozen,
                                    init={"model": model, "weights": str(weights), "layout": layout, "seed": 3}))
    same, skips = ([line["loss"] for line in log_of(folder, name) if "losses" in line] for name in ("same", "skips"))
    check(abs(same[0] - skips[0]) < 1e-5 * same[0] and same[-1] != skips[-1], f"{same} and {skips}")


def adversarial(**more):
    """An L1 and an adversarial loss, with a small discriminator."""
    return {"losses": [{"kind": "l1", "weight": 1}, {"kind": "adversarial", "weight": 0.05}],
            "discriminator": {"lr": 1e-3, "width": 8} | more}


def test_adversarial(options, folder):
    # Each by itself, while the other stands still: the network is believed more, the discriminator errs less.
    still = adversarial(lr=0) | {"losses": [{"kind": "adversarial", "weight": 1}]}
    train(options, small_config(folder, "network", steps=15, **still))
    train(options, small_config(folder, "rival", steps=60, **adversarial() | {"optimizer": {"lr": 0, "weight_decay": 0}}))
    believed = losses_of(folder, "network")
    errs = [line["discriminator"]["loss"] for line in log_of(folder, "rival") if "loss" in line]
    print(f"adversarial loss from {believed[0]:.4f} to {believed[-1]:.4f}, the discriminator's from {errs[0]:.3f} to {errs[-1]:.3f}")
    check(sum(believed[-5:]) < sum(believed[:5]), "the network does not learn from the discriminator")
    check(abs(errs[0] - 2) < 0.5 and sum(errs[-5:]) < 0.8 * sum(errs[:5]), "the discriminator does not learn")

    # Until `start` the network is what it would be alone.
    train(options, small_config(folder, "alone", steps=40))
    train(options, small_config(folder, "late", steps=40, **adversarial(start=20)))
    alone, late = ([line["losses"]["l1"] for line in log_of(folder, name) if "loss" in line] for name in ("alone", "late"))
    check(alone[:21] == late[:21], "it is listened to before its start")
    check(alone[21] != late[21], "it is not listened to after its start")
    check(late[-1] < 0.7 * late[0], f"the loss goes from {late[0]} to {late[-1]}")
    files = [path.name for part in ("weights", "ema") for path in (folder / "late" / part).iterdir()]
    check(files == ["taesd_decoder.safetensors"] * 2, f"{files}")
    results = results_of(folder, "late")
    check(all(b"discriminator" not in data for data in results.values()), "the model has a discriminator")
    check([len(data) for data in results.values()] == [len(data) for data in results_of(folder, "alone").values()], "other sizes")
    checkpoint = (folder / "late/checkpoint-00000040.safetensors").read_bytes()
    check(b'"v.discriminator.3.bias"' in checkpoint and b'"ema.discriminator' not in checkpoint, "not what a checkpoint has")
    refuse(options, "it has 'discriminator.start = 20' where the config has", "train", small_config(folder, "late", steps=40, **adversarial(start=21)), "--resume")

    check_threads(options, folder, ("f32", "bf16", "f16"), **adversarial())
    teacher = adversarial() | {"losses": [{"kind": "adversarial", "weight": 1, "target": "teacher"}]}
    train(options, small_config(folder, "teacher", steps=6, **teacher))
    check(set(log_of(folder, "teacher")[-1]["losses"]) == {"adversarial.teacher"}, "no teacher")
    return check_resume(options, folder, **adversarial(start=30))


def spoiled(kind, **more):
    return {"data": ALL_PICTURES | {"crop": 32, "flip": True, "seed": 5, "corrupt": {"kind": kind} | more}}


def test_restore(options, folder):
    losses = [{"kind": kind, "weight": 1} for kind in ("l1", "feature", "stages")]
    for part in ("decoder", "both"):
        train(options, small_config(folder, f"{part}-plain", part=part, steps=8, losses=losses))
        train(options, small_config(folder, f"{part}-nothing", part=part, steps=8, losses=losses, **spoiled("gaussian", amount=0)))
        train(options, small_config(folder, f"{part}-noise", part=part, steps=8, losses=losses, **spoiled("gaussian", amount=0.1)))
        check(results_of(folder, f"{part}-plain") == results_of(folder, f"{part}-nothing"), "noise of deviation 0 changes something")
        check(results_of(folder, f"{part}-plain") != results_of(folder, f"{part}-noise"), "noise changes nothing")

    network = {"model": "zenith_prune", "part": "both", "init": {"seed": 3}, "losses": [{"kind": "mse", "weight": 1}]}
    held = {"validation": ALL_PICTURES | {"count": 3}, "validate_every": 20, "sample_every": 20, "samples": 2}
    train(options, small_config(folder, "run", residual=True, **network, **held, **spoiled("gaussian")))
    first, last = losses_of(folder, "run")[0], [line["validation"] for line in log_of(folder, "run") if "validation" in line][-1]
    seconds = [line["cpu_seconds"] for line in log_of(folder, "run") if "loss" in line]
    print(f"MSE from {first:.4f} to {last['mse']:.4f}, {seconds[-1]:.1f} CPU seconds")
    check(0.08 < first < 0.13, "the first result should be what the network sees, nearly")
    check(last["mse"] < 0.7 * first and last["mse"] == last["loss"], f"it does not learn: {last}")
    check(all(a < b for a, b in zip(seconds, seconds[1:])) and len(seconds) == 60, f"CPU seconds are {seconds}")

    models = {"gaussian": "zenith_wide", "shot": "conv_wide", "blur": "conv_baseline", "haar": "zenith_prune"}
    for kind, model in models.items():
        for threads in (1, 3):
            train(options, small_config(folder, f"{kind}{threads}", steps=5, batch=3, threads=threads, recompute=threads == 3,
                                        **network | {"model": model}, **spoiled(kind)))
        check(results_of(folder, f"{kind}1") == results_of(folder, f"{kind}3"), f"{kind}: threads change the weights")
        for weights in (folder / f"{kind}1/weights").iterdir():
            facts = inspect(options, weights)
            check(facts["fits"] == [model], f"{weights.name}: {facts}")
    refuse(options, "it has 'data.corrupt.amount = 0.29", "train", small_config(folder, "haar1", steps=5, batch=3, **network, **spoiled("haar", amount=0.2)), "--resume")
    return check_resume(options, folder, **spoiled("gaussian"))


def shapes_of(path):
    header, _ = safetensors.split(path.read_bytes())
    return header.pop("__metadata__"), {name: tensor["shape"] for name, tensor in header.items()}


def prune(options, *arguments, code=0):
    done = zenith(options, "prune", *arguments, code=code)
    return json.loads(done.stdout) if "--json" in arguments and code == 0 else done.stderr


def test_prune(options, folder):
    frozen = {"model": "taesd", "weights": str(TINY)}
    begin = {"model": "taesd", "weights": str(TINY), "layout": "8x2 8x2 16x1", "seed": 3}
    more = {"model": "zenith-sd-small", "frozen": frozen, "validation": ALL_PICTURES | {"count": 4}}
    whole = small_config(folder, "whole", init=begin, **more)
    train(options, whole)
    weights = folder / "whole/ema/zenith-sd-small_decoder.safetensors"
    facts = prune(options, weights, "-o", folder / "small", "--config", whole, "--blocks", "1", "--channels", "0.5",
                  "--multiple", "4", "--batches", "2", "--json")
    print(facts)
    check((facts["blocks_before"], facts["blocks"]) == (5, 4), "one block should go")
    check(0.5 * facts["channels_before"] > facts["channels"] > 0.3 * facts["channels_before"], "half of what four blocks have")
    check(facts["gflop"] < 0.7 * facts["gflop_before"] and not facts["encoder"], "it should be smaller")
    metadata, shapes = shapes_of(folder / "small/zenith-sd-small_decoder.safetensors")
    check(sum(int(stage[-1]) for stage in metadata["zenith.decoder"].split()) == 4, f"{metadata}")

    tuned = small_config(folder, "tuned", init={"weights": str(folder / "small")}, steps=40, **more)
    run_stopped(options, tuned, 10)
    once = small_config(folder, "once", init={"weights": str(folder / "small")}, steps=40, **more)
    train(options, once)
    check(results_of(folder, "tuned") == results_of(folder, "once"), "a stop changes the weights")
    for part in ("weights", "ema"):
        check(shapes_of(folder / f"tuned/{part}/zenith-sd-small_decoder.safetensors") == (metadata, shapes), "it is another network")
    losses = losses_of(folder, "tuned")
    print(f"loss {losses_of(folder, 'whole')[-1]:.4f} whole, {losses[0]:.4f} pruned, {losses[-1]:.4f} trained further")
    check(sum(losses[-10:]) < 0.95 * sum(losses[:10]), f"it does not learn: {losses}")

    check("too few blocks" in prune(options, weights, "-o", folder / "no", "--config", whole, "--blocks", "6", code=1), "6 of 5 blocks")
    check("do not say" in prune(options, TINY, "-o", folder / "no", "-m", "taesd", "--channels", "0.5", "--multiple", "4", "--part",
                                "encoder", "--config", small_config(folder, "taesd"), code=1), "a part that is not trained")
    check("trains taesd" in prune(options, weights, "-o", folder / "no", "--channels", "0.5", "--config", folder / "taesd.json",
                                  code=1), "another model's config")
    check("fixed number" in prune(options, TINY, "-o", folder / "no", "-m", "taesd", "--blocks", "1", "--config",
                                  folder / "taesd.json", code=1), "TAESD's blocks")
    check("has learned nothing" in prune(options, weights, "-o", folder / "no", "--channels", "0.5", "--config",
                                         small_config(folder, "rival", **more, **adversarial()), code=1), "a new discriminator")
    check(not (folder / "no").exists(), "a refusal leaves a folder")


def scores_of(folder, name, part):
    """Which rectangles a result leaves out, in the order of its scores."""
    masks = []
    for path in sorted((folder / name / part).glob("*.safetensors")):
        scores = {key: values for key, values in safetensors.floats(path).items() if key.endswith(".score")}
        masks += [value < 0 for key in sorted(scores) for value in scores[key]]
    return masks


def test_scores(options, folder):
    more = {"model": "zenith_prune", "part": "both", "init": {"seed": 3}, "frozen": {}, "steps": 40,
            "prune": {"target": 0.5, "begin": 5, "end": 25}}
    train(options, small_config(folder, "once", **more))
    shares = [line["pruned"] for line in log_of(folder, "once") if "loss" in line]
    check(shares[:5] == [0] * 5 and shares[24:] == [0.5] * 16 and shares == sorted(shares), f"shares are {shares}")
    masks = scores_of(folder, "once", "weights")
    check(len(masks) == 12 * 16 and sum(masks) == 6 * 16, f"{sum(masks)} of {len(masks)} rectangles are left out")
    check(scores_of(folder, "once", "ema") == masks, "the averages have another mask")
    losses = losses_of(folder, "once")
    check(sum(losses[-5:]) < sum(losses[:5]), f"it does not learn: {losses}")

    run_stopped(options, small_config(folder, "twice", **more), 14, 30)
    check(results_of(folder, "once") == results_of(folder, "twice"), "a stop changes the weights")

    facts = prune(options, folder / "once/ema", "-m", "zenith_prune", "-o", folder / "low", "--frequencies", "4", "--json")
    check((facts["frequencies_before"], facts["frequencies"]) == (8, 4), f"{facts}")
    check(facts["encoder"] and facts["decoder"] and facts["gflop"] < facts["gflop_before"], "both parts should be smaller")
    train(options, small_config(folder, "tuned", **more | {"init": {"weights": str(folder / "low")}, "steps": 26}))
    for part, key in (("encoder", "zenith.encoder"), ("decoder", "zenith.decoder")):
        metadata, _ = shapes_of(folder / f"tuned/ema/zenith_prune_{part}.safetensors")
        check(metadata[key] == "f4", f"{metadata}")
    other = train(options, small_config(folder, "taesd", prune={"target": 0.5, "end": 5}), code=1)
    check("taesd has none" in other.stderr, f"scores of TAESD: {other.stderr}")


def floats_of(path):
    return array.array("f", safetensors.split(path.read_bytes())[1])


def test_ranks(options, folder):
    """One process that accumulates, and two of half the batch each."""
    train(options, small_config(folder, "one", steps=20, batch=2, accumulate=2, **adversarial()))
    config = small_config(folder, "two", steps=20, batch=2, **adversarial())
    done = subprocess.run(["mpirun", "--allow-run-as-root", "--oversubscribe", "-n", "2", options.zenith, "train", config],
                          capture_output=True, text=True, timeout=600)
    check(done.returncode == 0, f"exit code {done.returncode}: {done.stderr}")
    one, two = (floats_of(folder / name / "weights/taesd_decoder.safetensors") for name in ("one", "two"))
    difference = max(abs(a - b) for a, b in zip(one, two, strict=True))
    print(f"weights differ by {difference:.1e} at most")
    check(0 < len(one) and difference <= 1e-6, "the weights differ")
