#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Zenith authors
# SPDX-License-Identifier: Apache-2.0
"""The installed tree as a stranger finds it: installed, moved elsewhere, and used by programs built outside.

    installed.py BUILD_FOLDER COMPILER

examples/decode_latent is built by CMake's find_package, examples/roundtrip by make and pkg-config. Both run with
the weights of the checkout, with those of TAESD too where they are there, and so does the installed program.
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
ENVIRONMENT = {k: v for k, v in os.environ.items() if k not in ("LD_LIBRARY_PATH", "ZENITH_MODELS", "DESTDIR")}


def run(*command, code=0, **environment):
    """What the command printed on both streams; its exit code must be `code`."""
    done = subprocess.run([str(word) for word in command], text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, env=ENVIRONMENT | environment)
    if done.returncode != code:
        sys.exit(f"{' '.join(map(str, command))}\nended with {done.returncode}, not {code}:\n{done.stdout}")
    return done.stdout


def install(build, work):
    """Installs, then moves the tree: nothing in it may remember where it was."""
    first, prefix = work / "first", work / "moved"
    run("cmake", "--install", build, "--prefix", first)
    first.rename(prefix)
    return prefix


def check_documents(prefix):
    """Each document that help names is installed."""
    zenith, documents = prefix / "bin/zenith", prefix / "share/doc/zenith"
    commands = re.findall(r"^  ([a-z]+) ", run(zenith, "help").split("Models")[0], re.M)
    named = set()
    for command in commands:
        text = run(zenith, "help", command)
        more = re.search(r"^Commands\n(.*?)\n\n", text, re.M | re.S)
        for sub in re.findall(r"^  ([a-z]+) ", more[1], re.M) if more else []:
            text += run(zenith, "help", command, sub)
        named |= set(re.findall(r"(\S*[A-Z]+\.md)(?: in |\s+in\s+)share/doc/zenith|(\S+/[A-Z]+\.md)", " ".join(text.split())))
    wrong = [outside for _, outside in named if outside]
    assert not wrong, f"help names documents by paths of the sources: {wrong}"
    names = {inside for inside, _ in named}
    assert {"DATASET.md", "DIFFAE.md", "SERVER.md", "TRAINING.md", "WORDS.md"} <= names, names
    missing = [name for name in names if not (documents / name).is_file()]
    assert not missing, f"help names documents that are not installed: {missing}"


def build_examples(prefix, compiler, work):
    run("cmake", "-S", ROOT / "examples/decode_latent", "-B", work / "decode_latent",
        f"-DCMAKE_PREFIX_PATH={prefix}", f"-DCMAKE_C_COMPILER={compiler}")
    run("cmake", "--build", work / "decode_latent")
    (pkgconfig,) = prefix.glob("**/pkgconfig")
    run("make", "-C", ROOT / "examples/roundtrip", f"BUILD={work}", f"CC={compiler}", PKG_CONFIG_PATH=str(pkgconfig))
    return work / "decode_latent/decode_latent", work / "roundtrip"


def check_decode(zenith, example, model, weights, work):
    """The example and the program decode to the same bytes; a failure is told and leaves nothing behind."""
    work.mkdir()
    picture, latent, ours, theirs = ROOT / "tests/cli/data/small.png", *(
        work / name for name in ("a.safetensors", "ours.png", "theirs.png"))
    run(zenith, "encode", picture, "-o", latent, "-m", model, "-w", weights, "-q")
    run(zenith, "decode", latent, "-o", ours, "-w", weights, "-q")
    run(example, weights, latent, theirs)
    assert ours.read_bytes() == theirs.read_bytes(), "the example and the program decode differently"
    assert ours.read_bytes()[16:24] == (64).to_bytes(4, "big") + (48).to_bytes(4, "big"), "not 64 x 48"
    broken = work / "broken.safetensors"
    broken.write_bytes(latent.read_bytes()[:100])
    (work / "full.png").symlink_to("/dev/full")
    told = run(example, weights, latent, work / "full.png", code=1)
    assert "No space left" in told, told
    told = run(example, weights, broken, work / "none.png", code=1)
    assert str(broken) in told, told
    assert not list(work.glob("*none.png*")), "a failed decode left a file"
    # The calibrations are found from where the library is now.
    run(zenith, "decode", latent, "-o", work / "int8.png", "-w", weights, "--dtype", "int8", "-q")


def check_readme(prefix, compiler, work):
    """The program of README.md builds as it says there for a prefix, and runs with the weights that are installed."""
    source = work / "first.c"
    source.write_text(re.search(r"```c\n(.*?)```", (ROOT / "README.md").read_text(), re.S)[1])
    (pkgconfig,) = prefix.glob("**/pkgconfig")
    run("sh", "-c", f"{compiler} {source} $(pkg-config --cflags --libs zenith) "
        f"-Wl,-rpath,$(pkg-config --variable=libdir zenith) -o {work}/first", PKG_CONFIG_PATH=str(pkgconfig))
    told = run(work / "first")
    assert "the first pixel" in told, told


def check_roundtrip(example, model, weights):
    told = run(example, weights, model)
    difference = float(re.search(r"mean difference ([0-9.]+)", told)[1])
    assert difference < 10, told
    assert "cancelled during encode" in told and "decode 100 %" in told, told


def main(build, compiler):
    published = pathlib.Path(os.environ.get("ZENITH_TEST_WEIGHTS") or ROOT.parent / "shared/weights").resolve()
    with tempfile.TemporaryDirectory() as folder:
        work, build = pathlib.Path(folder).resolve(), pathlib.Path(build).resolve()
        os.chdir(work)  # where there is no folder `models`
        prefix = install(build, work)
        check_documents(prefix)
        decode_latent, roundtrip = build_examples(prefix, compiler, work)
        models = {"zenith-sd-fast": work / "weights"} | ({"taesd": published} if (published / "taesd_decoder.safetensors").exists() else {})
        (work / "weights").mkdir()  # without the calibration that the checkout has next to them
        for path in (ROOT / "models").glob("zenith-sd-fast_*.safetensors"):
            shutil.copy(path, work / "weights")
        for model, weights in models.items():
            check_decode(prefix / "bin/zenith", decode_latent, model, weights, work / model)
            check_roundtrip(roundtrip, model, weights)
        check_readme(prefix, compiler, work)
    print(f"installed, moved, built against and run with {', '.join(models)}")


main(*sys.argv[1:])
