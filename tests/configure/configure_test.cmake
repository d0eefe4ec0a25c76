# Configures a project of the two files with stand-ins for nvcc and old libraries:
#   cmake -D BUILD=... -D SOURCE=... -D CXX_COMPILER=... -P configure_test.cmake
cmake_minimum_required(VERSION 3.25)
set(folder ${BUILD}/configure-test)
file(REMOVE_RECURSE ${folder})

# configure(EXPECTED STATUS ARGUMENT...): one line has EXPECTED, and the configure ends with STATUS.
function(configure expected status)
  file(REMOVE_RECURSE ${folder}/build)
  execute_process(COMMAND ${CMAKE_COMMAND} -S ${folder}/project -B ${folder}/build
    -D CMAKE_CXX_COMPILER=${CXX_COMPILER} ${ARGN}
    OUTPUT_VARIABLE output ERROR_VARIABLE output RESULT_VARIABLE found)
  string(FIND "${output}" "${expected}" at)
  if(at EQUAL -1 OR (status EQUAL 0 AND NOT found EQUAL 0) OR (NOT status EQUAL 0 AND found EQUAL 0))
    message(SEND_ERROR "expected status ${status} and '${expected}', found ${found} and:\n${output}")
  endif()
endfunction()

file(WRITE ${folder}/project/CMakeLists.txt "cmake_minimum_required(VERSION 3.25)
project(probe LANGUAGES C CXX)
set(CMAKE_CXX_STANDARD 20)
if(DEFINED WINNOW_CUDA)
  include(${SOURCE}/.ci/cmake/Cuda.cmake)
else()
  include(${SOURCE}/.ci/cmake/Optional.cmake)
endif()
")

# A compiler that says its version, compiles with this exit status, and cannot link.
function(make_nvcc name version fails)
  file(WRITE ${folder}/${name} "#!/bin/sh
case \"$*\" in
  *--version*) echo 'Cuda compilation tools, release ${version}'; exit 0;;
  *' -c '*) exit ${fails};;
esac
exit 1
")
  file(CHMOD ${folder}/${name} PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE)
endfunction()

make_nvcc(nvcc-unlinked 13.0 0)
make_nvcc(nvcc-broken 13.0 1)
make_nvcc(nvcc-old 11.8 0)
set(probe -D WINNOW_CUDA=AUTO -D CMAKE_CUDA_ARCHITECTURES=80-real)
configure("Off: the GPU backend: ${folder}/nvcc-unlinked cannot link a program for 80-real" 0
  ${probe} -D CMAKE_CUDA_COMPILER=${folder}/nvcc-unlinked)
configure("Off: the GPU backend: ${folder}/nvcc-broken cannot compile C++20" 0
  ${probe} -D CMAKE_CUDA_COMPILER=${folder}/nvcc-broken)
configure("Off: the GPU backend: ${folder}/nvcc-old is CUDA 11.8, needed is 12.4 or newer" 0
  ${probe} -D CMAKE_CUDA_COMPILER=${folder}/nvcc-old)
configure("Off: the GPU backend: architecture 75-real is 75, needed is 80" 0
  -D WINNOW_CUDA=AUTO -D CMAKE_CUDA_ARCHITECTURES=75-real
  -D CMAKE_CUDA_COMPILER=${folder}/nvcc-unlinked)
configure("WINNOW_CUDA=ON, but" 1
  -D WINNOW_CUDA=ON -D CMAKE_CUDA_ARCHITECTURES=75 -D CMAKE_CUDA_COMPILER=${folder}/nvcc-unlinked)

# Headers of versions that lack what the sources use.
file(WRITE ${folder}/old/spng.h "struct spng_ctx;
inline spng_ctx* spng_ctx_new(int) { return nullptr; }
inline void spng_ctx_free(spng_ctx*) {}\n")
file(WRITE ${folder}/old/turbojpeg.h "typedef void* tjhandle;
inline tjhandle tjInitDecompress() { return nullptr; }
inline int tjDestroy(tjhandle) { return 0; }\n")
file(WRITE ${folder}/old/dnnl.hpp "#define DNNL_VERSION_MAJOR 2
#define DNNL_VERSION_MINOR 5
namespace dnnl {
struct engine { enum class kind { cpu }; engine(kind, int) {} };
struct stream { explicit stream(const engine&) {} };
}\n")
file(WRITE ${folder}/old/any.cpp "int winnow_nothing() { return 0; }\n")
execute_process(COMMAND ${CXX_COMPILER} -shared -fPIC ${folder}/old/any.cpp -o ${folder}/old/libany.so)
foreach(case "spng:PNG pictures" "turbojpeg:JPEG pictures" "onednn:oneDNN as the CPU's dense baseline")
  string(REGEX MATCH "^([^:]*):(.*)$" unused ${case})
  configure("Off: ${CMAKE_MATCH_2}" 0 -D WINNOW_${CMAKE_MATCH_1}_INCLUDE_DIR=${folder}/old
    -D WINNOW_${CMAKE_MATCH_1}_LIBRARY=${folder}/old/libany.so)
endforeach()

# The version of oneDNN is told, from its own header.
file(READ ${folder}/old/dnnl.hpp header)
string(REPLACE "MAJOR 2" "MAJOR 3" header "${header}")
file(WRITE ${folder}/new/dnnl.hpp "${header}")
file(WRITE ${folder}/new/oneapi/dnnl/dnnl_version.h "// 1.2.3
#define DNNL_VERSION_MAJOR 3
#define DNNL_VERSION_MINOR 5
#define DNNL_VERSION_PATCH 12
")
configure("oneDNN 3.5.12: ${folder}/old/libany.so" 0 -D WINNOW_onednn_INCLUDE_DIR=${folder}/new
  -D WINNOW_onednn_LIBRARY=${folder}/old/libany.so)
