# The ABI of the built library against the one that is written down. clang describes the same types in other words, and a
# sanitizer adds symbols.
if(ZENITH_SANITIZE OR NOT CMAKE_C_COMPILER_ID STREQUAL "GNU"
        OR NOT CMAKE_SYSTEM_PROCESSOR STREQUAL "x86_64" OR NOT CMAKE_SYSTEM_NAME STREQUAL "Linux")
    return()
endif()
find_package(Python3 COMPONENTS Interpreter REQUIRED)
add_test(NAME abi.libzenith COMMAND Python3::Interpreter ${CMAKE_CURRENT_SOURCE_DIR}/abi/abi.py $<TARGET_FILE:zenith>)
set_tests_properties(abi.libzenith PROPERTIES LABELS abi SKIP_RETURN_CODE 77)
