# What every target of ours is compiled with.
add_library(winnow_options INTERFACE)
target_include_directories(winnow_options INTERFACE ${PROJECT_SOURCE_DIR})
target_compile_options(winnow_options INTERFACE
  $<$<COMPILE_LANGUAGE:CXX>:-Wall;-Wextra;-Wpedantic;-Wshadow>
  $<$<COMPILE_LANGUAGE:CUDA>:-Xcompiler=-Wall,-Wextra,-Wno-unused-parameter>)
if(WINNOW_WERROR)
  target_compile_options(winnow_options INTERFACE
    $<$<COMPILE_LANGUAGE:CXX>:-Werror>
    $<$<COMPILE_LANGUAGE:CUDA>:-Werror=all-warnings>)
endif()
if(WINNOW_SANITIZE)
  # Instrumented, GCC 12 takes members of the standard library's regular expressions for uninitialized.
  target_compile_options(winnow_options INTERFACE
    $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-Wno-maybe-uninitialized>)
  # -O1 and line tables compile in half the time of -O2 and all debug information; traces still name lines.
  target_compile_options(winnow_options INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-O1;-g1>)
  target_compile_options(winnow_options INTERFACE
    $<$<COMPILE_LANGUAGE:CXX>:-fsanitize=address,undefined;-fno-sanitize-recover=all;-fno-omit-frame-pointer>)
  target_link_options(winnow_options INTERFACE -fsanitize=address,undefined)
endif()

find_program(CCACHE ccache)
if(CCACHE)
  # Paths relative to the source folder let one checkout use what another compiled.
  set(ccache_launcher ${CMAKE_COMMAND} -E env CCACHE_BASEDIR=${PROJECT_SOURCE_DIR} CCACHE_NOHASHDIR=1
      CCACHE_SLOPPINESS=pch_defines,time_macros ${CCACHE})
  set(CMAKE_CXX_COMPILER_LAUNCHER ${ccache_launcher})
  set(CMAKE_CUDA_COMPILER_LAUNCHER ${ccache_launcher})
  add_compile_options($<$<COMPILE_LANG_AND_ID:CXX,GNU>:-fpch-preprocess>)
endif()
