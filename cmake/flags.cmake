# One interface target with the flags of every target of ours: C17 with GNU names, warnings as errors, no silent fusing of
# a*b+c (versions of a kernel then differ only where we wrote it), includes from the root.
add_library(zenith_flags INTERFACE)
target_compile_features(zenith_flags INTERFACE c_std_17)
target_compile_options(zenith_flags INTERFACE
    -Wall -Wextra -Wconversion -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wvla -Werror
    -ffp-contract=off -fno-math-errno)
target_include_directories(zenith_flags INTERFACE ${PROJECT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/include)
target_compile_definitions(zenith_flags INTERFACE _GNU_SOURCE)
if(ZENITH_SANITIZE)
    target_compile_options(zenith_flags INTERFACE -fsanitize=${ZENITH_SANITIZE} -fno-omit-frame-pointer
        -fno-sanitize-recover=all)
    target_link_options(zenith_flags INTERFACE -fsanitize=${ZENITH_SANITIZE})
endif()
