// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// See training.h: what a sample of a run is, and where its numbers lie.
#include "src/base/random.h"
#include "src/train/data/permutation.h"
#include "src/train/tasks/text_to_image/training.h"

#include <math.h>
#include <string.h>

// Samples that are held back fill whole runs: after the last comes the first again.
zn_words_item zn_words_item_of(const zn_trainer *t, uint64_t run, size_t column)
{
    const zn_words_training *own = zn_words_own(t);
    const bool held = run & ZN_WORDS_HELD;
    const zn_words_data *data = held ? &own->held : &own->data;
    const uint64_t number = (run & ~ZN_WORDS_HELD) * t->rows + column,
                   all = zn_words_data_count(data);
    const uint64_t index = held ? number % all
                                : zn_permutation_at((uint64_t)t->config.data.seed, number / all,
                                                    all, number % all);
    return (zn_words_item){data, held ? ZN_WORDS_HELD | index : number, (size_t)index, column};
}

// Where value i of a latent [h, w, C] is in a map that has those of all samples, patch by patch in
// turn.
size_t zn_words_place(const zn_trainer *t, size_t column, size_t i)
{
    const zn_words_training *own = zn_words_own(t);
    const size_t channels = (size_t)own->data.shape.dim[1], width = (size_t)own->data.shape.dim[3];
    const size_t patch = (size_t)own->patch, c = i % channels, x = i / channels % width;
    const size_t y = i / channels / width;
    const size_t beside = (x / patch * t->rows + column) * patch + x % patch;
    return (y * width * t->rows + beside) * channels + c;
}

typedef struct drawing {
    float sigma;
    zn_caption caption;
} drawing;

// Which of its captions a sample has, or none. A sample's number is that of a picture in an epoch,
// so each epoch draws anew. What is held back always has its first.
static zn_caption draw_caption(const zn_trainer *t, const zn_words_item *of,
                               const uint32_t drawn[2])
{
    const zn_caption_ids *captions = &of->data->captions;
    const uint64_t several = zn_caption_ids_several(captions, of->index);
    if (of->number & ZN_WORDS_HELD) return zn_caption_ids_get(captions, of->index, 0);
    const bool may_drop = t->config.distil.steps == 0; // what is distilled is not guided
    if (may_drop && (double)drawn[0] < t->config.data.drop * 0x1p32)
        return zn_caption_ids_empty(captions);
    return zn_caption_ids_get(captions, of->index, (size_t)(drawn[1] * several >> 32));
}

size_t zn_words_segment(const zn_trainer *t, const zn_words_item *of)
{
    uint32_t drawn[4];
    zn_philox(~(uint64_t)t->config.data.seed, ~of->number, drawn);
    return (size_t)((uint64_t)drawn[0] * (uint64_t)t->config.distil.steps >> 32);
}

// Those of flow matching are logit-normal; of a student they are those of its steps.
static float draw_sigma(const zn_trainer *t, const zn_words_item *of, double normal)
{
    const zn_train_config *c = &t->config;
    if (c->distil.steps > 0 && !(of->number & ZN_WORDS_HELD))
        return zn_words_own(t)->distil.sigmas[zn_words_segment(t, of)];
    const double logit = c->timesteps.mean + c->timesteps.deviation * normal;
    return (float)(1 / (1 + exp(-logit)));
}

// Normal noise into its places in dst, and what else is random about a sample.
static drawing draw_sample(const zn_trainer *t, const zn_words_item *of, float *dst)
{
    const zn_train_config *c = &t->config;
    const size_t count = zn_words_values(of->data);
    uint32_t first[4], drawn[4];
    float normals[4] = {0};
    zn_philox(~(uint64_t)c->data.seed, of->number,
              first); // the order of pictures has the seed itself
    const uint64_t key = (uint64_t)first[0] << 32 | first[1];
    for (size_t i = 0; i < count; i++) {
        if (i % 4 == 0) {
            zn_philox(key, i / 4, drawn);
            zn_philox_normals(drawn, normals);
        }
        dst[zn_words_place(t, of->column, i)] = normals[i % 4];
    }
    zn_philox(key, UINT64_MAX, drawn);
    zn_philox_normals(drawn, normals);
    return (drawing){draw_sigma(t, of, (double)normals[0]), draw_caption(t, of, drawn + 2)};
}

void zn_words_put_caption(const zn_trainer *t, size_t column, zn_caption caption, zn_sample *sample)
{
    const zn_words_training *own = zn_words_own(t);
    float *ids = zn_sample_input(sample, "ids"), *mask = zn_sample_input(sample, "mask");
    const size_t tokens = (size_t)own->tokens;
    const size_t width = (size_t)own->ports[ZN_WORDS_CONTEXT].inputs[2].desc.shape.dim[3];
    for (size_t i = 0; i < tokens; i++) {
        const size_t at = i * t->rows + column;
        ids[at] = i < caption.count ? (float)caption.ids[i] : -1; // in no table
        for (size_t c = 0; c < width; c++) mask[at * width + c] = i < caption.count;
    }
}

// A row is read into `room`, where the noise comes later, and its values go to their places.
static void put_latents(const zn_trainer *t, uint64_t run, float *room, float *dst)
{
    const zn_shape *shape = &zn_words_own(t)->data.shape;
    const size_t count = (size_t)(shape->dim[1] * shape->dim[3]);
    for (size_t r = 0; r < t->rows; r++) {
        const zn_words_item of = zn_words_item_of(t, run, r);
        for (int64_t y = 0; y < shape->dim[2]; y++) {
            zn_words_data_row(of.data, of.index, y, room);
            for (size_t i = 0; i < count; i++)
                dst[zn_words_place(t, r, (size_t)y * count + i)] = room[i];
        }
    }
}

void zn_words_put_angles(const zn_words_training *own, zn_sample *sample)
{
    for (int i = 0; i < ZN_WORDS_ANGLES; i++)
        memcpy(zn_sample_input(sample, zn_words_angle_names[i]), own->angles[i],
               own->angles_count[i] * sizeof(float));
}

// The target is the picture first, and the way from noise to picture in the end.
void zn_words_fill(const void *cookie, zn_sample *sample)
{
    const zn_trainer *t = cookie;
    const zn_words_training *own = zn_words_own(t);
    const size_t values = zn_words_values(&own->data);
    float *noisy = zn_sample_input(sample, "noisy"), *target = zn_sample_input(sample, "target");
    put_latents(t, sample->number, noisy, target);
    for (size_t r = 0; r < t->rows; r++) {
        const zn_words_item of = zn_words_item_of(t, sample->number, r);
        const drawing drawn = draw_sample(t, &of, noisy);
        for (size_t i = 0; i < values; i++) {
            const size_t at = zn_words_place(t, r, i);
            const float picture = target[at], noise = noisy[at];
            target[at] = picture - noise;
            noisy[at] = drawn.sigma * noise + (1 - drawn.sigma) * picture;
        }
        zn_sample_input(sample, "time")[r] = 1 - drawn.sigma;
        zn_words_put_caption(t, r, drawn.caption, sample);
    }
    zn_words_put_angles(own, sample);
}

zenith_status zn_words_fetch_held(void *cookie, size_t index, uint8_t *pixels, uint64_t *number,
                                  zn_error *err)
{
    (void)cookie, (void)pixels, (void)err;
    *number = ZN_WORDS_HELD | index;
    return ZENITH_OK;
}
