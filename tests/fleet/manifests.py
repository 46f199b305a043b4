#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Zenith authors
# SPDX-License-Identifier: Apache-2.0
"""examples/fleet: the Slurm script and the Kubernetes Jobs, as their schedulers would start them. What they make together has the
bytes of one run.

    manifests.py --zenith PATH [--queue]

--queue: the Jobs of a queue too, with a server of our own.
"""
import argparse
import os
import pathlib
import re
import shutil
import subprocess
import tempfile

import yaml

from nats import Server, free_port
from sets import ROOT, MODEL, hashes, make_tars

SHARES = 3


def environment(folder, zenith, **more):
    return {**os.environ, "PATH": f"{pathlib.Path(zenith).resolve().parent}:{os.environ['PATH']}", "ZENITH_TUNE": "",
            "ZENITH_MODELS": str(folder / "models"), **more}


def run(words, folder, variables):
    done = subprocess.run(words, cwd=folder, env=variables, capture_output=True, text=True)
    assert done.returncode == 0, (words, done)


def slurm(folder, zenith):
    script = ROOT / "examples/fleet/partition.sbatch"
    assert re.search(r"^#SBATCH --array=1-\d+$", script.read_text(), re.M)
    for task in range(1, SHARES + 1):
        run(["bash", script], folder, environment(folder, zenith, IN="shards", OUT="slurm", SLURM_ARRAY_TASK_ID=str(task),
                                                  SLURM_ARRAY_TASK_COUNT=str(SHARES)))


def kubernetes(folder, zenith):
    job = yaml.safe_load((ROOT / "examples/fleet/partition.yml").read_text())["spec"]
    container, = job["template"]["spec"]["containers"]
    values = {entry["name"]: entry["value"] for entry in container["env"]}
    assert job["completionMode"] == "Indexed" and int(values["SHARES"]) == job["completions"] == job["parallelism"]
    for index in range(job["completions"]):
        run(container["command"], folder, environment(folder, zenith, JOB_COMPLETION_INDEX=str(index), **values))


def queue(folder, zenith):
    parts = {(part["kind"], part["metadata"]["name"]): part for part in yaml.safe_load_all((ROOT / "examples/fleet/queue.yml").read_text())}
    settings = parts["ConfigMap", "zenith-queue"]["data"]["nats.conf"]
    (folder / "latents").rename(folder / "latents-of-shares")
    with Server(folder) as server:
        server.kill()  # once more, with the settings of the example
        server.config.write_text(f"port: {server.port}\n" + settings.replace("/queue", f"{folder}/queue"))
        server.start()
        for name in ("zenith-publish", "zenith-workers"):
            container, = parts["Job", name]["spec"]["template"]["spec"]["containers"]
            words = [word.replace("zenith-queue:4222", f"127.0.0.1:{server.port}").replace("0.0.0.0:9464", f"127.0.0.1:{free_port()}")
                     for word in container["command"]]
            run(words, folder, environment(folder, zenith))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--zenith", required=True)
    parser.add_argument("--queue", action="store_true")
    options = parser.parse_args()
    zenith = options.zenith
    with tempfile.TemporaryDirectory(prefix="zenith-fleet-") as name:
        folder = pathlib.Path(name)
        make_tars(folder / "shards", shards=7, pictures=7)
        shutil.copytree(MODEL, folder / "models/taesd")
        run(["zenith", "dataset", "encode", "shards", "whole", "-m", "taesd", "--size", "256x256", "--dtype", "f32"], folder,
            environment(folder, zenith))
        slurm(folder, zenith)
        kubernetes(folder, zenith)
        assert len(hashes(folder / "whole")) == 7
        assert hashes(folder / "slurm") == hashes(folder / "whole") == hashes(folder / "latents")
        if options.queue:
            queue(folder, zenith)
            assert hashes(folder / "whole") == hashes(folder / "latents")
    print("manifests: ok")


if __name__ == "__main__":
    main()
