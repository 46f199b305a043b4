# The library from outside: what it exports and imports, and its header as C and as C++. A sanitizer adds symbols of its own,
# so those are looked at in plain builds only.
if(NOT ZENITH_SANITIZE)
    add_test(NAME layers.symbols
        COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/api/symbols.py ${CMAKE_NM} $<TARGET_FILE:zenith>)
    set_tests_properties(layers.symbols PROPERTIES LABELS layers)
endif()

set(system_root "")
if(CMAKE_SYSROOT)
    set(system_root --sysroot=${CMAKE_SYSROOT})
endif()
add_test(NAME layers.header_c COMMAND ${CMAKE_C_COMPILER} ${system_root} -fsyntax-only -std=c11 -Wall -Wextra -Wpedantic -Werror
    -I ${PROJECT_SOURCE_DIR}/include -x c ${CMAKE_CURRENT_SOURCE_DIR}/api/header.inc)
set_tests_properties(layers.header_c PROPERTIES LABELS layers)

find_program(ZENITH_CXX NAMES ${CMAKE_CXX_COMPILER} c++ g++ clang++) # the project itself is C alone
if(ZENITH_CXX)
    add_test(NAME layers.header_cxx COMMAND ${ZENITH_CXX} -fsyntax-only -std=c++11 -Wall -Wextra -Wpedantic -Werror
        -I ${PROJECT_SOURCE_DIR}/include -x c++ ${CMAKE_CURRENT_SOURCE_DIR}/api/header.inc)
    set_tests_properties(layers.header_cxx PROPERTIES LABELS layers)
endif()
