// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// How far work is that was accepted.
#ifndef ZN_SERVE_QUEUE_PLACE_H
#define ZN_SERVE_QUEUE_PLACE_H

#include <stdbool.h>
#include <stdint.h>

typedef struct serve_place {
    bool running;         // it has begun
    uint32_t before;      // that are worked earlier; of one that has not begun
    uint32_t step, total; // steps of pictures from text, else pictures
    double seconds;       // to its end, as estimated; below 0: nothing is known
} serve_place;

#endif
