# What `cmake --install` puts where: the library with its headers, its CMake package and its pkg-config file, the program,
# the model_files where both look for them, and the licences. Everything finds everything relative to itself, so an
# installed tree can be moved. docs/PACKAGING.md shows the tree.
include(CMakePackageConfigHelpers)

# The program finds the library beside it, and the library finds oneDNN in its own lib/zenith, which
# is installed too where oneDNN is not the system's. Libraries in lib/zenith (package.cmake) need
# others that are there: RPATH serves those too, RUNPATH does not.
set(private_libraries ${CMAKE_INSTALL_LIBDIR}/zenith)
set(bundles_onednn OFF)
if(ZENITH_DNN)
    cmake_path(ABSOLUTE_PATH dnnl_DIR NORMALIZE OUTPUT_VARIABLE onednn_library_folder)
    cmake_path(GET onednn_library_folder PARENT_PATH onednn_library_folder)
    cmake_path(GET onednn_library_folder PARENT_PATH onednn_library_folder)
    if(NOT onednn_library_folder IN_LIST CMAKE_C_IMPLICIT_LINK_DIRECTORIES)
        set(bundles_onednn ON)
    endif()
endif()
if(NOT WIN32)
    target_link_options(zenith PRIVATE -Wl,--disable-new-dtags)
    set_target_properties(zenith PROPERTIES INSTALL_RPATH "$ORIGIN/zenith")
endif()
if(bundles_onednn)
    find_path(ONEDNN_LICENCES THIRD-PARTY-PROGRAMS REQUIRED
        HINTS ${dnnl_DIR}/../../../share/doc/onednn ${dnnl_DIR}/../../../share/doc/dnnl)
    install(PROGRAMS $<TARGET_FILE:DNNL::dnnl> DESTINATION ${private_libraries}
        RENAME $<TARGET_SONAME_FILE_NAME:DNNL::dnnl>)
    install(FILES ${ONEDNN_LICENCES}/LICENSE ${ONEDNN_LICENCES}/THIRD-PARTY-PROGRAMS
        DESTINATION ${CMAKE_INSTALL_DOCDIR}/onednn)
endif()
if(ZENITH_PROGRAM)
    foreach(program zenith_program ${zenith_offline})
        target_link_options(${program} PRIVATE -Wl,--disable-new-dtags)
        set_target_properties(${program} PROPERTIES
            INSTALL_RPATH "$ORIGIN/../${CMAKE_INSTALL_LIBDIR};$ORIGIN/../${private_libraries}")
    endforeach()
    install(TARGETS zenith_program COMPONENT program)
    install(TARGETS ${zenith_offline} COMPONENT offline EXCLUDE_FROM_ALL)
endif()

install(TARGETS zenith EXPORT zenith-targets)
install(DIRECTORY include/zenith TYPE INCLUDE FILES_MATCHING PATTERN "*.h")
file(GLOB model_files CONFIGURE_DEPENDS models/*.calib.json models/*.safetensors models/LICENSE.taesd)
install(FILES ${model_files} DESTINATION ${CMAKE_INSTALL_DATADIR}/zenith/models)
install(DIRECTORY models/zenith-words models/zenith-avatars256 DESTINATION ${CMAKE_INSTALL_DATADIR}/zenith/models) # pictures from words, faces
file(GLOB diffae_files CONFIGURE_DEPENDS models/diffae/*.json) # sizes of diffusion autoencoders
install(FILES ${diffae_files} DESTINATION ${CMAKE_INSTALL_DATADIR}/zenith/models/diffae)
file(GLOB training_files CONFIGURE_DEPENDS models/training/*.json) # configs of training runs
install(FILES ${training_files} DESTINATION ${CMAKE_INSTALL_DATADIR}/zenith/models/training)
# What help texts and manual pages refer to (tests/package/installed.py looks for each).
set(help_documents docs/DATASET.md docs/DIFFAE.md docs/EVALUATION.md docs/SERVER.md docs/TRAINING.md docs/WORDS.md)
install(FILES LICENSE NOTICE ${help_documents} TYPE DOC)

# find_package(zenith), then target_link_libraries(program zenith::zenith). Before 1.0 a minor version may break callers.
set(package_folder ${CMAKE_INSTALL_LIBDIR}/cmake/zenith)
write_basic_package_version_file(${CMAKE_BINARY_DIR}/zenith-config-version.cmake COMPATIBILITY SameMinorVersion)
install(EXPORT zenith-targets NAMESPACE zenith:: DESTINATION ${package_folder})
install(FILES cmake/zenith-config.cmake ${CMAKE_BINARY_DIR}/zenith-config-version.cmake DESTINATION ${package_folder})

# pkg-config --cflags --libs zenith. Its paths start at the file's own folder.
set(pkgconfig_folder ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
cmake_path(RELATIVE_PATH CMAKE_INSTALL_PREFIX BASE_DIRECTORY ${CMAKE_INSTALL_PREFIX}/${pkgconfig_folder}
    OUTPUT_VARIABLE prefix_from_pc)
configure_file(cmake/zenith.pc.in ${CMAKE_BINARY_DIR}/zenith.pc @ONLY)
install(FILES ${CMAKE_BINARY_DIR}/zenith.pc DESTINATION ${pkgconfig_folder})
