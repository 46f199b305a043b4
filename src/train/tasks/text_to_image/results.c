// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// See training.h: what a run leaves, a pipeline that 'zenith generate' opens.
#include "src/base/os.h"
#include "src/base/text.h"
#include "src/model/locate.h"
#include "src/train/tasks/diffae/training.h"
#include "src/train/tasks/text_to_image/training.h"

// A file in a folder of its own.
static zenith_status write_file(const char *folder, const char *part, const char *name,
                                const char *text, zn_error *err)
{
    char path[ZN_PATH_SIZE];
    if (zn_text_format(path, sizeof path, "%s/%s", folder, part) + 1 >= sizeof path)
        return zn_fail(err, ZENITH_LIMIT, "the path '%s' is too long", folder);
    ZN_TRY(zn_directory_make(path, err));
    return zn_diffae_write_text(path, name, text, err);
}

// Pictures are made as samples were.
static zenith_status write_schedule(const zn_trainer *t, const char *folder, zn_error *err)
{
    char text[512];
    zn_text_format(text, sizeof text,
                   "{\n  \"_class_name\": \"FlowMatchEulerDiscreteScheduler\",\n"
                   "  \"num_train_timesteps\": 1000,\n  \"shift\": %g,\n"
                   "  \"use_dynamic_shifting\": false,\n"
                   "  \"num_inference_steps\": %d,\n  \"guidance_scale\": %g\n}\n",
                   t->config.timesteps.shift, (int)t->config.eval_steps, t->config.guidance);
    return write_file(folder, "scheduler", "scheduler_config.json", text, err);
}

// What makes a pipeline of both networks.
static zenith_status write_pipeline(const zn_trainer *t, const char *folder, zn_error *err)
{
    static const char index[] =
        "{\n  \"_class_name\": \"ZImagePipeline\",\n"
        "  \"scheduler\": [\"diffusers\", \"FlowMatchEulerDiscreteScheduler\"],\n"
        "  \"text_encoder\": [\"transformers\", \"Qwen3Model\"],\n"
        "  \"tokenizer\": [\"transformers\", \"Qwen2Tokenizer\"],\n"
        "  \"transformer\": [\"diffusers\", \"ZImageTransformer2DModel\"]\n}\n";
    const char *tokenizer = zn_words_own(t)->tokenizer_json;
    if (!tokenizer) return ZENITH_OK;
    ZN_TRY(write_file(folder, "tokenizer", "tokenizer.json", tokenizer, err));
    ZN_TRY(write_schedule(t, folder, err));
    return zn_diffae_write_text(folder, "model_index.json", index, err);
}

// What was not trained, and belongs to the transformer.
static zenith_status list_draft(const zn_network *draft, zn_file_tensor **out, zn_error *err)
{
    *out = zn_alloc((draft->count + 1) * sizeof **out);
    if (!*out) return zn_fail_memory(err, (draft->count + 1) * sizeof **out);
    for (size_t i = 0; i < draft->count; i++) {
        const zn_train_parameter *p = &draft->parameters[i];
        (*out)[i] = (zn_file_tensor){.name = p->name,
                                     .type = p->tensor.desc.type,
                                     .shape = p->tensor.desc.shape,
                                     .data = p->tensor.data};
    }
    return ZENITH_OK;
}

static zenith_status write_networks(const zn_trainer *t, int which, const char *path,
                                    const float *block, zn_error *err)
{
    const zn_network *draft = &zn_words_own(t)->draft;
    const int first = which == 0 ? ZN_WORDS_TEXT : ZN_WORDS_CONTEXT,
              end = which == 0 ? ZN_WORDS_CONTEXT : ZN_WORDS_NETWORKS;
    zn_weights_beside beside = {0};
    zn_file_tensor *tensors = NULL;
    if (which != 0) {
        ZN_TRY(list_draft(draft, &tensors, err));
        beside = (zn_weights_beside){tensors, draft->count, NULL};
    }
    zenith_status status = zn_weights_write_whole(path, t->trained + first, (size_t)(end - first),
                                                  block, &beside, err);
    zn_free(tensors);
    return status;
}

// Two zn_words_folders, as pipelines have them; with a tokenizer a whole pipeline.
zenith_status zn_words_write(const zn_trainer *t, const char *folder, const float *block,
                             zn_error *err)
{
    for (int i = 0; i < 2; i++) {
        char path[ZN_PATH_SIZE];
        const char *config = zn_words_own(t)->configs[i];
        if (zn_text_format(path, sizeof path, "%s/%s", folder, zn_words_folders[i]) + 1 >=
            sizeof path)
            return zn_fail(err, ZENITH_LIMIT, "the path '%s' is too long", folder);
        ZN_TRY(zn_directory_make(path, err));
        if (config) ZN_TRY(zn_diffae_write_text(path, "config.json", config, err));
        ZN_TRY(write_networks(t, i, path, block, err));
    }
    return write_pipeline(t, folder, err);
}
