// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// zenith doctor: what this machine offers, what Zenith makes of it and why, what looks wrong, and
// how long models take here. Times come from runs of some two seconds in all, on small pictures,
// scaled by the operations that a picture of 512 x 512 takes; memory is what a run would plan.
#include "apps/cli/commands/program/measure.h"
#include "apps/cli/session/machine_facts.h"
#include "apps/cli/session/outputs.h"
#include "apps/cli/session/report.h"
#include "apps/cli/terminal/interrupt.h"
#include "apps/cli/terminal/terminal.h"
#include "apps/net/download.h"
#include "src/base/cpu.h"
#include "zenith/zenith.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { PROBE_SIDE = 256, SIDE = 512, GIB = 1 << 30, COLUMN = 14 };
static const double probe_seconds = 2;

struct doctor {
    cli_session session;
    zenith_machine_info machine;
    cli_machine_facts facts;
    json_t *warnings, *models;
};

// --- what looks wrong ---------------------------------------------------------------------------

static void warn(struct doctor *doctor, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void warn(struct doctor *doctor, const char *format, ...)
{
    char text[512];
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    json_array_append_new(doctor->warnings, cli_json_text(text));
}

static void check_cpu(struct doctor *doctor)
{
    const zenith_machine_info *machine = &doctor->machine;
    const char *cap = getenv("ZENITH_CPU");
    unsigned flags = 0;
    const bool set = cap != NULL && *cap != 0;
    if (set && (!zn_cpu_parse(cap, &flags) || strcmp(machine->isa, zn_cpu_class(flags)) != 0))
        warn(doctor, "ZENITH_CPU=%s has no effect here: %s is in use", cap, machine->isa);
    else if (strcmp(machine->isa, machine->hardware) != 0)
        warn(doctor, "ZENITH_CPU=%s keeps the %s of this CPU unused: unset it for full speed", cap,
             machine->hardware);
    if (doctor->facts.amx && strcmp(machine->hardware, "amx") != 0)
        warn(doctor, "the CPU has AMX, but the kernel does not let this process use it: Linux 5.16 "
                     "or newer is needed, and a sandbox must allow arch_prctl");
    if (strcmp(machine->hardware, "baseline") == 0)
        warn(doctor, "this CPU has no AVX2: everything runs, slowly");
    if (strcmp(machine->onednn, "none") == 0)
        warn(doctor, "built without oneDNN (ZENITH_DNN=OFF): models run slower and in f32");
}

static void check_threads(struct doctor *doctor)
{
    const zenith_machine_info *machine = &doctor->machine;
    const char *wait = getenv("OMP_WAIT_POLICY");
    bool spins = wait != NULL && strcasecmp(wait, "active") == 0;
    if (machine->threads > machine->affinity)
        warn(doctor, "%d threads on %d CPUs wait for each other: leave --threads out",
             machine->threads, machine->affinity);
    else if (machine->quota > 0 && machine->threads > machine->quota)
        warn(doctor,
             "%d threads, but the cgroup allows the time of %d: they will be stopped again "
             "and again; leave --threads out",
             machine->threads, machine->quota);
    else if (machine->threads > machine->physical_cores)
        warn(doctor, "%d threads on %d physical cores: two on one core rarely help",
             machine->threads, machine->physical_cores);
    if (machine->affinity < doctor->facts.online)
        warn(doctor, "this process may use %d of %d CPUs (taskset, or a container's cpuset)",
             machine->affinity, doctor->facts.online);
    if (doctor->facts.load > 0.5 * machine->affinity)
        warn(doctor, "the machine is busy (load %.1f on %d CPUs), which the times show%s",
             doctor->facts.load, machine->affinity,
             spins ? "; OMP_WAIT_POLICY=active has waiting threads take more of it: leave it out"
                   : "");
    if (getenv("GOMP_CPU_AFFINITY") != NULL || getenv("OMP_PLACES") != NULL)
        warn(doctor, "GOMP_CPU_AFFINITY or OMP_PLACES binds threads to CPUs: several programs then "
                     "share the same ones");
}

static void check_surroundings(struct doctor *doctor, bool probed)
{
    const char *models = getenv("ZENITH_MODELS");
    const cli_machine_facts *machine = &doctor->facts;
    if (models != NULL && *models != 0 && !cli_is_folder(models))
        warn(doctor, "ZENITH_MODELS is '%s', which is not a folder", models);
    uint64_t room = machine->available;
    if (machine->limit != 0 && machine->limit < room) room = machine->limit;
    if (room != 0 && room < GIB / 2)
        warn(doctor, "less than 512 MiB of memory are left: use --max-memory");
    if (!probed)
        warn(doctor, "with so many threads no times were measured");
    else if (json_array_size(doctor->models) == 0)
        warn(doctor, "no weights were found: %s, --weights DIR names their folder",
             cli_can_download ? "'zenith pull taesd' fetches some"
                              : "'zenith models' says from where");
}

// --- what models take ---------------------------------------------------------------------------

// Expected milliseconds and bytes at SIDE x SIDE, from a probe at PROBE_SIDE.
static bool probe_part(struct doctor *doctor, const cli_open_model *model, unsigned part,
                       double seconds, json_t *out, cli_failure *failure)
{
    cli_timing timing;
    zenith_run_facts unused;
    zenith_estimate_info info = {.size = sizeof info};
    cli_session *session = &doctor->session;
    const cli_measure measure = {
        .part = part, .width = PROBE_SIDE, .height = PROBE_SIDE, .repeats = 25, .seconds = seconds};
    if (!cli_measure_run(session, model, &measure, &timing, failure)) return false;
    zenith_run_params params = cli_session_run_params(session, &unused, 0);
    zenith_status status = zenith_estimate(session->context, model->model, part, SIDE, SIDE, false,
                                           &params, &info);
    if (status != ZENITH_OK) return cli_fail(session, failure, status, NULL);
    double expected = timing.median * info.flops / timing.flops;
    json_object_set_new(out, part == ZENITH_ENCODER ? "encode_ms" : "decode_ms",
                        json_real(expected * 1e3));
    json_object_set_new(out, part == ZENITH_ENCODER ? "encode_bytes" : "decode_bytes",
                        json_integer((json_int_t)info.total_bytes));
    json_object_set_new(out, "dtype", json_string(cli_dtype_name(timing.facts.dtype)));
    return true;
}

// Opens what is found; the session keeps it, in the order of the names. A model that is broken is a
// warning.
static size_t open_models(struct doctor *doctor)
{
    size_t parts_found = 0;
    const char *name;
    for (size_t i = 0; (name = zenith_model_name(i)) != NULL; i++) {
        cli_failure failure = {0};
        const cli_open_model *found;
        if (cli_session_model(&doctor->session, name, 0, &found, &failure))
            parts_found += found->info.parts == 3 ? 2 : 1;
        else if (failure.status != ZENITH_NOT_FOUND)
            warn(doctor, "%s cannot be used: %s", name, failure.text);
    }
    return parts_found;
}

static bool probe_models(struct doctor *doctor, cli_failure *failure)
{
    size_t tasks = open_models(doctor);
    double end = cli_clock() + probe_seconds;
    for (const cli_open_model *found = doctor->session.models; found != NULL; found = found->next) {
        json_t *row = json_pack("{s:s}", "model", found->info.name);
        json_array_append_new(doctor->models, row);
        cli_progress_file(&doctor->session.progress, 0, found->info.name);
        for (unsigned part = ZENITH_ENCODER; part <= ZENITH_DECODER; part <<= 1) {
            if (!(found->info.parts & part)) continue;
            double left = end - cli_clock(); // shared by what is still to be probed
            double share = left > 0 ? left / (double)tasks : 1e-3;
            if (!probe_part(doctor, found, part, share, row, failure)) return false;
            tasks--;
        }
    }
    cli_status_clear();
    return true;
}

// --- printing -----------------------------------------------------------------------------------

static void print_fact(const char *name, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void print_fact(const char *name, const char *format, ...)
{
    char text[512];
    va_list list;
    int columns = cli_terminal_columns(stdout);
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    int used = printf("%s", name);
    cli_print_wrapped(stdout, text, used, COLUMN,
                      columns == 0    ? 80
                      : columns > 100 ? 100
                                      : columns);
}

static const char *why_threads(const struct doctor *doctor)
{
    const zenith_machine_info *machine = &doctor->machine;
    if (doctor->session.settings->run.threads > 0) return "as --threads asks";
    if (machine->quota > 0 && machine->quota < machine->physical_cores)
        return "the quota of the cgroup, in whole CPUs";
    return "one for each physical core that this process may use";
}

static void instructions(const struct doctor *doctor, char *text, size_t size)
{
    const cli_machine_facts *facts = &doctor->facts;
    bool permitted = strcmp(doctor->machine.hardware, "amx") == 0;
    snprintf(text, size, "%s%s%s%s%s", facts->avx2 ? "AVX2" : "none beyond the baseline",
             facts->avx512 ? ", AVX-512" : "", facts->avx512_vnni ? ", VNNI" : "",
             facts->avx512_bf16 ? ", BF16" : "",
             !facts->amx ? ""
             : permitted ? ", AMX (permitted)"
                         : ", AMX (refused by the kernel)");
}

static void print_machine(const struct doctor *doctor)
{
    const zenith_machine_info *machine = &doctor->machine;
    const cli_machine_facts *facts = &doctor->facts;
    char has[128], nodes[48] = "", limit[64] = "no limit by a cgroup";
    instructions(doctor, has, sizeof has);
    if (facts->nodes > 1) snprintf(nodes, sizeof nodes, ", %d memory nodes", facts->nodes);
    if (facts->limit != 0)
        snprintf(limit, sizeof limit, "%.1f GiB allowed by the cgroup", (double)facts->limit / GIB);
    print_fact("Zenith", "%s, oneDNN %s", zenith_version(), machine->onednn);
    print_fact("CPU", "%s", facts->cpu[0] != 0 ? facts->cpu : "not known");
    print_fact("Cores", "%d physical, %d of %d logical usable%s", machine->physical_cores,
               machine->affinity, facts->online, nodes);
    print_fact("Instructions", "%s; in use: %s", has, machine->isa);
    if (machine->quota > 0)
        print_fact("Quota", "%d CPU%s by the cgroup", machine->quota,
                   machine->quota == 1 ? "" : "s");
    else
        print_fact("Quota", "none");
    print_fact("Threads", "%d: %s", machine->threads, why_threads(doctor));
    print_fact("Memory", "%.1f GiB, %.1f available, %s", (double)facts->memory / GIB,
               (double)facts->available / GIB, limit);
}

static void print_cell(const json_t *row, const char *key, double unit, int width)
{
    const json_t *value = json_object_get(row, key);
    if (value == NULL)
        printf("  %*s", width, "-");
    else
        printf("  %*.1f", width, json_number_value(value) / unit);
}

static void print_models(const struct doctor *doctor)
{
    int widest = 0;
    if (json_array_size(doctor->models) == 0) return;
    for (size_t i = 0; i < json_array_size(doctor->models); i++) {
        int width = (int)json_string_length(
            json_object_get(json_array_get(doctor->models, i), "model"));
        if (width > widest) widest = width;
    }
    printf("\nExpected for a picture of %dx%d\n", SIDE, SIDE);
    printf("  %-*s  type  encode ms  decode ms  encode MiB  decode MiB\n", widest, "");
    for (size_t i = 0; i < json_array_size(doctor->models); i++) {
        const json_t *row = json_array_get(doctor->models, i);
        printf("  %-*s  %4s", widest, json_string_value(json_object_get(row, "model")),
               json_string_value(json_object_get(row, "dtype")));
        print_cell(row, "encode_ms", 1, 9);
        print_cell(row, "decode_ms", 1, 9);
        print_cell(row, "encode_bytes", 1 << 20, 10);
        print_cell(row, "decode_bytes", 1 << 20, 10);
        fputc('\n', stdout);
    }
}

static void print_warnings(const struct doctor *doctor)
{
    size_t count = json_array_size(doctor->warnings);
    int columns = cli_terminal_columns(stdout);
    puts(count == 0 ? "\nNothing looks wrong." : "\nTo look at");
    for (size_t i = 0; i < count; i++) {
        int used = printf("  - ");
        cli_print_wrapped(stdout, json_string_value(json_array_get(doctor->warnings, i)), used, 4,
                          columns == 0    ? 80
                          : columns > 100 ? 100
                                          : columns);
    }
}

static void print_json(const struct doctor *doctor)
{
    const zenith_machine_info *machine = &doctor->machine;
    const cli_machine_facts *facts = &doctor->facts;
    json_t *object = json_object();
    json_object_set_new(object, "version", json_string(zenith_version()));
    json_object_set_new(object, "onednn", json_string(machine->onednn));
    json_object_set_new(object, "cpu", cli_json_text(facts->cpu));
    json_object_set_new(object, "isa", json_string(machine->isa));
    json_object_set_new(object, "hardware", json_string(machine->hardware));
    json_object_set_new(object, "amx", json_boolean(facts->amx));
    json_object_set_new(object, "amx_permitted",
                        json_boolean(strcmp(machine->hardware, "amx") == 0));
    json_object_set_new(object, "logical_cpus", json_integer(facts->online));
    json_object_set_new(object, "usable_cpus", json_integer(machine->affinity));
    json_object_set_new(object, "physical_cores", json_integer(machine->physical_cores));
    json_object_set_new(object, "quota", json_integer(machine->quota));
    json_object_set_new(object, "threads", json_integer(machine->threads));
    json_object_set_new(object, "threads_why", json_string(why_threads(doctor)));
    json_object_set_new(object, "memory_nodes", json_integer(facts->nodes));
    json_object_set_new(object, "memory_bytes", json_integer((json_int_t)facts->memory));
    json_object_set_new(object, "available_bytes", json_integer((json_int_t)facts->available));
    json_object_set_new(object, "limit_bytes", json_integer((json_int_t)facts->limit));
    json_object_set(object, "models", doctor->models);
    json_object_set(object, "warnings", doctor->warnings);
    cli_json_print(object);
}

static int run(const cli_settings *settings)
{
    cli_failure failure = {0};
    struct doctor doctor = {.machine = {.size = sizeof doctor.machine}};
    int code = cli_session_open(&doctor.session, settings, "doctor");
    if (code != CLI_DONE) return code;
    doctor.session.progress.count = 1;
    doctor.warnings = json_array();
    doctor.models = json_array();
    zenith_context_get_machine(doctor.session.context, &doctor.machine);
    cli_machine_facts_read(&doctor.facts);
    if (!settings->json) print_machine(&doctor);
    check_cpu(&doctor);
    check_threads(&doctor);
    // So many threads would take minutes, and the figures would be of no use.
    bool sensible = doctor.machine.threads <= 4 * doctor.machine.affinity;
    bool probed = !sensible || probe_models(&doctor, &failure);
    if (probed) check_surroundings(&doctor, sensible);
    if (probed && settings->json) {
        print_json(&doctor);
    } else if (probed) {
        print_models(&doctor);
        print_warnings(&doctor);
    } else {
        cli_session_model_failed(&doctor.session, &failure);
    }
    json_decref(doctor.warnings);
    json_decref(doctor.models);
    return cli_session_close(&doctor.session);
}

static const cli_option_group group = CLI_GROUP(
    "Models", CLI_OPTION(CLI_TEXT, cli_settings, weights, "weights", 'w', "DIR",
                         "look for models in this folder; default: where every command looks"));
static const cli_example examples[] = {
    {"zenith doctor", "what to expect here, and what looks wrong"},
    {"zenith doctor --threads 1", "the same on one thread"},
    {"zenith doctor --json", "for a report of a problem"},
    {NULL, NULL}};

const cli_command cli_command_doctor = {
    .name = "doctor",
    .arguments = "[OPTIONS]",
    .summary = "say what this machine offers, and what looks wrong",
    .description =
        "Says what CPU and memory this process may use, how many threads it takes and why, whether "
        "AMX is permitted, and what looks wrong. For each model that is found it estimates the "
        "time "
        "and the memory of a picture of 512x512, from runs of about two seconds in all. 'zenith "
        "bench' measures one model with care.",
    .groups = CLI_GROUPS(&group, &cli_group_threads, &cli_group_facts),
    .examples = examples,
    .run = run,
};
