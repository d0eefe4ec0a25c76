# Writes OUT, a header with the commit of the source tree SOURCE, if it is another than before:
#   cmake -D SOURCE=... -D OUT=... -P Commit.cmake
# A build runs it every time, and compiles one small file again where the commit has changed.
cmake_minimum_required(VERSION 3.25)
set(commit "")
if(EXISTS ${SOURCE}/.git)  # else git would find a repository around the sources
  execute_process(COMMAND git -C ${SOURCE} rev-parse --short=7 HEAD
    OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE status)
  execute_process(COMMAND git -C ${SOURCE} diff --quiet HEAD ERROR_QUIET RESULT_VARIABLE changed)
  if(NOT "${status}" STREQUAL "0")
    set(commit "")
  elseif("${changed}" STREQUAL "1")
    string(APPEND commit "+")
  endif()
endif()
file(CONFIGURE OUTPUT ${OUT} CONTENT "#define WINNOW_COMMIT \"@commit@\"\n" @ONLY)
