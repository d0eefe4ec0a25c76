// NCCL, opened when ranks on GPUs want it. Its header need not be there when this is built: what we
// call has the same form in all versions from 2.14 on.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <string>

#include "runtime/device/dynamic_library.h"

namespace winnow::challenge {

// As NVIDIA's nccl.h (2.14 to 2.28) declares them: ncclResult_t, ncclDataType_t, ncclComm_t,
// ncclUniqueId and ncclConfig_t. docs.nvidia.com/deeplearning/nccl, API, Types.
enum class NcclResult : int { success = 0, in_progress = 7 };
enum class NcclType : int { uint8 = 1 };
using NcclHandle = struct ncclComm*;
struct NcclId {
  char bytes[128];
};

// The form of 2.14. Later versions have more members; the library gives those that are beyond
// `size`, or newer than `version`, their defaults (parseCommConfig in NCCL's src/init.cc).
struct NcclConfig {
  std::size_t size = sizeof(NcclConfig);
  unsigned magic = 0xcafebeef;
  unsigned version = 21400;
  int blocking = 0;
};

// Its functions by our names; what they do is in the documentation's API, Communicator Creation and
// Management Functions and Collective Communication Functions.
struct Nccl {
  NcclResult (*get_version)(int* version) = nullptr;
  NcclResult (*get_unique_id)(NcclId* id) = nullptr;
  NcclResult (*init_rank)(NcclHandle* made, int ranks, NcclId id, int rank,
                          NcclConfig* config) = nullptr;
  NcclResult (*get_async_error)(NcclHandle handle, NcclResult* state) = nullptr;
  NcclResult (*all_gather)(const void* mine, void* all, std::size_t count, NcclType type,
                           NcclHandle handle, cudaStream_t stream) = nullptr;
  NcclResult (*abort)(NcclHandle handle) = nullptr;
  const char* (*error_string)(NcclResult result) = nullptr;

  // Throws Error{device} if the library lacks one.
  explicit Nccl(const DynamicLibrary& library);

  // Throws Error{device} if it is not found, with where it was looked for, or older than 2.14.
  static const Nccl& get();
};

// "NCCL 2.28.9"
std::string nccl_name();

}  // namespace winnow::challenge
