# The Python wheel (pyproject.toml, tools/build_wheel): what is installed into the folder of the package, as the component
# `wheel`. The tree is that of install.cmake, so library and program find the models as they do elsewhere.
if(ZENITH_OPENMP AND NOT WIN32)
    # A library that only needs libgomp.so.1, and looks for it beside itself first: python/zenith_latents/_openmp.py.
    file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/openmp.c CONTENT "int zenith_openmp_unused;\n")
    add_library(zenith_openmp MODULE ${CMAKE_BINARY_DIR}/openmp.c)
    target_link_options(zenith_openmp PRIVATE -Wl,--no-as-needed)
    target_link_libraries(zenith_openmp PRIVATE ${ZENITH_GOMP})
    set_target_properties(zenith_openmp PROPERTIES BUILD_RPATH "$ORIGIN" INSTALL_RPATH "$ORIGIN")
endif()

if(ZENITH_WHEEL)
    set_target_properties(zenith PROPERTIES VERSION ${PROJECT_VERSION_MAJOR}) # wheels hold no links: one file, of the soname
    install(TARGETS zenith LIBRARY DESTINATION lib COMPONENT wheel NAMELINK_SKIP)
    install(TARGETS zenith_program RUNTIME DESTINATION bin COMPONENT wheel)
    if(TARGET zenith_openmp)
        install(TARGETS zenith_openmp LIBRARY DESTINATION lib COMPONENT wheel)
    endif()
    install(FILES ${model_files} DESTINATION share/zenith/models COMPONENT wheel)
    install(DIRECTORY models/zenith-words models/zenith-avatars256 DESTINATION share/zenith/models COMPONENT wheel)
    install(FILES ${diffae_files} DESTINATION share/zenith/models/diffae COMPONENT wheel)
    install(FILES ${training_files} DESTINATION share/zenith/models/training COMPONENT wheel)
    install(FILES docs/TRAINING.md docs/EVALUATION.md DESTINATION share/doc/zenith COMPONENT wheel)
    if(ZENITH_DNN)
        find_path(ONEDNN_LICENCES THIRD-PARTY-PROGRAMS HINTS ${dnnl_DIR}/../../../share/doc/onednn)
        if(ONEDNN_LICENCES)
            install(FILES ${ONEDNN_LICENCES}/LICENSE ${ONEDNN_LICENCES}/THIRD-PARTY-PROGRAMS
                DESTINATION share/doc/zenith/onednn COMPONENT wheel)
        endif()
    endif()
    # Licences of the libraries that auditwheel adds, which are Debian's where wheels are made.
    find_program(DPKG dpkg)
    if(DPKG)
        install(CODE "set(library_folder lib)\nset(doc_folder share/doc/zenith)\nset(licences_only ON)" COMPONENT wheel)
        install(SCRIPT cmake/bundle.cmake COMPONENT wheel)
    endif()
endif()
