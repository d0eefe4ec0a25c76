# Fails if MODULE needs a symbol of winnow from the program that opens it. Programs export none: the module would not open on a GPU.
#   cmake -D MODULE=<library> -D NM=<nm> -P module_is_whole.cmake
cmake_minimum_required(VERSION 3.25)
execute_process(COMMAND ${NM} -D --undefined-only ${MODULE} OUTPUT_VARIABLE symbols COMMAND_ERROR_IS_FATAL ANY)
if(NOT symbols)
  message(FATAL_ERROR "${MODULE}: nothing is undefined, not even LibTorch; the check does not work here")
endif()
string(REGEX MATCHALL " U [^\n]*6winnow[^\n]*" missing "${symbols}")
if(missing)
  message(FATAL_ERROR "${MODULE} lacks ${missing}")
endif()
