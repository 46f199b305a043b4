// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// A whole session (context, model, three picture files, encode, latent file, decode, two picture
// files, a judge) in which allocations of ours and of the codecs fail in turn: the first 2000 (200
// under sanitizers), then every 7th; with --all each of them. The session must say
// ZENITH_OUT_OF_MEMORY, leave no block and no file behind, and not crash. Where it says ZENITH_OK
// all the same (an allocation its owner can do without), it must have made the same bytes.
//
//     oom task.oom --library libdnnl [STEP]      what oneDNN (or libgomp) does without memory: a
//                                                decode in a child per allocation, every STEP-th;
//                                                counts how they end (docs/FAILURES.md)
#include "tests/oom/oom.h"

#include "zenith/train.h"
#include "zenith/zenith.h"

#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PICTURES = 3, WIDTH = 24, HEIGHT = 16, CHANNELS = 4, AREA = WIDTH / 8 * (HEIGHT / 8) };
// A lossless WebP is not among them: libwebp 1.2.4 reads from address 0 when one certain allocation
// of its small allocations fails (docs/FAILURES.md).
static const char *const pictures[PICTURES] = {"icc_p3.jpg", "icc_p3.png", "webp_lossy.webp"};
static int threads = 1;
static bool all; // --all: no allocation is left out

// Everything a session opens, so that one function frees it whatever happened, and what it made.
typedef struct session {
    zenith_context *context;
    zenith_model *model;
    zenith_source *sources[PICTURES];
    zenith_latent_file *file;
    zenith_target *targets[2];
    zenith_judge *judge;
    float latents[PICTURES][CHANNELS * AREA];
    uint8_t pixels[HEIGHT * WIDTH * 3];
} session;

static char folder[1024], model_path[1100], latent_path[1100], target_paths[2][1100];
static char picture_paths[PICTURES][1100];

static void set_paths(void)
{
    const char *source = zn_test_source();
    snprintf(folder, sizeof folder, "%s/test-oom-XXXXXX", zn_test_build());
    assert_non_null(mkdtemp(folder));
    snprintf(model_path, sizeof model_path, "%s/tests/golden/tiny_diffusers", source);
    snprintf(latent_path, sizeof latent_path, "%s/a.safetensors", folder);
    snprintf(target_paths[0], sizeof target_paths[0], "%s/a.png", folder);
    snprintf(target_paths[1], sizeof target_paths[1], "%s/a.jpg", folder);
    for (int i = 0; i < PICTURES; i++) {
        snprintf(picture_paths[i], sizeof picture_paths[i], "%s/tests/format/images/%s", source,
                 pictures[i]);
    }
}

// --- the session --------------------------------------------------------------------------------

static zenith_status open_all(session *s)
{
    const zenith_context_params machine = {.size = sizeof machine, .threads = threads};
    const zenith_model_params which = {
        .size = sizeof which, .name = "taesd", .weights = model_path};
    const zenith_source_params how = {.size = sizeof how, .fit = ZENITH_FIT_CROP};
    ZN_TRY(zenith_context_create(&machine, &s->context));
    ZN_TRY(zenith_model_open(s->context, &which, &s->model));
    for (int i = 0; i < PICTURES; i++) {
        ZN_TRY(zenith_source_open(s->context, picture_paths[i], &how, &s->sources[i]));
    }
    return ZENITH_OK;
}

static zenith_status encode(session *s)
{
    zenith_image images[PICTURES];
    zenith_latent latents[PICTURES];
    for (int i = 0; i < PICTURES; i++) {
        images[i] = (zenith_image){.size = sizeof *images,
                                   .width = WIDTH,
                                   .height = HEIGHT,
                                   .rows = zenith_source_rows,
                                   .cookie = s->sources[i]};
        latents[i] = (zenith_latent){.size = sizeof *latents,
                                     .width = WIDTH / 8,
                                     .height = HEIGHT / 8,
                                     .channels = CHANNELS,
                                     .data = s->latents[i]};
    }
    const zenith_latent_save_params save = {.size = sizeof save, .model = "taesd"};
    ZN_TRY(zenith_encode(s->context, s->model, images, latents, PICTURES, NULL));
    return zenith_latent_save(s->context, latent_path, latents, PICTURES, &save);
}

static zenith_status decode(session *s)
{
    zenith_latent latents[PICTURES];
    zenith_image images[PICTURES];
    ZN_TRY(zenith_latent_file_open(s->context, latent_path, &s->file));
    for (int i = 0; i < PICTURES; i++) {
        latents[i] = (zenith_latent){.size = sizeof *latents};
        ZN_TRY(zenith_latent_file_get(s->file, (uint32_t)i, &latents[i]));
        images[i] = (zenith_image){.size = sizeof *images, .width = WIDTH, .height = HEIGHT};
    }
    images[2].data = s->pixels;
    for (int i = 0; i < 2; i++) {
        ZN_TRY(
            zenith_target_open(s->context, target_paths[i], WIDTH, HEIGHT, NULL, &s->targets[i]));
        images[i].rows = zenith_target_rows;
        images[i].cookie = s->targets[i];
    }
    ZN_TRY(zenith_decode(s->context, s->model, latents, images, PICTURES, NULL));
    ZN_TRY(zenith_target_finish(s->targets[0]));
    return zenith_target_finish(s->targets[1]);
}

static zenith_status evaluate(session *s)
{
    static uint8_t decoded[HEIGHT * WIDTH * 3];
    const zenith_image original = {
        .size = sizeof original, .width = WIDTH, .height = HEIGHT, .data = s->pixels};
    zenith_image picture = original;
    zenith_quality quality = {.size = sizeof quality};
    picture.data = decoded;
    ZN_TRY(zenith_judge_open(s->context, NULL, &s->judge));
    return zenith_evaluate(s->context, s->judge, s->model, s->model, &original, &picture, NULL,
                           &quality);
}

static zenith_status run_session(session *s)
{
    memset(s, 0, sizeof *s);
    zenith_status status = open_all(s);
    if (status == ZENITH_OK) status = encode(s);
    if (status == ZENITH_OK) status = decode(s);
    if (status == ZENITH_OK) status = evaluate(s);
    for (int i = 0; i < 2; i++) zenith_target_free(s->targets[i]);
    for (int i = 0; i < PICTURES; i++) zenith_source_free(s->sources[i]);
    zenith_latent_file_free(s->file);
    zenith_judge_free(s->judge);
    zenith_model_free(s->model);
    zenith_context_free(s->context);
    return status;
}

// --- what it left -------------------------------------------------------------------------------

// Files but the finished ones, which are removed: a failed write must have taken its own away.
static int strange_files(void)
{
    unlink(latent_path);
    for (int i = 0; i < 2; i++) unlink(target_paths[i]);
    DIR *opened = opendir(folder);
    assert_non_null(opened);
    int count = -2; // . and ..
    while (readdir(opened)) count++;
    closedir(opened);
    return count;
}

static bool same_bytes(const session *a, const session *b)
{
    return memcmp(a->latents, b->latents, sizeof a->latents) == 0 &&
           memcmp(a->pixels, b->pixels, sizeof a->pixels) == 0;
}

// Libraries that say no more than "it did not work" where they run out of memory inside a file.
static bool cannot_tell(void)
{
    return strstr(fail_library(), "libjansson") || strstr(fail_library(), "libwebp");
}

// What was wrong with the session in which allocation n failed, or NULL.
static const char *wrong_with(zenith_status status, const session *made, const session *good,
                              long live)
{
    if (strange_files() != 0) return "a file was left";
    if (fail_live() != live) return "blocks were not freed";
    if (status == ZENITH_OK) return same_bytes(made, good) ? NULL : "ZENITH_OK with other bytes";
    if (status == ZENITH_OUT_OF_MEMORY) return NULL;
    return status == ZENITH_BAD_FILE && cannot_tell() ? NULL : zenith_status_text(status);
}

static void each_allocation(void **state)
{
    (void)state;
    static const char *const ours[] = {
        "", "libjpeg", "libspng", "libwebp", "libsharpyuv", "liblcms2", "libjansson", "libz"};
#ifdef ZN_TEST_WRAPPED
    enum { EACH = 200, LEAST = 400 }; // a session takes ten times as long under a sanitizer
#else
    enum { EACH = 2000, LEAST = 4000 };
#endif
    static session good, made;
    fail_watch(ours, sizeof ours / sizeof *ours);
    assert_int_equal(run_session(&good), ZENITH_OK); // also: what libraries keep from first use
    assert_int_equal(run_session(&made), ZENITH_OK);
    assert_true(same_bytes(&made, &good));
    assert_int_equal(strange_files(), 0);
    const long live = fail_live();
    long fine = 0, wrong = 0, tried = 0, n = 0;
    for (;; n += all || n < EACH ? 1 : 7) {
        fail_allocation(n);
        zenith_status status = run_session(&made);
        if (!fail_stop()) {
            assert_int_equal(status, ZENITH_OK);
            break;
        }
        const char *what = wrong_with(status, &made, &good, live);
        if (what && ++wrong < 20)
            print_error("allocation %ld failed (%s): %s\n", n, fail_library(), what);
        tried++;
        fine += status == ZENITH_OK;
    }
    print_message("%ld allocations, %ld of them failed, %ld not missed\n", n, tried, fine);
    assert_int_equal(wrong, 0);
    assert_true(n >= LEAST); // the test did test something
    strange_files();
    rmdir(folder);
}

// --- other libraries ----------------------------------------------------------------------------

enum { CHILD_BROKEN = 9, CHILD_OK, CHILD_MEMORY, CHILD_STATUS, CHILD_DONE };

// In a child, since it may not come back.
static int decode_in_child(long n, bool again)
{
    static session s;
    if (open_all(&s) != ZENITH_OK) return CHILD_BROKEN;
    const zenith_latent latent = {.size = sizeof latent,
                                  .width = WIDTH / 8,
                                  .height = HEIGHT / 8,
                                  .channels = CHANNELS,
                                  .data = s.latents[0]};
    const zenith_image image = {
        .size = sizeof image, .width = WIDTH, .height = HEIGHT, .data = s.pixels};
    if (again && zenith_decode(s.context, s.model, &latent, &image, 1, NULL) != ZENITH_OK)
        return CHILD_BROKEN;
    fail_allocation(n);
    zenith_status status = zenith_decode(s.context, s.model, &latent, &image, 1, NULL);
    if (!fail_stop()) return CHILD_DONE;
    if (status == ZENITH_OUT_OF_MEMORY) return CHILD_MEMORY;
    return status == ZENITH_OK ? CHILD_OK : CHILD_STATUS;
}

static int count_outcomes(const char *library, long step, bool again)
{
    long memory = 0, fine = 0, other = 0, exits = 0, aborts = 0, signals = 0;
    long tried = 0;
    fail_watch(&library, 1);
    for (long n = 0;; n += step) {
        int result = 0;
        pid_t child = fork();
        if (child == 0) {
            fclose(stderr); // the runtime's last words
            _exit(decode_in_child(n, again));
        }
        if (child < 0 || waitpid(child, &result, 0) < 0) return 1;
        int code = WIFEXITED(result) ? WEXITSTATUS(result) : -1;
        if (code == CHILD_DONE) break;
        if (code == CHILD_BROKEN) return 1;
        tried++;
        memory += code == CHILD_MEMORY;
        fine += code == CHILD_OK;
        other += code == CHILD_STATUS;
        aborts += code == -1 && WTERMSIG(result) == SIGABRT;
        signals += code == -1 && WTERMSIG(result) != SIGABRT;
        exits += code >= 0 && code < CHILD_BROKEN;
    }
    printf("%s, %s decode, %ld of its allocations failed in turn: %ld gave "
           "ZENITH_OUT_OF_MEMORY, %ld another status, %ld were not missed, %ld ended the process "
           "by exit, %ld by abort, %ld by another signal\n",
           library, again ? "second" : "first", tried, memory, other, fine, exits, aborts, signals);
    return 0;
}

static int read_options(int argc, char **argv)
{
    set_paths();
    if (argc > 2 && strcmp(argv[1], "--library") == 0) {
        threads = 2; // libgomp has nothing to do for one
        long step = argc > 3 ? atol(argv[3]) : 1;
        int code = count_outcomes(argv[2], step, false) || count_outcomes(argv[2], step, true);
        rmdir(folder);
        return code;
    }
    all = argc > 1 && strcmp(argv[1], "--all") == 0;
    return -1;
}

const oom_program program_oom = {
    .options = read_options,
    .tests = {cmocka_unit_test(each_allocation)},
};
