// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Attention over many keys, by the best version and in emulated tiles: long sums keep their bounds.
#include "tests/kernel/attention_subject.h"

static void check_long(const version *v, subject *s)
{
    const bool bf16 = s->args.type == ZN_BF16;
    if (!v->run[bf16]) return;
    v->run[bf16](&s->args, 0, s->args.tokens);
    const double error = error_of(s, 6, false);
    print_message("%d keys of %d, %s, %s: error %.2e\n", (int)s->args.tokens, (int)s->args.width,
                  zn_type_name(s->args.type), v->name, error);
    // bf16 is widened, nothing else is rounded; in tiles queries and p are.
    assert_true(error <= (bf16 && v->error > 1e-6 ? 0.01 : 2e-6));
}

// Long sums: what 65,536 keys amount to, by the best version and in tiles.
ZN_TEST(long_sequences_stay_exact)
{
    zn_random random = {.seed = 10};
    static const int64_t cases[][2] = {
        {4096, 512}, {16384, 512}, {65536, 64}, {65536, 512}, {4160, 128}};
    version all[VERSIONS];
    const int count = list_versions(all);
    for (size_t i = 0; i < 2 * COUNT(cases); i++) {
        const int64_t tokens = cases[i / 2][0], width = cases[i / 2][1];
        if (tokens > 5000 && !zn_test_takes(i)) continue;
        subject s = make(i % 2 ? ZN_BF16 : ZN_F32, 12, tokens, width, false, &random);
        for (int n = count < 2 ? 0 : count - 2; n < count; n++) check_long(&all[n], &s);
        drop(&s);
    }
}

KERNEL_GROUP(attention_long, NULL)
