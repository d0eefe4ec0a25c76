#include "runtime/challenge/ranks/nccl/nccl_library.h"

#include "runtime/base/error.h"
#include "runtime/device/nvidia_libraries.h"

namespace winnow::challenge {
namespace {

constexpr int kOldest = 21400;

int version_of(const Nccl& nccl) {
  int version = 0;
  nccl.get_version(&version);
  return version;
}

template <typename Function>
void load(const DynamicLibrary& library, const char* name, Function& function) {
  function = library.function<Function>(name);
}

// "2.28.9" of 22809
std::string version_text(int version) {
  return std::to_string(version / 10000) + "." + std::to_string(version / 100 % 100) + "." +
         std::to_string(version % 100);
}

Nccl open_checked() {
  const DynamicLibrary library = open_nccl();
  Nccl nccl(library);
  if (version_of(nccl) < kOldest) {
    fail(ErrorCode::device, library.path(), ": is NCCL ", version_text(version_of(nccl)),
         ", expected ", version_text(kOldest), " or newer");
  }
  return nccl;
}

}  // namespace

Nccl::Nccl(const DynamicLibrary& library) {
  load(library, "ncclGetVersion", get_version);
  load(library, "ncclGetUniqueId", get_unique_id);
  load(library, "ncclCommInitRankConfig", init_rank);
  load(library, "ncclCommGetAsyncError", get_async_error);
  load(library, "ncclAllGather", all_gather);
  load(library, "ncclCommAbort", abort);
  load(library, "ncclGetErrorString", error_string);
}

const Nccl& Nccl::get() {
  static const Nccl nccl = open_checked();
  return nccl;
}

std::string nccl_name() {
  return "NCCL " + version_text(version_of(Nccl::get()));
}

}  // namespace winnow::challenge
