# Builds the addons for another platform, with the compiler and the C libraries that zig brings along (tools/platforms/build.mjs):
#   EAGRE_ZIG  the program zig; EAGRE_TARGET  what it calls the platform, such as aarch64-linux-gnu.2.28
set(CMAKE_TRY_COMPILE_PLATFORM_VARIABLES EAGRE_ZIG EAGRE_TARGET)
string(REGEX MATCH "^[^-]+" CMAKE_SYSTEM_PROCESSOR "${EAGRE_TARGET}")
if(EAGRE_TARGET MATCHES "-linux")
  set(CMAKE_SYSTEM_NAME Linux)
elseif(EAGRE_TARGET MATCHES "-macos")
  set(CMAKE_SYSTEM_NAME Darwin)
elseif(EAGRE_TARGET MATCHES "-windows")
  set(CMAKE_SYSTEM_NAME Windows)
elseif(EAGRE_TARGET MATCHES "-wasi")
  # CMake knows no such system: this is one without libraries that are loaded.
  set(CMAKE_SYSTEM_NAME Generic)
  set(EAGRE_WASM ON)
else()
  message(FATAL_ERROR "EAGRE_TARGET is '${EAGRE_TARGET}': for no system that there is an addon for")
endif()
set(EAGRE_CROSS ON)

set(CMAKE_CXX_COMPILER "${EAGRE_ZIG}")
set(CMAKE_CXX_COMPILER_ARG1 "c++ -target ${EAGRE_TARGET}")
# What CMake would find out by programs, of which each needs a C++ library of its own.
set(CMAKE_CXX_COMPILER_ID_RUN 1)
set(CMAKE_CXX_COMPILER_ID Clang)
set(CMAKE_CXX_COMPILER_VERSION 20)
set(CMAKE_CXX_COMPILER_FRONTEND_VARIANT GNU)
set(CMAKE_CXX_STANDARD_COMPUTED_DEFAULT 17)
set(CMAKE_CXX_COMPILER_FORCED ON)
set(CMAKE_SIZEOF_VOID_P 8)
if(EAGRE_WASM)
  set(CMAKE_SIZEOF_VOID_P 4)
endif()
set(CMAKE_HAVE_LIBC_PTHREAD ON)
set(CMAKE_USE_PTHREADS_INIT ON)
set(EAGRE_HAS_AMX ON)

# Nothing is taken from this machine.
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH /nowhere)
# zig knows where the system's headers are; Apple's own tools are not there.
set(CMAKE_OSX_SYSROOT "")
set(CMAKE_INSTALL_NAME_TOOL "${CMAKE_COMMAND}")
