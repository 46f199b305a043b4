# Sanitizers own malloc, so there the test that fails allocations takes only the call by which the library allocates.
if(ZENITH_SANITIZE)
    target_compile_definitions(train_test_data_oom PRIVATE ZN_TEST_WRAPPED)
    target_link_options(train_test_data_oom PRIVATE -Wl,--wrap=aligned_alloc)
endif()
