# Fuzzers of the tensor formats. Plain builds run each over its corpus; with ZENITH_FUZZ=ON they are libFuzzer programs:
#   build/fuzz/fuzz_npy -max_total_time=60 build/found tests/fuzz/corpus/npy
if(ZENITH_FUZZ)
    target_compile_options(zenith_objects PRIVATE -fsanitize=fuzzer-no-link) # the library's branches guide the search
endif()
foreach(name safetensors index model_index npy latent calibration tunings gguf quant_note stored_weight settings
        schedule_config diffae_config diffae_code code_set labels caption_ids)
    set(folder ${PROJECT_SOURCE_DIR}/tests/fuzz)
    if(ZENITH_FUZZ)
        add_executable(fuzz_${name} ${folder}/fuzz_${name}.c)
        target_link_options(fuzz_${name} PRIVATE -fsanitize=fuzzer)
        add_test(NAME fuzz.${name} COMMAND fuzz_${name} -runs=0 ${folder}/corpus/${name})
    else()
        add_executable(fuzz_${name} ${folder}/fuzz_${name}.c ${folder}/replay.c)
        add_test(NAME fuzz.${name} COMMAND fuzz_${name} ${folder}/corpus/${name})
    endif()
    target_link_libraries(fuzz_${name} PRIVATE zenith_static)
    set_tests_properties(fuzz.${name} PROPERTIES LABELS fuzz)
endforeach()
