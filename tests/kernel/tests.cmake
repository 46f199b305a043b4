# Kernels for AMX on emulated tiles (amx_emulated.h), each beside the test that calls it. Not under Windows, which has no files
# for AMX (src/CMakeLists.txt).
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
    foreach(name conv_dot attention)
        set(emulated ${CMAKE_CURRENT_SOURCE_DIR}/kernel/${name}_amx_emulated.c)
        target_sources(kernels PRIVATE ${emulated})
        set_source_files_properties(${emulated} PROPERTIES COMPILE_OPTIONS
            "-mavx2;-mfma;-mf16c;-mavx512f;-mavx512bw;-mavx512dq;-mavx512vl;-mavx512vnni;-mprefer-vector-width=512")
    endforeach()
    target_sources(kernels PRIVATE ${CMAKE_CURRENT_SOURCE_DIR}/kernel/linear_amx_emulated.c)
endif()

if(ZENITH_DNN)
    target_sources(kernels PRIVATE ${CMAKE_CURRENT_SOURCE_DIR}/kernel/onednn_matmul.c)
    target_link_libraries(kernels PRIVATE DNNL::dnnl)
endif()
