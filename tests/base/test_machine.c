// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// CPU classes and their cap, the share of CPUs, quotas of made-up control groups, clocks.
#include "tests/testing.h"

#include "src/base/cpu.h"
#include "src/base/os.h"
#include "src/base/os_posix.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void cap_lowers(void **state)
{
    (void)state;
    unsetenv("ZENITH_CPU");
    zn_cpu whole = zn_cpu_detect();
    assert_int_equal(whole.isa, whole.hardware);
#if defined(__x86_64__)
    // The compiler's runtime is a second opinion.
    __builtin_cpu_init();
    int avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
    int avx512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                 __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
    assert_int_equal(whole.hardware >= ZN_ISA_AVX2, avx2 != 0);
    assert_int_equal(whole.hardware >= ZN_ISA_AVX512, avx512 != 0);
    assert_int_equal(whole.avx512_vnni, avx512 && __builtin_cpu_supports("avx512vnni"));
    assert_int_equal(whole.avx512_bf16, avx512 && __builtin_cpu_supports("avx512bf16"));
#endif
    for (int isa = ZN_ISA_BASELINE; isa <= ZN_ISA_AMX; isa++) {
        setenv("ZENITH_CPU", zn_isa_name((zn_isa)isa), 1);
        zn_cpu capped = zn_cpu_detect();
        assert_int_equal(capped.hardware, whole.hardware);
        assert_int_equal(capped.isa, whole.hardware < (zn_isa)isa ? whole.hardware : (zn_isa)isa);
        bool wide = capped.isa >= ZN_ISA_AVX512;
        assert_int_equal(capped.avx512_bf16, wide && whole.avx512_bf16);
        assert_int_equal(capped.avx512_vnni, wide && whole.avx512_vnni);
    }
    setenv("ZENITH_CPU", "sparc", 1);
    assert_int_equal(zn_cpu_detect().isa, whole.hardware);
    unsetenv("ZENITH_CPU");
    assert_string_equal(zn_isa_name(ZN_ISA_BASELINE), "baseline");
    assert_string_equal(zn_isa_name(ZN_ISA_AMX), "amx");
}

static void share(void **state)
{
    (void)state;
    zn_cpu_share share = zn_os_cpu_share();
    assert_in_range(share.affinity, 1, sysconf(_SC_NPROCESSORS_CONF));
    assert_in_range(share.physical_cores, 1, share.affinity);
    assert_true(share.quota >= 0);
}

static char root[256];

static void put(const char *name, const char *content)
{
    FILE *file = fopen(zn_test_path(root, name), "w");
    assert_non_null(file);
    fputs(content, file);
    fclose(file);
}

static int quota(const char *membership)
{
    put("membership", membership);
    char path[512];
    snprintf(path, sizeof path, "%s", zn_test_path(root, "membership"));
    return zn_os_cgroup_quota(path, root);
}

static void control_groups(void **state)
{
    (void)state;
    static const char *const folders[] = {"", "/a", "/a/b", "/cpu,cpuacct", "/cpu,cpuacct/c"};
    static const char *const files[] = {"membership",
                                        "cpu.max",
                                        "a/cpu.max",
                                        "a/b/cpu.max",
                                        "cpu,cpuacct/c/cpu.cfs_quota_us",
                                        "cpu,cpuacct/c/cpu.cfs_period_us"};
    char path[512];
    snprintf(root, sizeof root, "%s", "/tmp/zenith-groups-XXXXXX");
    assert_non_null(mkdtemp(root));
    for (size_t i = 1; i < sizeof folders / sizeof *folders; i++) {
        snprintf(path, sizeof path, "%s%s", root, folders[i]);
        assert_int_equal(mkdir(path, 0700), 0);
    }
    assert_int_equal(zn_os_cgroup_quota("/nowhere", root), 0);
    assert_int_equal(quota("0::/a/b\n"), 0);
    put("a/b/cpu.max", "max 100000\n");
    assert_int_equal(quota("0::/a/b\n"), 0);
    put("a/b/cpu.max", "450000 100000\n");
    assert_int_equal(quota("0::/a/b\n"), 4);
    assert_int_equal(quota("0::/a\n"), 0);
    put("a/cpu.max", "250000 100000\n"); // a group above is a limit too
    assert_int_equal(quota("0::/a/b\n"), 2);
    assert_int_equal(quota("0::/unseen/a/b\n"), 0);
    put("cpu.max", "50000 100000\n"); // less than one CPU is still one
    assert_int_equal(quota("0::/a/b\n"), 1);
    assert_int_equal(quota("0::/\n"), 1);
    assert_int_equal(quota("0::/unseen/a/b\n"), 1);
    put("cpu.max", "nonsense");
    put("a/cpu.max", "5 0");
    put("a/b/cpu.max", "7");
    assert_int_equal(quota("0::/a/b\n"), 0);

    put("cpu,cpuacct/c/cpu.cfs_quota_us", "-1\n");
    put("cpu,cpuacct/c/cpu.cfs_period_us", "100000\n");
    const char *v1 = "7:memory:/c\n4:cpu,cpuacct:/c\n1:name=systemd:/x\n0::/a/b\n";
    assert_int_equal(quota(v1), 0);
    put("cpu,cpuacct/c/cpu.cfs_quota_us", "300000\n");
    assert_int_equal(quota(v1), 3);
    assert_int_equal(quota("4:cpuset:/c\nbroken\n\n:\n"), 0);

    for (size_t i = 0; i < sizeof files / sizeof *files; i++) unlink(zn_test_path(root, files[i]));
    for (size_t i = sizeof folders / sizeof *folders; i-- > 0;) {
        snprintf(path, sizeof path, "%s%s", root, folders[i]);
        assert_int_equal(rmdir(path), 0);
    }
}

static void clocks(void **state)
{
    (void)state;
    double wall = zn_clock_seconds(), cpu = zn_process_cpu_seconds();
    usleep(20000);
    double slept = zn_clock_seconds() - wall;
    assert_true(slept >= 0.019 && slept < 10);
    volatile double work = 0;
    while (zn_process_cpu_seconds() - cpu < 0.02) work = work + 1;
    assert_true(zn_clock_seconds() - wall < 60);
    assert_true(zn_process_id() == (uint64_t)getpid());
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cap_lowers),
        cmocka_unit_test(share),
        cmocka_unit_test(control_groups),
        cmocka_unit_test(clocks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
