# One interface target with the flags of every target of ours: C17 with GNU names, warnings, no
# silent fusing of a*b+c (versions of a kernel then differ only where we wrote it), hardening,
# includes from the root.
add_library(zenith_flags INTERFACE)
target_compile_features(zenith_flags INTERFACE c_std_17)
target_compile_options(zenith_flags INTERFACE
    -Wall -Wextra -Wconversion -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wvla
    -ffp-contract=off -fno-math-errno)
if(ZENITH_WERROR)
    target_compile_options(zenith_flags INTERFACE -Werror)
endif()
# Binaries do not depend on the folder they were built in.
target_compile_options(zenith_flags INTERFACE -ffile-prefix-map=${PROJECT_SOURCE_DIR}/=)
if(NOT WIN32 AND NOT ZENITH_SANITIZE)
    target_compile_options(zenith_flags INTERFACE -fstack-protector-strong -fstack-clash-protection
        $<$<CONFIG:Release>:-D_FORTIFY_SOURCE=2>)
    if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
        target_compile_options(zenith_flags INTERFACE -fcf-protection)
    endif()
    target_link_options(zenith_flags INTERFACE -Wl,-z,relro,-z,now,-z,noexecstack)
endif()
target_include_directories(zenith_flags INTERFACE ${PROJECT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/include)
target_compile_definitions(zenith_flags INTERFACE _GNU_SOURCE)
if(ZENITH_SANITIZE)
    target_compile_options(zenith_flags INTERFACE -fsanitize=${ZENITH_SANITIZE} -fno-omit-frame-pointer
        -fno-sanitize-recover=all)
    target_link_options(zenith_flags INTERFACE -fsanitize=${ZENITH_SANITIZE})
endif()
