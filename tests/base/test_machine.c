// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// CPU classes and their cap, the share of CPUs, quotas of made-up control groups, clocks.
#include "tests/testing.h"

#include "src/base/cpu.h"
#include "src/base/os.h"
#include "src/base/os/posix.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

ZN_TEST(cap_lowers)
{
    unsetenv("ZENITH_CPU");
    zn_cpu whole = zn_cpu_detect();
    assert_int_equal(whole.flags, whole.hardware);
    assert_int_equal(zn_cpu_supported(whole.flags), whole.flags);
#if defined(__x86_64__)
    // The compiler's runtime is a second opinion.
    __builtin_cpu_init();
    const bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
    const bool avx512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                        __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
    assert_int_equal(!!(whole.flags & ZN_CPU_AVX2), avx2);
    assert_int_equal(!!(whole.flags & ZN_CPU_AVX512), avx512);
    assert_int_equal(!!(whole.flags & ZN_CPU_AVX512_VNNI),
                     avx512 && __builtin_cpu_supports("avx512vnni"));
    assert_int_equal(!!(whole.flags & ZN_CPU_AVX512_BF16),
                     avx512 && __builtin_cpu_supports("avx512bf16"));
#elif defined(__aarch64__)
    assert_true(whole.flags & ZN_CPU_NEON);
#endif
    static const char *const lists[] = {"baseline",    "avx2",      "avx512",       "amx", "neon",
                                        "avx2,avx512", "avx2,vnni", "neon,dotprod", ""};
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        unsigned allowed = 0;
        setenv("ZENITH_CPU", lists[i], 1);
        assert_true(zn_cpu_parse(lists[i], &allowed));
        zn_cpu capped = zn_cpu_detect();
        assert_int_equal(capped.hardware, whole.hardware);
        assert_int_equal(capped.flags, zn_cpu_supported(whole.hardware & allowed));
    }
    setenv("ZENITH_CPU", "sparc", 1);
    assert_int_equal(zn_cpu_detect().flags, whole.hardware);
    unsetenv("ZENITH_CPU");
}

static unsigned parsed(const char *text)
{
    unsigned flags = 0;
    if (!zn_cpu_parse(text, &flags)) fail_msg("'%s' was refused", text ? text : "");
    return flags;
}

ZN_TEST(classes_and_features)
{
    const unsigned avx2 = ZN_CPU_F16C | ZN_CPU_FMA | ZN_CPU_AVX2;
    assert_int_equal(parsed("baseline"), 0);
    assert_int_equal(parsed("avx2"), avx2);
    assert_int_equal(parsed("avx2,vnni"), avx2 | ZN_CPU_AVX_VNNI);
    assert_int_equal(parsed("avx2,avx512"), avx2 | ZN_CPU_AVX512);
    assert_int_equal(parsed("avx512"),
                     avx2 | ZN_CPU_AVX512 | ZN_CPU_AVX512_VNNI | ZN_CPU_AVX512_BF16);
    assert_int_equal(parsed("neon,i8mm,bf16"), ZN_CPU_NEON | ZN_CPU_I8MM | ZN_CPU_ARM_BF16);
    assert_true(zn_cpu_has(parsed("amx"), parsed("avx512") | ZN_CPU_AMX));
    assert_true(zn_cpu_has(parsed(NULL), parsed("amx") | parsed("neon")));
    assert_int_equal(parsed(""), parsed(NULL));
    static const char *const refused[] = {"pentium", "avx",       "avx2,", ",vnni",      "avx2,amx",
                                          "vnni",    "avx2 vnni", "AVX2",  "avx2,vnni,", "avx22"};
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        unsigned flags = 7;
        assert_false(zn_cpu_parse(refused[i], &flags));
        assert_int_equal(flags, 7);
    }
    static const char *const names[] = {"baseline", "avx2", "avx512", "amx", "neon"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        assert_string_equal(zn_cpu_class(parsed(names[i])), names[i]);
    assert_string_equal(zn_cpu_class(parsed("avx2,vnni")), "avx2");
    assert_string_equal(zn_cpu_class(parsed("avx512") | ZN_CPU_AMX_TILE), "avx512");
    assert_int_equal(zn_cpu_supported(ZN_CPU_AVX2 | ZN_CPU_FMA | ZN_CPU_AVX512), ZN_CPU_FMA);
    assert_int_equal(zn_cpu_supported(ZN_CPU_DOTPROD), 0);
}

// Registers as CPUs of different ages have them, with what the system saves.
ZN_TEST(flags_of_made_up_cpus)
{
    const uint32_t avx = 1u << 12 | 1u << 27 | 1u << 28 | 1u << 29; // FMA, OSXSAVE, AVX, F16C
    const uint32_t wide = 1u << 16 | 1u << 17 | 1u << 30 | 1u << 31, avx2 = 1u << 5;
    const uint32_t tiles = 1u << 22 | 1u << 24 | 1u << 25;
    const struct {
        zn_cpuid id;
        const char *flags;
    } cpus[] = {
        {{.xcr0 = 0xe7}, "baseline"},
        {{avx, avx2, 0, 0, 0, 0x7}, "avx2"},
        {{avx, avx2, 0, 0, 1u << 4, 0x7}, "avx2,vnni"},
        {{avx & ~(1u << 12), avx2, 0, 0, 1u << 4, 0x7}, "baseline,f16c"}, // no FMA
        {{avx, avx2 | wide, 1u << 11, 0, 1u << 5, 0x3}, "baseline"},      // only SSE is saved
        {{avx, avx2 | wide, 1u << 11, 0, 1u << 5, 0x7}, "avx2"},          // no AVX-512 either
        {{avx, avx2 | (wide & ~(1u << 31)), 1u << 11, 0, 0, 0xe7}, "avx2"},
        {{avx, avx2 | wide, 0, 0, 0, 0xe7}, "avx2,avx512"},
        {{avx, avx2 | wide, 1u << 11, 0, 0, 0xe7}, "avx2,avx512,avx512_vnni"},
        {{avx, avx2 | wide, 1u << 11, tiles, 1u << 5, 0xe7}, "avx512"}, // tiles are not saved
        {{avx, avx2 | wide, 1u << 11, tiles, 1u << 4 | 1u << 5, 0x600e7}, "amx"},
        {{avx, avx2 | wide, 0, tiles, 1u << 5, 0x600e7}, "avx2,avx512,avx512_bf16"},
    };
    for (size_t i = 0; i < sizeof cpus / sizeof *cpus; i++)
        assert_int_equal(zn_cpu_of_cpuid(&cpus[i].id), parsed(cpus[i].flags));
    assert_int_equal(zn_cpu_of_hwcaps(0, 0), 0);
    assert_int_equal(zn_cpu_of_hwcaps(1u << 1 | 1u << 20, 0), parsed("neon,dotprod"));
    assert_int_equal(zn_cpu_of_hwcaps(1u << 1 | 1u << 20 | 1u << 22, 1u << 13 | 1u << 14),
                     parsed("neon,dotprod,sve,i8mm,bf16"));
    assert_int_equal(zn_cpu_of_hwcaps(1u << 20, 1u << 13), 0);
}

ZN_TEST(share)
{
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

ZN_TEST(control_groups)
{
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

ZN_TEST(clocks)
{
    double wall = zn_clock_seconds(), cpu = zn_process_cpu_seconds();
    usleep(20000);
    double slept = zn_clock_seconds() - wall;
    assert_true(slept >= 0.019 && slept < 10);
    volatile double work = 0;
    while (zn_process_cpu_seconds() - cpu < 0.02) work = work + 1;
    assert_true(zn_clock_seconds() - wall < 60);
    assert_true(zn_process_id() == (uint64_t)getpid());
}
