// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Where the files of a model are.
#ifndef ZN_MODEL_LOCATE_H
#define ZN_MODEL_LOCATE_H

#include "src/format/tensor/weights.h"

enum { ZN_PATH_SIZE = 1024 };

// Opens the weights of `name` (may be NULL) from `weights`, a file or folder (may be NULL: the
// search path). Parts that lie in files of their own get their prefix ("encoder.") before all
// names.
zenith_status zn_locate_weights(const char *name, const char *weights, zn_weights **out,
                                zn_error *err);

// The same from files in memory (weights.h). Parts in files of their own are told by their names:
// "X_decoder.safetensors", "decoder.safetensors".
zenith_status zn_locate_files(const char *name, const zn_memory_file *files, size_t count,
                              zn_weights **out, zn_error *err);

// Those of a model that another one works with: in the other's folder `beside` (or its file's; "":
// none), in the folder around that, and then where models are searched for.
zenith_status zn_locate_companion(const char *name, const char *beside, zn_weights **out,
                                  zn_error *err);

// The folder NAME of a whole pipeline (pipeline.h) in one of the folders that are searched for
// models; false where there is none.
bool zn_locate_pipeline(const char *name, char path[ZN_PATH_SIZE]);

// The places where NAME.calib.json may be, best first: index 0, 1, ... until false.
bool zn_locate_calibration(const char *name, const char *weights, int index,
                           char path[ZN_PATH_SIZE]);

// Likewise for SqueezeNet's weights, squeezenet1_0_dc.safetensors. weights: of a model, or NULL.
bool zn_locate_squeezenet(const char *weights, int index, char path[ZN_PATH_SIZE]);

#endif
