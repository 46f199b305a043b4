#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Zenith authors
# SPDX-License-Identifier: Apache-2.0
"""zenith dataset: bits, captions, hostile archives, kills, leases, verify, and the commands of docs/DATASET.md.

    dataset.py --zenith PATH [--kills N] [NAME..]

NAME: of a check (a function check_NAME below); without one all are made. --kills: how often a run is killed.
"""
import argparse
import contextlib
import fcntl
import hashlib
import io
import json
import os
import pathlib
import pty
import random
import re
import resource
import shutil
import signal
import struct
import subprocess
import sys
import tarfile
import tempfile
import termios
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests"))
from lib import npy, safetensors  # noqa: E402
from lib.process import kill_at_random  # noqa: E402

MODEL = ROOT / "tests/golden/tiny_diffusers"
KL = ROOT / "tests/golden/tiny_kl"
IMAGES = ROOT / "tests/format/images"
PICTURES = (".jpg", ".png", ".webp", ".ppm", ".pgm")
ZENITH, KILLS = None, 4


def run(*words, code=0, models=None, before=None):
    """models: the folder of ZENITH_MODELS; before: what the process does before it becomes the program."""
    environment = {**os.environ, "ZENITH_TUNE": "", "OMP_WAIT_POLICY": "passive", **({"ZENITH_MODELS": str(models)} if models else {})}
    done = subprocess.run([ZENITH, *map(str, words)], capture_output=True, text=True, env=environment, preexec_fn=before)
    assert done.returncode in (code if isinstance(code, tuple) else (code,)), (words, done)
    return done


def encode(source, output, *options, code=0, command="encode"):
    size = () if "--size" in options or "--fit" in options else ("--size", "32x32")
    return run("dataset", command, source, output, "-m", "taesd", "--weights", MODEL, "--dtype", "f32", *size, *options, code=code)


def pictures_of_table():
    return sorted(path for path in IMAGES.iterdir() if path.suffix in PICTURES)


def make_folder(folder, copies=1):
    """Pictures that can be read, each with a caption; names that nothing else has."""
    folder.mkdir()
    good = [IMAGES / name for name in ("jpeg_420.jpg", "grey8.png", "rgb8.png", "icc_p3.jpg") if (IMAGES / name).exists()]
    for copy in range(copies):
        for path in good:
            (folder / f"{copy:03d}-{path.stem}{path.suffix}").write_bytes(path.read_bytes())
            (folder / f"{copy:03d}-{path.stem}.txt").write_text(f"{path.stem} {copy}")
    return len(good) * copies


def tensors(data):
    """The bytes behind the header of an npy or a safetensors file."""
    return (npy if data.startswith(npy.MAGIC) else safetensors).split(data)[1]


def members(path):
    with tarfile.open(path) as tar:
        return [(member, tar.extractfile(member).read()) for member in tar.getmembers()]


def latents(output, ending=".npy"):
    found = {}
    for path in sorted(output.glob("*.tar")):
        found.update({m.name.removesuffix(ending): data for m, data in members(path) if m.name.endswith(ending)})
    return found


def facts_of(output):
    return {key: json.loads(data) for key, data in latents(output, ".latent.json").items()}


def as_float(value):
    return struct.unpack("<f", struct.pack("<f", value))[0]


def floats(data):
    return struct.unpack(f"<{len(data) // 4}f", data)


def record(output, name="000000"):
    return json.loads((output / f"{name}.json").read_text())


def hashes(output):
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in sorted(output.glob("*.tar"))}


def make_tar(path, files, cut=None):
    with tarfile.open(path, "w", format=tarfile.PAX_FORMAT) as tar:
        for name, data in files:
            member = tarfile.TarInfo(name)
            member.size = len(data)
            tar.addfile(member, io.BytesIO(data))
    if cut is not None:
        path.write_bytes(path.read_bytes()[:cut])


def check_bits(folder):
    """The latents of every picture of the image table are those of zenith encode; what fails here fails there."""
    source = folder / "in"
    source.mkdir()
    for path in pictures_of_table():
        (source / f"{path.stem}_{path.suffix[1:]}{path.suffix}").write_bytes(path.read_bytes())
    for name, options, store in (("sized", ("--size", "48x40"), "f16"), ("cropped", ("--fit", "pad"), "f32")):
        output, single = folder / name, folder / f"{name}-single"
        encode(source, output, *options, "--store", store, "--shard", "30", "--threads", "2", code=1)
        run("encode", source, "-o", f"{single}/", "-m", "taesd", "--weights", MODEL, "--dtype", "f32", *options, "--store", store, "-q", code=1)
        made = latents(output)
        expected = {path.stem: path.read_bytes() for path in single.glob("*.safetensors")}
        assert made.keys() == expected.keys(), made.keys() ^ expected.keys()
        assert len(made) > 80, len(made)
        for key, data in made.items():
            assert tensors(data) == tensors(expected[key]), (name, key)
        bad = [b for path in output.glob("0*.json") for b in json.loads(path.read_text())["bad_samples"]]
        assert len(bad) + len(made) == len(list(source.iterdir()))
        assert all(b["reason"] in ("broken", "unsupported", "limit") and b["message"] for b in bad), bad


def single(source, folder, *options, model="taesd", weights=MODEL):
    """The files of zenith encode, by key."""
    run("encode", source, "-o", f"{folder}/", "-m", model, "--weights", weights, "--dtype", "f32", "--size", "32x32", "-q", *options)
    return {path.stem: safetensors.unpack(path.read_bytes()) for path in folder.glob("*.safetensors")}


def check_bytes_of_channels(values, plane, stored, offset, scale):
    """8 bits: each channel goes from 0 to 255, and no number is further off than half a step."""
    assert len(stored) == len(values) and len(offset) == len(scale) == len(values) // plane
    for c, (low, step) in enumerate(zip(offset, scale)):
        channel, codes = values[c * plane:(c + 1) * plane], stored[c * plane:(c + 1) * plane]
        assert as_float(low) == min(channel) and min(codes) == 0 and max(codes) == 255, c
        assert all(abs(low + step * code - value) <= step * 0.50001 for code, value in zip(codes, channel)), c


def check_stores(folder):
    """Each type in each container has the numbers of zenith encode, and says what it is."""
    source = folder / "in"
    make_folder(source)
    plain = {store: single(source, folder / f"single-{store}", "--store", store) for store in ("f16", "bf16", "f32")}
    for store, container in (("f16", "npy"), ("f32", "npy"), ("u8", "npy"), ("f16", "safetensors"), ("bf16", "safetensors"),
                             ("f32", "safetensors"), ("u8", "safetensors")):
        output = folder / f"{store}-{container}"
        encode(source, output, "--store", store, *(() if store == "bf16" else ("--container", container)))
        settings = json.loads((output / "_zenith.json").read_text())
        assert (settings["store"], settings["container"]) == (store, container), settings
        made, facts = latents(output, "." + container), facts_of(output)
        assert len(made) == len(facts) == 4 and made.keys() == facts.keys()
        for key, data in made.items():
            said, = facts[key]["latents"]
            assert (said["member"], said["model"], said["space"], said["kind"], said["type"], said["shape"]) == (
                container, "taesd", "model", "mean", store, [4, 4, 4]), said
            if container == "safetensors":
                tensors_of = safetensors.unpack(data)
                assert tensors_of["latent"][:2] == (store.upper(), [4, 4, 4]), tensors_of.keys()
                stored = tensors_of["latent"][2]
            else:
                stored = tensors(data)
            if store != "u8":
                assert stored == plain[store][key]["latent"][2] and "scale" not in said, (store, container, key)
                continue
            check_bytes_of_channels(floats(plain["f32"][key]["latent"][2]), 16, stored, said["offset"], said["scale"])
            if container == "safetensors":
                for name in ("offset", "scale"):
                    assert list(floats(tensors_of[name][2])) == [as_float(value) for value in said[name]], name
        (folder / "one").write_bytes(made["000-rgb8"])
        decoded = run("decode", folder / "one", "-o", folder / "one.png", "-m", "taesd", "--weights", MODEL, code=1 if store == "u8" else 0)
        assert store != "u8" or "a latent of type u8" in decoded.stderr, decoded.stderr
    picture = facts_of(folder / "f16-npy")["000-rgb8"]
    assert picture["size"] == [32, 32] and len(picture["source_size"]) == 2 and len(picture["crop"]) == 4, picture
    assert "npy has no bf16" in encode(source, folder / "out", "--store", "bf16", "--container", "npy", code=(1, 2)).stderr
    # Types and containers never mix in a folder.
    assert 'store is "f16" there' in encode(source, folder / "f16-npy", "--store", "u8", code=1).stderr
    assert 'container is "npy" there' in encode(source, folder / "f16-npy", "--container", "safetensors", code=1).stderr


def check_moments(folder):
    """Mean and logarithm of the variance of a KL autoencoder, as zenith encode gives them; others have none."""
    source = folder / "in"
    make_folder(source)
    failed = encode(source, folder / "out", "--moments", code=(1, 3))
    assert "no moments" in failed.stderr, failed.stderr
    expected = single(source, folder / "single", "--moments", model="sd-vae", weights=KL)
    for container in ("npy", "safetensors"):
        output = folder / container
        run("dataset", "encode", source, output, "-m", "sd-vae", "--weights", KL, "--dtype", "f32", "--size", "32x32", "--moments",
            "--store", "f32", "--container", container)
        made, facts = latents(output, "." + container), facts_of(output)
        assert made.keys() == expected.keys() and len(made) == 4
        for key, data in made.items():
            said, = facts[key]["latents"]
            mean, logvar = expected[key]["latent"], expected[key]["logvar"]
            assert said["kind"] == "moments" and said["shape"] == [2 * mean[1][1], *mean[1][2:]], said
            assert tensors(data) == mean[2] + logvar[2], key
            if container == "safetensors":
                assert safetensors.unpack(data)["logvar"] == ("F32", logvar[1][1:], logvar[2]), key
    # Of 8 bits, the logarithms have ranges of their own.
    run("dataset", "encode", source, folder / "u8", "-m", "sd-vae", "--weights", KL, "--dtype", "f32", "--size", "32x32", "--moments",
        "--store", "u8")
    made, facts = latents(folder / "u8"), facts_of(folder / "u8")
    for key, data in made.items():
        said, shape = facts[key]["latents"][0], facts[key]["latents"][0]["shape"]
        values = floats(expected[key]["latent"][2] + expected[key]["logvar"][2])
        check_bytes_of_channels(values, shape[1] * shape[2], tensors(data), said["offset"], said["scale"])


def make_ppm(width, height, pixels=None):
    """A picture whose every pixel names its place, or the given rows of pixels (3 bytes each)."""
    rows = pixels or [[bytes((x * 7 % 256, y * 5 % 256, (x * 3 + y * 11) % 256)) for x in range(width)] for y in range(height)]
    return b"P6 %d %d 255\n" % (width, height) + b"".join(b"".join(row) for row in rows), rows


def check_choices(folder):
    """Random crops and mirrors follow from seed and key; they have the bits of a picture that was cut and turned before."""
    source, cut = folder / "in", folder / "cut"
    source.mkdir()
    cut.mkdir()
    data, rows = make_ppm(70, 32)
    for number in range(24):
        (source / f"p{number}.ppm").write_bytes(data)
    encode(source, folder / "out", "--size", "32x32", "--crop", "random", "--mirror", "--seed", "5", "--shard", "7", "--threads", "2")
    facts, made = facts_of(folder / "out"), latents(folder / "out")
    for key, said in facts.items():
        chance = hashlib.sha256(f"5:{key}".encode()).hexdigest()
        x, mirror = (70 - 32 + 1) * int(chance[:8], 16) >> 32, int(chance[16], 16) % 2 == 1
        assert (said["cut"], said["mirror"], said["scaled_size"], said["source_size"]) == ([x, 0], mirror, [70, 32], [70, 32]), (key, said)
        part = [row[x:x + 32][::-1 if mirror else 1] for row in rows]
        (cut / f"{key}.ppm").write_bytes(make_ppm(32, 32, part)[0])
    assert len({said["cut"][0] for said in facts.values()}) > 8 and len({said["mirror"] for said in facts.values()}) == 2
    for key, tensor in single(cut, folder / "single", "--store", "f16").items():
        assert tensors(made[key]) == tensor["latent"][2], key
    # One after the other, in other shards and alone: the same. With another seed: others.
    encode(source, folder / "again", "--size", "32x32", "--crop", "random", "--mirror", "--seed", "5", "--shard", "24")
    assert latents(folder / "again") == made and facts_of(folder / "again") == facts
    encode(source, folder / "other", "--size", "32x32", "--crop", "random", "--mirror", "--seed", "6", "--shard", "7")
    assert {k: f["cut"] for k, f in facts_of(folder / "other").items()} != {k: f["cut"] for k, f in facts.items()}
    encode(source, folder / "middle", "--size", "32x32")
    assert all(f["cut"] == [19, 0] and not f["mirror"] for f in facts_of(folder / "middle").values())
    for options, word in ((("--crop", "random", "--mirror", "--seed", "6"), 'seed is "5" there'), (("--mirror", "--seed", "5"), "crop is"),
                          (("--crop", "random", "--seed", "5"), "mirror is true there")):
        assert word in encode(source, folder / "out", "--size", "32x32", "--shard", "7", *options, code=1).stderr, options
    assert "crop nothing" in encode(source, folder / "no", "--fit", "pad", "--crop", "random", code=2).stderr
    assert "left to chance" in encode(source, folder / "no", "--seed", "1", code=2).stderr
    # Where nothing is scaled, the place is within what the multiples of 8 leave.
    encode(source, folder / "cropped", "--fit", "crop", "--crop", "random")
    assert {f["cut"][0] for f in facts_of(folder / "cropped").values()} <= set(range(7)) and not (folder / "no").exists()


def check_buckets(folder):
    """A picture has the bucket that keeps most of it, is never enlarged, and says which; latents have the bits of that size."""
    source = folder / "in"
    source.mkdir()
    sizes = {"square": (100, 100), "wide": (130, 70), "tall": (70, 130), "large": (300, 300), "flat": (400, 40), "tiny": (30, 90)}
    for name, (width, height) in sizes.items():
        (source / f"{name}.ppm").write_bytes(make_ppm(width, height)[0])
    options = ("--buckets", "48,96", "--aspects", "1:1,2:1,1:2", "--fit")[:-1]
    command = ("dataset", "encode", source, folder / "out", "-m", "taesd", "--weights", MODEL, "--dtype", "f32")
    run(*command, *options, code=1)
    settings, facts = json.loads((folder / "out/_zenith.json").read_text()), facts_of(folder / "out")
    assert settings["buckets"] == [[48, 48], [64, 32], [32, 64], [96, 96], [136, 64], [64, 136]], settings["buckets"]
    chosen = {key: f["size"] for key, f in facts.items()}
    assert chosen == {"square": [96, 96], "wide": [64, 32], "tall": [32, 64], "large": [96, 96], "flat": [64, 32]}, chosen
    assert all(settings["buckets"][f["bucket"]] == f["size"] for f in facts.values()), facts
    bad, = record(folder / "out")["bad_samples"]
    assert (bad["key"], bad["reason"]) == ("tiny", "small") and "covers none of the buckets" in bad["message"], bad
    made = latents(folder / "out")
    for key, (width, height) in chosen.items():
        run("encode", source / f"{key}.ppm", "-o", folder / f"{key}.safetensors", "-m", "taesd", "--weights", MODEL, "--dtype", "f32",
            "--size", f"{width}x{height}", "--store", "f16", "-q")
        assert tensors(made[key]) == tensors((folder / f"{key}.safetensors").read_bytes()), key
    # A list of sizes; and what is wrong is said.
    (folder / "sized").mkdir()
    command = (*command[:3], folder / "sized", *command[4:])
    run(*command, "--buckets", "64x48,48x64,32x32", code=1)
    assert {key: f["size"] for key, f in facts_of(folder / "sized").items()}["wide"] == [64, 48]
    assert "buckets is" in run(*command, "--buckets", "64x48,48x64", code=1).stderr
    for words, sentence in ((("--buckets", "64x"), "expected sides or sizes"), (("--buckets", "64,"), "expected sides or sizes"),
                            (("--buckets", "64", "--aspects", "3"), "expected shapes"), (("--aspects", "1:1"), "goes with --buckets"),
                            (("--buckets", "64x64", "--aspects", "1:1"), "shape already"), (("--buckets", "64", "--size", "8x8"), "leave out --size")):
        assert sentence in run(*command, *words, code=2).stderr, words
    assert "multiples of 8" in run(*command, "--buckets", "60x64", code=1).stderr


def check_models(folder):
    """Several models in one pass: each latent has the bits of a pass of its own; names and settings say which is which."""
    source, models = folder / "in", folder / "models"
    make_folder(source)
    shutil.copytree(MODEL, models / "taesd")
    shutil.copytree(KL, models / "sd-vae")

    def encode_with(name, output, *options, code=0):
        return run("dataset", "encode", source, folder / output, "-m", name, "--dtype", "f32", *options, models=models, code=code)

    for number, options in enumerate((("--size", "32x32"), ("--fit", "pad", "--mirror"), ("--fit", "pad", "--mirror", "--max-memory", "8M", "--threads", "1"))):
        both = folder / f"both{number}"
        encode_with("taesd,sd-vae", both.name, *options)
        first = members(both / "000000.tar")[0][0].name
        assert first == "000-grey8.taesd.npy", first
        for name in ("taesd", "sd-vae"):
            encode_with(name, f"{name}{number}", *options)
            assert latents(both, f".{name}.npy") == latents(folder / f"{name}{number}"), (name, options)
        facts = facts_of(both)
        assert len(facts) == 4 and all([(one["member"], one["model"]) for one in f["latents"]] ==
                                       [("taesd.npy", "taesd"), ("sd-vae.npy", "sd-vae")] for f in facts.values()), facts
        run("dataset", "verify", source, both)
    assert hashes(folder / "both1") == hashes(folder / "both2")
    assert record(folder / "both0")["model"] == "taesd,sd-vae"
    assert "were done before" in encode_with("taesd,sd-vae", "both0", "--size", "32x32").stderr
    assert "model is" in encode_with("sd-vae,taesd", "both0", "--size", "32x32", code=1).stderr
    assert "named twice" in encode_with("taesd,taesd", "no", "--size", "32x32", code=1).stderr
    assert "no moments" in encode_with("sd-vae,taesd", "no", "--size", "32x32", "--moments", code=(1, 3)).stderr
    assert "--weights is of one model" in encode_with("taesd,sd-vae", "no", "--weights", MODEL, code=(1, 3)).stderr
    assert "nosuch" in encode_with("taesd,nosuch", "no", code=3).stderr
    picture = (IMAGES / "jpeg_420.jpg").read_bytes()
    make_tar(folder / "one.tar", [("1.jpg", picture), ("1.sd-vae.npy", b"mine"), ("2.jpg", picture), ("2.npy", b"mine")])
    run("dataset", "encode", folder / "one.tar", folder / "one", "-m", "taesd,sd-vae", "--dtype", "f32", models=models, code=1)
    assert [(b["key"], b["reason"]) for b in record(folder / "one", "one")["bad_samples"]] == [("1", "taken")]


def check_full(folder):
    """A disk that is full stops the run with a sentence; what was done stays, nothing half-written counts, and the next run completes."""
    source, output = folder / "in", folder / "out"
    source.mkdir()
    small, large = make_ppm(64, 64)[0], make_ppm(400, 400)[0]
    make_tar(source / "a.tar", [("1.ppm", small)])
    make_tar(source / "b.tar", [(f"{number}.ppm", large) for number in range(6)])
    make_tar(source / "c.tar", [("1.ppm", small)])

    def limited():
        resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))

    command = ("dataset", "encode", source, output, "-m", "taesd", "--weights", MODEL, "--dtype", "f32", "--store", "f32")
    stopped = run(*command, code=1, before=limited)
    assert "cannot write" in stopped.stderr and "make room, and give the same command again" in stopped.stderr, stopped.stderr
    assert sorted(path.name for path in output.iterdir()) == ["_zenith.json", "a.json", "a.tar"], list(output.iterdir())
    assert "1 of 3 shards done, 0 in work, 2 missing" in run("dataset", "status", source, output).stdout
    before = hashes(output)["a.tar"]
    run(*command)
    run("dataset", "verify", source, output)
    assert hashes(output)["a.tar"] == before and record(output, "b")["ok"] == 6
    # The same on a file system that is really full, where this process may make one.
    room = folder / "room"
    room.mkdir()
    inner = " ".join(["mount -t tmpfs -o size=256k none", str(room), "&&", *map(str, (ZENITH, *command[:3], room / "out", *command[4:]))])
    there = subprocess.run(["unshare", "-rm", "sh", "-c", inner + f"; code=$?; ls -A {room}/out; exit $code"], capture_output=True, text=True)
    if "mount" in there.stderr or "unshare" in there.stderr:
        print("full: no file system of our own here, the limit of a file stands for it")
        return
    assert there.returncode == 1 and "No space left on device" in there.stderr and "make room" in there.stderr, there
    assert there.stdout.split() == ["_zenith.json", "a.json", "a.tar"], there.stdout


def check_captions(folder):
    """What belongs to a picture is carried along, unchanged and beside it; the tar's facts do not vary."""
    source = folder / "in"
    source.mkdir()
    picture = (IMAGES / "jpeg_420.jpg").read_bytes()
    long = "deep/" * 30 + "name"
    make_tar(source / "a.tar", [("1.cls", b"7"), ("1.jpg", picture), ("1.json", b'{"a": 1}'), ("1.txt", b"one\xff"),
                                ("sub/2.JPG", picture), ("sub/2.seg.png", b"mask"), (long + ".jpg", picture)])
    encode(source, folder / "out")
    made = members(folder / "out/a.tar")
    assert [m.name for m, _ in made] == ["1.npy", "1.latent.json", "1.cls", "1.json", "1.txt", "sub/2.npy", "sub/2.latent.json",
                                         "sub/2.seg.png", long + ".npy", long + ".latent.json"]
    assert dict((m.name, d) for m, d in made)["1.txt"] == b"one\xff"
    assert all((m.mtime, m.uid, m.gid, m.mode) == (0, 0, 0, 0o644) for m, _ in made)
    assert made[0][1] == made[5][1]
    header = made[0][1][10:].split(b"\n")[0].strip().decode()
    assert header == "{'descr': '<f2', 'fortran_order': False, 'shape': (4, 4, 4), }", header
    facts = record(folder / "out", "a")
    assert facts["ok"] == 3 and facts["bad"] == {} and facts["output"]["sha256"] == hashes(folder / "out")["a.tar"]
    assert facts["input"]["sha256"] == hashlib.sha256((source / "a.tar").read_bytes()).hexdigest()
    assert run("dataset", "verify", source, folder / "out").stdout == "1 of 1 shards done, 0 in work, 0 missing: 3 pictures, 0 bad\n"


def check_hostile(folder):
    """Each broken or hostile sample has its reason; all others are done."""
    source = folder / "in"
    source.mkdir()
    picture = (IMAGES / "jpeg_420.jpg").read_bytes()
    files = [("good1.jpg", picture), ("../../etc/passwd.jpg", picture), ("/root/x.jpg", picture), ("only.txt", b"text"),
             ("twice.jpg", picture), ("twice.png", picture), ("half.jpg", picture[:len(picture) // 2]), ("empty.jpg", b""),
             ("text.png", b"this is no picture"), ("new\nline.jpg", picture), ("back\\slash.jpg", picture),
             ("npy.jpg", picture), ("npy.npy", b"mine"), ("good1.jpg", picture), (".hidden.jpg", picture), ("good2.jpg", picture)]
    make_tar(source / "a.tar", files)
    output = encode(source, folder / "out", code=1)
    assert "11 samples could not be used" in output.stderr, output.stderr
    facts = record(folder / "out", "a")
    reasons = {b["key"]: b["reason"] for b in facts["bad_samples"]}
    assert reasons == {"../../etc/passwd.jpg": "name", "/root/x.jpg": "name", "only": "no-picture", "twice": "two-pictures",
                       "half": "broken", "empty": "broken", "text": "unsupported", "new\\x0aline.jpg": "name",
                       "back\\slash.jpg": "name", "npy": "taken", "good1": "same-key"}, reasons
    assert facts["ok"] == 2 and sum(facts["bad"].values()) == len(facts["bad_samples"])
    assert sorted(latents(folder / "out")) == ["good1", "good2"]
    # An archive that is cut off gives what came before; one that is none says so; a header that lies is refused.
    make_tar(source / "b.tar", [("1.jpg", picture), ("2.jpg", picture), ("3.jpg", picture)], cut=2 * (512 + -(-len(picture) // 512) * 512) + 700)
    (source / "c.tar").write_bytes(b"no archive at all" * 100)
    make_tar(source / "d.tar", [("1.jpg", picture)])
    lying = bytearray((source / "d.tar").read_bytes())
    lying[124:136] = b"77777777777\0"
    lying[148:156] = b" " * 8
    lying[148:156] = b"%06o\0 " % sum(lying[:512])
    (source / "d.tar").write_bytes(lying)
    encode(source, folder / "out", code=1)
    assert "cut off at byte" in record(folder / "out", "b")["input"]["error"] and record(folder / "out", "b")["ok"] == 1
    assert [(b["key"], b["reason"]) for b in record(folder / "out", "b")["bad_samples"]] == [("2", "cut-off")]
    assert "not a tar header" in record(folder / "out", "c")["input"]["error"]
    assert "cut off" in record(folder / "out", "d")["input"]["error"]
    lines = run("dataset", "verify", source, folder / "out", code=1).stdout.splitlines()
    assert [line.split(":")[:2] for line in lines[:3]] == [["b", " input"], ["c", " input"], ["d", " input"]], lines
    # When the input is whole again it is done again, by itself.
    make_tar(source / "b.tar", [("1.jpg", picture), ("2.jpg", picture), ("3.jpg", picture)])
    assert "3 pictures in 1 shard," in encode(source, folder / "out").stderr
    # Bad samples are tried again only when asked.
    assert "all 4 shards were done before" in encode(source, folder / "out").stderr
    assert "2 pictures in 3 shards" in encode(source, folder / "out", command="retry", code=1).stderr


def check_links(folder):
    """What cannot be opened in a folder of pictures is a bad sample; the input's own faults name the input."""
    source = folder / "in"
    make_folder(source)
    (source / "a.jpg").symlink_to("nowhere.jpg")
    os.mkfifo(source / "pipe.png")
    output = encode(source, folder / "out", code=1).stderr
    assert "2 samples could not be used" in output and "archive" not in output, output
    facts = record(folder / "out")
    reasons = {b["key"]: (b["reason"], b["message"]) for b in facts["bad_samples"]}
    assert facts["ok"] == 4 and reasons.keys() == {"a", "pipe"} and {r[0] for r in reasons.values()} == {"unreadable"}, reasons
    assert "No such file" in reasons["a"][1] and "not a file" in reasons["pipe"][1], reasons
    assert "were done before" in encode(source, folder / "out").stderr
    (source / "a.jpg").unlink()
    (source / "a.jpg").write_bytes((IMAGES / "jpeg_420.jpg").read_bytes())
    (source / "pipe.png").unlink()
    encode(source, folder / "out")
    assert record(folder / "out")["ok"] == 5
    photo = source / "a.jpg"
    assert f"'{photo}' is a picture" in encode(photo, folder / "x", code=(1, 2)).stderr
    assert not (folder / "x").exists()
    said = encode(folder / "no", folder / "x", code=1).stderr
    assert "there is no folder or tar archive" in said and str(folder / "x") not in said, said
    (source / "cut.tar").write_bytes(b"no archive" * 100)
    for path in source.iterdir():
        if path.suffix != ".tar":
            path.unlink()
    said = encode(source, folder / "cut", code=1).stderr
    assert "1 archive could not be read to its end" in said and "sample" not in said, said


def on_terminal(columns, *arguments, stop=None):
    """What a terminal of so many columns shows of a run, and its exit code; stop: what it says before it is interrupted, an expression."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    environment = {**os.environ, "ZENITH_TUNE": "", "OMP_WAIT_POLICY": "passive", "TERM": "xterm"}
    process = subprocess.Popen([ZENITH, "dataset", *map(str, arguments)], stderr=theirs, stdout=subprocess.DEVNULL, env=environment)
    os.close(theirs)
    said = b""
    with contextlib.suppress(OSError):  # the end of a terminal
        while data := os.read(ours, 4096):
            said += data
            if stop and re.search(stop, said):
                process.send_signal(signal.SIGINT)
                stop = None
    os.close(ours)
    return said.decode(), process.wait()


def check_terminal(folder):
    """80 columns are enough for the progress; an interrupt counts shards."""
    source = folder / "in"
    source.mkdir()
    for number in range(12):
        (source / f"{number:02d}.ppm").write_bytes(make_ppm(640, 480)[0])
    options = ("-m", "taesd", "--weights", MODEL, "--dtype", "f32", "--shard", "1", "--threads", "1")
    for columns in (80, 50):
        said, code = on_terminal(columns, "encode", source, folder / f"out{columns}", *options)
        lines = [line for line in re.split(r"[\r\n]|\x1b\[[0-9;]*[A-Za-z]", said) if "images/s" in line and "->" not in line]
        assert code == 0 and lines and all(len(line) < columns for line in lines), (columns, lines, said)
    said, code = on_terminal(80, "encode", source, folder / "stopped", *options, stop=rb"shard 00000[2-9]")
    done = len(list((folder / "stopped").glob("*.tar")))
    assert code == 130 and f"interrupted, {done} of 12 shards done" in said and 2 <= done < 12, (done, said)


def check_again(folder):
    """A second run does no work; other settings, weights or sizes are refused with a sentence."""
    source, output = folder / "in", folder / "out"
    make_folder(source, 3)
    encode(source, output, "--shard", "5")
    before = {path.name: path.stat().st_mtime_ns for path in output.iterdir()}
    assert "were done before" in encode(source, output, "--shard", "5").stderr
    assert before == {path.name: path.stat().st_mtime_ns for path in output.iterdir()}
    for options, word in ((("--shard", "5", "--size", "64x64"), "width is 32 there and 64 now"), (("--shard", "4"), "shard is 5 there"),
                          (("--shard", "5", "--store", "f32"), 'store is "f16" there'), (("--shard", "5", "--background", "000000"), "background")):
        refused = encode(source, output, *options, code=1)
        assert word in refused.stderr and "another output folder" in refused.stderr, refused.stderr
    other = folder / "other"
    shutil.copytree(MODEL, other)
    weights = other / "diffusion_pytorch_model.safetensors"
    data = bytearray(weights.read_bytes())
    data[-1] ^= 1
    weights.write_bytes(data)
    refused = run("dataset", "encode", source, output, "-m", "taesd", "--weights", other, "--dtype", "f32", "--size", "32x32", "--shard", "5", code=1)
    assert "weights_sha256 is" in refused.stderr, refused.stderr
    # Touched, the input is the same; changed, it is another.
    victim = sorted(source.glob("*.jpg"))[0]
    os.utime(victim, (1, 1))
    assert "were done before" in encode(source, output, "--shard", "5").stderr
    (source / (victim.stem + ".txt")).write_text("another caption!")
    assert "in 1 shard," in encode(source, output, "--shard", "5").stderr


def check_kills(folder):
    """kill -9 at random moments: what is there at the end has the bytes of a run that nobody disturbed."""
    source = folder / "in"
    make_folder(source, 40)
    begin = time.monotonic()
    encode(source, folder / "whole", "--shard", "8", "--size", "128x128", "--threads", "2")
    whole, output, seed = time.monotonic() - begin, folder / "out", random.randrange(1 << 30)
    choose = random.Random(seed)
    command = [ZENITH, "dataset", "encode", source, output, "-m", "taesd", "--weights", MODEL, "--dtype", "f32", "--size", "128x128", "--shard", "8", "-q"]

    def start():
        return subprocess.Popen(command, stderr=subprocess.DEVNULL, env={**os.environ, "ZENITH_TUNE": ""})

    def after(killed):
        if killed:
            return bool(list(output.glob("*.lease")))
        assert hashes(output) == hashes(folder / "whole"), f"seed {seed}"
        shutil.rmtree(output)
    kill_at_random(start, KILLS, whole, choose, after)
    for number in range(2):  # two at once; what one holds the other leaves alone
        others = [subprocess.Popen(command, env={**os.environ, "ZENITH_TUNE": ""}) for _ in range(2)]
        assert [process.wait() for process in others] == [0, 0], seed
    assert hashes(output) == hashes(folder / "whole"), f"seed {seed}"
    run("dataset", "verify", source, output)
    left = {path.name for path in output.iterdir()} ^ {path.name for path in (folder / "whole").iterdir()}
    assert not {name for name in left if ".tar" in name or ".lease" in name and "tmp" not in name}, (left, seed)
    for path in (folder / "whole").glob("0*.json"):  # the records too, but for their seconds
        ours, theirs = record(output, path.stem), record(folder / "whole", path.stem)
        ours["seconds"] = theirs["seconds"] = 0
        assert ours == theirs, (path, seed)


def check_leases(folder):
    """A shard that another holds is left to it; one whose owner is dead, or silent for long, is taken over."""
    source, output = folder / "in", folder / "out"
    make_folder(source, 3)
    encode(source, output, "--shard", "4")
    for name in ("000001.json", "000001.tar"):
        (output / name).unlink()
    lease = output / "000001.lease"
    lease.write_text("elsewhere 1\n")
    assert "1 shard is in work elsewhere" in encode(source, output, "--shard", "4").stderr
    assert "2 of 3 shards done, 1 in work, 0 missing" in run("dataset", "status", source, output).stdout
    (output / ".000001.tar.tmp-77-0").write_bytes(b"what it left")
    os.utime(lease, (time.time() - 100, time.time() - 100))
    assert "4 pictures in 1 shard," in encode(source, output, "--shard", "4").stderr
    assert sorted(path.name for path in output.iterdir()) == sorted(["_zenith.json"] + [f"00000{i}.{e}" for i in range(3) for e in ("json", "tar")])
    (output / "000001.json").unlink()
    dead = subprocess.Popen(["true"])
    dead.wait()
    lease.write_text(f"{os.uname().nodename} {dead.pid}\n")
    assert "4 pictures in 1 shard," in encode(source, output, "--shard", "4").stderr


def check_partition(folder):
    """Parts of the shards, each by a job of its own, are the whole."""
    source, output = folder / "in", folder / "out"
    make_folder(source, 5)
    encode(source, folder / "whole", "--shard", "4")
    assert "8 pictures in 2 shards" in encode(source, output, "--shard", "4", "--partition", "1/3").stderr
    assert sorted(hashes(output)) == ["000000.tar", "000003.tar"]
    encode(source, output, "--shard", "4", "--partition", "2/3")
    encode(source, output, "--shard", "4", "--partition", "3/3")
    assert hashes(output) == hashes(folder / "whole")
    for wrong in ("0/3", "4/3", "1", "1/", "a/b", "1/3x"):
        assert "expected I/N" in encode(source, output, "--partition", wrong, code=2).stderr


def check_verify(folder):
    """verify finds a flipped bit, a missing shard, a stale record, other weights, and more."""
    source, output = folder / "in", folder / "out"
    make_folder(source, 6)
    encode(source, output, "--shard", "4")

    def faults():
        lines = run("dataset", "verify", source, output, code=1).stdout.splitlines()
        return [tuple(line.split(": ")[:2]) for line in lines[:-1]]

    def changed(name, change):
        path = output / name
        data = path.read_bytes()
        path.write_bytes(change(bytearray(data)))
        found = faults()
        path.write_bytes(data)
        return found

    def flip(data):
        data[len(data) // 3] ^= 4
        return data

    def other_weights(data):
        facts = json.loads(data)
        facts["weights_sha256"] = "0" * 64
        return json.dumps(facts).encode()

    def other_settings(data):
        return json.dumps({**json.loads(data), "config": "0" * 64}).encode()

    assert run("dataset", "verify", source, output).returncode == 0
    assert changed("000001.tar", flip) == [("000001", "output")]
    assert changed("000002.tar", lambda data: data[:-1]) == [("000002", "output")]
    assert changed("000003.json", other_weights) == [("000003", "weights")]
    assert changed("000003.json", other_settings) == [("000003", "settings")]
    assert changed("000003.json", lambda data: data[:-9]) == [("000003", "record")]
    kept = (output / "000004.json").read_bytes()
    (output / "000004.json").unlink()
    assert faults() == [("000004", "missing")]
    (output / "000004.json").write_bytes(kept)
    (output / "old.json").write_bytes(kept)
    assert faults() == [("old", "extra")]
    (output / "old.json").unlink()
    victim = sorted(source.glob("*.txt"))[-1]
    victim.write_text(victim.read_text()[::-1])
    assert faults() == [("000005", "stale")]
    assert "in 1 shard," in encode(source, output, "--shard", "4").stderr
    run("dataset", "verify", source, output)
    # A tar of another size or a lost one is made again by a run, without being asked.
    (output / "000000.tar").unlink()
    assert "in 1 shard," in encode(source, output, "--shard", "4").stderr


def check_memory(folder):
    """Bounded memory gives the same bytes, and a bound that is too small says so before anything is done."""
    source = folder / "in"
    make_folder(source, 4)
    encode(source, folder / "a")
    encode(source, folder / "b", "--max-memory", "64M", "--threads", "2")
    assert hashes(folder / "a") == hashes(folder / "b")
    refused = encode(source, folder / "c", "--max-memory", "100K", code=(1, 4))
    assert "three eighths" in refused.stderr, refused.stderr
    make_tar(folder / "one.tar", [("1.jpg", (IMAGES / "jpeg_420.jpg").read_bytes()), ("1.txt", b"x" * 300000)])
    encode(folder / "one.tar", folder / "d", "--max-memory", "2M", "--threads", "1", code=(0, 1))
    assert [b["reason"] for b in record(folder / "d", "one")["bad_samples"]] == ["too-large"], record(folder / "d", "one")


def check_inputs(folder):
    source = folder / "in"
    assert "there is no folder or tar archive" in encode(source, folder / "out", code=1).stderr
    source.mkdir()
    assert "there is no picture and no tar archive" in encode(source, folder / "out", code=1).stderr
    (source / "a.b.jpg").write_bytes((IMAGES / "jpeg_420.jpg").read_bytes())
    (source / "readme.txt").write_text("of nobody")
    encode(source, folder / "out")
    assert list(latents(folder / "out")) == ["a_b"]
    make_tar(source / "a.tar", [])
    assert "pictures beside them" in encode(source, folder / "out2", code=1).stderr
    (source / "a.b.jpg").unlink()
    encode(source, folder / "out2")  # an empty shard is a shard
    assert record(folder / "out2", "a")["ok"] == 0 and members(folder / "out2/a.tar") == []
    made = json.loads(encode(source, folder / "out2", "--json").stdout)
    assert made["shards"] == {"all": 1, "done": 0, "done_before": 1, "in_work": 0, "failed": 0, "damaged": 0}


def check_document(folder):
    """Every command of docs/DATASET.md, as it stands there; those that need a queue are tested in tests/fleet/work.py."""
    (folder / "photos").mkdir()
    for number, (width, height) in enumerate(((320, 290), (270, 400), (260, 260))):
        (folder / f"photos/{number}.ppm").write_bytes(make_ppm(width, height)[0])
        (folder / f"photos/{number}.txt").write_text(f"photograph {number}")
    (folder / "shards").mkdir()
    for number in range(2):
        make_tar(folder / f"shards/{number}.tar", [(f"{number}.jpg", (IMAGES / "jpeg_420.jpg").read_bytes()), (f"{number}.txt", b"a caption")])
    shutil.copytree(MODEL, folder / "models/taesd")
    shutil.copytree(KL, folder / "models/sd-vae")
    words = {**os.environ, "PATH": f"{pathlib.Path(ZENITH).resolve().parent}:{os.environ['PATH']}", "ZENITH_MODELS": str(folder / "models"), "ZENITH_TUNE": ""}
    text = (ROOT / "docs/DATASET.md").read_text()
    text = text[:text.index("\n## S3\n")] + text[text.index("\n## Checks\n"):]  # dataset_s3.py has that part
    blocks = [block.split("\n", 1)[1] for block in text.split("```")[1::2] if block.startswith("sh") and "nats" not in block]
    lines = [line for block in blocks for line in block.splitlines() if line and not line.startswith("#")]
    assert len(lines) >= 5, lines
    for line in lines:
        done = subprocess.run(["bash", "-ec", line], cwd=folder, capture_output=True, text=True, env=words)
        assert done.returncode == 0, (line, done)


def main():
    global ZENITH, KILLS
    parser = argparse.ArgumentParser()
    parser.add_argument("--zenith", required=True)
    parser.add_argument("--kills", type=int, default=KILLS)
    parser.add_argument("names", nargs="*")
    arguments = parser.parse_args()
    ZENITH, KILLS = str(pathlib.Path(arguments.zenith).resolve()), arguments.kills
    checks = {name[6:]: check for name, check in globals().items() if name.startswith("check_")}
    for name in arguments.names or checks:
        with tempfile.TemporaryDirectory(prefix="zenith-dataset-") as folder:
            checks[name](pathlib.Path(folder))
        print(f"{name}: ok", flush=True)


if __name__ == "__main__":
    main()
