# Each case of tests/cli/cases is one test of the program: cli.NAME.
if(NOT ZENITH_PROGRAM)
    return()
endif()
find_package(Python3 COMPONENTS Interpreter REQUIRED)
file(GLOB cases CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/cli/cases/*.case)
foreach(case ${cases})
    cmake_path(GET case STEM name)
    add_test(NAME cli.${name} COMMAND Python3::Interpreter ${CMAKE_CURRENT_SOURCE_DIR}/cli/run.py
        --zenith $<TARGET_FILE:zenith_program> ${case})
    set_tests_properties(cli.${name} PROPERTIES LABELS cli SKIP_RETURN_CODE 77 TIMEOUT 900)
endforeach()
