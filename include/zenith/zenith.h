// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Zenith: images to latents and back, on CPUs. This header is the manual of the C library.
//
//     zenith_context *context;
//     zenith_model *model;
//     zenith_context_params machine = {.size = sizeof machine}; // all defaults
//     zenith_model_params which = {.size = sizeof which, .name = "taesd", .weights = "weights"};
//     if (zenith_context_create(&machine, &context) != ZENITH_OK) ...
//     if (zenith_model_open(context, &which, &model) != ZENITH_OK)
//         puts(zenith_context_error(context)); // one sentence for a person
//
//     zenith_latent latent = {.size = sizeof latent, .width = 64, .height = 64, .channels = 4,
//                             .data = floats}; // [4][64][64]
//     zenith_image image = {.size = sizeof image, .width = 512, .height = 512, .data = bytes};
//     zenith_run_params how = {.size = sizeof how, .max_memory = 256u << 20};
//     zenith_decode(context, model, &latent, &image, 1, &how);
//
//     zenith_model_free(model);
//     zenith_context_free(context);
//
// Rules that hold everywhere
//   Structs     begin with `size`, which the caller sets to sizeof; all other fields start as zero
//               ({0}, or TYPE_init), and zero means the default. New versions add fields at the
//               end. A newer library treats fields that its caller does not have as zero and never
//               writes them. An older one refuses fields that it does not know (ZENITH_UNSUPPORTED)
//               unless they are zero. In an array, the `size` of the first element is the distance
//               between elements.
//   Status      Every call that can fail returns one. Results are written through pointers, and
//               only on success. zenith_context_error explains the calling thread's last failure.
//   Ownership   is in the verb: what _open or _create returns belongs to the caller until _free,
//               which accepts NULL. Strings and structs from _get_ are borrowed and live as long
//               as their object.
//   Threads     A context runs one call at a time; calls from other threads wait. Models never
//               change after _open, and any number of contexts may share one. Objects for files
//               belong to one thread at a time. zenith_cancel_request may come from any thread.
//               All computation runs on threads that the context owns; it never touches the host's.
//   fork        In a forked child, the parent's contexts return ZENITH_FORKED; it can create its
//               own.
//   Never       does the library print, abort, exit, change the locale or keep global state.
//   Paths       are UTF-8 on every system. On POSIX systems their bytes are passed on unchanged.
//   Memory      comes from malloc. There is no allocator hook: large blocks are a context's own and
//               bounded by max_memory, the rest is small, and oneDNN would not use the hook.
//   Same bits   For one version, type and CPU class, results do not depend on the number of
//               threads, on other images in a batch, or on how memory is bounded.
#ifndef ZENITH_ZENITH_H
#define ZENITH_ZENITH_H

#include "zenith/status.h"
#include "zenith/version.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

ZENITH_API const char *zenith_version(void); // of the library in use, "0.1.0"
ZENITH_API int zenith_version_number(void);  // to compare with ZENITH_VERSION_NUMBER(0, 1, 0)

// --- context -------------------------------------------------------------------------------------

typedef struct zenith_context zenith_context;
typedef struct zenith_model zenith_model;

typedef enum zenith_log_level {
    ZENITH_LOG_DEBUG = 0,
    ZENITH_LOG_INFO = 1,
    ZENITH_LOG_WARNING = 2
} zenith_log_level;

typedef void zenith_log_fn(void *cookie, int level, const char *message);

typedef struct zenith_context_params {
    size_t size;
    int threads; // 0: the physical cores that this process may use, within its cgroup quota
    int streams; // images of a batch that are computed at once, each on `threads`; 0: 1
    // NULL: silent. Also called from executor threads, one call at a time.
    zenith_log_fn *log;
    void *log_cookie;
    int log_level; // messages below this level are left out
    // Bytes for compiled plans that are kept for later calls; the least recently used go first. 0:
    // 64 MB.
    uint64_t plan_memory;
    // A file that remembers the fastest of a few plans for each network, image size and number of
    // threads on this CPU. The first eight images of a size try the plans in turn; later ones, also
    // in later processes, use the fastest. All plans give the same bits. NULL: no measuring. The
    // file's folder must exist; a file that cannot be read or written is ignored. Calls with
    // max_memory or bands are not tuned. Tuned calls may use twice the working memory plus 256 MB.
    const char *tuned_plans;
} zenith_context_params;

ZENITH_MUST_CHECK ZENITH_API zenith_status
zenith_context_create(const zenith_context_params *params, zenith_context **out);
ZENITH_API void zenith_context_free(zenith_context *context);

// One sentence about the calling thread's last call on this context if it failed, else "". Valid
// until this thread's next call. Threads that share a context do not see each other's sentences.
ZENITH_API const char *zenith_context_error(const zenith_context *context);

// What the context runs on: "amx", 2 threads, oneDNN 3.2.0, ...
typedef struct zenith_machine_info {
    size_t size;
    const char *isa;      // instructions in use: "baseline", "avx2", "avx512", "amx", "neon"
    const char *hardware; // the best class of the machine; differs when ZENITH_CPU lowers it
    const char *onednn;   // version, or "none"
    int threads, streams;
    // What the default number of threads is derived from. quota: the cgroup's, in whole CPUs; 0:
    // none.
    int affinity, physical_cores, quota;
} zenith_machine_info;
ZENITH_API void zenith_context_get_machine(const zenith_context *context, zenith_machine_info *out);

// Frees working memory and compiled plans, which are otherwise kept for the next call.
ZENITH_API void zenith_context_trim(zenith_context *context);

// --- cancel --------------------------------------------------------------------------------------

// A flag that stops the calls it was given to: they return ZENITH_CANCELLED within tens of
// milliseconds. Any thread may set it; it stays set until zenith_cancel_reset.
typedef struct zenith_cancel zenith_cancel;
ZENITH_MUST_CHECK ZENITH_API zenith_status zenith_cancel_create(zenith_cancel **out);
ZENITH_API void zenith_cancel_free(zenith_cancel *cancel);
ZENITH_API void zenith_cancel_request(zenith_cancel *cancel);
ZENITH_API void zenith_cancel_reset(zenith_cancel *cancel);

// --- models --------------------------------------------------------------------------------------

enum { ZENITH_ENCODER = 1, ZENITH_DECODER = 2 };

// Reads `bytes` bytes at `offset` of a file into dst. Any status except ZENITH_OK ends the call
// with it.
typedef zenith_status zenith_read_fn(void *cookie, uint64_t offset, void *dst, size_t bytes);

// A file that is in memory, in an archive, on a network.
typedef struct zenith_file {
    size_t size;
    // What it would be called: "taesd_decoder.safetensors", "diffusion_pytorch_model.safetensors",
    // "config.json".
    const char *name;
    const void *data;     // must outlive the model, its jobs and its clips; NULL: use `read`
    uint64_t bytes;       // size of the file
    zenith_read_fn *read; // only called by zenith_model_open; the model keeps a copy
    void *cookie;
} zenith_file;

typedef struct zenith_model_params {
    size_t size;
    // "taesd", "taesdxl", "taesd3", "taef1", "taef2" (zenith_model_name lists them all). NULL:
    // recognised by the weights, or ZENITH_AMBIGUOUS where tensor names and shapes fit several
    // models, as those of TAESD fit TAESDXL.
    const char *name;
    // A folder with NAME_encoder.safetensors and NAME_decoder.safetensors, a folder in diffusers'
    // layout (with config.json), or one safetensors file. NULL: the search path, which is
    // $ZENITH_MODELS, then `models` in the current folder, then ~/.local/share/zenith, then the
    // install prefix's share/zenith/models. Each may hold a model as its files
    // NAME_encoder.safetensors and NAME_decoder.safetensors or as a folder NAME.
    const char *weights;
    unsigned parts; // required: ZENITH_ENCODER | ZENITH_DECODER; 0: whichever the weights have
    // Files that are not on disk, instead of `weights`: those that its folder would hold. NULL:
    // `weights`.
    const zenith_file *files;
    size_t file_count;
} zenith_model_params;

// Maps the weights into memory; they are packed for the CPU on first use.
ZENITH_MUST_CHECK ZENITH_API zenith_status zenith_model_open(zenith_context *context,
                                                             const zenith_model_params *params,
                                                             zenith_model **out);
ZENITH_API void zenith_model_free(zenith_model *model);

typedef struct zenith_model_info {
    size_t size;
    const char *name;        // "taesd"
    const char *description; // "TAESD: tiny autoencoder for Stable Diffusion 1.x and 2.x"
    unsigned parts;          // that the weights have: ZENITH_ENCODER | ZENITH_DECODER
    uint32_t latent_channels;
    uint32_t factor; // image pixels per latent pixel, along each side: 8
    // From the full VAE's own latents (space RAW) to the diffusion model's (MODEL):
    // model = (raw - shift) * scale. has_raw is false for models that need more than one scale and
    // shift.
    bool has_raw;
    float scale, shift;
    uint64_t parameters;
    // As zenith_model_weights_sha256; NULL for models other than autoencoders, and for large ones
    // that have not been hashed yet.
    const char *weights_sha256;
    bool has_int8;            // a calibration for these weights was found
    bool can_int8;            // the model can be calibrated
    const char *weights_path; // one of the files with the weights
    bool has_moments;         // the encoder gives a mean and a variance: see zenith_latent_kind
    // Video models: images per latent after the first; 0: still images only. first_frames: images
    // that the encoder takes for the first latent, from which the decoder makes one.
    uint32_t frames, first_frames;
    // Why the calibration file next to the weights is not used; NULL: it is used, or there is none.
    const char *calibration_problem;
} zenith_model_info;
ZENITH_API void zenith_model_get_info(const zenith_model *model, zenith_model_info *out);
// Hash of names, types, shapes and bytes, however they are spread over files. The first call may
// read all weights. Lives as long as the model.
ZENITH_API const char *zenith_model_weights_sha256(const zenith_model *model);

// The models that this library knows: index 0, 1, ... until NULL.
ZENITH_API const char *zenith_model_name(size_t index);
ZENITH_API const char *zenith_model_description(size_t index);
// Whether one model can decode what the other encodes (taesd and zenith-sd-fast), by their names.
ZENITH_API bool zenith_models_share_latents(const char *a, const char *b);

// --- images and latents --------------------------------------------------------------------------

typedef enum zenith_number {
    ZENITH_NUMBER_DEFAULT = 0, // U8 for images, F32 for latents
    ZENITH_U8 = 1,             // images: sRGB, 0 .. 255
    ZENITH_F32 = 2,     // images: 0 .. 1, and whatever the network gives beyond that; latents
    ZENITH_F16 = 3,     // latents
    ZENITH_BF16 = 4,    // latents
    ZENITH_F8_E4M3 = 5, // stored weights: 4 bits of exponent, 3 of fraction, up to 448
    ZENITH_F8_E5M2 = 6, // stored weights: 5 bits of exponent, 2 of fraction, up to 57344
    ZENITH_U16 = 7      // images in memory: sRGB, 0 .. 65535
} zenith_number;

typedef enum zenith_order {
    ZENITH_ORDER_DEFAULT = 0, // HWC for images, CHW for latents
    ZENITH_HWC = 1,
    ZENITH_CHW = 2
} zenith_order;

// The order of a pixel's channels. Alpha is ignored when read and opaque when written.
typedef enum zenith_channels {
    ZENITH_RGB = 0,
    ZENITH_BGR = 1,
    ZENITH_RGBA = 2,
    ZENITH_BGRA = 3
} zenith_channels;

// Moves rows [y, y + count): a source fills `rows`, a target reads them. Rows are dense, HWC, in
// the number type of the image or latent, and come in increasing order; a source may be read from
// row 0 again, and a target that `restarts` may get row 0 again. Called from an executor thread,
// one call at a time. Any status except ZENITH_OK ends the run with it.
typedef zenith_status zenith_rows_fn(void *cookie, uint32_t y, uint32_t count, void *rows);

// An image in memory (data) or as a stream of rows.
typedef struct zenith_image {
    size_t size;
    uint32_t width, height; // multiples of the model's factor
    zenith_number number;   // U8, U16 or F32; rows: U8 or F32
    zenith_order order;     // of data
    union {
        void *data;         // NULL: use rows
        const void *pixels; // the same, of an image that is only read
    };
    zenith_rows_fn *rows;
    void *cookie;
    // data: bytes from one row to the next (in each plane, if CHW), at least a row's own and a
    // multiple of a number's. 0: rows follow each other. Comparing and saving need 0.
    size_t row_bytes;
    // A target's rows may start over at row 0, which voids the rows before. That happens when an
    // image is computed again in f32 (zenith_run_facts.again). If false, such an image fails with
    // ZENITH_OVERFLOW once rows were handed out. zenith_target_rows can start over.
    bool restarts;
    uint8_t unused[7];        // padding of older headers: never read
    zenith_channels channels; // of data. Rows, comparing and saving need RGB
} zenith_image;

typedef enum zenith_space {
    ZENITH_SPACE_MODEL = 0, // as the diffusion model sees it
    ZENITH_SPACE_RAW = 1    // as the full VAE gives it, before scale and shift
} zenith_space;

// Some encoders (zenith_model_info.has_moments) give each number of a latent a mean and a variance.
typedef enum zenith_latent_kind {
    ZENITH_LATENT_MEAN = 0,   // the mean: the same latent every time
    ZENITH_LATENT_SAMPLE = 1, // mean + standard deviation * noise, which depends on `seed` alone
    // The mean followed by the logarithm of the variance: twice the channels. Encoders only.
    ZENITH_LATENT_MOMENTS = 2
} zenith_latent_kind;

// One latent. width and height are the image's divided by the model's factor. Latents and F32
// images that are read must be finite: NaN or infinity fails the image with ZENITH_INVALID_ARGUMENT
// and a sentence that says where the first one is. A latent that F16 cannot hold fails with
// ZENITH_OVERFLOW.
typedef struct zenith_latent {
    size_t size;
    uint32_t width, height, channels;
    zenith_space space;
    zenith_number number; // F32, F16 or BF16
    zenith_order order;   // of data
    union {
        void *data;         // dense; NULL: use rows (F32)
        const void *values; // the same, of a latent that is only read
    };
    zenith_rows_fn *rows;
    void *cookie;
    zenith_latent_kind kind; // for encoders; decoders need ZENITH_LATENT_MEAN
    uint64_t seed;           // for ZENITH_LATENT_SAMPLE
} zenith_latent;

// --- runs ----------------------------------------------------------------------------------------

typedef enum zenith_dtype {
    ZENITH_DTYPE_DEFAULT = 0, // bf16 where the CPU has AMX, f32 elsewhere
    ZENITH_DTYPE_F32 = 1,
    ZENITH_DTYPE_BF16 = 2, // feature maps in bf16, sums in f32; values that need more stay in f32
    // u8 * s8 after calibration; layers that would lose too much stay in the default floating-point
    // type
    ZENITH_DTYPE_INT8 = 3
} zenith_dtype;

typedef enum zenith_bands {
    ZENITH_BANDS_AUTO =
        0, // bands of rows roll through the whole network, as large as max_memory allows
    ZENITH_BANDS_OFF = 1, // whole feature maps
    ZENITH_BANDS_ROWS = 2 // bands of band_rows rows of the latent
} zenith_bands;

// fraction: 0 .. 1 of the whole call. Return nonzero to stop: the call returns ZENITH_CANCELLED.
// Called from an executor thread, one call at a time.
typedef int zenith_progress_fn(void *cookie, double fraction);

// What a run used. See zenith_run_params.facts.
typedef struct zenith_run_facts {
    size_t size;
    zenith_dtype dtype;
    bool banded;
    uint32_t band_rows;   // rows of the latent per round; 0 if not banded
    uint64_t arena_bytes; // working memory, to the byte
    uint64_t weights_bytes;
    double seconds;
    uint64_t spill_bytes; // of the spill file
    double flops;         // work done twice counts twice
    // Images that overflowed the type `overflowed` and were computed again in f32; they have the
    // bits of a run in f32.
    uint32_t again;
    zenith_dtype overflowed; // ZENITH_DTYPE_DEFAULT: none
    uint32_t measured;       // images that were timed (zenith_context_params.tuned_plans)
} zenith_run_facts;

// The outcome of one image of a batch.
typedef struct zenith_item_result {
    size_t size;
    zenith_status status;
    char message[512]; // one sentence about a failure, or ""
    // The type it was computed in: f32 if the requested one overflowed. ZENITH_DTYPE_DEFAULT: it
    // was not computed.
    zenith_dtype dtype;
} zenith_item_result;

typedef struct zenith_run_params {
    size_t size;
    zenith_dtype dtype;
    zenith_bands bands;
    uint32_t band_rows;
    // Bounds working memory, packed weights and the buffers of images and latents (`data`). A call
    // that cannot fit is refused at once with ZENITH_LIMIT and the number of bytes it needs. 0: no
    // bound.
    uint64_t max_memory;
    zenith_progress_fn *progress;
    void *progress_cookie;
    zenith_cancel *cancel;
    zenith_run_facts *facts; // filled on success, if not NULL
    // NULL: the first image that fails ends the batch with its status. Otherwise an array of
    // `count` results, one per image, of which only the first needs its `size` set; images then
    // fail independently.
    zenith_item_result *results;
    // A folder for a temporary file with what max_memory has no room for, used when that is cheaper
    // than computing it again. The file has no name and disappears with the call or the process.
    // NULL: no file. Not used by clips.
    const char *spill;
    bool untuned; // neither use nor measure tuned plans (zenith_context_params.tuned_plans)
} zenith_run_params;

// Encodes images into latents, `count` of each, of any sizes. params may be NULL. With results, the
// status is
//   ZENITH_OK        all images are done
//   ZENITH_PARTIAL   some are done, and the results say why others failed
//   any other        no image is done, and this is the status of the first; or the call was stopped
//                    (ZENITH_CANCELLED: the results say how far it came) or refused as a whole
// An image that overflows (NaN or infinity) is computed again in f32, alone; facts and results say
// so. If it overflows in f32 too, it fails with ZENITH_OVERFLOW.
ZENITH_MUST_CHECK ZENITH_API zenith_status zenith_encode(zenith_context *context,
                                                         zenith_model *model,
                                                         const zenith_image *images,
                                                         const zenith_latent *latents, size_t count,
                                                         const zenith_run_params *params);

// Decodes latents into images, with the same rules. Integer images are clamped and rounded; F32
// images are the network's own output.
ZENITH_MUST_CHECK ZENITH_API zenith_status zenith_decode(zenith_context *context,
                                                         zenith_model *model,
                                                         const zenith_latent *latents,
                                                         const zenith_image *images, size_t count,
                                                         const zenith_run_params *params);

// What encoding or decoding one image will need: exactly the numbers of the run itself.
typedef struct zenith_estimate_info {
    size_t size;
    zenith_dtype dtype;
    bool banded;
    uint32_t band_rows;
    uint64_t arena_bytes, weights_bytes, buffer_bytes; // buffers: 8-bit image, f32 latent
    uint64_t total_bytes;
    double flops;         // work that max_memory forces to be done twice counts twice
    uint64_t spill_bytes; // of the spill file
} zenith_estimate_info;

// part: ZENITH_ENCODER or ZENITH_DECODER. width, height: of the image. streamed: image and latent
// move by rows and need no buffers.
ZENITH_MUST_CHECK ZENITH_API zenith_status zenith_estimate(
    zenith_context *context, zenith_model *model, unsigned part, uint32_t width, uint32_t height,
    bool streamed, const zenith_run_params *params, zenith_estimate_info *out);

// --- jobs ----------------------------------------------------------------------------------------

// Encoding and decoding in the background. Jobs wait in one queue for the context's streams, by
// priority (largest first) and then by arrival. Plain calls wait in the same queue with priority 0.
// A job gives the bits of the plain call.
//
//     zenith_job_params what = {.size = sizeof what, .kind = ZENITH_JOB_DECODE, .model = model,
//                               .latent = &latent, .image = &image};
//     if (zenith_job_submit(context, &what, &job) != ZENITH_OK) ...
//     if (zenith_job_wait(job) != ZENITH_OK) ...
//     zenith_job_free(job);
//
// Submitting never blocks. Any thread may submit, query, wait for or cancel any job. Freeing a
// context cancels its queued jobs and lets running ones finish; a job object exists until
// zenith_job_free.
typedef struct zenith_job zenith_job;

typedef enum zenith_job_kind {
    ZENITH_JOB_ENCODE = 1,     // image -> latent
    ZENITH_JOB_DECODE = 2,     // latent -> image
    ZENITH_JOB_RECONSTRUCT = 3 // image -> latent -> result
} zenith_job_kind;

// Called once, when the job is over and before zenith_job_wait returns: from an executor thread,
// or, if the job had not started, from the thread that cancels it or frees the context. message:
// one sentence about a failure, or "". The job must not be freed here.
typedef void zenith_job_fn(void *cookie, zenith_status status, const char *message);

typedef struct zenith_job_params {
    size_t size;
    zenith_job_kind kind;
    zenith_model *model; // may be freed before the job is over
    // The structs are copied; their data, rows and cookies must live until the job is over.
    const zenith_image *image;
    const zenith_latent *latent; // ZENITH_JOB_RECONSTRUCT: NULL, or a place for the latent
    const zenith_image *result;  // ZENITH_JOB_RECONSTRUCT only
    // May be NULL; copied. `facts` must live until the job is over; those of a reconstruction are
    // the decoder's. `cancel` and `results` must be NULL: use zenith_job_cancel and
    // zenith_job_get_info.
    const zenith_run_params *run;
    int priority;
    zenith_job_fn *done; // may be NULL
    void *done_cookie;
} zenith_job_params;

// Checks pointers, sizes and types before it returns.
ZENITH_MUST_CHECK ZENITH_API zenith_status zenith_job_submit(zenith_context *context,
                                                             const zenith_job_params *params,
                                                             zenith_job **out);
// Waits until the job is over and returns its status; in a forked child, ZENITH_FORKED.
ZENITH_MUST_CHECK ZENITH_API zenith_status zenith_job_wait(zenith_job *job);
// A queued job is over at once, a running one within tens of milliseconds; one that is over does
// not change.
ZENITH_API void zenith_job_cancel(zenith_job *job);
// Cancels the job unless it is over, waits for it, and frees it.
ZENITH_API void zenith_job_free(zenith_job *job);

typedef enum zenith_job_state {
    ZENITH_JOB_WAITING = 0,
    ZENITH_JOB_RUNNING = 1,
    ZENITH_JOB_OVER = 2
} zenith_job_state;

typedef struct zenith_job_info {
    size_t size;
    zenith_job_state state;
    zenith_status status; // once the job is over
    const char *message;  // one sentence about a failure, or ""; lives as long as the job
    uint32_t before;      // jobs and calls ahead of this one in the queue
    double waited, ran;   // seconds so far
} zenith_job_info;
ZENITH_API void zenith_job_get_info(zenith_job *job, zenith_job_info *out);

// --- image files ---------------------------------------------------------------------------------

// An image file (JPEG, PNG, WebP, PNM), read in a fixed order: check the header against limits,
// decode, apply EXIF orientation, convert the ICC profile to sRGB, blend alpha over the background,
// fit, hand out 8-bit RGB rows.
typedef struct zenith_source zenith_source;

typedef enum zenith_fit {
    ZENITH_FIT_CROP = 0,   // crop to the centre, down to a multiple of `multiple`
    ZENITH_FIT_PAD = 1,    // repeat edge pixels at right and bottom, up to a multiple
    ZENITH_FIT_RESIZE = 2, // scale and crop to width x height
    ZENITH_FIT_EXACT = 3   // refuse sizes that are not a multiple already
} zenith_fit;

typedef enum zenith_filter { ZENITH_LANCZOS = 0, ZENITH_BICUBIC = 1 } zenith_filter;

typedef struct zenith_source_params {
    size_t size;
    zenith_fit fit;
    uint32_t multiple;      // 0: 8
    uint32_t width, height; // for ZENITH_FIT_RESIZE; one of them 0: the aspect ratio is kept
    zenith_filter filter;
    uint8_t background[3]; // RGB behind transparent pixels; zero is black
    bool first_frame;      // take an animation's first frame; false: refuse animations
    uint64_t max_pixels;   // 0: 2^29
    uint64_t max_memory;   // bounds what is held at once; 0: no bound
} zenith_source_params;

typedef struct zenith_source_info {
    size_t size;
    const char *format;                               // "jpeg", "png", "webp", "pnm"
    uint32_t width, height;                           // of the rows: after fitting
    uint32_t stored_width, stored_height;             // in the file
    uint32_t turned_width, turned_height;             // after orientation
    uint32_t crop_x, crop_y, crop_width, crop_height; // the part that is used, in turned pixels
    int orientation;                                  // EXIF, 1 .. 8
    int bits, channels;                               // as stored
    bool has_alpha, has_profile;
    const char *colour; // "sRGB", or the profile's own description
    bool streamed;      // false: the whole image is held in memory
    // PNG: how it was made, as zenith_target_params.parameters and other programs write it; NULL:
    // not stored.
    const char *parameters;
} zenith_source_info;

// path "-": standard input, which is read whole; it counts against max_memory, or is limited to 2
// GiB. If a signal interrupts the read and its handler was installed without SA_RESTART, the call
// returns ZENITH_CANCELLED, so that a program can stop waiting for a terminal or a pipe.
ZENITH_MUST_CHECK ZENITH_API zenith_status zenith_source_open(zenith_context *context,
                                                              const char *path,
                                                              const zenith_source_params *params,
                                                              zenith_source **out);
// The same from memory, which stays the caller's and must outlive the source.
ZENITH_MUST_CHECK ZENITH_API zenith_status
zenith_source_open_memory(zenith_context *context, const void *data, size_t size,
                          const zenith_source_params *params, zenith_source **out);
ZENITH_API void zenith_source_free(zenith_source *source);
ZENITH_API void zenith_source_get_info(const zenith_source *source, zenith_source_info *out);
ZENITH_API const char *zenith_source_error(const zenith_source *source);
// A zenith_rows_fn whose cookie is the source.
ZENITH_API zenith_status zenith_source_rows(void *source, uint32_t y, uint32_t count, void *rows);

// Writes an image file row by row. The file gets its name only when it is finished.
typedef struct zenith_target zenith_target;
typedef struct zenith_target_params {
    size_t size;
    const char *format; // "png", "jpeg", "webp", "ppm"; NULL: by the path's ending
    int quality;        // jpeg, webp: 1 .. 100; 0: 95
    int level;          // png: 1 (fast) .. 9; 0: 1
    bool lossless;      // webp
    // png: UTF-8 for the text chunk "parameters", where other programs look for how an image was
    // made; NULL: none. Other formats ignore it.
    const char *parameters;
    // webp: the number of frames of an animation, which are stacked in one image, each height /
    // frames high, and shown for `delay` milliseconds each (0: 100). 0: a still image.
    uint32_t frames, delay;
    // png: make the white background of a drawing transparent: all white that is connected to the
    // border. The whole image is held until its last row.
    bool cut_out;
} zenith_target_params;
// path "-": standard output.
ZENITH_MUST_CHECK ZENITH_API zenith_status zenith_target_open(zenith_context *context,
                                                              const char *path, uint32_t width,
                                                              uint32_t height,
                                                              const zenith_target_params *params,
                                                              zenith_target **out);
// A zenith_rows_fn whose cookie is the target: 8-bit HWC rows, in order. Row 0 again starts the
// file over (zenith_image.restarts); on standard output that fails.
ZENITH_API zenith_status zenith_target_rows(void *target, uint32_t y, uint32_t count, void *rows);
// zenith_target_error explains a failure, and so does zenith_context_error of the context.
ZENITH_MUST_CHECK ZENITH_API zenith_status zenith_target_finish(zenith_target *target);
ZENITH_API const char *zenith_target_error(const zenith_target *target);
ZENITH_API void zenith_target_free(zenith_target *target); // an unfinished file is removed

// --- video ---------------------------------------------------------------------------------------

// Encodes or decodes a clip with a video model (zenith_model_info.frames), one step at a time. A
// step has one latent and zenith_clip_frames images: one, or first_frames, in the first step, and
// `frames` in all others. The clip keeps what later steps need of earlier ones, so memory does not
// grow with its length.
//
//     zenith_clip_params how = {
//         .size = sizeof how, .part = ZENITH_DECODER, .width = 832, .height = 480};
//     if (zenith_clip_open(context, model, &how, &clip) != ZENITH_OK) ...
//     for (int i = 0; i < latents_count; i++) {
//         uint32_t frames = zenith_clip_frames(clip); // 1, then 4
//         if (zenith_clip_step(clip, images, frames, &latents[i]) != ZENITH_OK) ...
//     }
//
// Single images need no clip: use zenith_encode and zenith_decode. A clip belongs to one thread at
// a time, and its context must outlive it.
typedef struct zenith_clip zenith_clip;

typedef struct zenith_clip_params {
    size_t size;
    unsigned part;          // ZENITH_ENCODER or ZENITH_DECODER
    uint32_t width, height; // of the images
    zenith_number number;   // of the images: U8 (the default), or F32, which U16 images need too
    const zenith_run_params *run; // for every step; may be NULL. Each step fills its facts
} zenith_clip_params;

// max_memory bounds packed weights, working memory and what the clip keeps between steps.
ZENITH_MUST_CHECK ZENITH_API zenith_status zenith_clip_open(zenith_context *context,
                                                            zenith_model *model,
                                                            const zenith_clip_params *params,
                                                            zenith_clip **out);
ZENITH_API void zenith_clip_free(zenith_clip *clip);
ZENITH_API uint32_t zenith_clip_frames(const zenith_clip *clip); // images of the next step
ZENITH_API uint64_t zenith_clip_bytes(const zenith_clip *clip);  // working and kept memory
ZENITH_API void zenith_clip_reset(zenith_clip *clip);            // the next step starts a clip

// One step, with its images in order of time. A step that failed or was stopped can be repeated,
// except under a max_memory so tight that steps overwrite what they read: the next step then fails
// with ZENITH_INVALID_ARGUMENT until the clip is reset.
ZENITH_MUST_CHECK ZENITH_API zenith_status zenith_clip_step(zenith_clip *clip,
                                                            const zenith_image *images,
                                                            size_t count,
                                                            const zenith_latent *latent);

// Frames of a Y4M stream (YUV4MPEG2, as ffmpeg reads and writes it): 8 bits, 4:2:0 or 4:4:4,
// BT.601.
typedef struct zenith_video_source zenith_video_source;
typedef struct zenith_video_info {
    size_t size;
    uint32_t width, height;
    uint32_t rate, rate_scale; // frames per second: rate / rate_scale; 0: unknown
} zenith_video_info;

// path "-": standard input, frame by frame.
ZENITH_MUST_CHECK ZENITH_API zenith_status zenith_video_source_open(zenith_context *context,
                                                                    const char *path,
                                                                    zenith_video_source **out);
ZENITH_API void zenith_video_source_free(zenith_video_source *source);
ZENITH_API void zenith_video_source_get_info(const zenith_video_source *source,
                                             zenith_video_info *out);
// The next frame as 8-bit HWC pixels; *there is false after the last.
ZENITH_MUST_CHECK ZENITH_API zenith_status zenith_video_source_next(zenith_video_source *source,
                                                                    void *pixels, bool *there);

// Writes 4:4:4. The file gets its name only when it is finished; path "-": standard output. An
// unknown rate becomes 16 frames per second, which is Wan's.
typedef struct zenith_video_target zenith_video_target;
ZENITH_MUST_CHECK ZENITH_API zenith_status zenith_video_target_open(zenith_context *context,
                                                                    const char *path,
                                                                    const zenith_video_info *info,
                                                                    zenith_video_target **out);
// One frame of 8-bit HWC pixels.
ZENITH_MUST_CHECK ZENITH_API zenith_status zenith_video_target_write(zenith_video_target *target,
                                                                     const void *pixels);
ZENITH_MUST_CHECK ZENITH_API zenith_status zenith_video_target_finish(zenith_video_target *target);
ZENITH_API void
zenith_video_target_free(zenith_video_target *target); // an unfinished file is removed

// --- latent files --------------------------------------------------------------------------------

// A latent file: safetensors (ours, or any with a single tensor), ComfyUI's .latent, or npy, with
// the shape [N, C, h, w] or [C, h, w], or [1, C, t, h, w] for the t latents of a clip.
typedef struct zenith_latent_file zenith_latent_file;

typedef struct zenith_latent_info {
    size_t size;
    uint32_t count, channels, width, height;
    const char *model; // "" if the file does not say
    bool has_space;    // the file says which space it is in
    zenith_space space;
    // The image it was made from, upright, and the part of it that was used; 0: unknown.
    uint32_t source_width, source_height;
    uint32_t crop_x, crop_y, crop_width, crop_height;
    // Clips: the number of frames that it was made from; any further ones are padding. 0: unknown.
    uint32_t frames;
} zenith_latent_info;

// path "-": standard input, which is read whole (at most 2 GiB).
ZENITH_MUST_CHECK ZENITH_API zenith_status zenith_latent_file_open(zenith_context *context,
                                                                   const char *path,
                                                                   zenith_latent_file **out);
ZENITH_API void zenith_latent_file_free(zenith_latent_file *file);
ZENITH_API void zenith_latent_file_get_info(const zenith_latent_file *file,
                                            zenith_latent_info *out);
// Fills *out so that it streams latent `index` of the file. The file must outlive it.
ZENITH_MUST_CHECK ZENITH_API zenith_status zenith_latent_file_get(zenith_latent_file *file,
                                                                  uint32_t index,
                                                                  zenith_latent *out);

typedef struct zenith_latent_save_params {
    size_t size;
    // "safetensors", "latent" (ComfyUI) or "npy". NULL: by the path's ending (.latent, .npy),
    // otherwise safetensors.
    const char *format;
    zenith_number number; // stored type: F32 (the default), F16 or BF16; npy needs F32
    const char *model;    // stored with its space, scale and shift; npy has no room for it
    const zenith_source_info *source; // facts about the image, stored too; may be NULL
    uint32_t frames;                  // clips: the number of frames it was made from; 0: unknown
} zenith_latent_save_params;

// Saves `count` latents of one size and space as [count, C, h, w]; they must have data (CHW, F32).
// ComfyUI's format holds ZENITH_SPACE_RAW only. path "-": standard output.
ZENITH_MUST_CHECK ZENITH_API zenith_status
zenith_latent_save(zenith_context *context, const char *path, const zenith_latent *latents,
                   size_t count, const zenith_latent_save_params *params);

// Saves a float image (F32, HWC data) as npy [1, 3, h, w]. path "-": standard output.
ZENITH_MUST_CHECK ZENITH_API zenith_status zenith_image_save_npy(zenith_context *context,
                                                                 const char *path,
                                                                 const zenith_image *image);

// --- files in memory -----------------------------------------------------------------------------

// Memory in place of a file, for servers and for programs with their own storage.
typedef struct zenith_bytes zenith_bytes;
ZENITH_MUST_CHECK ZENITH_API zenith_status zenith_bytes_create(zenith_bytes **out);
ZENITH_API void zenith_bytes_free(zenith_bytes *bytes);
// Valid until something is written to them again.
ZENITH_API const void *zenith_bytes_get(const zenith_bytes *bytes, size_t *size);

// As the calls that take a path. They overwrite `to`, which must outlive the target; the bytes of
// an unfinished image or latent are meaningless. format: NULL means png, or safetensors.
ZENITH_MUST_CHECK ZENITH_API zenith_status
zenith_target_open_bytes(zenith_context *context, zenith_bytes *to, uint32_t width, uint32_t height,
                         const zenith_target_params *params, zenith_target **out);
ZENITH_MUST_CHECK ZENITH_API zenith_status
zenith_latent_save_bytes(zenith_context *context, zenith_bytes *to, const zenith_latent *latents,
                         size_t count, const zenith_latent_save_params *params);
ZENITH_MUST_CHECK ZENITH_API zenith_status zenith_image_save_npy_bytes(zenith_context *context,
                                                                       zenith_bytes *to,
                                                                       const zenith_image *image);
// As zenith_latent_file_open, from memory, which stays the caller's and must outlive the file.
ZENITH_MUST_CHECK ZENITH_API zenith_status zenith_latent_file_open_memory(zenith_context *context,
                                                                          const void *data,
                                                                          size_t size,
                                                                          zenith_latent_file **out);

// --- weights files -------------------------------------------------------------------------------

// Writes the weights as safetensors under the flat names of the published files ("0.weight"),
// whatever names and layout they were read with. path: an existing folder, which gets
// NAME_encoder.safetensors and NAME_decoder.safetensors of the parts that the model has; or a file,
// in which names start with "encoder." or "decoder.". number: F32 (the default, which holds the
// others without loss), F16, BF16, F8_E4M3 or F8_E5M2. With the last two only the weights of
// convolutions and matrices take 8 bits, each with a scale "X.weight_scale"; other tensors stay
// bf16 if they are, and become F32 otherwise. A value that F16 or F8_E4M3 cannot hold fails with
// ZENITH_UNSUPPORTED, and that file is not written.
ZENITH_MUST_CHECK ZENITH_API zenith_status zenith_model_save(zenith_context *context,
                                                             const zenith_model *model,
                                                             const char *path,
                                                             zenith_number number);

// --- inspecting files ----------------------------------------------------------------------------

// Describes a file or folder as JSON text: weights (family, variants that fit, tensors, missing and
// unexpected names, storage formats, bits per weight), a folder with several models, latents,
// images. graph: also the operators of a known model. Free the text with zenith_text_free.
ZENITH_MUST_CHECK ZENITH_API zenith_status zenith_inspect(zenith_context *context, const char *path,
                                                          const char *model, bool graph,
                                                          char **out);
ZENITH_API void zenith_text_free(char *text);

// --- structs with their defaults: zenith_TYPE_init(&it) ------------------------------------------

ZENITH_DEFINE_INIT(zenith_context_params)
ZENITH_DEFINE_INIT(zenith_machine_info)
ZENITH_DEFINE_INIT(zenith_file)
ZENITH_DEFINE_INIT(zenith_model_params)
ZENITH_DEFINE_INIT(zenith_model_info)
ZENITH_DEFINE_INIT(zenith_image)
ZENITH_DEFINE_INIT(zenith_latent)
ZENITH_DEFINE_INIT(zenith_run_facts)
ZENITH_DEFINE_INIT(zenith_item_result)
ZENITH_DEFINE_INIT(zenith_run_params)
ZENITH_DEFINE_INIT(zenith_estimate_info)
ZENITH_DEFINE_INIT(zenith_job_params)
ZENITH_DEFINE_INIT(zenith_job_info)
ZENITH_DEFINE_INIT(zenith_source_params)
ZENITH_DEFINE_INIT(zenith_source_info)
ZENITH_DEFINE_INIT(zenith_target_params)
ZENITH_DEFINE_INIT(zenith_clip_params)
ZENITH_DEFINE_INIT(zenith_video_info)
ZENITH_DEFINE_INIT(zenith_latent_info)
ZENITH_DEFINE_INIT(zenith_latent_save_params)

#ifdef __cplusplus
}
#endif
#endif
