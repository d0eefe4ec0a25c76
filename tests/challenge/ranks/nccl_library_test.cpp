// What we take NCCL's interface for, against its header where that is there, and its library.
#include "runtime/challenge/ranks/nccl/nccl_library.h"

#include <doctest/doctest.h>

#include <cstdio>
#include <cstring>
#include <type_traits>

#include "runtime/base/error.h"

#if __has_include(<nccl.h>)
#include <nccl.h>
#endif

namespace winnow::challenge {

#ifdef NCCL_VERSION_CODE
static_assert(sizeof(NcclId) == sizeof(ncclUniqueId));
static_assert(static_cast<int>(NcclResult::success) == ncclSuccess);
static_assert(static_cast<int>(NcclResult::in_progress) == ncclInProgress);
static_assert(static_cast<int>(NcclType::uint8) == ncclUint8);
static_assert(sizeof(NcclResult) == sizeof(ncclResult_t));
static_assert(sizeof(NcclType) == sizeof(ncclDataType_t));
static_assert(offsetof(NcclConfig, magic) == offsetof(ncclConfig_t, magic));
static_assert(offsetof(NcclConfig, version) == offsetof(ncclConfig_t, version));
static_assert(offsetof(NcclConfig, blocking) == offsetof(ncclConfig_t, blocking));
static_assert(std::is_same_v<decltype(&::ncclAllGather),
                             ncclResult_t (*)(const void*, void*, size_t, ncclDataType_t,
                                              ncclComm_t, cudaStream_t)>);
static_assert(std::is_same_v<decltype(&::ncclCommInitRankConfig),
                             ncclResult_t (*)(ncclComm_t*, int, ncclUniqueId, int, ncclConfig_t*)>);

TEST_CASE("a configuration begins as NCCL's does") {
  const ncclConfig_t theirs = NCCL_CONFIG_INITIALIZER;
  CHECK(NcclConfig().magic == theirs.magic);
}
#endif

TEST_CASE("NCCL is opened at run time and says its version") {
  try {
    CHECK(nccl_name().find("NCCL 2.") == 0);
  } catch (const Error& error) {
    CHECK(error.code() == ErrorCode::device);
    std::printf("skipped: %s\n", error.what());
  }
}

}  // namespace winnow::challenge
