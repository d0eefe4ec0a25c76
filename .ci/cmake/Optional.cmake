# Libraries that Winnow can do without.

# winnow_find_optional(NAME HEADER h LIBRARY l USE statements PACKAGE p LACKS text)
# Makes the target winnow::NAME if a program that includes HEADER and runs USE links with LIBRARY (none: headers only). USE
# has the newest that the sources use of it, so that an older library is off, not an error of the build.
# If not, prints one line and goes on: LACKS says what is off without it, PACKAGE is Debian's package. The package's own CMake files are not asked: some end the configure
# (oneDNN's does, where OpenCL is missing).
include(CheckCXXSourceCompiles)
function(winnow_find_optional name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "HEADER;LIBRARY;USE;PACKAGE;LACKS" "")
  if(TARGET winnow::${name})
    return()
  endif()
  find_path(WINNOW_${name}_INCLUDE_DIR ${arg_HEADER})
  if(arg_LIBRARY)
    find_library(WINNOW_${name}_LIBRARY ${arg_LIBRARY})
  endif()
  mark_as_advanced(WINNOW_${name}_INCLUDE_DIR WINNOW_${name}_LIBRARY)
  set(reason "not found")
  if(WINNOW_${name}_INCLUDE_DIR AND (WINNOW_${name}_LIBRARY OR NOT arg_LIBRARY))
    set(CMAKE_REQUIRED_INCLUDES ${WINNOW_${name}_INCLUDE_DIR})
    set(CMAKE_REQUIRED_LIBRARIES ${WINNOW_${name}_LIBRARY})
    set(CMAKE_REQUIRED_QUIET ON)
    unset(WINNOW_${name}_WORKS CACHE)
    check_cxx_source_compiles(
      "#include <cstddef>\n#include <cstdio>\n#include <${arg_HEADER}>\nint main() { ${arg_USE} }"
      WINNOW_${name}_WORKS)
    if(WINNOW_${name}_WORKS)
      add_library(winnow::${name} INTERFACE IMPORTED GLOBAL)
      target_include_directories(winnow::${name} SYSTEM INTERFACE ${WINNOW_${name}_INCLUDE_DIR})
      target_link_libraries(winnow::${name} INTERFACE ${WINNOW_${name}_LIBRARY})
      return()
    endif()
    set(reason "${WINNOW_${name}_LIBRARY} with ${WINNOW_${name}_INCLUDE_DIR}/${arg_HEADER} cannot be used")
  endif()
  message(STATUS "Off: ${arg_LACKS}: ${name} ${reason}; to get it: apt install ${arg_PACKAGE}")
endfunction()

winnow_find_optional(zlib HEADER zlib.h LIBRARY z USE "return zlibVersion() == nullptr;"
  PACKAGE zlib1g-dev LACKS "gzip-packed files")
winnow_find_optional(turbojpeg HEADER turbojpeg.h LIBRARY turbojpeg
  USE "tjhandle h = tjInitDecompress(); std::printf(\"%s %d\", tjGetErrorStr2(h), TJFLAG_LIMITSCANS); return tjDestroy(h);"
  PACKAGE libturbojpeg0-dev LACKS "JPEG pictures")
winnow_find_optional(spng HEADER spng.h LIBRARY spng
  USE "spng_ctx* c = spng_ctx_new(0); int s = spng_set_chunk_limits(c, 1, 1) + spng_decode_chunks(c); spng_ctx_free(c); return s;"
  PACKAGE libspng-dev LACKS "PNG pictures")
winnow_find_optional(fftw HEADER fftw3.h LIBRARY fftw3 USE "fftw_cleanup(); return 0;"
  PACKAGE libfftw3-dev LACKS "making the challenge's images")
winnow_find_optional(xbyak HEADER xbyak/xbyak.h
  USE "Xbyak::CodeGenerator code(64, Xbyak::DontSetProtectRWE); code.vfmadd231ps(Xbyak::Zmm(0), Xbyak::Zmm(1), code.ptr_b[code.rax]); return 0;"
  PACKAGE libxbyak-dev LACKS "generated code for sparse convolutions on the CPU")

set(WINNOW_ONEDNN AUTO CACHE STRING "oneDNN as the CPU's dense baseline: ON, OFF or AUTO")
if(NOT WINNOW_ONEDNN STREQUAL "OFF")
  winnow_find_optional(onednn HEADER dnnl.hpp LIBRARY dnnl
    USE "static_assert(DNNL_VERSION_MAJOR > 2 || (DNNL_VERSION_MAJOR == 2 && DNNL_VERSION_MINOR >= 6), \"2.6\"); dnnl::stream s(dnnl::engine(dnnl::engine::kind::cpu, 0)); return 0;"
    PACKAGE libdnnl-dev LACKS "oneDNN as the CPU's dense baseline (own kernels instead)")
  # Its kernels differ from version to version more than ours do: say which it is.
  if(TARGET winnow::onednn AND EXISTS ${WINNOW_onednn_INCLUDE_DIR}/oneapi/dnnl/dnnl_version.h)
    file(STRINGS ${WINNOW_onednn_INCLUDE_DIR}/oneapi/dnnl/dnnl_version.h numbers
      REGEX "define DNNL_VERSION_(MAJOR|MINOR|PATCH) ")
    string(REGEX MATCHALL "[0-9]+" numbers "${numbers}")
    list(JOIN numbers "." version)
    message(STATUS "oneDNN ${version}: ${WINNOW_onednn_LIBRARY}")
  endif()
  if(WINNOW_ONEDNN STREQUAL "ON" AND NOT TARGET winnow::onednn)
    message(FATAL_ERROR "WINNOW_ONEDNN is ON, but oneDNN cannot be used (Debian: libdnnl-dev)")
  endif()
endif()
