// A network whose first steps run image by image, one image a thread, and the others on the whole
// batch: early activations of one image stay in a core's caches, late weights are read once.
#pragma once

#include <memory>
#include <vector>

#include "runtime/cpu/cpu_network.h"
#include "runtime/cpu/network_planner.h"

namespace winnow {

// Steps before which a network may be cut: the step before writes, in nchw with gaps, all that
// later ones read, in both plans. `single` is for one image, `whole` for the batch, of the same
// model.
std::vector<std::size_t> possible_cuts(const NetworkParts& single, const NetworkParts& whole);

class SplitNetwork final : public RunnableNetwork {
 public:
  // Steps before `cut`, one of possible_cuts() or the number of steps, are those of `single`, whose
  // layers must start no threads.
  SplitNetwork(const NetworkParts& single, const NetworkParts& whole, std::size_t cut, int threads);

  std::span<float> input() override { return input_; }
  std::span<float> output() override;
  void run(ThreadPool& pool) override;
  void run_step(std::size_t step, ThreadPool& pool) override;
  std::vector<std::vector<float>> step_outputs(ThreadPool& pool) override;

 private:
  struct Worker {
    std::unique_ptr<CpuNetwork> network;
    std::unique_ptr<ThreadPool> pool;  // of one thread
  };

  std::int64_t first_image(int share) const { return images_ * share / threads(); }
  int threads() const { return static_cast<int>(workers_.size()); }
  void set_image(CpuNetwork& network, std::int64_t image) const;
  void take_result(CpuNetwork& network, std::int64_t image);

  std::int64_t images_;
  std::size_t cut_;
  std::vector<Worker> workers_;
  std::unique_ptr<CpuNetwork> rest_;  // null: all steps run image by image
  std::int64_t origin_ = 0;           // of the rest's input
  std::int64_t result_floats_ = 0;    // of an image, from one to the next in the rest's input
  std::vector<float> input_, output_;
};

}  // namespace winnow
