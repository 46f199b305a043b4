// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/oom/oom.h"

#include <stdio.h>

enum { MOST_TESTS = 16 };

static const struct {
    const char *name;
    const oom_program *program;
} programs[] = {
#define PROGRAM(FOLDER, NAME) {#FOLDER "." #NAME, &program_##NAME},
#include "tests/oom/programs.list"
#undef PROGRAM
};

static void run_call(void **state)
{
    const oom_call *call = *state;
    fail_in_turn(call->run, call->expected, call->least);
}

static void run_session(void **state)
{
    const oom_session *s = *state;
    const long step = s->step + s->quick_step * zn_test_quick();
    void *expected = calloc(2, s->bytes), *made = (char *)expected + s->bytes;
    long allowed = 0, refused = 0;
    assert_int_equal(s->run(expected), ZENITH_OK);
    for (bool failed = true; failed; allowed += allowed < s->each ? 1 : step) {
        fail_allocation(allowed);
        const zenith_status status = s->run(made);
        failed = fail_stop();
        if (status == ZENITH_OK)
            assert_memory_equal(made, expected, s->bytes);
        else if (!failed || status != ZENITH_OUT_OF_MEMORY)
            fail_msg("allocation %ld: status %d", allowed, (int)status);
        refused += failed;
    }
    print_message("%ld of about %ld allocations were refused\n", refused, allowed);
    assert_true(refused > s->each);
    free(expected);
}

static size_t list_tests(const oom_program *p, struct CMUnitTest *tests)
{
    size_t count = 0;
    for (int i = 0; p->tests[i].test_func; i++) tests[count++] = p->tests[i];
    for (const oom_call *call = p->calls; call->run; call++)
        tests[count++] = (struct CMUnitTest){
            .name = call->name, .test_func = run_call, .initial_state = (void *)(uintptr_t)call};
    for (const oom_session *s = p->sessions; s->run; s++)
        tests[count++] = (struct CMUnitTest){
            .name = s->name, .test_func = run_session, .initial_state = (void *)(uintptr_t)s};
    return count;
}

static int run_program(const oom_program *p, int argc, char **argv)
{
    struct CMUnitTest tests[MOST_TESTS] = {0};
    if (p->need) zn_test_need(zn_test_path(zn_test_golden(), p->need));
    const int code = p->options ? p->options(argc, argv) : -1;
    if (code >= 0) return code;
    return _cmocka_run_group_tests(argv[0], tests, list_tests(p, tests), p->open, p->close);
}

int main(int argc, char **argv)
{
    for (size_t i = 0; argc > 1 && i < sizeof programs / sizeof *programs; i++)
        if (strcmp(programs[i].name, argv[1]) == 0)
            return run_program(programs[i].program, argc - 1, argv + 1);
    fprintf(stderr, "usage: oom FOLDER.NAME, of tests/oom/programs.list\n");
    return 2;
}
