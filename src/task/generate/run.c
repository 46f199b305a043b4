// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// A generator at work: prompts through the text model, whose packed weights then go where there is
// no room for them, and then the transformer.
#include "src/base/memory.h"
#include "src/model/text_to_image/qwen3.h"
#include "src/model/text_to_image/zimage.h"
#include "src/task/generate/generator.h"
#include "src/text/chat.h"

#include <string.h>

// A call on its way.
typedef struct running {
    zn_engine *engine;
    zn_generator *generator;
    const zn_generator_call *call;
    zn_generation how; // with what is filled in
    zn_caption captions[2];
    int32_t *ids[2];
    zn_generator_needs needs;
    zn_together_same same;
} running;

// --- needs --------------------------------------------------------------------------------------

zn_generator_needs zn_generator_needs_of(zn_engine *engine, const zn_generator *generator,
                                         const zn_generator_call *call)
{
    const zenith_dtype dtype = zn_dtype_of(zn_engine_cpu(engine), generator->transformer,
                                           call->how.dtype);
    const size_t element = dtype == ZENITH_DTYPE_INT8 ? 1 : dtype == ZENITH_DTYPE_BF16 ? 2 : 4;
    const zn_zimage_facts facts = zn_zimage_facts_of(generator->transformer);
    const uint64_t pixels = (uint64_t)call->how.height * call->how.width;
    const uint64_t prompts = call->how.guidance > 0 ? 2 : 1;
    const uint64_t tokens = pixels / (uint64_t)(facts.patch * facts.patch) + ZN_CHAT_TOKENS_MOST;
    return (zn_generator_needs){
        .text = zn_model_least_bytes(generator->text, element),
        .transformer = zn_model_least_bytes(generator->transformer, element),
        .buffers = sizeof(float) * (6 * pixels * (uint64_t)facts.channels +
                                    (uint64_t)call->how.steps * (uint64_t)facts.modulation +
                                    prompts * tokens * (uint64_t)facts.head)};
}

// Before anything is packed, which takes long: what could never fit.
static zenith_status check_needs(const running *r, zn_error *err)
{
    const uint64_t most = r->how.max_memory;
    const uint64_t least = r->needs.transformer + r->needs.buffers;
    if (!most || least <= most) return ZENITH_OK;
    return zn_fail(err, ZENITH_LIMIT,
                   "the transformer needs at least %llu bytes of memory, and the limit is %llu "
                   "bytes",
                   (unsigned long long)least, (unsigned long long)most);
}

// --- text ---------------------------------------------------------------------------------------

static zenith_status read_prompt(running *r, int which, const char *text, zn_prompt *out,
                                 zn_generator_tokens *tokens, zn_error *err)
{
    ZN_TRY(zn_chat_encode(r->generator->tokenizer, text, strlen(text), ZN_CHAT_TOKENS_MOST,
                          &r->ids[which], &tokens->read, &tokens->whole, err));
    *out = (zn_prompt){r->ids[which], tokens->read};
    return ZENITH_OK;
}

static void drop_part(zn_engine *engine, zn_generator *generator, zn_generator_part part)
{
    zn_model *model = NULL;
    zn_model *base = part == ZN_GENERATOR_TEXT ? generator->text : generator->transformer;
    if (zn_generator_memory_bytes(&generator->memory, part) == 0) return;
    if (zn_generator_memory_take(&generator->memory, part, base, &model, NULL) != ZENITH_OK) return;
    zn_generator_memory_drop(&generator->memory, part);
    zn_engine_forget(engine, model);
    zn_model_unref(model);
}

// What max_memory leaves beside the packed weights of the other network.
static uint64_t bound_beside(const running *r, zn_generator_part other)
{
    const uint64_t most = r->call->how.max_memory;
    const uint64_t there = zn_generator_memory_bytes(&r->generator->memory, other);
    return most > there ? most - there : most ? 1 : 0;
}

// Runs a network in `bound` bytes.
typedef zenith_status run_fn(running *r, uint64_t bound, void *arg, zn_error *err);

// Runs one network. Where it has no room beside the other, that one goes, and it runs again: a
// bound fails before anything is computed.
static zenith_status run_part(running *r, zn_generator_part part, run_fn *run, void *arg,
                              zn_error *err)
{
    const zn_generator_part other = part == ZN_GENERATOR_TEXT ? ZN_GENERATOR_TRANSFORMER
                                                              : ZN_GENERATOR_TEXT;
    zn_error why = {0};
    zenith_status status = run(r, bound_beside(r, other), arg, &why);
    const bool alone = !r->generator->together; // others would not run it again
    if (status == ZENITH_LIMIT && alone &&
        zn_generator_memory_bytes(&r->generator->memory, other)) {
        drop_part(r->engine, r->generator, other);
        why = (zn_error){0};
        status = run(r, r->call->how.max_memory, arg, &why);
    }
    if (status == ZENITH_LIMIT && alone)
        drop_part(r->engine, r->generator, part); // weights that were packed in part
    return status == ZENITH_OK ? status : zn_fail(err, status, "%s", why.text);
}

// The hidden states of a prompt, by the text model.
static zenith_status encode_prompt(running *r, uint64_t bound, void *arg, zn_error *err)
{
    const zn_caption *c = arg;
    const zn_prompt prompt = {c->ids, c->count};
    zn_model *text = NULL;
    ZN_TRY(zn_generator_memory_take(&r->generator->memory, ZN_GENERATOR_TEXT, r->generator->text,
                                    &text, err));
    zenith_status status = zn_encode_prompt(r->engine, text, r->same.text, &prompt, bound,
                                            r->how.cancel, c->hidden, err);
    zn_model_unref(text);
    return status;
}

// The same: those that are kept, or new ones.
static zenith_status caption(running *r, int which, const zn_prompt *prompt, zn_error *err)
{
    zn_generator_memory *memory = &r->generator->memory;
    zn_caption *c = &r->captions[which];
    size_t bytes = 0;
    *c = (zn_caption){.ids = r->ids[which],
                      .count = prompt->count,
                      .width = (size_t)zn_qwen3_width(r->generator->text),
                      .dtype = r->same.text,
                      .cpu = zn_engine_cpu(r->engine)->flags};
    ZN_TRY(zn_generator_memory_recall(memory, c, &c->hidden, err));
    if (c->hidden) return ZENITH_OK;
    if (!zn_mul_size(c->count * sizeof(float), c->width, &bytes))
        return zn_fail_memory(err, SIZE_MAX);
    c->hidden = zn_alloc(bytes);
    if (!c->hidden) return zn_fail_memory(err, bytes);
    zenith_status status = run_part(r, ZN_GENERATOR_TEXT, encode_prompt, c, err);
    zn_weights_forget(r->generator->text->weights); // the transformer needs the memory next
    ZN_TRY(status);
    zn_generator_memory_keep(memory, c);
    return ZENITH_OK;
}

// Packed weights that are not needed any more go where the next have no room beside them.
static void make_room(const running *r, zn_generator_part leaving, uint64_t coming)
{
    const uint64_t most = r->call->held;
    const uint64_t there = zn_generator_memory_bytes(&r->generator->memory, leaving);
    if (most && there && there + coming + r->needs.buffers > most)
        drop_part(r->engine, r->generator, leaving);
}

static zenith_status read_text(running *r, zn_generator_tokens *tokens, zn_error *err)
{
    const zn_generator_call *call = r->call;
    zn_generator_tokens of_negative;
    ZN_TRY(read_prompt(r, 0, call->prompt, &r->how.prompt, tokens, err));
    if (r->how.guidance > 0)
        ZN_TRY(read_prompt(r, 1, call->negative ? call->negative : "", &r->how.negative,
                           &of_negative, err));
    return ZENITH_OK;
}

static bool is_kept(running *r, int which, const zn_prompt *prompt)
{
    float *hidden = NULL;
    const zn_caption key = {.ids = r->ids[which],
                            .count = prompt->count,
                            .dtype = r->same.text,
                            .cpu = zn_engine_cpu(r->engine)->flags};
    (void)!zn_generator_memory_recall(&r->generator->memory, &key, &hidden, NULL);
    zn_free(hidden);
    return hidden != NULL;
}

static zenith_status encode_text(running *r, zn_error *err)
{
    const bool guided = r->how.guidance > 0;
    if (!is_kept(r, 0, &r->how.prompt) || (guided && !is_kept(r, 1, &r->how.negative)))
        make_room(r, ZN_GENERATOR_TRANSFORMER, r->needs.text);
    ZN_TRY(caption(r, 0, &r->how.prompt, err));
    if (guided) ZN_TRY(caption(r, 1, &r->how.negative, err));
    for (int i = 0; i < 2; i++) r->how.captions[i] = r->captions[i].hidden;
    make_room(r, ZN_GENERATOR_TEXT, r->needs.transformer);
    return ZENITH_OK;
}

// --- runs ---------------------------------------------------------------------------------------

// Numbers that are none come from the weights, or from a type that is too narrow for what is
// computed.
static zenith_status blame_weights(const zn_generator *generator, zenith_status status,
                                   zn_error *err)
{
    zn_error why = {0};
    if (zn_model_check_numbers(generator->text, &why) != ZENITH_BAD_FILE &&
        zn_model_check_numbers(generator->transformer, &why) != ZENITH_BAD_FILE)
        return status;
    *err = (zn_error){0};
    return zn_fail(err, ZENITH_BAD_FILE, "%s", why.text);
}

// From noise on, by the transformer.
static zenith_status make_latent(running *r, uint64_t bound, void *arg, zn_error *err)
{
    float *latent = arg;
    zn_generation how = r->how;
    const size_t channels = (size_t)zn_generate_channels(r->generator->transformer);
    ZN_TRY(zn_generator_memory_take(&r->generator->memory, ZN_GENERATOR_TRANSFORMER,
                                    r->generator->transformer, &how.transformer, err));
    how.max_memory = bound;
    zn_noise_fill(r->call->noise, r->same.seed, 0, latent, channels * how.height * how.width);
    zenith_status status = zn_generate(r->engine, &how, latent, err);
    zn_model_unref(how.transformer);
    return status;
}

// Each network computes in its own type, and with other processes in that of the first.
static zenith_status enter(running *r, zn_error *err)
{
    const zn_generator *generator = r->generator;
    const zn_cpu *cpu = zn_engine_cpu(r->engine);
    const zenith_dtype wanted = r->call->how.dtype;
    r->same = (zn_together_same){.seed = r->call->seed,
                                 .text = zn_dtype_of(cpu, generator->text, wanted),
                                 .transformer = zn_dtype_of(cpu, generator->transformer, wanted)};
    ZN_TRY(zn_together_enter(generator->together, &r->same, &r->how, err));
    r->how.dtype = r->same.transformer;
    return ZENITH_OK;
}

static zenith_status run(running *r, float *latent, zn_generator_tokens *tokens, zn_error *err)
{
    zn_generator *generator = r->generator;
    const zn_generator_call *call = r->call;
    r->how.text = generator->text; // its captions are there
    r->how.shift = generator->schedule.shift;
    if (r->how.picture) r->how.begin = zn_generator_left_out(r->how.steps, call->strength);
    ZN_TRY(enter(r, err));
    ZN_TRY(check_needs(r, err));
    ZN_TRY(read_text(r, tokens, err));
    ZN_TRY(encode_text(r, err));
    zenith_status status = run_part(r, ZN_GENERATOR_TRANSFORMER, make_latent, latent, err);
    zn_weights_forget(generator->transformer->weights); // an autoencoder may need the memory next
    return status;
}

zenith_status zn_generator_run(zn_engine *engine, zn_generator *generator,
                               const zn_generator_call *call, float *latent,
                               zn_generator_tokens *tokens, zn_error *err)
{
    running r = {.engine = engine,
                 .generator = generator,
                 .call = call,
                 .how = call->how,
                 .needs = zn_generator_needs_of(engine, generator, call)};
    zenith_status status = run(&r, latent, tokens, err);
    if (status == ZENITH_OVERFLOW) status = blame_weights(generator, status, err);
    for (int i = 0; i < 2; i++) {
        zn_free(r.ids[i]);
        zn_free(r.captions[i].hidden);
    }
    return zn_together_leave(generator->together, status);
}

static zenith_status read_ahead(running *r, const char *prompt, zn_error *err)
{
    zn_generator_tokens tokens;
    zenith_status status;
    ZN_GO(read_prompt(r, 0, prompt, &r->how.prompt, &tokens, err));
    ZN_GO(caption(r, 0, &r->how.prompt, err));
fail:
    zn_free(r->ids[0]);
    zn_free(r->captions[0].hidden);
    r->ids[0] = NULL;
    r->captions[0].hidden = NULL;
    return status;
}

zenith_status zn_generator_read(zn_engine *engine, zn_generator *generator,
                                const zn_generator_call *call, const char *const *prompts,
                                size_t count, zn_error *err)
{
    running r = {.engine = engine,
                 .generator = generator,
                 .call = call,
                 .how = call->how,
                 .needs = zn_generator_needs_of(engine, generator, call)};
    ZN_TRY(enter(&r, err));
    make_room(&r, ZN_GENERATOR_TRANSFORMER, r.needs.text);
    for (size_t i = 0; i < count && i < ZN_CAPTIONS_KEPT; i++) {
        zn_error why = {0};
        zenith_status status = read_ahead(&r, prompts[i], &why);
        if (status != ZENITH_OK && status != ZENITH_INVALID_ARGUMENT)
            return zn_together_leave(generator->together, zn_fail(err, status, "%s", why.text));
    }
    make_room(&r, ZN_GENERATOR_TEXT, r.needs.transformer);
    return zn_together_leave(generator->together, ZENITH_OK);
}

uint64_t zn_generator_held(zn_generator *generator)
{
    return zn_generator_memory_bytes(&generator->memory, ZN_GENERATOR_TEXT) +
           zn_generator_memory_bytes(&generator->memory, ZN_GENERATOR_TRANSFORMER);
}

void zn_generator_trim(zn_engine *engine, zn_generator *generator)
{
    drop_part(engine, generator, ZN_GENERATOR_TEXT);
    drop_part(engine, generator, ZN_GENERATOR_TRANSFORMER);
}
