// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// kernel/grouped_product.c in AVX2.
#include "src/kernel/x86/vector_avx2.h"

#include "src/kernel/grouped_product_body.h"

void zn_grouped_product_avx2(const zn_grouped_product_args *args, int64_t begin, int64_t end)
{
    grouped_product(args, begin, end);
}
