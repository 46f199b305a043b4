# The fuzzers of the picture formats and of tar, and the test that fails allocations: it wraps the one call by which the library
# allocates.
include(${PROJECT_SOURCE_DIR}/tests/fuzz/fuzzer.cmake)
foreach(name jpeg png webp pnm exif icc lmdb tar tar_stream shard_record y4m)
    zenith_add_fuzzer(${name})
endforeach()
target_link_options(format_test_image_memory PRIVATE -Wl,--wrap=aligned_alloc)
