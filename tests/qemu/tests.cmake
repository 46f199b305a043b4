# The oldest CPU that Zenith promises to run on, emulated: an instruction of a newer one ends the program. qemu.FOLDER.NAME
# is the test FOLDER.NAME again, for the folders with loops of our own and the readers of files; qemu.decode compares the
# program with a run on the real CPU; qemu.control shows that the emulator does refuse what it should.
find_package(Python3 COMPONENTS Interpreter REQUIRED)
find_program(ZENITH_QEMU qemu-x86_64)
if(CMAKE_OBJDUMP AND ZENITH_PROGRAM AND NOT ZENITH_SANITIZE AND CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
    add_test(NAME layers.instructions COMMAND Python3::Interpreter
        ${CMAKE_CURRENT_SOURCE_DIR}/layers/instructions.py ${CMAKE_OBJDUMP}
        $<TARGET_FILE:zenith_static> $<TARGET_FILE:zenith_apps>)
    set_tests_properties(layers.instructions PROPERTIES LABELS layers)
endif()
if(NOT ZENITH_QEMU OR ZENITH_SANITIZE OR CMAKE_CROSSCOMPILING OR NOT CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
    return()
endif()
set(old_cpu ${ZENITH_QEMU} -cpu Nehalem)

foreach(source ${tests} ${oom_tests})
    cmake_path(GET source PARENT_PATH folder)
    cmake_path(GET folder FILENAME folder)
    cmake_path(GET source STEM stem)
    string(REGEX REPLACE "^test_" "" name ${stem})
    if(NOT folder MATCHES "^(kernel|op|tensor|format)$")
        continue()
    endif()
    list(POP_FRONT test_command_${folder}_${stem} program) # the rest are its arguments
    add_test(NAME qemu.${folder}.${name}
        COMMAND ${old_cpu} $<TARGET_FILE:${program}> ${test_command_${folder}_${stem}})
    set_tests_properties(qemu.${folder}.${name} PROPERTIES LABELS qemu SKIP_RETURN_CODE 77 TIMEOUT 900
        ENVIRONMENT "${ZENITH_TEST_ENVIRONMENT};ZENITH_TEST_QUICK=1")
endforeach()

add_executable(qemu_newer_cpu ${CMAKE_CURRENT_SOURCE_DIR}/qemu/newer_cpu.c)
target_link_libraries(qemu_newer_cpu PRIVATE zenith_flags)
add_test(NAME qemu.control COMMAND Python3::Interpreter ${CMAKE_CURRENT_SOURCE_DIR}/qemu/old_cpu.py
    control $<TARGET_FILE:qemu_newer_cpu> -- ${old_cpu})
add_test(NAME qemu.decode COMMAND Python3::Interpreter ${CMAKE_CURRENT_SOURCE_DIR}/qemu/old_cpu.py
    decode $<TARGET_FILE:zenith_program> -- ${old_cpu})
set_tests_properties(qemu.control qemu.decode PROPERTIES LABELS qemu SKIP_RETURN_CODE 77 TIMEOUT 900
    ENVIRONMENT "${ZENITH_TEST_ENVIRONMENT}")
