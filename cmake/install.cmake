# What `cmake --install` puts where: the library with its headers, the program, and the calibrations where both look for
# them. An installed program finds the library beside it, and oneDNN where it was when the library was linked.
if(ZENITH_DNN)
    # Said by name: INSTALL_RPATH_USE_LINK_PATH leaves out folders inside the checkout, such as .deps.
    set_target_properties(zenith PROPERTIES INSTALL_RPATH "$<TARGET_FILE_DIR:DNNL::dnnl>")
endif()
set_target_properties(zenith_program PROPERTIES INSTALL_RPATH "$ORIGIN/../${CMAKE_INSTALL_LIBDIR}")
install(TARGETS zenith zenith_program)
install(DIRECTORY include/zenith TYPE INCLUDE FILES_MATCHING PATTERN "*.h")
file(GLOB calibrations CONFIGURE_DEPENDS models/*.calib.json)
install(FILES ${calibrations} DESTINATION ${CMAKE_INSTALL_DATADIR}/zenith/models)
