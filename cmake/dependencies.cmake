# What the library stands on; docs/DEPENDENCIES.md says why each.
find_package(PkgConfig REQUIRED)
find_package(Threads REQUIRED)
pkg_check_modules(JANSSON REQUIRED IMPORTED_TARGET jansson>=2.13)
pkg_check_modules(JPEG REQUIRED IMPORTED_TARGET libjpeg)
pkg_check_modules(SPNG REQUIRED IMPORTED_TARGET spng)
pkg_check_modules(WEBP REQUIRED IMPORTED_TARGET libwebp libwebpdemux libwebpmux)
pkg_check_modules(LCMS REQUIRED IMPORTED_TARGET lcms2)
pkg_check_modules(PCRE2 REQUIRED IMPORTED_TARGET libpcre2-8)
pkg_check_modules(UTF8PROC REQUIRED IMPORTED_TARGET libutf8proc)
if(ZENITH_PULL AND ZENITH_PROGRAM)
    pkg_check_modules(CURL REQUIRED IMPORTED_TARGET libcurl>=7.88) # of the program, not of the library
    pkg_check_modules(EXPAT REQUIRED IMPORTED_TARGET expat>=2.4)   # likewise
endif()
if(ZENITH_SERVE AND ZENITH_PROGRAM)
    pkg_check_modules(MICROHTTPD REQUIRED IMPORTED_TARGET libmicrohttpd>=0.9.71) # likewise
endif()
if(ZENITH_QUEUE AND ZENITH_PROGRAM)
    pkg_check_modules(NATS REQUIRED IMPORTED_TARGET libnats>=3.4) # likewise
endif()
# clang's own OpenMP would be a second pool beside libgomp's, so clang needs only the library (see base/parallel.c).
if(ZENITH_OPENMP AND NOT CMAKE_C_COMPILER_ID MATCHES "Clang")
    find_package(OpenMP REQUIRED COMPONENTS C)
endif()
if(ZENITH_DNN)
    find_package(dnnl 3.2 CONFIG QUIET)
    if(NOT dnnl_FOUND)
        message(FATAL_ERROR "oneDNN 3.2 or newer was not found. Run tools/bootstrap, or configure with -DZENITH_DNN=OFF.")
    endif()
    if(NOT ZENITH_OPENMP)
        message(FATAL_ERROR "oneDNN's threads are OpenMP's: ZENITH_OPENMP=OFF needs ZENITH_DNN=OFF.")
    endif()
endif()
