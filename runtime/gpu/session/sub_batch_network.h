// A network whose first steps run on a few samples at a time and the others on the whole batch, so
// that early activations stay in the L2 cache.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "runtime/gpu/session/network_executor.h"

namespace winnow {

// A network planned for some batch.
struct PlannedProgram {
  Program program;
  NetworkPlan plan;
};

// Steps before which the two plans of one model may be cut: the step before writes, in the same
// format in both, all that later ones read, and pieces of `part` lie one behind the other in the
// value of `whole`. Its batch is a multiple of the part's.
std::vector<std::size_t> possible_cuts(const PlannedProgram& part, const PlannedProgram& whole);

// Steps first .. last - 1, where either is `cut`, 0 or the number of steps. The value that passes
// at the cut has its format there as format 0.
PlannedProgram slice(const PlannedProgram& planned, std::size_t first, std::size_t last,
                     std::size_t cut);

class SubBatchNetwork final : public DeviceNetwork {
 public:
  // Steps before `cut`, one of possible_cuts() or the number of steps, are those of `part`. Zeroes
  // its memory on `stream`; `memory` must outlive it. Throws Error{device} if memory runs out.
  SubBatchNetwork(const PlannedProgram& part, const PlannedProgram& whole, std::size_t cut,
                  NetworkMemory& memory, cudaStream_t stream);
  SubBatchNetwork(const SubBatchNetwork&) = delete;
  SubBatchNetwork& operator=(const SubBatchNetwork&) = delete;

  float* input() const override { return input_.get(); }
  const float* output() const override;
  void enqueue(cudaStream_t stream) const override;
  bool reads_bytes() const override { return part_->reads_bytes(); }
  void enqueue_on_bytes(const std::uint8_t* bytes, cudaStream_t stream) const override;
  void enqueue_step(std::size_t i, cudaStream_t stream) const override;
  bool is_free(std::size_t i) const override;
  std::vector<std::vector<float>> step_values(cudaStream_t stream) const override;

 private:
  bool has_rest() const { return rest_ != nullptr; }
  void copy_input(std::int64_t run, cudaStream_t stream) const;
  void copy_output(std::int64_t run, cudaStream_t stream) const;

  std::size_t cut_;
  std::int64_t runs_;
  PlannedProgram first_, last_;  // what the executors run
  NetworkMemory part_memory_;
  std::unique_ptr<NetworkExecutor> part_;
  std::unique_ptr<NetworkExecutor> rest_;  // null: all steps run on parts of the batch
  DeviceBuffer<float> input_;              // of the whole batch
  DeviceBuffer<float> output_;             // of it, where there is no rest
};

}  // namespace winnow
