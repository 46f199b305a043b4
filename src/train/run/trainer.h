// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// A training run from its config to its weights. The output folder gets
//
//     config.json                    the config, as it was
//     train.jsonl                    the log
//     plot.svg                       loss and PSNR, to be looked at while it runs
//     samples/STEP.png               originals and reconstructions
//     checkpoint-STEP.safetensors    the two newest
//     weights/NAME_decoder.safetensors, ema/...     at the end: the model's own files
//
// A run that was stopped, killed at any moment even, goes on from its newest checkpoint and ends in
// the same bits as one that was not: samples are a pure function of their numbers, sums have one
// order, and nothing else is random.
#ifndef ZN_TRAIN_RUN_TRAINER_H
#define ZN_TRAIN_RUN_TRAINER_H

#include "src/base/cpu.h"
#include "src/base/log.h"
#include "src/base/status.h"
#include "src/train/network/network.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct zn_train_report {
    uint64_t step, steps;
    double loss, psnr, images_per_second, seconds_left;
} zn_train_report;

typedef struct zn_train_options {
    const char *config; // path
    bool resume;        // go on from the newest checkpoint, if there is one
    uint64_t stop_at;   // a step to stop at; 0: the config's last
    int threads;        // where the config does not say
    zn_model *start;    // to begin with, not with what the config says; NULL: as it says
    zn_cpu cpu;
    const atomic_int *cancel; // finish the step, write a checkpoint, ZENITH_CANCELLED; may be NULL
    int (*report)(void *cookie, const zn_train_report *report); // not zero: as cancel; may be NULL
    void (*skip)(void *cookie, const char *name, const char *reason); // of a picture; may be NULL
    void *cookie;
    const zn_log *log;
} zn_train_options;

zenith_status zn_train(const zn_train_options *options, zn_error *err);

#endif
