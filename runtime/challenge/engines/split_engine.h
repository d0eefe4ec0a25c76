// Images split over several engines that run at the same time, one on each GPU.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "runtime/base/thread_pool.h"
#include "runtime/challenge/engine.h"

namespace winnow::challenge {

// Engines take turns at stripes of kStripeImages images. A run's inference time lasts from the
// start of all engines to the categories of all; its transfer time is the longest.
class SplitEngine : public Engine {
 public:
  using Maker = std::function<std::unique_ptr<Engine>(int share)>;

  // Calls make(0) .. make(shares - 1) at the same time, each on its thread. Rethrows what one
  // throws.
  SplitEngine(int shares, const Maker& make);

  std::string device() const override;  // those of all
  DeviceClocks clocks() const override { return engines_.front()->clocks(); }
  std::string kernel() const override;
  void set_images(const SparseImages& images) override;
  Categories run(RunTimes& times) override;
  std::vector<std::uint32_t> live() const override;
  std::string discovery() const override { return engines_.front()->discovery(); }
  double prepare_ms() const override;  // the longest

 private:
  ThreadPool pool_;
  std::vector<std::unique_ptr<Engine>> engines_;
};

}  // namespace winnow::challenge
