# Fuzzers of the tensor formats. Plain builds run each over its corpus; with ZENITH_FUZZ=ON they are libFuzzer programs:
#   build/fuzz/fuzz_npy -max_total_time=60 build/found tests/fuzz/corpus/npy
include(${PROJECT_SOURCE_DIR}/tests/fuzz/fuzzer.cmake)
foreach(name safetensors index model_index npy latent calibration tunings gguf quant_note stored_weight settings
        schedule_config diffae_config diffae_code code_set labels caption_ids family_shapes
        config_numbers train_config checkpoint)
    zenith_add_fuzzer(${name})
endforeach()
