// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// See published.h. madebyollin publishes TAESD, TAESDXL, TAESD3 and TAEF1 (MIT licence) as PyTorch
// pickles and in diffusers' layout; the flat safetensors files of the same weights, in bf16, are
// those of comfyanonymous/taesd, which ComfyUI is shipped with. Our calibrations (models/) are
// bound to these. TAEF2 is published as one file, taef2.safetensors, on the model hub; its checksum
// is not known here, so it is left to the user to fetch.
#include "apps/cli/session/published.h"
#include "apps/net/download.h"

#include <stdio.h>
#include <string.h>

const char cli_published_endpoint[] = "https://raw.githubusercontent.com";

#define FILE_OF(model, part, size, sha256)                                                         \
    {                                                                                              \
        model, model "_" part ".safetensors", size, sha256,                                        \
            "comfyanonymous/taesd/main/" model "_" part ".safetensors"                             \
    }

const cli_published cli_published_files[] = {
    FILE_OF("taesd", "encoder", 2450568,
            "a6b8c0fda4aad50784e543389e0239c72c5e31e9775c9e612ea8333bf3a77dcb"),
    FILE_OF("taesd", "decoder", 2450590,
            "d903e7cc3ae58f21d985a3498a841fa8b230edccff7ac5d27607b0c557945c6f"),
    FILE_OF("taesdxl", "encoder", 2450568,
            "3d78013286676a1a51074831230f90972e573698fe4b11416d6f28e0cd5bbe7e"),
    FILE_OF("taesdxl", "decoder", 2450590,
            "ae5256b046b01d577279ed93a55bbb1fb2689e55aa14cfc0f7f841e0160202a5"),
    FILE_OF("taesd3", "encoder", 2464424,
            "e5c96f3476bd26fe73e96d701a694f40d7ab48a290494cbbf70a3697d09cab4a"),
    FILE_OF("taesd3", "decoder", 2464414,
            "e940e227e2a41919f0735ec423129724666f8b949c8bbce7a04b78ecfb4667de"),
    FILE_OF("taef1", "encoder", 2464424,
            "19f5a854ce575fd0a1c0a52938410cf5fb4dc4b8ae71c8887533646d8fe47030"),
    FILE_OF("taef1", "decoder", 2464414,
            "bb41500b646d5b8b592b7f3ca5d20d888c3075e209d178d99af609cd7e02a1d4"),
    {NULL, NULL, 0, NULL, NULL}};

// Sizes are those of the publishers' lists; what they do not say is left out.
static const cli_published_large z_image_turbo[] = {
    {"Tongyi-MAI/Z-Image-Turbo", NULL, 0,
     "the whole pipeline: put it into ~/.local/share/zenith/z-image-turbo, or name it by -w"},
    {"Comfy-Org/z_image_turbo", "z_image_turbo_bf16.safetensors", 12309866400, "--transformer"},
    {"Comfy-Org/z_image_turbo", "qwen_3_4b.safetensors", 8044982048,
     "--text-encoder, with --tokenizer of the pipeline's folder tokenizer"},
    {"Comfy-Org/z_image_turbo", "ae.safetensors", 335304388, "--vae"},
    {"leejet/Z-Image-Turbo-GGUF", "z_image_turbo-Q8_0.gguf", 6577440704, "--transformer"},
    {"leejet/Z-Image-Turbo-GGUF", "z_image_turbo-Q4_K.gguf", 3864250304, "--transformer"},
    {NULL, NULL, 0, NULL}};

const cli_published_large *cli_published_pipeline(const char *name)
{
    return strcmp(name, "z-image-turbo") == 0 ? z_image_turbo : NULL;
}

size_t cli_published_count(const char *model)
{
    size_t count = 0;
    for (const cli_published *file = cli_published_files; file->model != NULL; file++)
        count += strcmp(file->model, model) == 0;
    return count;
}

const cli_shipped cli_shipped_diffae[] = {
    {"zenith-avatars64", "diffusion autoencoder of drawn faces, 64x64, for 'zenith diffae'"},
    {"zenith-avatars256", "diffusion autoencoder of drawn faces, 256x256, on latents of TAESD3"},
    {NULL, NULL}};
const cli_shipped cli_shipped_pipelines[] = {
    {"zenith-words", "pictures of 128x128 from words, for 'zenith generate'"}, {NULL, NULL}};

const char *const cli_shipped_autoencoders[] = {"zenith-sd-fast", "zenith-sd-small",
                                                "zenith-f1-fast", "zenith-f1-small", NULL};

static bool is_listed(const cli_shipped *list, const char *model)
{
    while (list->name != NULL && strcmp(list->name, model) != 0) list++;
    return list->name != NULL;
}

// Those whose weights are installed with the program (models/).
static bool comes_along(const char *model)
{
    if (is_listed(cli_shipped_diffae, model) || is_listed(cli_shipped_pipelines, model))
        return true;
    const char *const *name = cli_shipped_autoencoders;
    while (*name != NULL && strcmp(*name, model) != 0) name++;
    return *name != NULL;
}

// Those that others publish where we cannot name a checksum.
static const struct {
    const char *model, *how;
} elsewhere[] = {
    {"taef2", "download taef2.safetensors of madebyollin/taef2 from https://huggingface.co, then "
              "'zenith convert taef2.safetensors --model taef2 -o ~/.local/share/zenith'"},
    {"sd-vae",
     "give --weights the folder vae of Stable Diffusion 1.x or 2.x, or a whole checkpoint"},
    {"sdxl-vae", "give --weights the folder vae of Stable Diffusion XL, or a whole checkpoint"},
    {"sd3-vae", "give --weights the folder vae of Stable Diffusion 3, or a whole checkpoint"},
    {"flux-vae", "give --weights the folder vae of FLUX.1 or Z-Image, or the file ae.safetensors"},
    {"wan2.1-vae", "give --weights the folder vae of Wan 2.1, or the file wan_2.1_vae.safetensors"},
    {"wan2.2-vae", "give --weights the folder vae of Wan 2.2, or the file wan2.2_vae.safetensors"},
    {"taew2_1", "give --weights the file taew2_1.safetensors of madebyollin/taehv"},
    {"taew2_2", "give --weights the file taew2_2.safetensors of madebyollin/taehv"},
};

static const char *elsewhere_how(const char *model)
{
    for (size_t i = 0; i < sizeof elsewhere / sizeof elsewhere[0]; i++)
        if (strcmp(elsewhere[i].model, model) == 0) return elsewhere[i].how;
    return NULL;
}

bool cli_model_is_product(const char *model)
{
    return cli_published_count(model) > 0 || comes_along(model) || elsewhere_how(model) != NULL;
}

static void addresses(const char *model, char *text, size_t size)
{
    size_t length = (size_t)snprintf(text, size, "download");
    for (const cli_published *file = cli_published_files; file->model != NULL; file++) {
        if (strcmp(file->model, model) != 0 || length >= size) continue;
        length += (size_t)snprintf(text + length, size - length, " %s/%s", cli_published_endpoint,
                                   file->path);
    }
    if (length < size) snprintf(text + length, size - length, " into ~/.local/share/zenith");
}

void cli_published_how(const char *model, char *text, size_t size)
{
    if (cli_published_count(model) > 0 && cli_can_download)
        snprintf(text, size, "'zenith pull %s' fetches them", model);
    else if (cli_published_count(model) > 0)
        addresses(model, text, size);
    else if (elsewhere_how(model) != NULL)
        snprintf(text, size, "%s", elsewhere_how(model));
    else if (comes_along(model))
        snprintf(text, size, "they come with the program, in share/zenith/models of its prefix");
    else
        snprintf(text, size, "nobody publishes them, and 'zenith train' makes them");
}
