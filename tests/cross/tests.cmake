# Builds for another machine, tested in an emulator (tools/cross). CTest runs each test program in it by itself; here is what
# needs more.
if(NOT CMAKE_CROSSCOMPILING)
    return()
endif()
find_package(Python3 COMPONENTS Interpreter REQUIRED)
if(TEST base.executor) # qemu's emulation of a process with threads does not survive its fork
    set_property(TEST base.executor APPEND PROPERTY ENVIRONMENT "ZENITH_TEST_SKIP=forked_*")
endif()
if(WIN32) # the library as a program sees it: from the DLL, with real weights
    add_executable(cross_roundtrip ${PROJECT_SOURCE_DIR}/examples/roundtrip/roundtrip.c)
    target_link_libraries(cross_roundtrip PRIVATE zenith)
    add_test(NAME cross.roundtrip COMMAND cross_roundtrip ${PROJECT_SOURCE_DIR}/../shared/weights)
    set_tests_properties(cross.roundtrip PROPERTIES LABELS cross TIMEOUT 900
        PASS_REGULAR_EXPRESSION "mean difference [0-9]\\.[0-9]+ of 255.*cancelled during encode")
endif()
if(NOT ZENITH_PROGRAM)
    return()
endif()
# The program against the one made for this machine. (Python by its path: CTest would run the target Python3::Interpreter in
# the emulator.)
add_test(NAME cross.decode COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/qemu/old_cpu.py
    decode $<TARGET_FILE:zenith_program> -- ${CMAKE_CROSSCOMPILING_EMULATOR})
set_tests_properties(cross.decode PROPERTIES LABELS cross SKIP_RETURN_CODE 77 TIMEOUT 900
    ENVIRONMENT "ZENITH_TEST_NATIVE=${PROJECT_SOURCE_DIR}/build/release/zenith")
