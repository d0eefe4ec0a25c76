// A planned network in device memory, ready to run.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "runtime/device/buffer.h"
#include "runtime/device/graph.h"
#include "runtime/gpu/session/network_plan.h"

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

  // Enqueues step `i` with the conversions before it (and, for the last step, after it).
  void enqueue_step(std::size_t i, cudaStream_t stream) const;

  // Whether step `i` needs no work (a flattening whose input lies right).
  bool is_free(std::size_t i) const;

  // Whether step `i` is computed by a later one, so that its value is nowhere.
  bool is_deferred(std::size_t i) const;

  // The value of step `i` right after enqueue_step(i); of a deferred one, what it is computed from.
  ActivationView step_output(std::size_t i) const;

 private:
  // A value in one format.
  struct Slot {
    std::size_t value = 0;
    std::size_t format = 0;
    std::size_t alias_of = 0;  // slot whose memory it is; itself if it has its own
    std::size_t first_op = 0;
    std::size_t last_op = 0;
    std::byte* data = nullptr;
  };

  // A kernel or a conversion (layer is null).
  struct Operation {
    const PreparedLayer* layer = nullptr;
    std::vector<std::size_t> in;  // slots
    std::size_t out = 0;
    std::size_t step = 0;  // whose time it counts to
  };

  std::size_t slot_of(std::size_t value, std::size_t format);
  std::size_t use(std::size_t value, std::size_t format);  // by the next operation
  void add_operations();
  void add_conversion(const Conversion& conversion);
  void add_step(std::size_t index);
  void place_slots(cudaStream_t stream);
  void place_arena(const std::vector<std::size_t>& slots, cudaStream_t stream);
  std::size_t root(std::size_t slot) const;
  ActivationView view(std::size_t slot) const;
  void enqueue_operation(const Operation& operation, cudaStream_t stream) const;

  const Program& program_;
  NetworkPlan plan_;
  std::vector<Slot> slots_;
  std::vector<Operation> operations_;
  std::vector<std::size_t> step_slots_;  // by step: where its output lies
  std::size_t input_slot_ = 0;
  std::size_t output_slot_ = 0;
  DeviceBuffer<float> input_;
  std::vector<DeviceBuffer<std::byte>> arenas_;
  DeviceBuffer<std::byte> workspace_;
};

}  // namespace winnow
