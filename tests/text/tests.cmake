# The fuzzers of tokenizers, prompts and captions.
include(${PROJECT_SOURCE_DIR}/tests/fuzz/fuzzer.cmake)
foreach(name tokenizer_json tokenizer_lines word_pattern prompt captions)
    zenith_add_fuzzer(${name})
endforeach()
