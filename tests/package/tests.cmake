# The installed tree, from outside. A sanitizer's library cannot be loaded by programs without it, and another machine's
# programs cannot be run.
if(ZENITH_SANITIZE OR CMAKE_CROSSCOMPILING)
    return()
endif()
find_package(Python3 COMPONENTS Interpreter REQUIRED)
add_test(NAME package.installed COMMAND Python3::Interpreter ${CMAKE_CURRENT_SOURCE_DIR}/package/installed.py
    ${CMAKE_BINARY_DIR} ${CMAKE_C_COMPILER})
set_tests_properties(package.installed PROPERTIES LABELS package SKIP_RETURN_CODE 77 TIMEOUT 900)
