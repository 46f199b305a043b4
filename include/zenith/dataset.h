// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Datasets of latents. Experimental: this header may change with any version. The rules of zenith.h
// apply.
#ifndef ZENITH_DATASET_H
#define ZENITH_DATASET_H

#include "zenith/zenith.h"

#ifdef __cplusplus
extern "C" {
#endif

// --- storage -------------------------------------------------------------------------------------

// Storage for datasets other than the file system: objects with paths, as in S3. The caller
// supplies the functions; the program `zenith` has them for s3://. A function returns
// ZENITH_NOT_FOUND for an object that does not exist, and after any failure leaves a sentence in
// `message`, which has room for 512 bytes. Two threads may call the functions at once, but each
// stream is used by one thread at a time.
typedef struct zenith_object {
    size_t size;
    const char *path; // the whole path, with the scheme; not set by `look`
    uint64_t bytes;
    char etag[136]; // changes whenever the bytes change; "": unknown
    double age;     // seconds since it was written, by the storage's clock; negative: unknown
} zenith_object;
typedef zenith_status zenith_object_fn(void *cookie, const zenith_object *object);

typedef struct zenith_storage {
    size_t size;
    // "s3://": paths that begin with it belong to this storage, all others to the file system.
    const char *scheme;
    void *cookie; // the first argument of all functions that do not take a stream
    // Calls `each` for all objects whose path begins with `folder` and a slash, in any order, until
    // it returns anything but ZENITH_OK, which is then the result. `folder` may already end with
    // slashes. deep: false leaves out objects with a further slash in their path.
    zenith_status (*list)(void *cookie, const char *folder, bool deep, zenith_object_fn *each,
                          void *each_cookie, char *message);
    // Fills bytes, etag and age of *out.
    zenith_status (*look)(void *cookie, const char *path, zenith_object *out, char *message);
    // Opens an object for reading from its beginning. etag: fail if the object has another one,
    // because it has changed; "": do not check.
    zenith_status (*read_open)(void *cookie, const char *path, const char *etag, void **stream,
                               char *message);
    // *got is less than `bytes` only at the end.
    zenith_status (*read)(void *stream, void *dst, size_t bytes, size_t *got, char *message);
    void (*read_close)(void *stream);
    // Writes an object that becomes visible only when it is complete. write_close with `keep`
    // finishes it, replaces any earlier object of this path and writes its etag (136 bytes);
    // without `keep` it discards what was written. It always frees the stream, even if it fails.
    zenith_status (*write_open)(void *cookie, const char *path, void **stream, char *message);
    zenith_status (*write)(void *stream, const void *data, size_t bytes, char *message);
    zenith_status (*write_close)(void *stream, bool keep, char *etag, char *message);
    // Writes a small object in one step. replace: false writes it only if no such object exists;
    // that is no failure. *made tells whether it was written.
    zenith_status (*put)(void *cookie, const char *path, const void *data, size_t bytes,
                         bool replace, bool *made, char *message);
    // Returns ZENITH_OK if the object does not exist.
    zenith_status (*remove)(void *cookie, const char *path, char *message);
} zenith_storage;

// --- datasets of latents -------------------------------------------------------------------------

// Progress of a call. The four shares are fractions of the time spent on waiting for input, on
// decoding and resizing, on encoding, and on writing.
typedef struct zenith_dataset_report {
    size_t size;
    const char *shard;            // the shard being processed; valid until the callback returns
    uint64_t shards, shards_done; // in the input or the partition; done by this call
    uint64_t pictures, bad;       // by this call: images encoded, samples that could not be used
    uint64_t bytes, bytes_done;   // input bytes to read, as far as is known; read so far
    double seconds;
    double read_share, decode_share, encode_share, write_share;
} zenith_dataset_report;
// Return nonzero to stop: the call returns ZENITH_CANCELLED. Called from the caller's thread or an
// executor thread, one call at a time, at most ten times a second.
typedef int zenith_dataset_fn(void *cookie, const zenith_dataset_report *report);

// The file format of each latent in a tar archive.
typedef enum zenith_container {
    ZENITH_CONTAINER_DEFAULT = 0, // npy; safetensors for BF16, which npy does not support
    ZENITH_CONTAINER_NPY = 1,
    ZENITH_CONTAINER_SAFETENSORS = 2
} zenith_container;

typedef struct zenith_dataset_params {
    size_t size;
    // A folder with tar archives (WebDataset), a folder with images, or one tar archive.
    const char *input;
    const char *output; // a folder, created if it does not exist
    // How images are read and fitted; NULL: all defaults. Its max_memory is ignored.
    const zenith_source_params *source;
    // dtype, max_memory, bands and cancel; NULL: all defaults. Its progress, facts and results are
    // ignored.
    const zenith_run_params *run;
    // Stored type: F16 (the default), BF16, F32, or U8, with a scale and an offset for each channel
    // of each image.
    zenith_number number;
    zenith_space space;
    zenith_latent_kind kind; // ZENITH_LATENT_MEAN, or ZENITH_LATENT_MOMENTS: [2C, h, w]
    uint32_t shard_pictures; // images per shard, if the input is a folder of images; 0: 5000
    // Seconds without a heartbeat before another worker takes over a shard; 0: 60.
    double lease_seconds;
    bool retry; // process shards with bad samples or damaged archives again
    zenith_dataset_fn *report;
    void *report_cookie;
    // Process only every `partitions`-th shard, starting with number `partition`, from 0: a fixed
    // share for each worker. partitions 0: all shards.
    uint32_t partition, partitions;
    zenith_container container;
    // Choices for each image that depend on `seed` and the image's key alone. random_crop: crop
    // somewhere else than in the centre. mirror: flip half of the images from left to right.
    bool random_crop, mirror;
    uint64_t seed;
    // Sizes to choose from, instead of the size in `source`: width and height of each, multiples of
    // the model's factor, at most 1024 sizes. Images are never enlarged. docs/DATASET.md explains
    // how the size of an image is chosen.
    const uint32_t *buckets;
    uint32_t bucket_count;
    // Up to 7 further models, all different. Every model encodes each image, which is decoded and
    // scaled only once unless it is too large to be held. Latents are then named KEY.MODEL.npy, and
    // sides must be multiples of the factors of all models.
    zenith_model *const *more_models;
    uint32_t more_count;
    // For inputs and outputs whose path begins with its scheme; NULL: the file system only.
    const zenith_storage *storage;
} zenith_dataset_params;

// What a call did.
typedef struct zenith_dataset_info {
    size_t size;
    uint64_t shards;            // in the input, or in the partition
    uint64_t done, done_before; // by this call; by earlier calls and other workers
    uint64_t held;              // being processed by other workers
    uint64_t failed;            // could not be read; the error message explains the first
    uint64_t damaged;           // of `done`: archives that are damaged from some point on
    // Of `done`: images that were encoded, and samples that could not be used.
    uint64_t pictures, bad;
    uint64_t bytes; // of the tar archives that were written
    double seconds;
    double read_share, decode_share, encode_share, write_share;
} zenith_dataset_info;

// Encodes a dataset of images into latents, shard by shard. OUT/NAME.tar has KEY.npy ([C, h, w])
// for each image, facts about it (KEY.latent.json), and the other members of its sample unchanged.
// OUT/NAME.json, the record, accounts for every sample and is written last.
//
// Repeating the call resumes a run that was stopped or killed, and does nothing if all is done.
// Several processes, also on several machines, may run it at the same time. Settings that would
// give other bytes than the output already has are refused (ZENITH_INVALID_ARGUMENT). A latent has
// the bits that zenith_encode gives. A context with several streams of one thread each is fastest.
//
// *out is also written on failure; out may be NULL. ZENITH_PARTIAL: some shards could not be read.
// See docs/DATASET.md.
ZENITH_MUST_CHECK ZENITH_API zenith_status
zenith_dataset_encode(zenith_context *context, zenith_model *model,
                      const zenith_dataset_params *params, zenith_dataset_info *out);

typedef struct zenith_dataset_look_params {
    size_t size;
    const char *input, *output; // output NULL: there is none yet, so all shards are missing
    uint32_t shard_pictures;    // as given to zenith_dataset_encode; 0: as the output says
    double lease_seconds;       // as given to zenith_dataset_encode; 0: 60
    bool verify;                // read all outputs and compare them with their records
    zenith_cancel *cancel;
    const zenith_storage *storage; // as given to zenith_dataset_encode
} zenith_dataset_look_params;

// Reports the state of a dataset as JSON text: the number of shards by state, of bad samples by
// reason, and a list of faults. Free it with zenith_text_free. Faults:
//   missing             the shard has no record
//   in-work             the same, but another worker is processing it
//   record              the record cannot be read
//   stale               the input has changed since
//   settings, weights   it was made with other ones than the folder's
//   input               the archive is damaged from some point on
//   output              the tar is gone, or it is not the one that the record describes
//   extra               a record without an input
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
