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
# The headers twice in one file, and an example of each.
file(GLOB header_uses CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/api/header.inc ${PROJECT_SOURCE_DIR}/examples/headers/*.c)
set(header_flags ${system_root} -fsyntax-only -Wall -Wextra -Wpedantic -Werror -I ${PROJECT_SOURCE_DIR}/include)
add_test(NAME layers.header_c COMMAND ${CMAKE_C_COMPILER} ${header_flags} -std=c17 -x c ${header_uses})
set_tests_properties(layers.header_c PROPERTIES LABELS layers)

find_program(ZENITH_CXX NAMES ${CMAKE_CXX_COMPILER} c++ g++ clang++) # the project itself is C alone
if(ZENITH_CXX)
    foreach(standard 17 20)
        add_test(NAME layers.header_cxx${standard} COMMAND ${ZENITH_CXX} ${header_flags} -std=c++${standard} -x c++ ${header_uses})
        set_tests_properties(layers.header_cxx${standard} PROPERTIES LABELS layers)
    endforeach()
endif()
