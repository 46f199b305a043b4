// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Results that must not change: every model with weights here, encoder and decoder, each type that
// it has, on three crops of photographs. tests/golden/pinned.txt has a hash for each of them and
// CPU class.
//
//     model_pinned CLASS [--record]    CLASS: baseline, avx2, avx512, avx512-vnni, amx, aarch64
//
// Each class that the CPU has is a test of its own, so that lines recorded on one machine are
// checked on any: ZENITH_CPU lowers the instructions to those that the class names (VNNI, and not
// BF16, for which no code without AMX is written). The name of a class ends in -own in builds
// without oneDNN.
//
// A result without a line fails. --record writes the lines of one class again, for a change that is
// meant and has shown its error bounds. Where nobody who works on this has such a CPU, the file
// says "unrecorded CLASS: why". Then two runs must give the same bits, the lines are printed, and a
// change is caught by the other classes on the same machine. Recording removes that line.
#include "tests/task/session.h"

#include "src/base/cpu.h"
#include "src/base/sha256.h"

enum { SIDE = 96, CROPS = 3, LATENT = SIDE / 8, LINES = 1024, LINE = 160 };

static const char *const dtypes[] = {"default", "f32", "bf16", "int8"};
static const struct {
    const char *name;
    bool ours; // weights in models/, else in the folder of published ones
} models[] = {{"taesd", false},          {"taesdxl", false},       {"taesd3", false},
              {"taef1", false},          {"taef2", false},         {"zenith-sd-fast", true},
              {"zenith-sd-small", true}, {"zenith-f1-fast", true}, {"zenith-f1-small", true}};
static const struct {
    const char *file;
    uint32_t x, y;
} crops[CROPS] = {{"kodak/01.png", 320, 200}, {"kodak/13.png", 80, 300}, {"kodak/23.png", 200, 96}};

static bool recording, unrecorded;
static const char *asked; // the class
static uint8_t pixels[CROPS][SIDE][SIDE][3];
static char lines[LINES][LINE]; // the file's
static size_t lines_count;

// What bits may depend on besides the model: instruction set, and who computes convolutions.
static const char *class_name(void)
{
    static char name[32];
#ifdef ZENITH_DNN
    const char *engine = "";
#else
    const char *engine = "-own";
#endif
    snprintf(name, sizeof name, "%s%s", asked, engine);
    return name;
}

// A class is the features that its name says, so that lines hold on any CPU that has them.
static bool cpu_has_class(void)
{
    static const struct {
        const char *class, *cpu;
    } classes[] = {{"baseline", "baseline"},
                   {"avx2", "avx2"},
                   {"avx512", "avx2,avx512"},
                   {"avx512-vnni", "avx2,avx512,avx512_vnni"},
                   {"amx", "amx"},
                   {"aarch64", "baseline"}};
#ifdef __aarch64__
    if (strcmp(asked, "aarch64") != 0) return false;
#else
    if (strcmp(asked, "aarch64") == 0) return false;
#endif
    for (size_t i = 0; i < sizeof classes / sizeof *classes; i++) {
        unsigned wanted = 0;
        if (strcmp(asked, classes[i].class) != 0) continue;
        setenv("ZENITH_CPU", classes[i].cpu, 1);
        const unsigned flags = zn_cpu_detect().flags;
        return zn_cpu_parse(classes[i].cpu, &wanted) &&
               strcmp(zn_cpu_class(flags), zn_cpu_class(wanted)) == 0 &&
               zn_cpu_has(flags, wanted & ZN_CPU_AVX512_VNNI);
    }
    return false;
}

static const char *file_path(void)
{
    return zn_test_path(zn_test_source(), "tests/golden/pinned.txt");
}

static void read_lines(void)
{
    FILE *file = fopen(file_path(), "r");
    if (!file) return;
    while (lines_count < LINES && fgets(lines[lines_count], LINE, file)) lines_count++;
    fclose(file);
}

static void read_crop(zenith_context *context, int index)
{
    const char *path = zn_test_path(zn_test_data(), crops[index].file);
    zn_test_need(path);
    zenith_source *source = NULL;
    session_ok(context, zenith_source_open(context, path, NULL, &source));
    zenith_source_info info = {.size = sizeof info};
    zenith_source_get_info(source, &info);
    uint8_t *row = malloc((size_t)info.width * 3);
    for (uint32_t y = 0; y < crops[index].y + SIDE; y++) {
        assert_int_equal(zenith_source_rows(source, y, 1, row), ZENITH_OK);
        if (y < crops[index].y) continue;
        memcpy(pixels[index][y - crops[index].y], row + crops[index].x * 3, SIDE * 3);
    }
    free(row);
    zenith_source_free(source);
}

// Latents that depend on no encoder: pixels as numbers from -2 to 2.
static void fill_latent(int crop, uint32_t channels, float *dst)
{
    for (uint32_t c = 0; c < channels; c++) {
        for (int i = 0; i < LATENT * LATENT; i++) {
            const int y = i / LATENT * 8 + (int)c % 8, x = i % LATENT * 8 + (int)c / 2 % 8;
            *dst++ = (float)pixels[crop][y][x][c % 3] / 63.75f - 2.0f;
        }
    }
}

typedef struct run {
    zenith_image images[CROPS];
    zenith_latent latents[CROPS];
    uint32_t channels;
} run;

static void run_begin(run *r, uint32_t channels, bool encode)
{
    const size_t latent = sizeof(float) * LATENT * LATENT * channels;
    r->channels = channels;
    for (int i = 0; i < CROPS; i++) {
        float *values = calloc(1, latent);
        if (!encode) fill_latent(i, channels, values);
        r->latents[i] = (zenith_latent){.size = sizeof *r->latents,
                                        .width = LATENT,
                                        .height = LATENT,
                                        .channels = channels,
                                        .data = values};
        r->images[i] = (zenith_image){.size = sizeof *r->images,
                                      .width = SIDE,
                                      .height = SIDE,
                                      .number = encode ? ZENITH_U8 : ZENITH_F32};
        r->images[i].data = encode ? (void *)pixels[i] : calloc(sizeof(float), SIDE * SIDE * 3);
    }
}

static void run_end(run *r, bool encode)
{
    for (int i = 0; i < CROPS; i++) {
        free(r->latents[i].data);
        if (!encode) free(r->images[i].data);
    }
}

// One hash for the three results; false where the model does not have this type.
static bool hash_of(zenith_context *context, zenith_model *model, bool encode, zenith_dtype dtype,
                    char hex[65])
{
    zenith_model_info info = {.size = sizeof info};
    zenith_model_get_info(model, &info);
    const zenith_run_params params = {.size = sizeof params, .dtype = dtype};
    run r;
    run_begin(&r, info.latent_channels, encode);
    const zenith_status status = encode ? zenith_encode(context, model, r.images, r.latents, CROPS,
                                                        &params)
                                        : zenith_decode(context, model, r.latents, r.images, CROPS,
                                                        &params);
    const bool has = !(dtype == ZENITH_DTYPE_INT8 &&
                       (status == ZENITH_UNSUPPORTED || status == ZENITH_NOT_FOUND));
    if (has) session_ok(context, status);
    zn_sha256 hash;
    zn_sha256_begin(&hash);
    for (int i = 0; i < CROPS; i++) {
        const size_t count = encode ? LATENT * LATENT * r.channels : SIDE * SIDE * 3;
        zn_sha256_add(&hash, encode ? r.latents[i].data : r.images[i].data, count * sizeof(float));
    }
    zn_sha256_end(&hash, hex);
    run_end(&r, encode);
    return has;
}

// The recorded hash of "class model part dtype", or NULL.
static const char *recorded(const char *what)
{
    for (size_t i = 0; i < lines_count; i++) {
        if (strncmp(lines[i], what, strlen(what)) == 0) return lines[i] + strlen(what);
    }
    return NULL;
}

static int wrong, unknown;

static void check(zenith_context *context, zenith_model *model, const char *name, bool encode,
                  zenith_dtype dtype)
{
    char hex[65], what[LINE];
    if (!hash_of(context, model, encode, dtype, hex)) return;
    snprintf(what, sizeof what, "%s %s %s %s ", class_name(), name, encode ? "encoder" : "decoder",
             dtypes[dtype]);
    if (recording) {
        assert_true(lines_count < LINES);
        snprintf(lines[lines_count++], LINE, "%.90s%s\n", what, hex);
        return;
    }
    const char *before = recorded(what);
    if (before && strncmp(before, hex, 64) == 0) return;
    if (before) {
        wrong++;
        print_error("changed: %s%s, was %.64s\n", what, hex, before);
        return;
    }
    char again[65];
    unknown++;
    hash_of(context, model, encode, dtype, again);
    assert_string_equal(hex, again);
    print_error("not recorded: %s%s\n", what, hex);
}

static int by_text(const void *a, const void *b)
{
    return strcmp(a, b);
}

// Lines of this class go before the recording, and the file is sorted after it.
static void forget_class(void)
{
    char begin[40], never[60];
    size_t kept = 0;
    snprintf(begin, sizeof begin, "%s ", class_name());
    snprintf(never, sizeof never, "unrecorded %s:", class_name());
    for (size_t i = 0; i < lines_count; i++) {
        if (strncmp(lines[i], begin, strlen(begin)) != 0 &&
            strncmp(lines[i], never, strlen(never)) != 0)
            memmove(lines[kept++], lines[i], LINE);
    }
    lines_count = kept;
}

static void write_lines(void)
{
    FILE *file = fopen(file_path(), "w");
    assert_non_null(file);
    qsort(lines, lines_count, LINE, by_text);
    for (size_t i = 0; i < lines_count; i++) fputs(lines[i], file);
    assert_int_equal(fclose(file), 0);
}

ZN_TEST(results_are_as_recorded)
{
    char ours[1024];
    snprintf(ours, sizeof ours, "%s/models", zn_test_source());
    setenv("ZENITH_MODELS", ours, 1); // calibrations
    zenith_context *context = session_context(2, 1);
    for (int i = 0; i < CROPS; i++) read_crop(context, i);
    read_lines();
    if (recording) forget_class();
    char never[60];
    snprintf(never, sizeof never, "unrecorded %s:", class_name());
    unrecorded = recorded(never) != NULL;
    for (size_t m = 0; m < sizeof models / sizeof *models; m++) {
        // TAEF2 is the only one with barriers.
        if (strcmp(models[m].name, "taef2") != 0 && !zn_test_takes(m)) continue;
        zenith_model *model = session_model(context, models[m].name,
                                            models[m].ours ? ours : zn_test_weights());
        for (int part = 0; part < 2; part++) {
            for (int dtype = ZENITH_DTYPE_F32; dtype <= ZENITH_DTYPE_INT8; dtype++) {
                check(context, model, models[m].name, part == 0, (zenith_dtype)dtype);
            }
        }
        zenith_model_free(model);
    }
    zenith_context_free(context);
    if (recording) write_lines();
    if (unknown > 0 && unrecorded)
        print_message("%s: two runs gave the same bits, which %s\n", class_name(), recorded(never));
    else if (unknown > 0)
        print_error("%d results of class %s are not recorded; if this commit's are right: "
                    "model_pinned %s --record\n",
                    unknown, class_name(), asked);
    assert_int_equal(wrong, 0);
    if (!unrecorded) assert_int_equal(unknown, 0);
}

int main(int argc, char **argv)
{
    recording = argc > 2 && strcmp(argv[2], "--record") == 0;
    asked = argc > 1 ? argv[1] : "no class";
    if (!cpu_has_class()) {
        print_error("this CPU has no class '%s'\n", asked);
        return 1;
    }
    zn_test_need(zn_test_path(zn_test_weights(), "taesd_decoder.safetensors"));
    return zn_test_run();
}
