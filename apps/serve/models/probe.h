// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// What is measured of a model before it is served: how long a pixel takes, and which batches pay.
#ifndef ZN_SERVE_MODELS_PROBE_H
#define ZN_SERVE_MODELS_PROBE_H

#include "apps/serve/models/models.h"

// Measures both parts of a model that is open.
zenith_status serve_probe(serve_server *server, serve_model *model);

// Batches that pay for pictures of so many pixels.
serve_batch serve_probe_pays(const serve_server *server, const serve_model *model,
                             serve_operation operation, uint64_t pixels);

// From the rates of batches: rates[0] is that of pictures one after another, rates[i] of sizes[i]
// pictures at once. The most: the smallest batch with 95 % of the best rate. The least: the
// smallest that is better than none.
serve_batch serve_probe_choose(const size_t *sizes, const double *rates, size_t count);

#endif
