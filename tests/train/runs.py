#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Zenith authors
# SPDX-License-Identifier: Apache-2.0
"""Whole training runs of the program, each in a new folder.

    runs.py --zenith PATH TEST..         skipped (77) where real weights are needed and not there

    losses      ten AdamW losses of TAESD's decoder are PyTorch's, within 1e-5, in f16 within 5e-4 (needs weights)
    resume      a run that is killed (kill -9) at random moments ends in the bits of one that is not, and its
                log lists every step once; --kills N, --seed N
    kills       the same of a diffusion autoencoder, and of its prior
    halve       a short run of a small network halves its loss, from a first picture that is no noise
    threads     neither the number of threads nor recomputation, where they share a picture, changes a bit
    stop        SIGINT ends the step, leaves a checkpoint and says so
    ranks       two processes under MPI have the weights of one that accumulates, within 1e-6 (built with ZENITH_MPI)
    f16         in f16 a run follows that of f32; the loss scale is halved and doubled, survives a stop, and is the same
                for any number of threads
    weights     a run does not go on with other frozen weights, nor with another SqueezeNet
    adversarial a discriminator is trained beside the network, each against the other; from `start` on the network
                learns from it; kills, threads and recomputation change no bit, and results have the model alone
    distill     a network of our own learns from a frozen one's pictures, beginning with what both have
    restore     a network that sees spoiled crops learns the crops as they were; what it sees is the same for any number of
                threads and over kills, and not spoiling at all is the same run as spoiling by nothing
    walsh_skip  skips through the Walsh domain begin as plain ones do, and then learn
    prune       a network is pruned by a config's losses, blocks and channels, and trained further: over a kill, and
                its weights are still pruned ones
    scores      rectangles of blocks are left out by a schedule while both parts are trained: as many as it says, over
                two stops, and in the averaged weights the same; then high frequencies of tiles go, and it is trained further
    kl          ten AdamW losses of a variational autoencoder are PyTorch's with the same noise, within 1e-4; a stop, threads and
                recomputation change no bit; one with random weights, drawn as PyTorch draws them, learns in bf16, and its results decode
    quantise    ten AdamW losses of a network that is trained with the rounding of int8, and of f8_e4m3, are PyTorch's within 1e-4; a
                stop, threads and recomputation change no bit; results have their calibration, and int8 runs with it
    diffae      the gradient of a diffusion autoencoder and ten losses are PyTorch's with the same noise, within 1e-4; stops, threads
                and recomputation change no bit; one with random weights learns in bf16, its samples and judgement are there, and
                what cannot be judged ends no run
    recall      known pictures that draw linear codes: made, joined, drawn by
    latents     a diffusion autoencoder on latents of zenith-f1-fast: a stop, threads and latents that are made again change no bit;
                another autoencoder's are not taken; samples are pictures; results encode and decode
    codes       the same of a diffusion autoencoder's prior and classifier on codes; both learn, and the classifier's accuracy of
                each attribute is told; what does not fit is refused
    folder      200 pictures of mixed sizes, three of them broken and two too small: one command with --data and --output trains,
                says when it ends and names what it skipped; it is resumed by the config that it wrote
    words       a text encoder and a diffusion transformer together: every tensor of the gradient is PyTorch's within 1e-4 and ten
                losses are within 1e-5; stops, threads and recomputation change no bit; random ones learn in bf16, are judged by
                captions that are held back, and are trained further; what does not fit is refused
    words_draft  a draft of words, which is solved for and not trained: it stays as it was, decides pictures, and must fit
    stages      from pictures to one model file: an autoencoder, codes, prior, classifier, joined; every command takes the file
    kinds       every loss and every part can be trained; the plot is well-formed, samples are there
"""
import argparse
import pathlib
import sys
import tempfile

import autoencoder_runs
import diffae_runs
import words_runs
from run_checks import ROOT, SKIPPED, Failure

TESTS = {name.removeprefix("test_"): test for module in (autoencoder_runs, diffae_runs, words_runs)
         for name, test in vars(module).items() if name.startswith("test_")}


def main():
    parser = argparse.ArgumentParser(description="Whole training runs of the program.")
    parser.add_argument("--zenith", type=pathlib.Path, default=ROOT / "build/dev/zenith")
    parser.add_argument("--kills", type=int, default=10)
    parser.add_argument("--seed", type=int)
    parser.add_argument("tests", nargs="*")
    options = parser.parse_args()
    options.zenith = options.zenith.resolve()
    codes = []
    for name in options.tests or TESTS:
        with tempfile.TemporaryDirectory() as work:
            try:
                codes.append(TESTS[name](options, pathlib.Path(work)) or 0)
            except Failure as failure:
                print(f"{name}: {failure}")
                codes.append(1)
    sys.exit(1 if 1 in codes else SKIPPED if SKIPPED in codes else 0)


main()
