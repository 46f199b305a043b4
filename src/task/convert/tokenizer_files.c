// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// The file is read back before it is written, and all texts are encoded by it: what is in the
// folder opens.
#include "src/task/convert/tokenizer_files.h"

#include "src/base/os.h"
#include "src/base/text.h"
#include "src/model/locate.h"
#include "src/text/captions.h"
#include "src/text/tokenizer_train.h"

const char *const zn_tokenizer_special[] = {"<|endoftext|>", "<|im_start|>", "<|im_end|>"};

typedef struct work {
    const zn_tokenizer_files *call;
    zn_tokenizer_report *report;
    zn_error *err;
    zn_captions captions;
    char *json;
    size_t size;
} work;

static zenith_status read_sources(work *w)
{
    for (size_t i = 0; i < w->call->source_count; i++) {
        zn_mapped file = {0};
        const char *path = w->call->sources[i];
        ZN_TRY(zn_mapped_open(path, &file, w->err));
        const zn_bytes content = {file.size ? (const char *)file.data : "", file.size};
        const zenith_status status = zn_captions_read(&w->captions, content, path, w->call->cancel,
                                                      w->err);
        zn_mapped_close(&file);
        ZN_TRY(status);
    }
    w->report->texts = w->captions.count;
    w->report->bytes = w->captions.bytes;
    if (w->captions.count == 0)
        return zn_fail(w->err, ZENITH_INVALID_ARGUMENT,
                       "the files have no text to train a tokenizer on");
    return ZENITH_OK;
}

static zenith_status encode_all(work *w, const zn_tokenizer *tokenizer)
{
    w->report->encoded = 0;
    for (size_t i = 0; i < w->captions.count; i++) {
        const zn_bytes text = w->captions.texts[i];
        int32_t *ids = NULL;
        size_t count;
        if (w->call->cancel && atomic_load(w->call->cancel))
            return zn_fail(w->err, ZENITH_CANCELLED, "training the tokenizer was cancelled");
        if (text.size > ZN_TOKENIZER_TEXT_MOST) continue;
        ZN_TRY(zn_tokenizer_encode(tokenizer, text.data, text.size, &ids, &count, w->err));
        zn_free(ids);
        w->report->encoded += count;
    }
    return ZENITH_OK;
}

static zenith_status read_back(work *w)
{
    zn_tokenizer *tokenizer = NULL;
    ZN_TRY(zn_tokenizer_parse_json((zn_bytes){w->json, w->size}, "the trained tokenizer",
                                   &tokenizer, w->err));
    w->report->tokens = zn_tokenizer_count(tokenizer);
    const zenith_status status = encode_all(w, tokenizer);
    zn_tokenizer_free(tokenizer);
    return status;
}

static zenith_status write_file(work *w)
{
    char path[ZN_PATH_SIZE];
    zn_writer *file = NULL;
    if (zn_text_format(path, sizeof path, "%s/tokenizer.json", w->call->output) + 1 >= sizeof path)
        return zn_fail(w->err, ZENITH_LIMIT, "the path '%s' is too long", w->call->output);
    ZN_TRY(zn_directory_make(w->call->output, w->err));
    ZN_TRY(zn_writer_open(path, &file, w->err));
    const zenith_status status = zn_writer_write(file, w->json, w->size, w->err);
    if (status == ZENITH_OK) return zn_writer_commit(file, w->err);
    zn_writer_discard(file);
    return status;
}

static zenith_status train(work *w)
{
    const zn_tokenizer_files *call = w->call;
    const size_t least = 256 + call->special_count;
    if (call->tokens < least)
        return zn_fail(w->err, ZENITH_INVALID_ARGUMENT,
                       "a tokenizer of %zu tokens is too small: 256 bytes and %zu special tokens "
                       "are %zu, and merges come on top",
                       call->tokens, call->special_count, least);
    ZN_TRY(read_sources(w));
    const zn_tokenizer_training training = {.texts = w->captions.texts,
                                            .text_count = w->captions.count,
                                            .tokens = call->tokens - call->special_count,
                                            .added = call->special,
                                            .added_count = call->special_count,
                                            .chat = call->chat,
                                            .cancel = call->cancel};
    ZN_TRY(zn_tokenizer_train(&training, &w->json, &w->size, w->err));
    ZN_TRY(read_back(w));
    return write_file(w);
}

static zenith_status run(void *arg, zn_team *team, int stream)
{
    (void)team, (void)stream;
    return train(arg);
}

zenith_status zn_tokenizer_write(zn_executor *executor, const zn_tokenizer_files *call,
                                 zn_tokenizer_report *report, zn_error *err)
{
    work w = {.call = call, .report = report, .err = err};
    const zenith_status status = zn_executor_run(executor, run, &w, 1, err);
    zn_captions_free(&w.captions);
    zn_free(w.json);
    return status;
}
