# The fuzzers of tokenizers and prompts.
include(${PROJECT_SOURCE_DIR}/tests/fuzz/fuzzer.cmake)
foreach(name tokenizer_json tokenizer_lines word_pattern prompt)
    zenith_add_fuzzer(${name})
endforeach()
