# find_package(zenith): defines zenith::zenith, a shared library whose header needs nothing else.
include(${CMAKE_CURRENT_LIST_DIR}/zenith-targets.cmake)
