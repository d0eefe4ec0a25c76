// Sums over ranks, by LibTorch's c10d: Gloo on the CPU, NCCL on GPUs. NCCL's code needs LibTorch's
// CUDA half, so it lies in a module of its own (prune/training/cuda) that is opened when a GPU is
// used.
#pragma once

#include <c10/util/intrusive_ptr.h>
#include <torch/types.h>

#include <memory>
#include <torch/csrc/distributed/c10d/Store.hpp>

namespace winnow {

class RankSum {
 public:
  virtual ~RankSum() = default;

  // Makes `values`, contiguous, the sum over all ranks, in place, with equal bits at each. On a GPU
  // it is queued on the current stream and may be recorded in a CUDA graph after a first call. All
  // ranks make the same calls in the same order. Throws what c10d throws, as where a connection is
  // lost.
  virtual void add_up(torch::Tensor& values) = 0;

  // Ends what add_up() waits for, from another thread: the values are then of no use. The last call
  // but for the destructor.
  virtual void abort() = 0;
};

struct SumPlace {
  c10::intrusive_ptr<c10d::Store> store;  // where ranks find each other
  bool is_one_machine = false;
  int rank = 0;
  int size = 1;
};

// By Gloo, for tensors in host memory. Throws Error{device} if this build has none.
std::unique_ptr<RankSum> make_gloo_sum(const SumPlace& place);

// By NCCL, for tensors on `device`, which resolve_device() gave. Throws Error{device} if this build
// has none.
std::unique_ptr<RankSum> make_nccl_sum(const SumPlace& place, const torch::Device& device);

}  // namespace winnow
