// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// All tensors go into one file as they are, with what their config.json say; that file is opened as
// a model, which checks that every parameter is there, and the model is written in the type that
// was asked for.
#include "src/task/diffae/join.h"

#include "src/base/json.h"
#include "src/base/memory.h"
#include "src/base/os.h"
#include "src/base/text.h"
#include "src/model/locate.h"
#include "src/model/model.h"

#include <string.h>

enum { MOST_SOURCES = 3 };
static const char of_autoencoder[] = "middle_block.0.in_layers.2.weight";
static const char of_prior[] = "latent_net.layers.0.linear.weight";
static const char of_recall[] = "recall.codes.weight";
static const char of_classifier[] = "classifier.weight";

typedef struct joining {
    const zn_diffae_join *call;
    zn_weights *weights[MOST_SOURCES];
    const zn_weights *autoencoder, *prior, *recall, *classifier; // which of them has it; NULL: none
    zn_json *config;
    zn_file_tensor *tensors;
    size_t count;
} joining;

// --- what there is ------------------------------------------------------------------------------

static zenith_status find_one(const joining *j, const char *telling, const zn_weights **out,
                              zn_error *err)
{
    *out = NULL;
    for (size_t i = 0; i < j->call->count; i++) {
        if (!zn_weights_find(j->weights[i], telling)) continue;
        if (*out)
            return zn_fail(err, ZENITH_INVALID_ARGUMENT,
                           "'%s' and another one both have %s: name each stage once",
                           j->call->sources[i], telling);
        *out = j->weights[i];
    }
    return ZENITH_OK;
}

static zenith_status open_sources(joining *j, zn_error *err)
{
    const zn_diffae_join *call = j->call;
    if (call->count < 1 || call->count > MOST_SOURCES)
        return zn_fail(err, ZENITH_INVALID_ARGUMENT,
                       "an autoencoder and perhaps a prior and a classifier are joined, not %zu",
                       call->count);
    for (size_t i = 0; i < call->count; i++)
        ZN_TRY(zn_weights_open(call->sources[i], &j->weights[i], err));
    ZN_TRY(find_one(j, of_autoencoder, &j->autoencoder, err));
    ZN_TRY(find_one(j, of_prior, &j->prior, err));
    ZN_TRY(find_one(j, of_recall, &j->recall, err));
    ZN_TRY(find_one(j, of_classifier, &j->classifier, err));
    if (j->autoencoder) return ZENITH_OK;
    return zn_fail(err, ZENITH_NOT_FOUND,
                   "none of these has a U-Net: name the folder of the trained autoencoder too");
}

// What was trained on codes must have had them of these weights.
static zenith_status check_codes(const joining *j, const zn_weights *learned, const char *what,
                                 zn_error *err)
{
    char sha256[65];
    const char *wanted = learned ? zn_weights_metadata(learned, "zenith.autoencoder") : NULL;
    if (!wanted || j->call->force) return ZENITH_OK;
    zn_weights_sha256(j->autoencoder, sha256);
    if (strcmp(sha256, wanted) == 0) return ZENITH_OK;
    return zn_fail(
        err, ZENITH_INVALID_ARGUMENT,
        "the %s was trained on codes of other weights (%.12s) than these (%.12s): train it "
        "on codes of this autoencoder, or force it",
        what, wanted, sha256);
}

static bool same_values(const zn_file_tensor *a, const zn_file_tensor *b)
{
    return a->type == b->type && zn_shape_equal(&a->shape, &b->shape) && a->bytes == b->bytes &&
           memcmp(a->data, b->data, a->bytes) == 0;
}

static zenith_status add_tensor(joining *j, const zn_file_tensor *tensor, const char *source,
                                zn_error *err)
{
    for (size_t i = 0; i < j->count; i++) {
        if (strcmp(j->tensors[i].name, tensor->name) != 0) continue;
        if (same_values(&j->tensors[i], tensor)) return ZENITH_OK;
        return zn_fail(
            err, ZENITH_INVALID_ARGUMENT,
            "'%s' has another %s: prior and classifier must be trained on the same codes", source,
            tensor->name);
    }
    j->tensors[j->count++] = *tensor;
    return ZENITH_OK;
}

static zenith_status collect(joining *j, zn_error *err)
{
    size_t all = 0;
    for (size_t i = 0; i < j->call->count; i++) all += zn_weights_count(j->weights[i]);
    j->tensors = zn_alloc(all * sizeof *j->tensors);
    if (!j->tensors) return zn_fail_memory(err, all * sizeof *j->tensors);
    for (size_t i = 0; i < j->call->count; i++)
        for (size_t k = 0; k < zn_weights_count(j->weights[i]); k++)
            ZN_TRY(add_tensor(j, zn_weights_get(j->weights[i], k), j->call->sources[i], err));
    return ZENITH_OK;
}

// --- config.json --------------------------------------------------------------------------------

static zenith_status take_key(joining *j, const zn_weights *from, const char *key, zn_error *err)
{
    const zn_json *value = from ? zn_json_find(zn_weights_config(from), key) : NULL;
    zn_json *changed = NULL;
    if (!value) return ZENITH_OK;
    ZN_TRY(zn_json_replaced(j->config, key, value, &changed, err));
    zn_json_free(j->config);
    j->config = changed;
    return ZENITH_OK;
}

// The autoencoder's, with what the others say of themselves.
static zenith_status join_configs(joining *j, zn_error *err)
{
    static const char *const prior[] = {"prior_width", "prior_layers", "prior_betas",
                                        "prior_prediction"};
    zn_json *name = NULL;
    ZN_TRY(zn_json_parse("\"diffae\"", 8, "model", &name, err));
    zenith_status status = zn_json_replaced(zn_weights_config(j->autoencoder), "model", name,
                                            &j->config, err);
    zn_json_free(name);
    for (size_t i = 0; i < sizeof prior / sizeof *prior && status == ZENITH_OK; i++)
        status = take_key(j, j->prior, prior[i], err);
    if (status == ZENITH_OK) status = take_key(j, j->recall, "recall", err);
    return status == ZENITH_OK ? take_key(j, j->classifier, "attributes", err) : status;
}

// --- writing ------------------------------------------------------------------------------------

static zenith_status write_joined(joining *j, const char *path, zn_error *err)
{
    char *text = NULL;
    zn_writer *file = NULL;
    zenith_status status;
    ZN_GO(zn_json_dump(j->config, &text, NULL, err));
    const zn_metadata facts[] = {{"zenith.model", "diffae"}, {ZN_WEIGHTS_CONFIG, text}};
    ZN_GO(zn_writer_open(path, &file, err));
    ZN_GO(zn_safetensors_write(file, j->tensors, j->count, facts, 2, err));
    zn_free(text);
    return zn_writer_commit(file, err);
fail:
    zn_free(text);
    zn_writer_discard(file);
    return status;
}

static zenith_status write_typed(const joining *j, const char *joined, zn_error *err)
{
    const zn_model_request request = {.name = "diffae", .weights = joined};
    zn_model *model = NULL;
    ZN_TRY(zn_model_open(&request, &model, err));
    zenith_status status = zn_model_write(model, j->call->output, j->call->type, err);
    zn_model_unref(model);
    return status;
}

static zenith_status join(joining *j, zn_error *err)
{
    char joined[ZN_PATH_SIZE];
    ZN_TRY(open_sources(j, err));
    ZN_TRY(check_codes(j, j->prior, "prior", err));
    ZN_TRY(check_codes(j, j->recall, "recall", err));
    ZN_TRY(check_codes(j, j->classifier, "classifier", err));
    ZN_TRY(collect(j, err));
    ZN_TRY(join_configs(j, err));
    if (zn_text_format(joined, sizeof joined, "%s.joining", j->call->output) + 1 >= sizeof joined)
        return zn_fail(err, ZENITH_LIMIT, "the path '%s' is too long", j->call->output);
    zenith_status status = write_joined(j, joined, err);
    if (status == ZENITH_OK) status = write_typed(j, joined, err);
    zenith_status removed = zn_file_remove(joined, status == ZENITH_OK ? err : NULL);
    return status == ZENITH_OK ? removed : status;
}

zenith_status zn_diffae_join_write(const zn_diffae_join *call, zn_error *err)
{
    joining j = {.call = call};
    zenith_status status = join(&j, err);
    for (int i = 0; i < MOST_SOURCES; i++) zn_weights_free(j.weights[i]);
    zn_json_free(j.config);
    zn_free(j.tensors);
    return status;
}
