# Instructions that compute capability 9.0 alone has are compiled for sm_90a, a code that no other
# GPU runs. Only sources that use them are; what they are compiled for follows from the architectures
# of the build.

# winnow_hopper_architectures(RESULT ARCHITECTURE...): the same with code for 9.0 as 90a. PTX stays
# that of 90, which later GPUs translate. Known words: native, all, all-major.
function(winnow_hopper_architectures result)
  set(list "")
  foreach(architecture IN LISTS ARGN)
    set(expanded ${architecture})
    if(architecture STREQUAL native AND CMAKE_CUDA_ARCHITECTURES_NATIVE)  # what CMake found
      set(expanded ${CMAKE_CUDA_ARCHITECTURES_NATIVE})
    elseif(architecture MATCHES "^all")  # nvcc's words leave 90a out
      set(expanded 80-real 90)
    endif()
    foreach(one IN LISTS expanded)
      if(one MATCHES "^90(-real)?$")
        list(APPEND list 90a-real)
      endif()
      if(one MATCHES "^90(-virtual)?$")
        list(APPEND list 90-virtual)
      elseif(NOT one STREQUAL "90-real")
        list(APPEND list ${one})
      endif()
    endforeach()
  endforeach()
  list(REMOVE_DUPLICATES list)
  set(${result} ${list} PARENT_SCOPE)
endfunction()
