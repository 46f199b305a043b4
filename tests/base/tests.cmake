# Every allocation of the library ends in aligned_alloc (base/memory.c); this test puts itself in between.
target_link_options(base_test_base_oom PRIVATE -Wl,--wrap=aligned_alloc)
