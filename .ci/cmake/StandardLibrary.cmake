# The target winnow_shared_standard_library, for what is linked with LibTorch.
#
# LibTorch brings libstdc++ as a shared library. Some compilers put a copy of their own into each
# program (-static-libstdc++). Then one copy frees what the other made, as locales within Gloo, and
# the program aborts. Here the shared one is named, and nothing is taken from the other.
add_library(winnow_shared_standard_library INTERFACE)
set(folder ${CMAKE_BINARY_DIR}/CMakeFiles/standard_library)
file(WRITE ${folder}/main.cpp "#include <iostream>\nint main() { std::cout << 1; }\n")
try_compile(WINNOW_LINKS ${folder}/build SOURCES ${folder}/main.cpp COPY_FILE ${folder}/main)
if(NOT WINNOW_LINKS)
  message(FATAL_ERROR "${CMAKE_CXX_COMPILER} does not link ${folder}/main.cpp")
endif()
file(STRINGS ${folder}/main shared REGEX "^libstdc\\+\\+\\.so" LIMIT_COUNT 1)
if(NOT shared)
  find_library(WINNOW_LIBSTDCXX NAMES libstdc++.so.6)
  if(NOT WINNOW_LIBSTDCXX)
    message(FATAL_ERROR "${CMAKE_CXX_COMPILER} links libstdc++ statically; found no libstdc++.so.6, which "
      "LibTorch needs: install it, or build the runtime alone with -DWINNOW_TORCH=OFF")
  endif()
  message(STATUS "The compiler links libstdc++ statically; with LibTorch: ${WINNOW_LIBSTDCXX}")
  target_link_libraries(winnow_shared_standard_library INTERFACE ${WINNOW_LIBSTDCXX})
endif()
