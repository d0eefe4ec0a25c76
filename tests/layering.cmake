# Checks who includes whom over the whole tree:
#   cmake -D ROOT=<source tree> -P tests/layering.cmake
# The table below is that of docs/architecture.md.
cmake_minimum_required(VERSION 3.25)

# Sources of `folder` include what lies in it and in the folders (or headers) named here, and nothing
# else of ours. A line counts for folders below it too, but each folder directly in a top-level one has its
# own.
set(folders "")
macro(allow folder)
  list(APPEND folders ${folder})
  set(allowed_in_${folder} ${folder} ${ARGN})
endmacro()

set(model runtime/base runtime/model)
allow(runtime)  # the public API and the programs; nothing outside runtime/
allow(runtime/base)
allow(runtime/model runtime/base)
allow(runtime/images runtime/base)
allow(runtime/plan ${model})
allow(runtime/reference ${model} runtime/plan)
allow(runtime/cpu ${model} runtime/plan runtime/reference)
allow(runtime/device runtime/base)
allow(runtime/stack runtime/base runtime/device)
allow(runtime/kernels ${model} runtime/plan runtime/device runtime/stack runtime/reference)
allow(runtime/bench runtime)  # measures backends and their parts; only programs include it
allow(runtime/report runtime/base)
allow(runtime/challenge runtime/base runtime/images runtime/device runtime/stack)
allow(runtime/cli runtime/base)
allow(runtime/commands runtime)
allow(prune ${model} runtime/cli runtime/report)
allow(prune/evolution runtime/base)
allow(prune/data ${model} runtime/images)
allow(prune/config ${model} prune/evolution prune/data
  prune/training/train_config.h prune/training/schedule.h)  # plain structs, without LibTorch
allow(prune/training ${model} runtime/images prune/evolution prune/data prune/config)
allow(quantize ${model} runtime/images runtime/cli runtime/report
  prune/training prune/data prune/config)
allow(export ${model} runtime/cli runtime/report)

set(top_level runtime prune quantize export)
set(torch_headers "^(torch|ATen|c10)/")
set(torch_places "^(prune/training/|quantize/accuracy\\.cpp$)")
set(cuda_headers "^(cuda|cudnn|cublas|cusparse|nvrtc|mma\\.h)")
set(cuda_places "^runtime/(device|stack|kernels|challenge/gpu)/")

# The folder whose line counts for `file`, or "" if there is none.
function(find_line file result)
  get_filename_component(folder ${file} DIRECTORY)
  string(REGEX MATCH "^[^/]+/[^/]+" second_level ${folder})
  set(${result} "" PARENT_SCOPE)
  foreach(candidate IN ITEMS "${second_level}" ${folder})
    if(candidate IN_LIST folders)
      set(${result} ${candidate} PARENT_SCOPE)
      return()
    endif()
  endforeach()
endfunction()

function(check_own_header file header)
  find_line(${file} line)
  foreach(allowed IN LISTS allowed_in_${line})
    string(FIND ${header} ${allowed}/ position)
    if(position EQUAL 0 OR header STREQUAL allowed)
      return()
    endif()
  endforeach()
  string(REPLACE ";" ", " allowed "${allowed_in_${line}}")
  message(SEND_ERROR "${file}: includes ${header}, but ${line} includes only ${allowed}")
endfunction()

function(check_include file quote header)
  string(REGEX MATCH "^[^/]+" top ${header})
  if(top IN_LIST top_level)
    check_own_header(${file} ${header})
  elseif(quote STREQUAL "\"")
    message(SEND_ERROR "${file}: \"${header}\" is no path from the root of the tree")
  elseif(header MATCHES ${torch_headers} AND NOT file MATCHES ${torch_places})
    message(SEND_ERROR "${file}: includes <${header}>; LibTorch belongs in prune/training")
  elseif(header MATCHES ${cuda_headers} AND NOT file MATCHES ${cuda_places})
    message(SEND_ERROR "${file}: includes <${header}>; CUDA belongs in runtime/device and kernels")
  endif()
endfunction()

set(files "")
foreach(top IN LISTS top_level)
  file(GLOB_RECURSE found RELATIVE ${ROOT} ${ROOT}/${top}/*.h ${ROOT}/${top}/*.cpp
    ${ROOT}/${top}/*.cu ${ROOT}/${top}/*.cuh ${ROOT}/${top}/*.c)
  list(APPEND files ${found})
endforeach()
list(LENGTH files count)
if(count EQUAL 0)
  message(FATAL_ERROR "${ROOT}: no sources")
endif()

foreach(file IN LISTS files)
  find_line(${file} line)
  if(NOT line)
    message(SEND_ERROR "${file}: its folder has no line in tests/layering.cmake")
    continue()
  endif()
  file(STRINGS ${ROOT}/${file} lines REGEX "^[ \t]*#[ \t]*include[ \t]*[<\"]")
  foreach(text IN LISTS lines)
    string(REGEX MATCH "([<\"])([^>\"]+)" unused "${text}")
    check_include(${file} ${CMAKE_MATCH_1} ${CMAKE_MATCH_2})
  endforeach()
endforeach()
message(STATUS "layering: ${count} files")
