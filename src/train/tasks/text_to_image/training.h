// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// The task of training a model from words to pictures: a text encoder (model/text_to_image/qwen3.h)
// and a diffusion transformer (model/text_to_image/zimage.h) together, by flow matching. A sample
// is a latent, its caption or, so often, the empty one, noise and a sigma; the loss is the mean
// square of what the velocity lacks.
//
//     ids ── text ── context ─┐
//     time ── modulation ─────┤
//     noisy ────────────── denoiser ── velocity ── loss ── picture - noise
//
// Noise, sigma, and which caption it has or whether it is dropped, are a pure function of the
// data's seed and the sample's number.
//
// Captions have several lengths, and a graph has one size: that of a caption with its padding. The
// text encoder is causal, so tokens after the caption change nothing before them; what they make is
// replaced by the learned token that padding is when pictures are made (zn_sizes.masked). So a
// network learns exactly what it will be asked: all captions are padded to the same 32 tokens
// there, and longer ones are refused here.
//
// A run has `stack` samples beside each other (zn_sizes.items), so that weights are read once for
// many tokens. They are columns of all maps, and share nothing but the weights: what a sample is
// depends on its own number alone.
#ifndef ZN_TRAIN_TASKS_TEXT_TO_IMAGE_TRAINING_H
#define ZN_TRAIN_TASKS_TEXT_TO_IMAGE_TRAINING_H

#include "src/diffusion/flow_match.h"
#include "src/train/run/task.h"
#include "src/train/tasks/text_to_image/data.h"

enum { ZN_WORDS_TEXT, ZN_WORDS_CONTEXT, ZN_WORDS_MODULATION, ZN_WORDS_DENOISER, ZN_WORDS_NETWORKS };
enum { ZN_WORDS_OF_TEXT, ZN_WORDS_OF_CONTEXT, ZN_WORDS_OF_DENOISER, ZN_WORDS_ANGLES };
static const char *const zn_words_folders[2] = {"text_encoder", "transformer"};
static const char *const zn_words_angle_names[ZN_WORDS_ANGLES] = {"text.angles", "context.angles",
                                                                  "angles"};
static const uint64_t ZN_WORDS_HELD = (uint64_t)1 << 63; // in the number of a run of held samples

// A student of few steps (config.h), whose target is where the teacher's several guided steps lead.
// Maps are those of a batch, as the graph has them.
typedef struct zn_words_distil {
    float *teacher; // its weights; NULL: nothing is distilled
    float *begin, *now, *answers[2];
    float sigmas[ZN_FLOW_MOST_STEPS + 1]; // of the student's steps
    int step;                             // of the teacher
    bool negative;
} zn_words_distil;

// The task's own.
typedef struct zn_words_training {
    zn_model *text;     // to begin with, until it is copied; NULL: none
    zn_model *drafting; // whose draft is used as it is; NULL: there is none
    zn_network draft;
    char *configs[2];        // config.json of both models
    zn_tokenizer *tokenizer; // of captions that are texts; NULL: they are numbers
    char *tokenizer_json;    // its file, for the results
    zn_words_data data, held;
    int64_t tokens, vocabulary, patch;
    zn_sizes sizes[ZN_WORDS_NETWORKS];
    zn_ports ports[ZN_WORDS_NETWORKS];
    float *angles[ZN_WORDS_ANGLES]; // the same for all samples
    size_t angles_count[ZN_WORDS_ANGLES];
    zn_words_distil distil;
} zn_words_training;

static inline zn_words_training *zn_words_own(const zn_trainer *t)
{
    return t->own;
}

static inline size_t zn_words_values(const zn_words_data *data)
{
    return (size_t)(data->shape.dim[1] * data->shape.dim[2] * data->shape.dim[3]);
}

// One sample of a run.
typedef struct zn_words_item {
    const zn_words_data *data;
    uint64_t number; // in the run, by which all that is random about it is drawn
    size_t index;    // of its latent
    size_t column;   // of the run's maps
} zn_words_item;
zn_words_item zn_words_item_of(const zn_trainer *t, uint64_t run, size_t column);

// Where value i of a latent [h, w, C] is in a map that has those of all samples.
size_t zn_words_place(const zn_trainer *t, size_t column, size_t i);

// Inputs of the graph: all of them for a run of training or of held samples (zn_batch.fill), or one
// by one.
void zn_words_fill(const void *cookie, zn_sample *sample);
void zn_words_put_caption(const zn_trainer *t, size_t column, zn_caption caption,
                          zn_sample *sample);
void zn_words_put_angles(const zn_words_training *own, zn_sample *sample);
// zn_batch.fetch of held samples.
zenith_status zn_words_fetch_held(void *cookie, size_t index, uint8_t *pixels, uint64_t *number,
                                  zn_error *err);

// Which of the student's steps a sample is about, from 0, where something is distilled.
size_t zn_words_segment(const zn_trainer *t, const zn_words_item *of);

// Distilling: after the optimizer has its weights; zn_train_task.ask; and the target of a sample in
// place of the picture's.
zenith_status zn_words_open_distil(zn_trainer *t, zn_error *err);
void zn_words_close_distil(zn_words_distil *distil);
zenith_status zn_words_ask_teacher(zn_trainer *t, zn_error *err);
void zn_words_put_lesson(const zn_trainer *t, zn_sample *sample);

// zn_train_task.draw and .write.
zenith_status zn_words_draw(zn_trainer *t, size_t asked, const char *path, zn_error *err);
zenith_status zn_words_write(const zn_trainer *t, const char *folder, const float *block,
                             zn_error *err);

#endif
