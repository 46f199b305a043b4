# Read by cpack once for each kind of package: which components (package.cmake) it holds, and where it is installed.
list(GET CPACK_INSTALL_CMAKE_PROJECTS 0 build_folder)
set(CPACK_INSTALL_CMAKE_PROJECTS "${build_folder};zenith;Unspecified;/")
if(CPACK_GENERATOR STREQUAL "DEB")
    set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
else()
    list(APPEND CPACK_INSTALL_CMAKE_PROJECTS "${build_folder};zenith;system_libraries;/")
endif()
