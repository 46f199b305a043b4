# Run while the tarball is made: copies the libraries that the installed library and program need into lib/zenith, and each
# one's licence, as Debian's package has it, into share/doc/zenith/licences. What every system with a desktop or a compiler
# has, and must have only once in a process, stays out: the C library, and the run-time libraries of the C++ in oneDNN.
# With licences_only (a wheel, whose libraries auditwheel copies) the licences alone; libgomp then stays out too.
set(prefix "$ENV{DESTDIR}${CMAKE_INSTALL_PREFIX}")
file(GLOB library LIST_DIRECTORIES false "${prefix}/${library_folder}/libzenith.so.[0-9]*")
file(GET_RUNTIME_DEPENDENCIES
    LIBRARIES ${library}
    EXECUTABLES "${prefix}/bin/zenith"
    PRE_EXCLUDE_REGEXES "^ld-linux" "^lib(c|m|dl|rt|pthread|stdc\\+\\+|gcc_s)\\.so" "^lib(zenith|dnnl)\\.so"
    RESOLVED_DEPENDENCIES_VAR needed)

if(licences_only)
    list(FILTER needed EXCLUDE REGEX "/libgomp\\.so")
endif()

foreach(file ${needed})
    file(REAL_PATH "${file}" real)
    cmake_path(GET file FILENAME name)
    # dpkg may know the file under /lib where it is under /usr/lib, since the two folders became one.
    string(REGEX REPLACE "^(/usr)?/lib/" "*lib/" pattern "${real}")
    execute_process(COMMAND dpkg -S "${pattern}" OUTPUT_VARIABLE owner COMMAND_ERROR_IS_FATAL ANY)
    string(REGEX REPLACE ":.*" "" owner "${owner}")
    message(STATUS "with ${name} of ${owner}")
    if(NOT licences_only)
        file(COPY_FILE "${real}" "${prefix}/${library_folder}/zenith/${name}")
    endif()
    file(MAKE_DIRECTORY "${prefix}/${doc_folder}/licences")
    file(COPY_FILE "/usr/share/doc/${owner}/copyright" "${prefix}/${doc_folder}/licences/${owner}")
endforeach()
