// The module that nccl_group.cpp opens: LibTorch's CUDA half is in the process by then.
#define USE_C10D_NCCL
#include <c10/cuda/CUDAGuard.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <torch/csrc/distributed/c10d/ProcessGroupNCCL.hpp>
#include <vector>

#include "prune/training/ranks/rank_group.h"

namespace winnow {
namespace {

// Who is alive is the store's to say (rank_store.h), and abort() ends what waits for the dead: c10d
// shall neither count the time nor end the process.
constexpr std::chrono::hours kTimeout(24);

void keep_c10d_calm() {
  for (const char* name : {"TORCH_NCCL_ASYNC_ERROR_HANDLING", "TORCH_NCCL_ENABLE_MONITORING",
                           "TORCH_NCCL_DUMP_ON_TIMEOUT"}) {
    setenv(name, "0", 1);
  }
}

class NcclGroup : public RankGroup {
 public:
  NcclGroup(const GroupPlace& place, int device) : device_(static_cast<c10::DeviceIndex>(device)) {
    keep_c10d_calm();
    const c10::cuda::CUDAGuard guard(device_);
    const auto options = c10d::ProcessGroupNCCL::Options::create();
    options->timeout = kTimeout;
    group_ =
        c10::make_intrusive<c10d::ProcessGroupNCCL>(place.store, place.rank, place.size, options);
  }

  // Nothing is queued any more: who made it has waited for the device. Farewells of NCCL would wait
  // for the other ranks, which may be gone.
  ~NcclGroup() override { abort(); }

  void add_up(torch::Tensor& values) override {
    require_whole();
    const c10::cuda::CUDAGuard guard(device_);
    std::vector<torch::Tensor> all = {values};
    group_->allreduce(all)->wait();  // the current stream waits, not the host
  }

  void broadcast(torch::Tensor& values, int from) override {
    require_whole();
    const c10::cuda::CUDAGuard guard(device_);
    std::vector<torch::Tensor> all = {values};
    c10d::BroadcastOptions options;
    options.rootRank = from;
    group_->broadcast(all, options)->wait();
  }

  void abort() override {
    if (!is_aborted_.exchange(true)) group_->abort();
  }

 private:
  // The first call makes c10d's communicator, which waits for all ranks: for ever if one is gone.
  void require_whole() const {
    if (is_aborted_) throw std::runtime_error("a rank is lost");
  }

  c10::DeviceIndex device_;
  c10::intrusive_ptr<c10d::ProcessGroupNCCL> group_;
  std::atomic<bool> is_aborted_ = false;
};

}  // namespace
}  // namespace winnow

// The GPU's UUID as hexadecimal digits.
extern "C" __attribute__((visibility("default"))) const char* winnow_gpu_identity(int device) {
  static thread_local std::string text;
  text.clear();
  cudaDeviceProp properties;
  if (cudaGetDeviceProperties(&properties, device) != cudaSuccess) return text.c_str();
  for (const char byte : properties.uuid.bytes) {
    char digits[3];
    std::snprintf(digits, sizeof digits, "%02x", static_cast<unsigned char>(byte));
    text += digits;
  }
  return text.c_str();
}

extern "C" __attribute__((visibility("default"))) winnow::RankGroup* winnow_make_nccl_group(
    const winnow::GroupPlace& place, int device) {
  return new winnow::NcclGroup(place, device);
}
