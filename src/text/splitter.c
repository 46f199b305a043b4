// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
#include "src/text/splitter.h"

#include "src/base/memory.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>
#include <stdbool.h>
#include <string.h>

enum {
    PATTERN_MOST = 4096,      // bytes
    NESTING_MOST = 50,        // parentheses
    HEAP_MOST = 64 * 1024,    // KiB of PCRE2's memory while it matches
    STEPS_OF_MATCH = 1 << 26, // a run of 16 MB of spaces takes 2^24
    STEPS_OF_TEXT = 1 << 22,  // of a pattern that is not known
    STEPS_OF_BYTE = 64,
};

const char zn_pattern_qwen2[] = "(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}|"
                                " ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*"
                                "|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+";
const char zn_pattern_gpt2[] =
    "'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|\\s+(?!\\S)|\\s+";

#define SPACE "\\t-\\r\\x{85}\\p{Z}"

typedef struct known_pattern {
    const char *published, *translated;
} known_pattern;

static const known_pattern known_patterns[] = {
    {zn_pattern_qwen2, "(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}"
                       "| ?[^" SPACE "\\p{L}\\p{N}]+[\\r\\n]*|[" SPACE "]*[\\r\\n]+"
                       "|[" SPACE "]+(?![^" SPACE "])|[" SPACE "]+"},
    {zn_pattern_gpt2, "'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+| ?[^" SPACE "\\p{L}\\p{N}]+"
                      "|[" SPACE "]+(?![^" SPACE "])|[" SPACE "]+"},
};

struct zn_splitter {
    pcre2_general_context *memory;
    pcre2_code *code;
    char *pattern;
    bool known;
};

static void *take_memory(PCRE2_SIZE bytes, void *cookie)
{
    (void)cookie;
    return zn_alloc(bytes);
}

static void give_memory(void *block, void *cookie)
{
    (void)cookie;
    zn_free(block);
}

static zenith_status refuse_pattern(int code, size_t offset, const char *where, zn_error *err)
{
    PCRE2_UCHAR reason[128] = {0};
    if (code == PCRE2_ERROR_HEAP_FAILED) return zn_fail_memory(err, PATTERN_MOST);
    pcre2_get_error_message(code, reason, sizeof reason);
    return zn_fail(err, ZENITH_BAD_FILE,
                   "%s: the pattern that splits words is wrong at byte %zu: %s", where, offset,
                   (const char *)reason);
}

static zenith_status compile(zn_splitter *splitter, const char *pattern, const char *where,
                             zn_error *err)
{
    // \C would split characters; automatic callouts count the steps of patterns that are not known.
    const uint32_t options = PCRE2_UTF | PCRE2_UCP | PCRE2_NEVER_BACKSLASH_C |
                             (splitter->known ? 0 : PCRE2_AUTO_CALLOUT);
    int code = 0;
    PCRE2_SIZE offset = 0;
    pcre2_compile_context *bounds = pcre2_compile_context_create(splitter->memory);
    if (!bounds) return zn_fail_memory(err, sizeof(void *));
    pcre2_set_parens_nest_limit(bounds, NESTING_MOST);
    splitter->code = pcre2_compile((PCRE2_SPTR)pattern, PCRE2_ZERO_TERMINATED, options, &code,
                                   &offset, bounds);
    pcre2_compile_context_free(bounds);
    return splitter->code ? ZENITH_OK : refuse_pattern(code, offset, where, err);
}

zenith_status zn_splitter_create(const char *pattern, const char *where, zn_splitter **out,
                                 zn_error *err)
{
    zenith_status status = ZENITH_OUT_OF_MEMORY;
    const size_t size = strlen(pattern);
    if (size > PATTERN_MOST)
        return zn_fail(err, ZENITH_BAD_FILE,
                       "%s: the pattern that splits words has %zu bytes, more than the limit of %d",
                       where, size, PATTERN_MOST);
    zn_splitter *splitter = zn_alloc_zero(sizeof *splitter);
    if (!splitter) return zn_fail_memory(err, sizeof *splitter);
    splitter->pattern = zn_alloc(size + 1);
    splitter->memory = pcre2_general_context_create(take_memory, give_memory, NULL);
    if (!splitter->pattern || !splitter->memory) {
        status = zn_fail_memory(err, size + 1);
        goto fail;
    }
    memcpy(splitter->pattern, pattern, size + 1);
    for (size_t i = 0; i < sizeof known_patterns / sizeof *known_patterns; i++)
        if (strcmp(known_patterns[i].published, splitter->pattern) == 0) {
            splitter->known = true;
            pattern = known_patterns[i].translated;
        }
    ZN_GO(compile(splitter, pattern, where, err));
    *out = splitter;
    return ZENITH_OK;
fail:
    zn_splitter_free(splitter);
    return status;
}

void zn_splitter_free(zn_splitter *splitter)
{
    if (!splitter) return;
    pcre2_code_free(splitter->code);
    pcre2_general_context_free(splitter->memory);
    zn_free(splitter->pattern);
    zn_free(splitter);
}

// The steps left to a pattern that is not known, and where the last callout was: between two
// callouts lie as many steps as characters were passed.
typedef struct step_count {
    size_t left, last;
} step_count;

static int count_step(pcre2_callout_block *callout, void *cookie)
{
    step_count *count = cookie;
    const size_t at = callout->current_position;
    const size_t steps = 1 + (at > count->last ? at - count->last : count->last - at);
    count->last = at;
    if (steps > count->left) return PCRE2_ERROR_CALLOUT;
    count->left -= steps;
    return 0;
}

static zenith_status refuse_text(int code, size_t at, zn_error *err)
{
    PCRE2_UCHAR reason[128] = {0};
    if (code == PCRE2_ERROR_NOMEMORY) return zn_fail_memory(err, (size_t)HEAP_MOST * 1024);
    pcre2_get_error_message(code, reason, sizeof reason);
    const bool limit = code == PCRE2_ERROR_MATCHLIMIT || code == PCRE2_ERROR_DEPTHLIMIT ||
                       code == PCRE2_ERROR_HEAPLIMIT || code == PCRE2_ERROR_CALLOUT;
    return zn_fail(err, limit ? ZENITH_LIMIT : ZENITH_BAD_FILE,
                   "the pattern that splits words %s at byte %zu of the text (%s)",
                   limit ? "takes too many steps, or memory," : "fails", at, (const char *)reason);
}

static size_t next_character(const char *text, size_t size, size_t at)
{
    for (at++; at < size && ((uint8_t)text[at] & 0xc0) == 0x80;) at++;
    return at;
}

// One search from `from`: true in *found and the match's ends, or false where there is none.
static zenith_status search(const zn_splitter *splitter, const char *text, size_t size, size_t from,
                            pcre2_match_data *match, pcre2_match_context *bounds, bool *found,
                            size_t ends[2], zn_error *err)
{
    const int code = pcre2_match(splitter->code, (PCRE2_SPTR)text, size, from, PCRE2_NO_UTF_CHECK,
                                 match, bounds);
    *found = code > 0;
    if (code == PCRE2_ERROR_NOMATCH) return ZENITH_OK;
    if (code <= 0) return refuse_text(code, from, err);
    const PCRE2_SIZE *at = pcre2_get_ovector_pointer(match);
    if (at[0] < from || at[1] < at[0] || at[1] > size) // \K can do that
        return zn_fail(err, ZENITH_BAD_FILE,
                       "the pattern that splits words has a match that ends before it begins");
    ends[0] = at[0];
    ends[1] = at[1];
    return ZENITH_OK;
}

static zenith_status split(const zn_splitter *splitter, const char *text, size_t size,
                           pcre2_match_data *match, pcre2_match_context *bounds, zn_word_fn *each,
                           void *cookie, zn_error *err)
{
    size_t done = 0; // words end here
    for (size_t from = 0; from < size;) {
        bool found;
        size_t ends[2] = {0, 0};
        ZN_TRY(search(splitter, text, size, from, match, bounds, &found, ends, err));
        if (!found) break;
        if (ends[0] > done) ZN_TRY(each(cookie, text + done, ends[0] - done, err));
        if (ends[1] > ends[0]) ZN_TRY(each(cookie, text + ends[0], ends[1] - ends[0], err));
        done = ends[1];
        from = ends[1] > ends[0] ? ends[1] : next_character(text, size, ends[1]);
    }
    return done < size ? each(cookie, text + done, size - done, err) : ZENITH_OK;
}

zenith_status zn_splitter_each(const zn_splitter *splitter, const char *text, size_t size,
                               zn_word_fn *each, void *cookie, zn_error *err)
{
    step_count steps = {.left = STEPS_OF_TEXT};
    size_t more;
    if (size == 0) return ZENITH_OK;
    if (zn_mul_size(size, STEPS_OF_BYTE, &more)) (void)zn_add_size(steps.left, more, &steps.left);
    zenith_status status = ZENITH_OUT_OF_MEMORY;
    pcre2_match_data *match = pcre2_match_data_create(1, splitter->memory);
    pcre2_match_context *bounds = pcre2_match_context_create(splitter->memory);
    if (match && bounds) {
        pcre2_set_match_limit(bounds, STEPS_OF_MATCH);
        pcre2_set_heap_limit(bounds, HEAP_MOST);
        if (!splitter->known) pcre2_set_callout(bounds, count_step, &steps);
        status = split(splitter, text, size, match, bounds, each, cookie, err);
    } else {
        status = zn_fail_memory(err, sizeof steps);
    }
    pcre2_match_context_free(bounds);
    pcre2_match_data_free(match);
    return status;
}
