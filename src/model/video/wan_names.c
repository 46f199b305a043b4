// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// A name is translated from its front, some segments at a time. The original checkpoints number the
// blocks of all levels and the changes of size between them in one sequence (2.1:
// "decoder.upsamples.7"), or in one for each level (2.2: "decoder.upsamples.1.upsamples.3").
#include "src/model/video/wan_names.h"

#include "src/base/text.h"
#include "src/model/translate.h"

#include <stdlib.h>
#include <string.h>

static const zn_translation original[] = {
    {"encoder.quant_conv.", "conv1."},
    {"decoder.post_quant_conv.", "conv2."},
    {"conv_in.", "conv1."},
    {"norm_out.", "head.0."},
    {"conv_out.", "head.2."},
    {"mid_block.resnets.0.", "middle.0."},
    {"mid_block.attentions.0.", "middle.1."},
    {"mid_block.resnets.1.", "middle.2."},
    {"norm1.", "residual.0."},
    {"conv1.", "residual.2."},
    {"norm2.", "residual.3."},
    {"conv2.", "residual.6."},
    {"conv_shortcut.", "shortcut."},
    {NULL, NULL},
};

// --- counting -----------------------------------------------------------------------------------

static bool numbered(const zn_weights *weights, const char *before, int number, const char *after)
{
    char name[ZN_NAME_SIZE];
    zn_text_format(name, sizeof name, "%s%d%s", before, number, after);
    return zn_weights_find(weights, name) != NULL;
}

// The first number for which there is (or is not) such a tensor; 0: none up to the most.
static int first_number(const zn_weights *weights, const char *before, const char *after,
                        bool there)
{
    for (int i = 0; i <= ZN_WAN_MOST_LAYERS + 1; i++)
        if (numbered(weights, before, i, after) == there) return i;
    return 0;
}

// Blocks before the first change of size. Original names are counted up to that.
static int blocks_of(const zn_weights *weights, bool encoder)
{
    static const char halving[] = ".resample.1.weight", block[] = ".conv1.weight";
    static const char *const sequences[2][3] = {
        {"decoder.upsamples.", "decoder.upsamples.0.upsamples.", NULL},
        {"encoder.down_blocks.", "encoder.downsamples.", "encoder.downsamples.0.downsamples."}};
    for (int i = 0; i < 3 && sequences[encoder][i]; i++) {
        const int found = first_number(weights, sequences[encoder][i], halving, true);
        if (found) return found;
    }
    return first_number(weights,
                        encoder ? "encoder.down_blocks.0.resnets." : "decoder.up_blocks.0.resnets.",
                        block, false);
}

int zn_wan_layers(const zn_weights *weights, bool encoder)
{
    const int blocks = blocks_of(weights, encoder);
    return encoder || blocks == 0 ? blocks : blocks - 1;
}

// --- translating --------------------------------------------------------------------------------

static bool begins(const char **text, const char *with)
{
    const size_t length = strlen(with);
    if (strncmp(*text, with, length) != 0) return false;
    *text += length;
    return true;
}

// Reads "3." and goes past it.
static bool read_number(const char **text, long *out)
{
    char *end;
    *out = strtol(*text, &end, 10);
    if (end == *text || *end != '.') return false;
    *text = end + 1;
    return true;
}

// Whether each level has a sequence of its own.
static bool by_level(const zn_weights *weights, bool up)
{
    return zn_weights_find(weights, up ? "decoder.upsamples.0.upsamples.0.residual.0.gamma"
                                       : "encoder.downsamples.0.downsamples.0.residual.0.gamma");
}

// "up_blocks.1.resnets.0.", "down_blocks.0.downsampler.", or 2.1's "down_blocks.5.": how much of
// the name that is; 0: it begins otherwise.
static size_t translate_block(const zn_weights *weights, const char *name, char dst[ZN_NAME_SIZE])
{
    const char *at = name;
    const size_t length = strlen(dst), room = ZN_NAME_SIZE - length;
    long level, block = -1; // -1: the level's number is the place in the sequence
    const bool up = begins(&at, "up_blocks.");
    if ((!up && !begins(&at, "down_blocks.")) || !read_number(&at, &level)) return 0;
    const int blocks = blocks_of(weights, !up);
    if (begins(&at, "upsamplers.0.") || begins(&at, "upsampler.") || begins(&at, "downsampler."))
        block = blocks;
    else if (begins(&at, "resnets.") && !read_number(&at, &block))
        return 0;
    const char *sequence = up ? "upsamples" : "downsamples";
    if (block < 0)
        zn_text_format(dst + length, room, "%s.%ld.", sequence, level);
    else if (by_level(weights, up))
        zn_text_format(dst + length, room, "%s.%ld.%s.%ld.", sequence, level, sequence, block);
    else
        zn_text_format(dst + length, room, "%s.%ld.", sequence, level * (blocks + 1) + block);
    return (size_t)(at - name);
}

// Appends the original of the beginning of `name`; how much of it that was.
static size_t translate_next(const zn_weights *weights, const char *name, char dst[ZN_NAME_SIZE])
{
    size_t taken = zn_translate_known(original, name, dst);
    if (!taken) taken = translate_block(weights, name, dst);
    return taken ? taken : zn_translate_segment(name, dst);
}

const zn_file_tensor *zn_wan_find(const zn_weights *weights, const char *name,
                                  char dst[ZN_NAME_SIZE])
{
    const char *rest = name;
    zn_text_format(dst, ZN_NAME_SIZE, "%s", name);
    const zn_file_tensor *tensor = zn_weights_find(weights, dst);
    if (tensor) return tensor;
    if ((begins(&rest, "encoder.") || begins(&rest, "decoder.")) && strstr(rest, "quant_conv.")) {
        zn_text_format(dst, ZN_NAME_SIZE, "%s", rest);
        tensor = zn_weights_find(weights, dst);
        if (tensor) return tensor;
    }
    dst[0] = 0;
    for (const char *at = name; *at;) at += translate_next(weights, at, dst);
    return zn_weights_find(weights, dst);
}
