// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// One instruction that the oldest CPU does not have (AVX), unguarded: the emulator must end this
// program, or the tests under it would prove nothing.
int main(void)
{
    __asm__ volatile("vxorps %%ymm0, %%ymm0, %%ymm0" ::: "xmm0");
    return 0;
}
