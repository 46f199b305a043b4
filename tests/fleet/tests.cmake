# Many machines on one dataset: shares that schedulers give out.
if(NOT ZENITH_PROGRAM)
    return()
endif()
find_package(Python3 COMPONENTS Interpreter REQUIRED)
add_test(NAME fleet.manifests COMMAND Python3::Interpreter ${CMAKE_CURRENT_SOURCE_DIR}/fleet/manifests.py
    --zenith $<TARGET_FILE:zenith_program>)
set_tests_properties(fleet.manifests PROPERTIES LABELS fleet TIMEOUT 300)
