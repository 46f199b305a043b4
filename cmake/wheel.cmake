# The Python wheel (pyproject.toml, tools/build_wheel): what is installed into the folder of the package, as the component
# `wheel`. The tree is that of install.cmake, so library and program find the models as they do elsewhere. tools/build_wheel
# installs it from the release build (ZENITH_BUILT); a source distribution compiles with the preset wheel.
if(ZENITH_OPENMP AND NOT WIN32)
    # A library that only needs libgomp.so.1, and looks for it beside itself first: python/zenith_latents/_openmp.py.
    file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/openmp.c CONTENT "int zenith_openmp_unused;\n")
    add_library(zenith_openmp MODULE ${CMAKE_BINARY_DIR}/openmp.c)
    target_link_options(zenith_openmp PRIVATE -Wl,--no-as-needed)
    target_link_libraries(zenith_openmp PRIVATE ${ZENITH_GOMP})
    set_target_properties(zenith_openmp PROPERTIES BUILD_RPATH "$ORIGIN" INSTALL_RPATH "$ORIGIN")
endif()

# install_wheel(WHAT.. DESTINATION ..): into the wheel alone.
macro(install_wheel)
    install(${ARGN} COMPONENT wheel EXCLUDE_FROM_ALL)
endmacro()

if(ZENITH_PROGRAM AND NOT WIN32)
    install(TARGETS zenith LIBRARY DESTINATION lib COMPONENT wheel NAMELINK_SKIP EXCLUDE_FROM_ALL)
    install(TARGETS ${zenith_offline} RUNTIME DESTINATION bin COMPONENT wheel EXCLUDE_FROM_ALL)
    if(TARGET zenith_openmp)
        install(TARGETS zenith_openmp LIBRARY DESTINATION lib COMPONENT wheel EXCLUDE_FROM_ALL)
    endif()
    install_wheel(FILES ${model_files} DESTINATION share/zenith/models)
    install_wheel(DIRECTORY models/zenith-words models/zenith-avatars256 DESTINATION share/zenith/models)
    install_wheel(FILES ${diffae_files} DESTINATION share/zenith/models/diffae)
    install_wheel(FILES ${training_files} DESTINATION share/zenith/models/training)
    install_wheel(FILES ${help_documents} DESTINATION share/doc/zenith)
    if(bundles_onednn)
        install_wheel(FILES ${ONEDNN_LICENCES}/LICENSE ${ONEDNN_LICENCES}/THIRD-PARTY-PROGRAMS
            DESTINATION share/doc/zenith/onednn)
        if(SKBUILD) # nobody repairs a wheel that pip makes of a source distribution
            install_wheel(PROGRAMS $<TARGET_FILE:DNNL::dnnl> DESTINATION lib/zenith
                RENAME $<TARGET_SONAME_FILE_NAME:DNNL::dnnl>)
        endif()
    endif()
    # Licences of the libraries that auditwheel adds, which are Debian's where wheels are made.
    find_program(DPKG dpkg)
    if(DPKG)
        install_wheel(CODE "set(library_folder lib)\nset(doc_folder share/doc/zenith)\nset(licences_only ON)")
        install_wheel(SCRIPT cmake/bundle.cmake)
    endif()
endif()
