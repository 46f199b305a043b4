# Toolchain: 64-bit Windows from Debian, by mingw-w64, against the libraries that tools/cross builds into
# build/sysroot/mingw from Debian's own sources. They are static, so libzenith.dll needs nothing but Windows. Tests run in wine.
set(CMAKE_SYSTEM_NAME Windows)
set(CMAKE_SYSTEM_PROCESSOR x86_64)
set(CMAKE_C_COMPILER x86_64-w64-mingw32-gcc-win32)
# GCC takes Windows' stack for aligned to 32 and 64 bytes where it keeps vectors (GCC bug 54412), and it is not: the assembler
# makes those moves unaligned. Two warnings are left to Linux: printf's rules are those of an old C library here, and isnan is a
# macro that converts.
set(CMAKE_C_FLAGS_INIT "-Wa,-muse-unaligned-vector-move -Wno-format -Wno-float-conversion")
set(CMAKE_EXE_LINKER_FLAGS_INIT -static) # the compiler's own libraries too
set(CMAKE_SHARED_LINKER_FLAGS_INIT -static)
set(CMAKE_RC_COMPILER x86_64-w64-mingw32-windres)
cmake_path(ABSOLUTE_PATH CMAKE_CURRENT_LIST_DIR OUTPUT_VARIABLE here)
set(libraries ${here}/../build/sysroot/mingw)
set(CMAKE_FIND_ROOT_PATH ${libraries} /usr/x86_64-w64-mingw32)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
set(ENV{PKG_CONFIG_LIBDIR} ${libraries}/lib/pkgconfig)
set(PKG_CONFIG_ARGN --static)
set(CMAKE_CROSSCOMPILING_EMULATOR /usr/lib/wine/wine64)
