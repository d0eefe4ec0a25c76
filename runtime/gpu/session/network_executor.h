// A planned network in device memory, ready to run.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "runtime/device/buffer.h"
#include "runtime/device/graph.h"
#include "runtime/gpu/session/network_plan.h"
#include "runtime/plan/execution_plan.h"

namespace winnow {

// Kernels, conversions and the activations between them.
//
// Values without halo share one arena by their lifetimes. Values with a halo or padding channels
// share memory only with values of the same geometry: kernels write interiors only, so the frames
// of zeros, written once, stay zeros.
class NetworkExecutor {
 public:
  // `program` must outlive it. Zeroes its memory on the context's stream.
  // Throws Error{device} if memory runs out.
  NetworkExecutor(const Program& program, NetworkPlan plan, GpuContext& gpu);

  const NetworkPlan& plan() const { return plan_; }

  // Row-major fp32, in device memory; the input's stays as it is during runs.
  float* input() const { return input_.get(); }
  const float* output() const;

  // Enqueues the whole network.
  void enqueue(cudaStream_t stream) const;

  // Whether every step that reads the input can read it as bytes.
  bool reads_bytes() const;

  // Enqueues the whole network on bytes [N, C, H, W] in device memory in place of input(). Requires
  // reads_bytes().
  void enqueue_on_bytes(const std::uint8_t* bytes, cudaStream_t stream) const;

  // Enqueues step `i` with the conversions before it (and, for the last step, after it).
  void enqueue_step(std::size_t i, cudaStream_t stream) const;

  // Whether step `i` needs no work (a flattening whose input lies right).
  bool is_free(std::size_t i) const;

  // Whether step `i` is computed by a later one, so that its value is nowhere.
  bool is_deferred(std::size_t i) const;

  // The value of step `i` right after enqueue_step(i); of a deferred one, what it is computed from.
  ActivationView step_output(std::size_t i) const;

 private:
  void place_buffers(cudaStream_t stream);
  void place_arena(const std::vector<std::size_t>& buffers, cudaStream_t stream);
  const ActivationFormat& format_of(std::size_t buffer) const;
  Extents size_of(std::size_t buffer) const;
  ActivationView view(std::size_t buffer) const;
  void enqueue_operation(const PlannedOperation& operation, cudaStream_t stream) const;
  bool reads_input(const PlannedOperation& operation) const;

  const Program& program_;
  NetworkPlan plan_;
  ExecutionPlan execution_;
  std::vector<std::byte*> data_;  // by buffer
  DeviceBuffer<float> input_;
  std::vector<DeviceBuffer<std::byte>> arenas_;
  DeviceBuffer<std::byte> workspace_;
};

}  // namespace winnow
