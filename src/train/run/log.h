// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// The log of a training run: a file with one JSON object per line, each with its step. A line goes
// to the system whole and at once, so a run that is killed leaves all lines but perhaps the last.
// A run that goes on from a checkpoint cuts the lines of later steps off and writes them anew: no
// step is listed twice. What is drawn is kept in memory too.
//
//     {"step":1,"loss":0.0712,"losses":{"l1":0.0712},"psnr":19.4,"lr":0.0001,"norm":0.8, ...}
//     {"step":1, ... ,"discriminator":{"loss":1.98,"norm":0.4}}         with an adversarial loss
//     {"step":1, ... ,"pruned":0.25}                                    with "prune"
//     {"step":100,"validation":{"loss":0.05,"psnr":21.7,"mse":0.0068}}
//     {"step":100,"skipped":"photos/broken.jpg","reason":"..."}
//     {"step":100,"fault":"..."}           what was only to be looked at could not be made
//     {"step":7,"overflow":true,"loss_scale":32768,"overflows":1}
#ifndef ZN_TRAIN_RUN_LOG_H
#define ZN_TRAIN_RUN_LOG_H

#include "src/base/os.h"
#include "src/train/config/config.h"

typedef struct zn_history_point {
    uint64_t step;
    double loss, psnr;
} zn_history_point;

typedef struct zn_history {
    zn_history_point *points;
    size_t count, capacity;
} zn_history;

typedef struct zn_training_log {
    zn_journal *journal;
    zn_history steps, validation;
    double cpu_seconds; // of the last step that was kept
} zn_training_log;

enum { ZN_STEP_MORE = 4 };

typedef struct zn_step_facts {
    uint64_t step; // from 1
    double loss, psnr, mse, lr, norm;
    double losses[ZN_TRAIN_LOSSES]; // each by itself, without its weight
    double images_per_second, seconds;
    double cpu_seconds; // of the process, in all steps of the run so far, over resumes too
    double loss_scale;  // of f16; 0: none
    uint64_t overflows; // of the run so far
    double discriminator, discriminator_norm; // its loss and the norm of its gradient
    double pruned;                            // share that the schedule of scores leaves out
    struct {
        const char *name;
        double value;
    } more[ZN_STEP_MORE]; // what the task has to say besides, of a validation
    int more_count;
} zn_step_facts;

// Keeps the lines up to step `kept` (0: none).
zenith_status zn_training_log_open(const char *path, uint64_t kept, zn_training_log *out,
                                   zn_error *err);
void zn_training_log_close(zn_training_log *log); // zeroes it; a zeroed one is fine

zenith_status zn_training_log_step(zn_training_log *log, const zn_train_config *config,
                                   const zn_step_facts *facts, zn_error *err);
// A step that was not done; it is tried again with the smaller scale.
zenith_status zn_training_log_overflow(zn_training_log *log, const zn_step_facts *facts,
                                       zn_error *err);
// Takes step, loss, psnr, mse and more.
zenith_status zn_training_log_validation(zn_training_log *log, const zn_step_facts *facts,
                                         zn_error *err);
zenith_status zn_training_log_skip(zn_training_log *log, uint64_t step, const char *name,
                                   const char *reason, zn_error *err);
// A validation or a drawing that failed: the run goes on.
zenith_status zn_training_log_fault(zn_training_log *log, uint64_t step, const char *reason,
                                    zn_error *err);

#endif
