# Many machines on one dataset: shares that schedulers give out, and workers of a queue, whose server tools/bootstrap fetches.
if(NOT ZENITH_PROGRAM)
    return()
endif()
find_package(Python3 COMPONENTS Interpreter REQUIRED)
add_test(NAME fleet.manifests COMMAND Python3::Interpreter ${CMAKE_CURRENT_SOURCE_DIR}/fleet/manifests.py
    --zenith $<TARGET_FILE:zenith_program> $<$<BOOL:${ZENITH_QUEUE}>:--queue>)
set_tests_properties(fleet.manifests PROPERTIES LABELS fleet TIMEOUT 300)
add_test(NAME fleet.scale COMMAND Python3::Interpreter ${PROJECT_SOURCE_DIR}/bench/notes/scale.py
    --check ${PROJECT_SOURCE_DIR}/bench/notes/fleet-three-hosts.json)
add_test(NAME fleet.scale_table COMMAND Python3::Interpreter ${PROJECT_SOURCE_DIR}/bench/notes/scale.py
    --pictures 1e6 --cores 10 1000 --set hours_between_failures=5)
set_tests_properties(fleet.scale_table PROPERTIES PASS_REGULAR_EXPRESSION "1e6 . 1000 . 100 ")
set_tests_properties(fleet.scale fleet.scale_table PROPERTIES LABELS fleet TIMEOUT 300)
if(ZENITH_QUEUE)
    foreach(name bytes pictures dead hostile drain twice full gone words document)
        add_test(NAME fleet.${name} COMMAND Python3::Interpreter ${CMAKE_CURRENT_SOURCE_DIR}/fleet/work.py
            --zenith $<TARGET_FILE:zenith_program> ${name})
        set_tests_properties(fleet.${name} PROPERTIES LABELS fleet TIMEOUT 300)
    endforeach()
    if(ZENITH_PULL)
        add_test(NAME fleet.storage COMMAND Python3::Interpreter ${CMAKE_CURRENT_SOURCE_DIR}/fleet/work.py
            --zenith $<TARGET_FILE:zenith_program> storage)
        set_tests_properties(fleet.storage PROPERTIES LABELS fleet TIMEOUT 300)
    endif()
    if(ZENITH_SERVE)
        add_test(NAME fleet.metrics COMMAND Python3::Interpreter ${CMAKE_CURRENT_SOURCE_DIR}/fleet/work.py
            --zenith $<TARGET_FILE:zenith_program> metrics)
        set_tests_properties(fleet.metrics PROPERTIES LABELS fleet TIMEOUT 300)
    endif()
    if(NOT ZENITH_SANITIZE) # whose programs take minutes for it
        # Five faults of five kinds; tests/fleet/long.py is the long run.
        add_test(NAME fleet.faults COMMAND Python3::Interpreter ${CMAKE_CURRENT_SOURCE_DIR}/fleet/faults.py
            --zenith $<TARGET_FILE:zenith_program> --seed 3)
        set_tests_properties(fleet.faults PROPERTIES LABELS fleet TIMEOUT 300)
    endif()
endif()
include(${PROJECT_SOURCE_DIR}/tests/fuzz/fuzzer.cmake)
zenith_add_fuzzer(queue_message)
target_link_libraries(fuzz_queue_message PRIVATE zenith_apps)
