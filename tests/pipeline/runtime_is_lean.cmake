# Fails if BINARY needs a shared library of LibTorch or Python.
#   cmake -D BINARY=<program> -P runtime_is_lean.cmake
cmake_minimum_required(VERSION 3.25)
file(GET_RUNTIME_DEPENDENCIES EXECUTABLES ${BINARY}
     RESOLVED_DEPENDENCIES_VAR libraries UNRESOLVED_DEPENDENCIES_VAR missing)
list(APPEND libraries ${missing})
if(NOT libraries)
  message(FATAL_ERROR "${BINARY}: no shared library found at all; the check does not work here")
endif()
list(FILTER libraries INCLUDE REGEX "torch|c10|caffe2|python|cudnn")
if(libraries)
  message(FATAL_ERROR "${BINARY} links ${libraries}")
endif()
