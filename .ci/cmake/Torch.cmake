# Finds LibTorch >= 2.4 and makes the target winnow_torch from its headers and CPU libraries.
#
# Not find_package(Torch): its scripts demand a CUDA toolkit wherever LibTorch was built with CUDA
# and overwrite CUDA settings. The CUDA half of LibTorch is opened at run time, when a GPU is asked
# for (prune/training/device.h), so a machine without a GPU does not load it.
find_program(WINNOW_PYTHON NAMES python3)
foreach(python ${PROJECT_SOURCE_DIR}/.venv/bin/python3 ${WINNOW_PYTHON})
  if(EXISTS ${python})
    execute_process(  # without importing torch, which fails where NVIDIA's packages are left out
      COMMAND ${python} -c "import importlib.util as u; print(u.find_spec('torch').submodule_search_locations[0])"
      OUTPUT_VARIABLE found OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
    if(found)
      list(APPEND torch_hints ${found}/share/cmake)
    endif()
  endif()
endforeach()
find_path(WINNOW_TORCH_CMAKE TorchConfigVersion.cmake
  HINTS ${Torch_DIR} ${torch_hints} PATH_SUFFIXES Torch share/cmake/Torch)
if(NOT WINNOW_TORCH_CMAKE)
  message(FATAL_ERROR "LibTorch not found: run `make deps`, set CMAKE_PREFIX_PATH to a LibTorch "
    ">= 2.4, or build the runtime alone with -DWINNOW_TORCH=OFF")
endif()

set(PACKAGE_FIND_VERSION 2.4)
include(${WINNOW_TORCH_CMAKE}/TorchConfigVersion.cmake)
set(WINNOW_TORCH_VERSION ${PACKAGE_VERSION})
file(STRINGS ${WINNOW_TORCH_CMAKE}/TorchConfig.cmake old_abi REGEX "GLIBCXX_USE_CXX11_ABI=0")
if(WINNOW_TORCH_VERSION VERSION_LESS 2.4 OR old_abi)
  message(FATAL_ERROR "LibTorch ${WINNOW_TORCH_VERSION} in ${WINNOW_TORCH_CMAKE}: need >= 2.4 "
    "with the C++11 ABI")
endif()
cmake_path(SET torch_root NORMALIZE ${WINNOW_TORCH_CMAKE}/../../..)
message(STATUS "LibTorch ${WINNOW_TORCH_VERSION}: ${torch_root}")

include(.ci/cmake/StandardLibrary.cmake)   # target winnow_shared_standard_library
add_library(winnow_torch INTERFACE)
target_include_directories(winnow_torch SYSTEM INTERFACE
  ${torch_root}/include ${torch_root}/include/torch/csrc/api/include)
target_compile_definitions(winnow_torch INTERFACE WINNOW_TORCH_VERSION="${WINNOW_TORCH_VERSION}")
target_link_libraries(winnow_torch INTERFACE
  ${torch_root}/lib/libtorch_cpu.so ${torch_root}/lib/libc10.so winnow_shared_standard_library)
target_link_options(winnow_torch INTERFACE -Wl,--allow-shlib-undefined)

# Headers for what is built of LibTorch's CUDA half (prune/training/cuda): a toolkit's, or those of
# NVIDIA's packages beside LibTorch, which have all of them only together with the compiler's (crt/).
file(GLOB torch_cuda_headers ${torch_root}/../nvidia/*/include)
find_path(WINNOW_TORCH_CUDA_HEADERS crt/host_config.h
  PATHS $ENV{CUDA_HOME}/include /usr/local/cuda/include ${torch_cuda_headers} NO_DEFAULT_PATH NO_CACHE)
set(WINNOW_TORCH_HAS_CUDA OFF)
if(EXISTS ${torch_root}/lib/libtorch_cuda.so AND WINNOW_TORCH_CUDA_HEADERS)
  set(WINNOW_TORCH_HAS_CUDA ON)
endif()
message(STATUS "Training steps as CUDA graphs: ${WINNOW_TORCH_HAS_CUDA}")

# What divides a batch among ranks (prune/training/ranks/rank_group.h). Gloo: LibTorch's library may have it;
# its headers do not come with LibTorch and are not needed (prune/training/ranks/gloo_names). NCCL: its
# header comes with a toolkit or NVIDIA's packages.
include(CheckCXXSourceCompiles)
set(CMAKE_REQUIRED_LIBRARIES ${torch_root}/lib/libtorch_cpu.so ${torch_root}/lib/libc10.so)
set(CMAKE_REQUIRED_LINK_OPTIONS -Wl,--allow-shlib-undefined)
set(CMAKE_REQUIRED_QUIET ON)
unset(WINNOW_TORCH_HAS_GLOO CACHE)
check_cxx_source_compiles(  # c10d::ProcessGroupGloo's destructor
  "extern \"C\" void _ZN4c10d16ProcessGroupGlooD1Ev(); int main() { _ZN4c10d16ProcessGroupGlooD1Ev(); }"
  WINNOW_TORCH_HAS_GLOO)
foreach(setting LIBRARIES LINK_OPTIONS QUIET)
  unset(CMAKE_REQUIRED_${setting})
endforeach()
set(WINNOW_TORCH_HAS_NCCL OFF)
if(WINNOW_TORCH_HAS_CUDA AND EXISTS ${torch_root}/include/torch/csrc/distributed/c10d/ProcessGroupNCCL.hpp)
  find_path(WINNOW_NCCL_HEADERS nccl.h
    PATHS ${torch_cuda_headers} ${WINNOW_TORCH_CUDA_HEADERS} /usr/include NO_DEFAULT_PATH NO_CACHE)
  if(WINNOW_NCCL_HEADERS)
    set(WINNOW_TORCH_HAS_NCCL ON)
  endif()
endif()
string(REPLACE 1 ON gloo "${WINNOW_TORCH_HAS_GLOO}")
if(NOT gloo)
  set(gloo OFF)
endif()
message(STATUS "Batches divided among ranks: by Gloo ${gloo}, by NCCL ${WINNOW_TORCH_HAS_NCCL}")
