# The Python package over the library of this build. A sanitized library cannot be opened by a plain interpreter.
if(ZENITH_PROGRAM AND NOT ZENITH_SANITIZE)
    find_package(Python3 COMPONENTS Interpreter REQUIRED)
    set(python_tests package bundled experimental comfyui examples)
    if(TARGET zenith_openmp)
        list(APPEND python_tests openmp)
    endif()
    foreach(name ${python_tests})
        add_test(NAME python.${name} COMMAND Python3::Interpreter ${CMAKE_CURRENT_SOURCE_DIR}/python/${name}.py)
        set_tests_properties(python.${name} PROPERTIES LABELS python TIMEOUT 300 SKIP_RETURN_CODE 77 ENVIRONMENT
            "PYTHONPATH=${PROJECT_SOURCE_DIR}/python;ZENITH_MODELS=${PROJECT_SOURCE_DIR}/models;PYTHONDONTWRITEBYTECODE=1;ZENITH_LIBRARY=$<TARGET_FILE:zenith>;ZENITH_PROGRAM=$<TARGET_FILE:zenith_program>")
    endforeach()
endif()
