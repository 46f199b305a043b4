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
include(${PROJECT_SOURCE_DIR}/tests/fuzz/fuzzer.cmake)
zenith_add_fuzzer(picture_parameters)
target_link_libraries(fuzz_picture_parameters PRIVATE zenith_apps)
if(ZENITH_PULL)
    add_test(NAME cli.pull_server COMMAND Python3::Interpreter ${CMAKE_CURRENT_SOURCE_DIR}/cli/pull.py
        --zenith $<TARGET_FILE:zenith_program>)
    set_tests_properties(cli.pull_server PROPERTIES LABELS cli SKIP_RETURN_CODE 77 TIMEOUT 300)
endif()
if(TARGET zenith_offline) # the program of the tarball: what it advises instead of downloading, a server and queues
    add_test(NAME cli.without_pull COMMAND Python3::Interpreter ${CMAKE_CURRENT_SOURCE_DIR}/cli/run.py
        --zenith $<TARGET_FILE:zenith_offline> ${CMAKE_CURRENT_SOURCE_DIR}/cli/without_pull.case)
    set_tests_properties(cli.without_pull PROPERTIES LABELS cli SKIP_RETURN_CODE 77 TIMEOUT 300)
endif()
if(ZENITH_MPI)
    add_test(NAME cli.processes COMMAND Python3::Interpreter ${CMAKE_CURRENT_SOURCE_DIR}/cli/run.py
        --zenith $<TARGET_FILE:zenith_program> ${CMAKE_CURRENT_SOURCE_DIR}/cli/processes.case)
    set_tests_properties(cli.processes PROPERTIES LABELS cli SKIP_RETURN_CODE 77 TIMEOUT 300)
endif()
add_test(NAME cli.dataset COMMAND Python3::Interpreter ${CMAKE_CURRENT_SOURCE_DIR}/cli/dataset.py
    --zenith $<TARGET_FILE:zenith_program> bits stores moments choices buckets models full captions hostile links terminal again leases partition verify memory inputs document)
add_test(NAME cli.dataset_kills COMMAND Python3::Interpreter ${CMAKE_CURRENT_SOURCE_DIR}/cli/dataset.py
    --zenith $<TARGET_FILE:zenith_program> kills)
add_test(NAME cli.dataset_many_kills COMMAND Python3::Interpreter ${CMAKE_CURRENT_SOURCE_DIR}/cli/dataset.py
    --zenith $<TARGET_FILE:zenith_program> --kills 20 kills)
if(NOT ZENITH_SANITIZE) # which takes time and memory of its own
    add_test(NAME cli.waiting COMMAND Python3::Interpreter ${CMAKE_CURRENT_SOURCE_DIR}/cli/waiting.py
        --zenith $<TARGET_FILE:zenith_program>)
    set_tests_properties(cli.waiting PROPERTIES LABELS cli SKIP_RETURN_CODE 77 TIMEOUT 600)
    add_test(NAME cli.dataset_large COMMAND Python3::Interpreter ${PROJECT_SOURCE_DIR}/tests/cli/dataset_large.py
        --zenith $<TARGET_FILE:zenith_program> --pictures 200 --broken 9 --shards 8 --side 3000)
    set_tests_properties(cli.dataset_large PROPERTIES LABELS cli TIMEOUT 300)
endif()
set_tests_properties(cli.dataset cli.dataset_kills cli.dataset_many_kills PROPERTIES LABELS cli TIMEOUT 900)
if(ZENITH_PULL)
    # zenith dataset with s3://: each check of dataset_s3.py is a test.
    foreach(check round faults ends commit verify retry keys many parts leases interrupt kills secure document moto)
        add_test(NAME fleet.s3_${check} COMMAND Python3::Interpreter ${CMAKE_CURRENT_SOURCE_DIR}/cli/dataset_s3.py
            --zenith $<TARGET_FILE:zenith_program> ${check})
        set_tests_properties(fleet.s3_${check} PROPERTIES LABELS "cli;fleet" SKIP_RETURN_CODE 77 TIMEOUT 300)
    endforeach()
    zenith_add_fuzzer(s3_answer)
    target_link_libraries(fuzz_s3_answer PRIVATE zenith_apps)
endif()
add_test(NAME cli.manual COMMAND Python3::Interpreter ${CMAKE_CURRENT_SOURCE_DIR}/cli/manual.py
    --zenith $<TARGET_FILE:zenith_program> --man ${CMAKE_BINARY_DIR}/man)
set_tests_properties(cli.manual PROPERTIES LABELS cli SKIP_RETURN_CODE 77 TIMEOUT 300)
