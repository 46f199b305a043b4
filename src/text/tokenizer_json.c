// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// tokenizer.json. Every field that changes ids is read or, where it asks for something else than
// this tokenizer does, refused. "truncation" and "padding" are of the caller; a post-processor that
// adds tokens is refused.
#include "src/text/tokenizer_json.h"

#include <string.h>

static zn_bytes bytes_of(const char *text)
{
    return (zn_bytes){text, strlen(text)};
}

static zenith_status add_entry(void *cookie, const char *key, const zn_json *value, zn_error *err)
{
    int64_t id;
    if (!zn_json_as_integer(value, &id))
        return zn_fail(err, ZENITH_BAD_FILE, "the token \"%.*s\" has no integer as its id", 40,
                       key);
    return zn_tokenizer_add_text(cookie, bytes_of(key), id, err);
}

zenith_status zn_tokenizer_read_vocabulary(zn_tokenizer *tokenizer, const zn_json *vocabulary,
                                           zn_error *err)
{
    if (!zn_json_is_object(vocabulary))
        return zn_fail(err, ZENITH_BAD_FILE, "the vocabulary is not an object of tokens and ids");
    return zn_json_each(vocabulary, add_entry, tokenizer, err);
}

// A flag that may be absent or null, which is false.
static zenith_status get_flag(const zn_json *object, const char *key, bool *out, zn_error *err)
{
    *out = false;
    return zn_json_has(object, key) ? zn_json_get_flag(object, key, out, err) : ZENITH_OK;
}

zenith_status zn_tokenizer_read_added(zn_tokenizer *tokenizer, const zn_json *entry, int64_t id,
                                      zn_error *err)
{
    static const char *const others[] = {"single_word", "lstrip", "rstrip"};
    zn_added_fact fact = {.id = id};
    const char *text;
    if (!zn_json_is_object(entry))
        return zn_fail(err, ZENITH_BAD_FILE, "an added token is not an object");
    ZN_TRY(zn_json_get_text(entry, "content", &text, err));
    ZN_TRY(get_flag(entry, "special", &fact.special, err));
    ZN_TRY(get_flag(entry, "normalized", &fact.normalised, err));
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        bool set;
        ZN_TRY(get_flag(entry, others[i], &set, err));
        if (set)
            return zn_fail(err, ZENITH_UNSUPPORTED,
                           "the added token %lld has \"%s\", which is not supported", (long long)id,
                           others[i]);
    }
    fact.text = bytes_of(text);
    return zn_tokenizer_add_added(tokenizer, &fact, err);
}

static zenith_status read_added_list(zn_tokenizer *tokenizer, const zn_json *list, zn_error *err)
{
    for (size_t i = 0; i < zn_json_size(list); i++) {
        const zn_json *entry = zn_json_at(list, i);
        int64_t id;
        ZN_TRY(zn_json_get_integer(entry, "id", 0, ZN_VOCABULARY_IDS_MOST - 1, &id, err));
        ZN_TRY(zn_tokenizer_read_added(tokenizer, entry, id, err));
    }
    return ZENITH_OK;
}

static zenith_status read_merges(zn_tokenizer *tokenizer, const zn_json *list, zn_error *err)
{
    for (size_t i = 0; i < zn_json_size(list); i++) {
        const zn_json *merge = zn_json_at(list, i);
        const char *line, *left, *right;
        if (zn_json_as_text(merge, &line)) {
            ZN_TRY(zn_tokenizer_add_merge_line(tokenizer, bytes_of(line), i, err));
            continue;
        }
        if (!zn_json_is_array(merge) || zn_json_size(merge) != 2 ||
            !zn_json_as_text(zn_json_at(merge, 0), &left) ||
            !zn_json_as_text(zn_json_at(merge, 1), &right))
            return zn_fail(err, ZENITH_BAD_FILE, "merge %zu is no pair of tokens", i);
        ZN_TRY(zn_tokenizer_add_merge(tokenizer, bytes_of(left), bytes_of(right), i, err));
    }
    return ZENITH_OK;
}

static zenith_status get_type(const zn_json *part, const char *what, const char **type,
                              zn_error *err)
{
    if (!zn_json_is_object(part))
        return zn_fail(err, ZENITH_BAD_FILE, "the %s is not an object", what);
    return zn_json_get_text(part, "type", type, err);
}

static zenith_status unsupported(const char *what, const char *type, zn_error *err)
{
    return zn_fail(err, ZENITH_UNSUPPORTED, "the %s is %.*s, which is not supported", what, 40,
                   type);
}

// NFC, alone or as a sequence of one.
static zenith_status read_normaliser(const zn_json *root, bool *nfc, zn_error *err)
{
    const zn_json *part;
    const char *type;
    *nfc = false;
    if (!zn_json_has(root, "normalizer")) return ZENITH_OK;
    ZN_TRY(zn_json_get_object(root, "normalizer", &part, err));
    ZN_TRY(get_type(part, "normalizer", &type, err));
    if (strcmp(type, "Sequence") == 0) {
        ZN_TRY(zn_json_get_array(part, "normalizers", &part, err));
        if (zn_json_size(part) == 0) return ZENITH_OK;
        if (zn_json_size(part) > 1) return unsupported("normalizer", "a sequence of several", err);
        ZN_TRY(get_type(zn_json_at(part, 0), "normalizer", &type, err));
    }
    if (strcmp(type, "NFC") != 0) return unsupported("normalizer", type, err);
    *nfc = true;
    return ZENITH_OK;
}

// What the pre-tokenizer's parts have said so far.
typedef struct splitting {
    const char *pattern;
    bool bytes; // ByteLevel was there
} splitting;

static zenith_status read_split(const zn_json *part, splitting *out, zn_error *err)
{
    const zn_json *pattern;
    const char *behaviour;
    bool invert;
    if (out->pattern || out->bytes) return unsupported("pre_tokenizer", "more than one split", err);
    ZN_TRY(zn_json_get_text(part, "behavior", &behaviour, err));
    ZN_TRY(get_flag(part, "invert", &invert, err));
    if (strcmp(behaviour, "Isolated") != 0 || invert)
        return unsupported("pre_tokenizer", "a split that drops or joins matches", err);
    ZN_TRY(zn_json_get_object(part, "pattern", &pattern, err));
    if (!zn_json_has(pattern, "Regex"))
        return unsupported("pre_tokenizer", "a split by a plain string", err);
    return zn_json_get_text(pattern, "Regex", &out->pattern, err);
}

static zenith_status read_byte_level(const zn_json *part, splitting *out, zn_error *err)
{
    bool space, regex = true;
    ZN_TRY(get_flag(part, "add_prefix_space", &space, err));
    if (zn_json_has(part, "use_regex")) ZN_TRY(zn_json_get_flag(part, "use_regex", &regex, err));
    if (space) return unsupported("pre_tokenizer", "ByteLevel with add_prefix_space", err);
    if (out->bytes || (regex && out->pattern))
        return unsupported("pre_tokenizer", "more than one split", err);
    out->bytes = true;
    if (regex) out->pattern = zn_pattern_gpt2;
    return ZENITH_OK;
}

static zenith_status read_pre_tokenizer(const zn_json *part, splitting *out, zn_error *err)
{
    const char *type;
    ZN_TRY(get_type(part, "pre_tokenizer", &type, err));
    if (strcmp(type, "Split") == 0) return read_split(part, out, err);
    if (strcmp(type, "ByteLevel") == 0) return read_byte_level(part, out, err);
    return unsupported("pre_tokenizer", type, err);
}

static zenith_status read_splitting(const zn_json *root, splitting *out, zn_error *err)
{
    const zn_json *part, *list;
    const char *type;
    ZN_TRY(zn_json_get_object(root, "pre_tokenizer", &part, err));
    ZN_TRY(get_type(part, "pre_tokenizer", &type, err));
    if (strcmp(type, "Sequence") != 0) {
        ZN_TRY(read_pre_tokenizer(part, out, err));
    } else {
        ZN_TRY(zn_json_get_array(part, "pretokenizers", &list, err));
        for (size_t i = 0; i < zn_json_size(list); i++)
            ZN_TRY(read_pre_tokenizer(zn_json_at(list, i), out, err));
    }
    if (!out->bytes) return unsupported("pre_tokenizer", "not ByteLevel", err);
    if (!out->pattern) out->pattern = "[\\s\\S]+"; // whole pieces are words
    return ZENITH_OK;
}

// Fields that must be absent, null, or the one value that changes nothing.
static zenith_status check_model(const zn_json *model, zn_error *err)
{
    static const char *const affixes[] = {"continuing_subword_prefix", "end_of_word_suffix"};
    const char *text;
    if (zn_json_has(model, "type")) {
        ZN_TRY(zn_json_get_text(model, "type", &text, err));
        if (strcmp(text, "BPE") != 0) return unsupported("model", text, err);
    }
    if (zn_json_has(model, "dropout")) {
        double dropout;
        ZN_TRY(zn_json_get_number(model, "dropout", &dropout, err));
        if (dropout != 0) return unsupported("model", "BPE with dropout", err);
    }
    for (size_t i = 0; i < sizeof affixes / sizeof *affixes; i++) {
        if (!zn_json_has(model, affixes[i])) continue;
        ZN_TRY(zn_json_get_text(model, affixes[i], &text, err));
        if (*text) return unsupported("model", affixes[i], err);
    }
    return ZENITH_OK;
}

// A template for one text that is the text and nothing besides.
static zenith_status check_template(const zn_json *part, zn_error *err)
{
    const zn_json *single;
    ZN_TRY(zn_json_get_array(part, "single", &single, err));
    for (size_t i = 0; i < zn_json_size(single); i++)
        if (!zn_json_has(zn_json_at(single, i), "Sequence"))
            return unsupported("post_processor", "a template that adds tokens", err);
    return zn_json_size(single) == 1 ? ZENITH_OK
                                     : unsupported("post_processor", "a template of several", err);
}

// ByteLevel there changes offsets in the text, which nobody asks for here.
static zenith_status check_post_processor(const zn_json *root, zn_error *err)
{
    const zn_json *part;
    const char *type;
    if (!zn_json_has(root, "post_processor")) return ZENITH_OK;
    ZN_TRY(zn_json_get_object(root, "post_processor", &part, err));
    ZN_TRY(get_type(part, "post_processor", &type, err));
    if (strcmp(type, "TemplateProcessing") == 0) return check_template(part, err);
    return strcmp(type, "ByteLevel") == 0 ? ZENITH_OK : unsupported("post_processor", type, err);
}

static zenith_status read_root(const zn_json *root, const char *where, zn_tokenizer **out,
                               zn_error *err)
{
    const zn_json *model, *vocabulary, *merges, *added = NULL;
    splitting words = {0};
    bool nfc, whole;
    if (!zn_json_is_object(root)) return zn_fail(err, ZENITH_BAD_FILE, "not a JSON object");
    ZN_TRY(zn_json_get_object(root, "model", &model, err));
    ZN_TRY(check_model(model, err));
    ZN_TRY(check_post_processor(root, err));
    ZN_TRY(zn_json_get_object(model, "vocab", &vocabulary, err));
    ZN_TRY(zn_json_get_array(model, "merges", &merges, err));
    ZN_TRY(get_flag(model, "ignore_merges", &whole, err));
    if (zn_json_has(root, "added_tokens"))
        ZN_TRY(zn_json_get_array(root, "added_tokens", &added, err));
    ZN_TRY(read_normaliser(root, &nfc, err));
    ZN_TRY(read_splitting(root, &words, err));
    ZN_TRY(zn_tokenizer_create(zn_json_size(vocabulary), zn_json_size(merges), zn_json_size(added),
                               out, err));
    (*out)->nfc = nfc;
    (*out)->whole_words = whole;
    ZN_TRY(zn_tokenizer_read_vocabulary(*out, vocabulary, err));
    ZN_TRY(read_merges(*out, merges, err));
    ZN_TRY(read_added_list(*out, added, err));
    return zn_tokenizer_finish(*out, words.pattern, where, err);
}

zenith_status zn_tokenizer_parse_json(zn_bytes file, const char *where, zn_tokenizer **out,
                                      zn_error *err)
{
    zn_json *root = NULL;
    zn_tokenizer *tokenizer = NULL;
    ZN_TRY(zn_json_parse(file.data, file.size, where, &root, err));
    zenith_status status = read_root(root, where, &tokenizer, err);
    zn_json_free(root);
    if (status == ZENITH_OK) {
        *out = tokenizer;
        return ZENITH_OK;
    }
    zn_tokenizer_free(tokenizer);
    zn_error_prefix(err, where);
    return status;
}
