# Packages (tools/package, docs/PACKAGING.md): a .deb for Debian 12, which depends on the system's
# libraries, and a tarball that runs where it is unpacked, which brings them along. Both are
# installed from one build, as components:
#   Unspecified        the library and all else of install.cmake, and oneDNN in lib/zenith, where
#                      nobody else's programs find it
#   program            the program: in the .deb
#   offline            the program without the parts that need the system's TLS: in the tarball
#   system_libraries   the libraries that the .deb depends on: in the tarball
if(ZENITH_PROGRAM AND NOT WIN32)
    install(FILES cmake/copyright DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT program)
    install(CODE "set(library_folder \"${CMAKE_INSTALL_LIBDIR}\")\nset(doc_folder \"${CMAKE_INSTALL_DOCDIR}\")"
        COMPONENT system_libraries EXCLUDE_FROM_ALL)
    install(SCRIPT cmake/bundle.cmake COMPONENT system_libraries EXCLUDE_FROM_ALL)
endif()

set(CPACK_PACKAGE_VENDOR "The Zenith authors")
set(CPACK_PACKAGE_CONTACT "The Zenith authors")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "images to the latents of diffusion models and back, on CPUs")
set(CPACK_DEBIAN_PACKAGE_DESCRIPTION
    "Tiny autoencoders (TAESD, TAESDXL, TAESD3, TAEF1, TAEF2) as a program, zenith,\n and a C library, libzenith, with its headers. Contains oneDNN,\n and the weights of four networks: zenith-sd-fast, zenith-sd-small,\n zenith-f1-fast, zenith-f1-small. 'zenith pull' fetches the others.")
set(CPACK_RESOURCE_FILE_LICENSE ${PROJECT_SOURCE_DIR}/LICENSE)
set(CPACK_STRIP_FILES ON)
string(TOLOWER ${CMAKE_SYSTEM_NAME} system)
set(CPACK_PACKAGE_FILE_NAME zenith-${PROJECT_VERSION}-${system}-${CMAKE_SYSTEM_PROCESSOR})
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION graphics)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)
set(CPACK_DEBIAN_COMPRESSION_TYPE xz)
set(CPACK_PROJECT_CONFIG_FILE ${PROJECT_SOURCE_DIR}/cmake/package_contents.cmake)
include(CPack)
