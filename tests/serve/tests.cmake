# The server, asked by plain Python; and what reads its requests, fuzzed.
if(ZENITH_PROGRAM AND ZENITH_SERVE)
    find_package(Python3 COMPONENTS Interpreter REQUIRED)
    foreach(name pages remote_decode packed remote_encode native oip wrong large_bodies hostile keys bundled key_limits full_queue deadlines leavers under_load
            drain batches fairness logs)
        add_test(NAME serve.${name} COMMAND Python3::Interpreter ${CMAKE_CURRENT_SOURCE_DIR}/serve/serve.py
            --zenith $<TARGET_FILE:zenith_program> ${name})
        set_tests_properties(serve.${name} PROPERTIES LABELS serve TIMEOUT 600)
    endforeach()
    foreach(name results wrong states events keys limits drain manual previews)
        add_test(NAME serve.jobs_${name} COMMAND Python3::Interpreter ${CMAKE_CURRENT_SOURCE_DIR}/serve/jobs.py
            --zenith $<TARGET_FILE:zenith_program> ${name})
        set_tests_properties(serve.jobs_${name} PROPERTIES LABELS serve SKIP_RETURN_CODE 77 TIMEOUT 600)
    endforeach()
    foreach(name load broken pipelines faces labels)
        add_test(NAME serve.reload_${name} COMMAND Python3::Interpreter ${CMAKE_CURRENT_SOURCE_DIR}/serve/reload.py
            --zenith $<TARGET_FILE:zenith_program> ${name})
        set_tests_properties(serve.reload_${name} PROPERTIES LABELS serve SKIP_RETURN_CODE 77 TIMEOUT 600)
    endforeach()
    foreach(name bytes wrong leaving manual)
        add_test(NAME serve.diffae_${name} COMMAND Python3::Interpreter ${CMAKE_CURRENT_SOURCE_DIR}/serve/diffae.py
            --zenith $<TARGET_FILE:zenith_program> ${name})
        set_tests_properties(serve.diffae_${name} PROPERTIES LABELS serve TIMEOUT 600)
    endforeach()
    # Its page, in Chromium, which tools/bootstrap installs: without it these fail.
    foreach(name headers photograph phone errors words faces)
        add_test(NAME serve.page_${name} COMMAND Python3::Interpreter ${CMAKE_CURRENT_SOURCE_DIR}/serve/page.py
            --zenith $<TARGET_FILE:zenith_program> ${name})
        set_tests_properties(serve.page_${name} PROPERTIES LABELS serve TIMEOUT 600)
    endforeach()
    # A soak of seconds: that it works, and that answers, memory and open files stay what they are.
    add_test(NAME serve.soak COMMAND Python3::Interpreter ${PROJECT_SOURCE_DIR}/bench/serve.py soak --minutes 0.05 --clients 8
        --share 10 --growth 100 --weights ${CMAKE_CURRENT_SOURCE_DIR}/golden/tiny_diffusers --dtype f32
        --zenith $<TARGET_FILE:zenith_program>)
    set_tests_properties(serve.soak PROPERTIES LABELS serve TIMEOUT 600)
    add_test(NAME serve.operate COMMAND Python3::Interpreter ${CMAKE_CURRENT_SOURCE_DIR}/serve/operate.py
        --zenith $<TARGET_FILE:zenith_program>)
    set_tests_properties(serve.operate PROPERTIES LABELS serve TIMEOUT 300)
    add_test(NAME serve.openapi COMMAND Python3::Interpreter ${CMAKE_CURRENT_SOURCE_DIR}/serve/openapi.py
        --zenith $<TARGET_FILE:zenith_program>)
    set_tests_properties(serve.openapi PROPERTIES LABELS serve TIMEOUT 300)
    foreach(name generations streams edits wrong leavers together sdapi progress)
        add_test(NAME serve.images_${name} COMMAND Python3::Interpreter ${CMAKE_CURRENT_SOURCE_DIR}/serve/images.py
            --zenith $<TARGET_FILE:zenith_program> ${name})
        set_tests_properties(serve.images_${name} PROPERTIES LABELS serve SKIP_RETURN_CODE 77 TIMEOUT 600)
    endforeach()
    if(ZENITH_SANITIZE STREQUAL "thread") # longer: tools/weekly races
        add_test(NAME serve.races COMMAND Python3::Interpreter ${PROJECT_SOURCE_DIR}/tools/check_races.py
            --requests 500 --build ${CMAKE_BINARY_DIR})
        set_tests_properties(serve.races PROPERTIES LABELS "serve;in_tsan" TIMEOUT 600)
    endif()
    include(${PROJECT_SOURCE_DIR}/tests/fuzz/fuzzer.cmake)
    zenith_add_fuzzer(serve_request)
    target_link_libraries(fuzz_serve_request PRIVATE zenith_apps)
endif()
set(serve_folder ${PROJECT_SOURCE_DIR}/apps/serve)
target_sources(serve_test_turns PRIVATE ${serve_folder}/queue/turns.c ${serve_folder}/models/probe.c
    ${serve_folder}/http/clock.c)
set_tests_properties(serve.turns PROPERTIES LABELS serve)
