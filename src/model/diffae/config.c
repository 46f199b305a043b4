// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Lists of small numbers are written in layouts as one number, a digit for each: "mults=112244".
// Levels with attention are so too, counted from 1: "attention=5".
#include "src/model/diffae/config.h"

#include "src/base/text.h"
#include "src/model/autoencoder.h"
#include "src/model/settings.h"

#include <math.h>
#include <string.h>

enum {
    SIZE,
    INPUTS,
    CHANNELS,
    BLOCKS,
    CODE,
    PRIOR_WIDTH,
    PRIOR_LAYERS,
    ATTRIBUTES,
    MULTIPLES,
    ENCODER_MULTIPLES,
    ATTENTION,
    SCAN,
    PATCH,
    SPARSE,
    LINEAR,
    RECALL,
    SETTINGS
};
enum { LAST_DIGITS = 99999999 }; // eight digits

static const zn_setting settings[SETTINGS] = {
    [SIZE] = {"size", "image_size", "size", 256, 1, 1 << 14, false},
    [INPUTS] = {"inputs", "in_channels", NULL, 3, 1, 256, false},
    [CHANNELS] = {"channels", "channels", "ch", 128, 2, 2048, false},
    [BLOCKS] = {"blocks", "res_blocks", "n_res", 2, 1, ZN_DIFFAE_MOST_BLOCKS, false},
    [CODE] = {"code", "code", "emb", 512, 1, 1 << 14, false},
    [PRIOR_WIDTH] = {"width", "prior_width", "latent_hidden", 2048, 1, 1 << 15, false},
    [PRIOR_LAYERS] = {"layers", "prior_layers", "latent_layers", 10, 2, 64, false},
    [ATTRIBUTES] = {"attributes", NULL, NULL, 40, 1, 1 << 14, false},
    [MULTIPLES] = {"mults", NULL, NULL, 112244, 1, LAST_DIGITS, false},
    [ENCODER_MULTIPLES] = {"encoder", NULL, NULL, 1122444, 1, LAST_DIGITS, false},
    [ATTENTION] = {"attention", NULL, NULL, 5, 0, LAST_DIGITS, false},
    [SCAN] = {"scan", "scan_encoder", NULL, 0, 0, 1, false},
    [SPARSE] = {"sparse", "sparse_encoder", NULL, 0, 0, 1, false},
    [LINEAR] = {"linear", NULL, NULL, 0, 0, ZN_DIFFAE_MOST_LINEAR, false},
    [RECALL] = {"recall", "recall", NULL, 0, 0, ZN_DIFFAE_MOST_RECALL, false},
    [PATCH] = {"patch", "patch", NULL, 1, 1, ZN_DIFFAE_MOST_PATCH, false},
};

// --- layouts ------------------------------------------------------------------------------------

static const zn_json *either(const zn_json *config, const char *key, const char *older)
{
    const zn_json *found = zn_json_find(config, key);
    return found ? found : zn_json_find(config, older);
}

// A digit for each member; 0, which no list of multiples is, where one is no digit from 1 on.
static int64_t digits_of(const zn_json *list)
{
    int64_t digits = 0;
    const size_t count = zn_json_size(list);
    if (!zn_json_is_array(list) || count > ZN_DIFFAE_MOST_LEVELS) return 0;
    for (size_t i = 0; i < count; i++) {
        int64_t digit = 0;
        if (!zn_json_as_integer(zn_json_at(list, i), &digit) || digit < 1 || digit > 9) return 0;
        digits = 10 * digits + digit;
    }
    return digits;
}

static bool lists(const zn_json *list, int64_t wanted)
{
    for (size_t i = 0; i < zn_json_size(list); i++) {
        int64_t number = 0;
        if (zn_json_as_integer(zn_json_at(list, i), &number) && number == wanted) return true;
    }
    return false;
}

// The autoencoder that a config names; NULL: none, or none that there is.
static const zn_autoencoder_facts *latents_of(const zn_json *config)
{
    const char *name = NULL;
    if (!zn_json_as_text(zn_json_find(config, "autoencoder"), &name)) return NULL;
    const zn_variant *variant = zn_variant_find(name);
    return variant ? variant->autoencoder : NULL;
}

// Height and width of what networks see.
static int64_t side_of(const zn_json *config)
{
    int64_t size = (int64_t)settings[SIZE].usual;
    (void)(zn_json_as_integer(zn_json_find(config, "image_size"), &size) ||
           zn_json_as_integer(zn_json_find(config, "size"), &size));
    return latents_of(config) ? size / latents_of(config)->factor : size;
}

// Levels whose maps have one of these heights.
static int64_t attention_of(const zn_json *config, const zn_json *heights)
{
    int64_t size = side_of(config), patch = 1, digits = 0;
    if (zn_json_as_integer(zn_json_find(config, "patch"), &patch) && patch > 1) size /= patch;
    for (int level = 0; level < ZN_DIFFAE_MOST_LEVELS && size > 0; level++, size /= 2)
        if (lists(heights, size)) digits = 10 * digits + level + 1;
    return digits;
}

static void append(char dst[ZN_LAYOUT_SIZE], int setting, int64_t number)
{
    const size_t length = strlen(dst);
    zn_text_format(dst + length, ZN_LAYOUT_SIZE - length, "%s%s=%lld", length ? " " : "",
                   settings[setting].name, (long long)number);
}

void zn_diffae_layout(const zn_json *config, int64_t attributes, char dst[ZN_LAYOUT_SIZE])
{
    zn_settings_write(config, settings, SETTINGS, dst);
    const zn_json *multiples = either(config, "channel_mult", "mults");
    const zn_json *encoder = either(config, "encoder_mult", "enc_mults");
    const zn_json *heights = either(config, "attention_resolutions", "attn");
    if (multiples) append(dst, MULTIPLES, digits_of(multiples));
    if (encoder) append(dst, ENCODER_MULTIPLES, digits_of(encoder));
    if (heights) append(dst, ATTENTION, attention_of(config, heights));
    int64_t linear = 0;
    (void)zn_json_as_integer(zn_json_find(config, "linear_code"), &linear);
    if (linear) append(dst, LINEAR, side_of(config));
    if (attributes != (int64_t)settings[ATTRIBUTES].usual) append(dst, ATTRIBUTES, attributes);
}

// The digits of a number, first to last.
static int spread(double number, int dst[ZN_DIFFAE_MOST_LEVELS])
{
    int64_t left = (int64_t)number;
    int count = 0;
    for (int64_t rest = left; rest > 0; rest /= 10) count++;
    for (int i = count; i-- > 0; left /= 10) dst[i] = (int)(left % 10);
    return count;
}

// False where a digit of a list of multiples is 0.
static bool take(const double *is, zn_diffae_shape *out)
{
    int with[ZN_DIFFAE_MOST_LEVELS];
    *out = (zn_diffae_shape){.size = (int64_t)is[SIZE],
                             .inputs = (int64_t)is[INPUTS],
                             .channels = (int64_t)is[CHANNELS],
                             .blocks = (int64_t)is[BLOCKS],
                             .patch = (int)is[PATCH],
                             .code = (int64_t)is[CODE],
                             .prior_width = (int64_t)is[PRIOR_WIDTH],
                             .prior_layers = (int64_t)is[PRIOR_LAYERS],
                             .attributes = (int64_t)is[ATTRIBUTES],
                             .linear = (int64_t)is[LINEAR],
                             .recall = (int64_t)is[RECALL],
                             .scans = is[SCAN] > 0,
                             .sparse = is[SPARSE] > 0};
    out->levels = spread(is[MULTIPLES], out->multiples);
    out->encoder_levels = spread(is[ENCODER_MULTIPLES], out->encoder_multiples);
    if (out->linear) out->encoder_levels = 1; // a matrix halves nothing
    const int count = spread(is[ATTENTION], with);
    bool fits = out->channels % 2 == 0; // cosines and sines of a timestep
    fits = fits && zn_diffae_linear_fits(out->linear) && !(out->linear && out->sparse);
    for (int i = 0; i < count; i++) {
        fits = fits && with[i] >= 1 && with[i] <= ZN_DIFFAE_MOST_LEVELS;
        if (fits) out->attention[with[i] - 1] = true;
    }
    for (int i = 0; i < out->levels; i++) fits = fits && out->multiples[i] > 0;
    for (int i = 0; i < out->encoder_levels; i++) fits = fits && out->encoder_multiples[i] > 0;
    return fits;
}

bool zn_diffae_shape_read(const char *layout, zn_diffae_shape *out)
{
    double is[SETTINGS];
    const bool read = zn_settings_read(layout, settings, SETTINGS, is);
    if (take(is, out)) return read;
    (void)!zn_settings_read(NULL, settings, SETTINGS, is);
    (void)!take(is, out);
    return false;
}

bool zn_diffae_shape_of(const zn_scope *scope, zn_diffae_shape *out)
{
    double is[SETTINGS];
    if (!zn_settings_of(scope, settings, SETTINGS, is)) return false;
    if (take(is, out)) return true;
    if (scope->graph->status == ZENITH_OK)
        scope->graph->status = zn_fail(
            scope->graph->err, ZENITH_BAD_FILE,
            "config.json: channels must be even, channel_mult and encoder_mult list 1 to %d "
            "numbers of 1 to 9, linear_code is for maps of up to 16 or of 32, 48 .. 256 pixels "
            "without sparse_encoder",
            ZN_DIFFAE_MOST_LEVELS);
    return false;
}

// --- schedules ----------------------------------------------------------------------------------

static bool read_number(const char *text, size_t length, double *out)
{
    zn_json *number = NULL;
    if (zn_json_parse(text, length, "betas", &number, NULL) != ZENITH_OK) return false;
    const bool read = zn_json_as_number(number, out);
    zn_json_free(number);
    return read;
}

// "linear FIRST..LAST" or "const BETA".
static bool read_betas(const char *text, zn_diffae_schedule *out)
{
    static const char linear[] = "linear ", constant[] = "const ";
    if (strncmp(text, constant, sizeof constant - 1) == 0) {
        const char *number = text + sizeof constant - 1;
        if (!read_number(number, strlen(number), &out->first)) return false;
        out->last = out->first;
    } else if (strncmp(text, linear, sizeof linear - 1) == 0) {
        const char *number = text + sizeof linear - 1, *dots = strstr(number, "..");
        if (!dots || !read_number(number, (size_t)(dots - number), &out->first) ||
            !read_number(dots + 2, strlen(dots + 2), &out->last))
            return false;
    } else {
        return false;
    }
    return out->first > 0 && out->first < 1 && out->last > 0 && out->last < 1;
}

static zenith_status take_betas(const zn_json *config, const char *key, const char *older,
                                zn_diffae_schedule *out, zn_error *err)
{
    const char *text = NULL;
    if (!zn_json_has(config, key)) key = older;
    if (!key || !zn_json_has(config, key)) return ZENITH_OK;
    ZN_TRY(zn_json_get_text(config, key, &text, err));
    if (read_betas(text, out)) return ZENITH_OK;
    return zn_fail(err, ZENITH_BAD_FILE,
                   "config.json: \"%s\" is '%.60s', where \"linear 1e-4..0.02\" or \"const 0.008\" "
                   "is expected, with numbers between 0 and 1",
                   key, text);
}

static zenith_status take_prediction(const zn_json *config, const char *key,
                                     zn_diffae_schedule *out, zn_error *err)
{
    static const char *const names[] = {[ZN_PREDICT_NOISE] = "noise",
                                        [ZN_PREDICT_START] = "start",
                                        [ZN_PREDICT_VELOCITY] = "velocity"};
    const char *text = NULL;
    if (!zn_json_has(config, key)) return ZENITH_OK;
    ZN_TRY(zn_json_get_text(config, key, &text, err));
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        out->prediction = (zn_prediction)i;
        if (strcmp(text, names[i]) == 0) return ZENITH_OK;
    }
    return zn_fail(err, ZENITH_BAD_FILE,
                   "config.json: \"%s\" is '%.60s', where \"noise\", \"start\" or \"velocity\" is "
                   "expected",
                   key, text);
}

static zenith_status take_timesteps(const zn_json *config, int *out, zn_error *err)
{
    int64_t count = *out;
    const char *key = zn_json_has(config, "timesteps") ? "timesteps" : "T";
    if (zn_json_has(config, key))
        ZN_TRY(zn_json_get_integer(config, key, 1, ZN_DIFFAE_MOST_TIMESTEPS, &count, err));
    *out = (int)count;
    return ZENITH_OK;
}

// The best guess of the picture weighs the draft by the noise, and the noisy map by the draft's
// error.
zn_diffae_guess zn_diffae_guess_of(const zn_diffae_schedule *is, double kept, double added)
{
    const double error = is->draft_deviation * kept, all = error * error + added * added;
    const double of_noisy = is->draft_deviation * error / all, of_draft = added * added / all;
    zn_diffae_guess guess = {0};
    if (!(added > 0)) return guess;
    const float of_start = (float)kept, of_noise = (float)added;
    guess.noisy = zn_prediction_answer(is->prediction, of_start, of_noise, (float)of_noisy,
                                       (float)((1 - kept * of_noisy) / added));
    guess.draft = zn_prediction_answer(is->prediction, of_start, of_noise, (float)of_draft,
                                       (float)(-kept * of_draft / added));
    return guess;
}

static zenith_status take_deviation(const zn_json *config, double *out, zn_error *err)
{
    if (!zn_json_has(config, "draft_deviation")) return ZENITH_OK;
    ZN_TRY(zn_json_get_number(config, "draft_deviation", out, err));
    if (*out > 0 && *out <= 1e4) return ZENITH_OK;
    return zn_fail(err, ZENITH_BAD_FILE, "config.json: \"draft_deviation\" must be above 0");
}

zenith_status zn_diffae_schedules_read(const zn_json *config, zn_diffae_schedules *out,
                                       zn_error *err)
{
    int64_t inputs = 3;
    zn_diffae_schedules is = {
        .picture = {.first = 1e-4, .last = 0.02, .timesteps = 1000, .draft_deviation = 1},
        .prior = {.first = 0.008, .last = 0.008, .timesteps = 1000}};
    (void)zn_json_as_integer(zn_json_find(config, "in_channels"), &inputs);
    is.picture.clips = inputs == 3;
    ZN_TRY(take_timesteps(config, &is.picture.timesteps, err));
    is.prior.timesteps = is.picture.timesteps;
    ZN_TRY(take_deviation(config, &is.picture.draft_deviation, err));
    ZN_TRY(take_betas(config, "betas", NULL, &is.picture, err));
    ZN_TRY(take_betas(config, "prior_betas", "latent_betas", &is.prior, err));
    ZN_TRY(take_prediction(config, "prediction", &is.picture, err));
    ZN_TRY(take_prediction(config, "prior_prediction", &is.prior, err));
    if (zn_json_has(config, "clip"))
        ZN_TRY(zn_json_get_flag(config, "clip", &is.picture.clips, err));
    *out = is;
    return ZENITH_OK;
}

// --- latents ------------------------------------------------------------------------------------

// A number for each channel; false where the list is none, or not everything in it can be.
static bool read_channels(const zn_json *list, int64_t count, bool positive, float *dst)
{
    if (!zn_json_is_array(list) || zn_json_size(list) != (size_t)count) return false;
    for (size_t i = 0; i < (size_t)count; i++) {
        double number = 0;
        if (!zn_json_as_number(zn_json_at(list, i), &number)) return false;
        dst[i] = (float)number;
        if (!isfinite(dst[i]) || (positive && !(dst[i] > 0))) return false;
    }
    return true;
}

static zenith_status take_numbers(const zn_json *config, zn_diffae_space *out, zn_error *err)
{
    const zn_json *mean = zn_json_find(config, "latent_mean");
    const zn_json *deviation = zn_json_find(config, "latent_std");
    for (size_t i = 0; i < ZN_DIFFAE_MOST_INPUTS; i++) out->deviation[i] = 1;
    if (!mean && !deviation) return ZENITH_OK;
    out->scaled = true;
    if (read_channels(mean, out->channels, false, out->mean) &&
        read_channels(deviation, out->channels, true, out->deviation))
        return ZENITH_OK;
    return zn_fail(err, ZENITH_BAD_FILE,
                   "config.json: \"latent_mean\" and \"latent_std\" must both list %lld numbers, "
                   "one for each channel of the latents, and those of \"latent_std\" above 0",
                   (long long)out->channels);
}

// What else the config says must agree with the autoencoder.
static zenith_status check_latents(const zn_json *config, const zn_diffae_space *is, zn_error *err)
{
    int64_t inputs = 3, size = (int64_t)settings[SIZE].usual;
    bool clips = false;
    (void)zn_json_as_integer(zn_json_find(config, "in_channels"), &inputs);
    (void)zn_json_as_integer(zn_json_find(config, "image_size"), &size);
    if (inputs != is->channels)
        return zn_fail(err, ZENITH_BAD_FILE,
                       "config.json: \"in_channels\" is %lld, and latents of %s have %lld channels",
                       (long long)inputs, is->autoencoder, (long long)is->channels);
    if (size % is->factor != 0)
        return zn_fail(err, ZENITH_BAD_FILE,
                       "config.json: \"image_size\" is that of pictures, and must be a multiple of "
                       "%d for latents of %s",
                       is->factor, is->autoencoder);
    if (zn_json_has(config, "clip")) ZN_TRY(zn_json_get_flag(config, "clip", &clips, err));
    if (clips)
        return zn_fail(err, ZENITH_BAD_FILE,
                       "config.json: \"clip\" must be false with \"autoencoder\": latents are not "
                       "within -1 .. 1");
    return ZENITH_OK;
}

enum { MOST_CONTRAST = 100 };

static zenith_status take_contrast(const zn_json *config, zn_diffae_space *out, zn_error *err)
{
    double contrast = 1;
    bool clips = true;
    if (!zn_json_has(config, "contrast")) return ZENITH_OK;
    ZN_TRY(zn_json_get_number(config, "contrast", &contrast, err));
    if (!(contrast >= 1 && contrast <= MOST_CONTRAST))
        return zn_fail(err, ZENITH_BAD_FILE, "config.json: \"contrast\" must be from 1 to %d",
                       MOST_CONTRAST);
    if (zn_json_has(config, "clip")) ZN_TRY(zn_json_get_flag(config, "clip", &clips, err));
    if (clips && contrast > 1)
        return zn_fail(
            err, ZENITH_BAD_FILE,
            "config.json: \"clip\" must be false with \"contrast\": what networks see is "
            "not within -1 .. 1");
    out->contrast = (float)contrast;
    return ZENITH_OK;
}

// 0 to 1; left out: `usual`.
static zenith_status read_share(const zn_json *config, const char *key, double usual, float *out,
                                zn_error *err)
{
    double number = usual;
    if (zn_json_has(config, key)) ZN_TRY(zn_json_get_number(config, key, &number, err));
    *out = (float)number;
    if (number >= 0 && number <= 1) return ZENITH_OK;
    return zn_fail(err, ZENITH_BAD_FILE, "config.json: \"%s\" must be from 0 to 1", key);
}

zenith_status zn_diffae_temperature_read(const zn_json *config, float *out, zn_error *err)
{
    return read_share(config, "temperature", 1, out, err);
}

zenith_status zn_diffae_code_noise_read(const zn_json *config, float *out, zn_error *err)
{
    return read_share(config, "code_noise", 0, out, err);
}

zenith_status zn_diffae_space_read(const zn_json *config, zn_diffae_space *out, zn_error *err)
{
    float temperature, noise; // not of the space, but refused here, where a model is opened
    *out = (zn_diffae_space){.factor = 1, .contrast = 1};
    ZN_TRY(zn_diffae_temperature_read(config, &temperature, err));
    ZN_TRY(zn_diffae_code_noise_read(config, &noise, err));
    if (!zn_json_has(config, "autoencoder")) {
        if (zn_json_has(config, "latent_mean") || zn_json_has(config, "latent_std"))
            return zn_fail(err, ZENITH_BAD_FILE,
                           "config.json: \"latent_mean\" and \"latent_std\" need \"autoencoder\", "
                           "whose latents they are of");
        return take_contrast(config, out, err);
    }
    const char *name = "", *sha256 = "";
    ZN_TRY(zn_json_get_text(config, "autoencoder", &name, err));
    if (zn_json_has(config, "autoencoder_sha256"))
        ZN_TRY(zn_json_get_text(config, "autoencoder_sha256", &sha256, err));
    const zn_autoencoder_facts *facts = latents_of(config);
    if (!facts || facts->frames > 0 || facts->latent_channels > ZN_DIFFAE_MOST_INPUTS)
        return zn_fail(err, ZENITH_BAD_FILE,
                       "config.json: \"autoencoder\" is '%.60s', which is no autoencoder of "
                       "pictures; zenith models lists them",
                       name);
    zn_text_format(out->autoencoder, sizeof out->autoencoder, "%s", name);
    zn_text_format(out->sha256, sizeof out->sha256, "%s", sha256);
    out->factor = facts->factor;
    out->channels = facts->latent_channels;
    ZN_TRY(take_numbers(config, out, err));
    return check_latents(config, out, err);
}
