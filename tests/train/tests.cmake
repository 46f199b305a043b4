# Whole runs of the program.
if(ZENITH_PROGRAM)
    find_package(Python3 COMPONENTS Interpreter REQUIRED)
    set(runs losses resume halve threads stop f16 weights kinds adversarial distill walsh_skip restore prune
        scores kl quantise diffae recall latents codes words words_pooled words_distil words_stack words_captions
        words_draft words_generate folder stages kills)
    if(ZENITH_MPI)
        list(APPEND runs ranks)
    endif()
    foreach(name ${runs})
        add_test(NAME train.${name} COMMAND Python3::Interpreter ${CMAKE_CURRENT_SOURCE_DIR}/train/runs.py
            --zenith $<TARGET_FILE:zenith_program> --kills 3 ${name})
        set_tests_properties(train.${name} PROPERTIES LABELS train SKIP_RETURN_CODE 77 TIMEOUT 300)
    endforeach()
    set(continued damaged contents busy full)
    if(ZENITH_MPI)
        list(APPEND continued apart)
    endif()
    foreach(name ${continued})
        add_test(NAME train.${name} COMMAND Python3::Interpreter ${CMAKE_CURRENT_SOURCE_DIR}/train/continued.py
            --zenith $<TARGET_FILE:zenith_program> ${name})
        set_tests_properties(train.${name} PROPERTIES LABELS train TIMEOUT 300)
    endforeach()
endif()
