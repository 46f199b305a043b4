// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// zenith diffae edit IMAGE|CODE --attribute NAME -o PICTURE: a picture with more or less of an
// attribute.
#include "apps/cli/commands/diffae/frames.h"
#include "apps/cli/session/preview.h"
#include "apps/cli/session/report.h"
#include "apps/cli/terminal/terminal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_STRENGTHS = 64, MOST_ATTRIBUTES = 16, COLUMNS = 8 };
static const double most_strength = 100;

struct job {
    double strengths[MOST_STRENGTHS];
    uint32_t count;
    uint32_t attributes[MOST_ATTRIBUTES], attribute_count; // in their order
    cli_code from;
};

// "0.3", or "-0.3,0,0.3".
static int read_strengths(const char *text, struct job *job)
{
    const char *at = text != NULL ? text : "0.3";
    char *end = NULL;
    for (job->count = 0; job->count < MOST_STRENGTHS; at = end + 1) {
        const double value = strtod(at, &end);
        if (end == at || !isfinite(value) || fabs(value) > most_strength) break;
        job->strengths[job->count++] = value;
        if (*end == 0) return CLI_DONE;
        if (*end != ',') break;
    }
    cli_say("--strength %s: expected up to %d numbers from -%g to %g, such as 0.3 or -0.3,0,0.3",
            text, MOST_STRENGTHS, most_strength, most_strength);
    return CLI_USAGE;
}

static bool make(void *cookie, cli_diffae *d, uint32_t index, cli_code *out)
{
    const struct job *job = cookie;
    if (!cli_code_copy(d, &job->from, out)) return false;
    zenith_status status = ZENITH_OK;
    for (uint32_t i = 0; i < job->attribute_count && status == ZENITH_OK; i++)
        status = zenith_diffae_edit(d->session.context, d->model->model, &out->code,
                                    job->attributes[i], job->strengths[index]);
    return cli_diffae_done(d, status, NULL);
}

// "glasses", or "glasses,hair".
static bool find_attributes(cli_diffae *d, const char *text, struct job *job)
{
    char word[256];
    for (const char *at = text;; at++) {
        const size_t length = strcspn(at, ",");
        if (job->attribute_count == MOST_ATTRIBUTES)
            return cli_fail_text(&d->failure, ZENITH_INVALID_ARGUMENT,
                                 "--attribute: at most %d at once", MOST_ATTRIBUTES);
        snprintf(word, sizeof word, "%.*s", (int)length, at);
        if (!cli_diffae_find_attribute(d, word, &job->attributes[job->attribute_count++]))
            return false;
        at += length;
        if (*at == 0) return true;
    }
}

static bool find_all_attributes(cli_diffae *d, struct job *job)
{
    const cli_texts *given = &d->own.attributes;
    for (size_t i = 0; i < given->count; i++)
        if (!find_attributes(d, given->texts[i], job)) return false;
    return true;
}

static json_t *facts_of(const cli_diffae *d, const struct job *job)
{
    char number[16];
    json_t *strengths = json_array();
    for (uint32_t i = 0; i < job->count; i++)
        json_array_append_new(strengths, json_real(job->strengths[i]));
    json_t *attributes = json_array();
    for (uint32_t i = 0; i < job->attribute_count; i++)
        json_array_append_new(
            attributes, cli_json_text(cli_diffae_attribute_name(d, job->attributes[i], number)));
    return json_pack("{s:o, s:o}", "attributes", attributes, "strengths", strengths);
}

static bool edit(cli_diffae *d, const cli_outputs *outputs, struct job *job)
{
    const cli_settings *settings = &d->own.shared;
    const char *input = settings->inputs[0];
    cli_frames frames = {
        .name = input, .count = job->count, .columns = COLUMNS, .make = make, .cookie = job};
    d->line.all = 1;
    d->later = (uint64_t)cli_diffae_steps(d) * job->count;
    if (!find_all_attributes(d, job) || !cli_diffae_seed(d, &frames.seed) ||
        !cli_code_read(d, input, true, &job->from))
        return false;
    if (cli_diffae_of(settings)->random && job->from.file != NULL) job->from.code.noise = NULL;
    frames.size = (cli_dimensions){job->from.code.width, job->from.code.height};
    return cli_frames_write(d, outputs, &frames, facts_of(d, job));
}

static int run(const cli_settings *settings)
{
    const cli_diffae_settings *own = cli_diffae_of(settings);
    cli_diffae d;
    cli_frame_places places;
    struct job job = {.count = 0};
    if (own->attributes.count == 0) {
        cli_say("which attribute? Give --attribute NAME, such as glasses; zenith diffae classify "
                "lists them");
        return CLI_USAGE;
    }
    const unsigned encoder = cli_code_is(settings->inputs[0]) ? 0 : CLI_ENCODER;
    int code = read_strengths(own->strengths, &job);
    if (code == CLI_DONE && !cli_show_options_agree(settings, false)) code = CLI_USAGE;
    if (code == CLI_DONE) code = cli_frames_plan(settings, settings->inputs[0], &places);
    if (code == CLI_DONE)
        code = cli_diffae_open(&d, settings, "edit", encoder | CLI_DECODER | CLI_CLASSIFIER);
    if (code != CLI_DONE) return code;
    if (!edit(&d, &places.outputs, &job)) cli_diffae_failed(&d, settings->inputs[0]);
    cli_code_free(&job.from);
    return cli_diffae_close(&d);
}

static const cli_option_group group = CLI_GROUP(
    "Picture",
    CLI_OPTION(
        CLI_TEXTS, cli_diffae_settings, attributes, "attribute", 'a', "ATTRIBUTE",
        "of the model's classifier, by its name or its number; zenith diffae classify lists "
        "them. Several, as glasses,hair or with the option again, are moved towards in their "
        "order"),
    CLI_OPTION(CLI_TEXT, cli_diffae_settings, strengths, "strength", 0, "S,S..",
               "how far the code is moved towards the attribute, as a part of its usual length; "
               "below 0 away from it. Several give a picture of several; default: 0.3"),
    CLI_DIFFAE_STEPS, CLI_DIFFAE_SEED, CLI_DIFFAE_FORCE, CLI_DIFFAE_PREVIEWS, CLI_PICTURE_FORMAT);
static const cli_example examples[] = {
    {"zenith diffae edit face.jpg --attribute glasses -o glasses.png", "with glasses"},
    {"zenith diffae edit face.safetensors -a long_hair --strength -0.4,-0.2,0,0.2,0.4 -o "
     "hair.png",
     "five lengths beside each other, from a code that is there already"},
    {NULL, NULL}};

const cli_command cli_diffae_edit = {
    .name = "diffae edit",
    .arguments = "IMAGE|CODE --attribute ATTRIBUTE -o PICTURE [OPTIONS]",
    .summary = "give a picture more or less of an attribute",
    .description =
        "Moves the code of a picture along the direction of an attribute of the model's classifier "
        "and makes the picture of it, from the same noise. A picture is encoded first; a code of "
        "zenith diffae encode saves that time.",
    .groups = CLI_GROUPS(&cli_diffae_group_output, &cli_diffae_group_model, &group,
                         &cli_diffae_group_noise, &cli_diffae_group_source, &cli_group_picture,
                         &cli_group_show, &cli_diffae_group_run, &cli_group_report),
    .examples = examples,
    .min_inputs = 1,
    .max_inputs = 1,
    CLI_SETTINGS(cli_diffae_settings),
    .run = run,
};
