// Sums over ranks and broadcasts, by LibTorch's c10d: Gloo on the CPU, NCCL on GPUs. NCCL's code
// needs LibTorch's CUDA half, so it lies in a module of its own (prune/training/cuda) that is
// opened when a GPU is used.
#pragma once

#include <c10/util/intrusive_ptr.h>
#include <torch/types.h>

#include <memory>
#include <string>
#include <torch/csrc/distributed/c10d/Store.hpp>

namespace winnow {

class RankGroup {
 public:
  virtual ~RankGroup() = default;

  // Makes `values`, contiguous, the sum over all ranks, in place, with equal bits at each. On a GPU
  // it is queued on the current stream and may be recorded in a CUDA graph after a first call. All
  // ranks make the same calls in the same order. Throws what c10d throws, as where a connection is
  // lost.
  virtual void add_up(torch::Tensor& values) = 0;

  // Makes `values`, contiguous, those of rank `from`, in place. Else as add_up().
  virtual void broadcast(torch::Tensor& values, int from) = 0;

  // Ends what these wait for, from another thread: the values are then of no use. The last call
  // but for the destructor.
  virtual void abort() = 0;
};

struct GroupPlace {
  c10::intrusive_ptr<c10d::Store> store;  // where ranks find each other
  bool is_one_machine = false;
  int rank = 0;
  int size = 1;
};

// What tells the GPU from all others, on this machine or elsewhere; empty for the CPU and where
// this build has no NCCL, whose ranks have a GPU each.
std::string gpu_identity(const torch::Device& device);

// By Gloo, for tensors in host memory. Throws Error{device} if this build has none.
std::unique_ptr<RankGroup> make_gloo_group(const GroupPlace& place);

// By NCCL, for tensors on `device`, which resolve_device() gave. Throws Error{device} if this build
// has none.
std::unique_ptr<RankGroup> make_nccl_group(const GroupPlace& place, const torch::Device& device);

}  // namespace winnow
