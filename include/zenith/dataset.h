// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Datasets of latents. Experimental: this header may change with any version. The rules are those
// of zenith.h.
#ifndef ZENITH_DATASET_H
#define ZENITH_DATASET_H

#include "zenith/zenith.h"

#ifdef __cplusplus
extern "C" {
#endif

// --- storage -------------------------------------------------------------------------------------

// A place for datasets that is no folder of this machine: objects with paths, as S3 has them. The
// functions are the caller's, and the program `zenith` has them for s3://. They return
// ZENITH_NOT_FOUND for an object that is not there, and for any failure leave a sentence in
// `message`, which has room for 512 bytes. Two threads may call them at once; a stream is one
// thread's at a time.
typedef struct zenith_object {
    size_t size;
    const char *path; // whole, with the scheme; NULL in answers of `look`
    uint64_t bytes;
    char etag[136]; // another one when the bytes are others; "": not known
    double age;     // seconds since it was written, by the storage's clock; negative: not known
} zenith_object;
typedef zenith_status zenith_object_fn(void *cookie, const zenith_object *object);

typedef struct zenith_storage {
    size_t size;
    const char *scheme; // "s3://": paths that begin with it are the storage's, all others are the
                        // file system's
    void *cookie;       // the first argument of what follows, unless that is a stream
    // All objects whose path begins with `folder` and a slash; `deep`: with those that have another
    // slash behind it.
    zenith_status (*list)(void *cookie, const char *folder, bool deep, zenith_object_fn *each,
                          void *each_cookie, char *message);
    zenith_status (*look)(void *cookie, const char *path, zenith_object *out, char *message);
    // The bytes of an object, from its beginning. etag: of the object that is meant, so that one
    // that has changed is a failure; "": any.
    zenith_status (*read_open)(void *cookie, const char *path, const char *etag, void **stream,
                               char *message);
    // *got is less than `bytes` only at the end.
    zenith_status (*read)(void *stream, void *dst, size_t bytes, size_t *got, char *message);
    void (*read_close)(void *stream);
    // An object that is there only when all of it is: after write_close with `keep`, which replaces
    // one that was there. Its etag (136 bytes) is written then. The stream is gone afterwards,
    // whatever is returned.
    zenith_status (*write_open)(void *cookie, const char *path, void **stream, char *message);
    zenith_status (*write)(void *stream, const void *data, size_t bytes, char *message);
    zenith_status (*write_close)(void *stream, bool keep, char *etag, char *message);
    // A small object at once. `replace` false: only where there is none, and *made says whether it
    // was made.
    zenith_status (*put)(void *cookie, const char *path, const void *data, size_t bytes,
                         bool replace, bool *made, char *message);
    zenith_status (*remove)(void *cookie, const char *path,
                            char *message); // OK where it is not there
} zenith_storage;

// --- datasets of latents -------------------------------------------------------------------------

// How far a call is. Shares are of the time that stages took: waiting for files to be read,
// decoding and resizing, encoding, writing.
typedef struct zenith_dataset_report {
    size_t size;
    const char *shard;            // in work; valid during the call
    uint64_t shards, shards_done; // of the input; done by this call
    uint64_t pictures, bad;       // of this call
    uint64_t bytes, bytes_done; // of the input that is to be read, as far as it is known, and read
    double seconds;
    double read_share, decode_share, encode_share, write_share;
} zenith_dataset_report;
// Not zero: stop, the call returns ZENITH_CANCELLED. Called from the caller's thread or an executor
// thread, one call at a time, ten times a second at most.
typedef int zenith_dataset_fn(void *cookie, const zenith_dataset_report *report);

// The file that a latent is in a tar.
typedef enum zenith_container {
    ZENITH_CONTAINER_DEFAULT = 0, // npy; safetensors for BF16, which npy does not have
    ZENITH_CONTAINER_NPY = 1,
    ZENITH_CONTAINER_SAFETENSORS = 2
} zenith_container;

typedef struct zenith_dataset_params {
    size_t size;
    // A folder with tar archives (WebDataset), a folder with pictures, or one tar.
    const char *input;
    const char *output; // a folder, which is made
    const zenith_source_params
        *source; // how pictures are read; NULL: all defaults. max_memory is not looked at
    const zenith_run_params *run; // dtype, max_memory, bands, cancel; NULL: all defaults
    // As stored: F16 (the default), BF16, F32, or U8, which has a scale and an offset for each
    // channel of each picture.
    zenith_number number;
    zenith_space space;
    zenith_latent_kind kind; // ZENITH_LATENT_MEAN, or ZENITH_LATENT_MOMENTS: [2C, h, w]
    uint32_t shard_pictures; // that a shard cut from a folder of pictures has; 0: 5000
    double lease_seconds;    // after which a shard whose worker does not stir is another's; 0: 60
    bool retry;              // do shards again that have bad samples
    zenith_dataset_fn *report;
    void *report_cookie;
    // Only every `partitions`-th shard, beginning with number `partition`, from 0: workers that
    // were told their share need no leases to find it. 0: all.
    uint32_t partition, partitions;
    zenith_container container;
    // What is chosen for each picture by `seed` and its key, and nothing else: a crop elsewhere
    // than in the middle, and whether left and right change places, which half of the pictures do.
    bool random_crop, mirror;
    uint64_t seed;
    // Sizes to choose from, instead of the size of `source`: width and height of each, multiples of
    // the model's factor. No picture is enlarged; docs/DATASET.md says how the bucket of a picture
    // is chosen.
    const uint32_t *buckets;
    uint32_t bucket_count;
    // Further models, up to 7: each picture is decoded and scaled once, and every model encodes it.
    // Latents are then KEY.MODEL.npy. All must be different ones; sides are multiples of all their
    // factors.
    zenith_model *const *more_models;
    uint32_t more_count;
    const zenith_storage *storage; // of inputs and outputs that have its scheme; NULL: folders only
} zenith_dataset_params;

// What a call did.
typedef struct zenith_dataset_info {
    size_t size;
    uint64_t shards;            // of the input, or of the partition
    uint64_t done, done_before; // by this call, and by others
    uint64_t held;              // that others are at work on
    uint64_t failed;            // that could not be read: the sentence says why the first could not
    uint64_t damaged;           // of `done`: archives that are broken from some place on
    uint64_t pictures,
        bad;        // samples of `done`: latents that were made, and samples that could not be used
    uint64_t bytes; // of the tars that were written
    double seconds;
    double read_share, decode_share, encode_share, write_share;
} zenith_dataset_info;

// Turns pictures into latents, shard by shard. OUT/NAME.tar has KEY.npy ([C, h, w]) for each
// picture, its facts (KEY.latent.json), and the other members of its sample unchanged;
// OUT/NAME.json says what became of every sample, and is written last. The same call again goes on
// where one was stopped or killed, and does nothing where all is done; several processes, of
// several machines, may make it at once. Settings that would give other bytes than those that are
// there are refused (ZENITH_INVALID_ARGUMENT). A context with several streams of one thread each is
// fastest. Latents have the bits of zenith_encode. `out`, which may be NULL, is written for any
// status. ZENITH_PARTIAL: some shards could not be read. docs/DATASET.md has more.
ZENITH_MUST_CHECK ZENITH_API zenith_status
zenith_dataset_encode(zenith_context *context, zenith_model *model,
                      const zenith_dataset_params *params, zenith_dataset_info *out);

typedef struct zenith_dataset_look_params {
    size_t size;
    const char *input, *output; // output NULL: there is none yet, and all shards are missing
    uint32_t shard_pictures;    // as when it was made; 0: as the output says
    double lease_seconds;       // likewise
    bool verify;                // read all outputs, and compare them with their records
    zenith_cancel *cancel;
    const zenith_storage *storage; // as when it was made
} zenith_dataset_look_params;

// What is done of a dataset, as JSON text: shards by state, samples by reason, and a list of
// faults: missing (a shard has no record), record (one that cannot be read), stale (the input has
// changed since), settings and weights (made with others than the folder's), output (the tar is
// gone, or its bytes are not those of the record), extra (a record without an input). Free it with
// zenith_text_free.
ZENITH_MUST_CHECK ZENITH_API zenith_status
zenith_dataset_look(zenith_context *context, const zenith_dataset_look_params *params, char **out);

// --- structs with their defaults: zenith_TYPE_init(&it) ------------------------------------------

ZENITH_DEFINE_INIT(zenith_object)
ZENITH_DEFINE_INIT(zenith_storage)
ZENITH_DEFINE_INIT(zenith_dataset_report)
ZENITH_DEFINE_INIT(zenith_dataset_params)
ZENITH_DEFINE_INIT(zenith_dataset_info)
ZENITH_DEFINE_INIT(zenith_dataset_look_params)

#ifdef __cplusplus
}
#endif
#endif
