// A planned network in device memory: kernels, conversions and the activations between them.
#pragma once

#include <cstddef>
#include <vector>

#include "runtime/gpu/session/device_network.h"
#include "runtime/gpu/session/network_plan.h"
#include "runtime/plan/execution_plan.h"

namespace winnow {

// Values without halo share one arena by their lifetimes. Values with a halo or padding channels
// share memory only with values of the same geometry: kernels write interiors only, so the frames
// of zeros, written once, stay zeros. So does the input of a network that is a part of another.
class NetworkExecutor final : public DeviceNetwork {
 public:
  // `program` and `memory` must outlive it. Zeroes its memory on `stream`.
  // Throws Error{device} if memory runs out.
  NetworkExecutor(const Program& program, NetworkPlan plan, NetworkMemory& memory,
                  cudaStream_t stream);

  const NetworkPlan& plan() const { return plan_; }

  // In format 0 of their values, which is row-major fp32 unless the network is a part of another.
  ActivationView input_view() const { return view(execution_.input); }
  ActivationView output_view() const { return view(execution_.output); }

  float* input() const override { return reinterpret_cast<float*>(data_[execution_.input]); }
  const float* output() const override {
    return reinterpret_cast<const float*>(data_[execution_.output]);
  }
  void enqueue(cudaStream_t stream) const override;
  bool reads_bytes() const override;
  void enqueue_on_bytes(const std::uint8_t* bytes, cudaStream_t stream) const override;
  void enqueue_step(std::size_t i, cudaStream_t stream) const override;
  bool is_free(std::size_t i) const override;
  std::vector<std::vector<float>> step_values(cudaStream_t stream) const override;

 private:
  void place_buffers(NetworkMemory& memory, cudaStream_t stream);
  std::byte* place_input(NetworkMemory& memory, cudaStream_t stream);
  void place_arena(const std::vector<std::size_t>& buffers, SharedMemory* shared,
                   cudaStream_t stream);
  const ActivationFormat& format_of(std::size_t buffer) const;
  Extents size_of(std::size_t buffer) const;
  ActivationView view(std::size_t buffer) const;
  void enqueue_operation(const PlannedOperation& operation, cudaStream_t stream) const;
  bool reads_input(const PlannedOperation& operation) const;

  const Program& program_;
  NetworkPlan plan_;
  ExecutionPlan execution_;
  std::vector<std::byte*> data_;  // by buffer
  std::vector<DeviceBuffer<std::byte>> own_;
  Workspace workspace_;
};

}  // namespace winnow
