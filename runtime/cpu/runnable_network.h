// A network with a layer for every step, ready to run.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "runtime/base/thread_pool.h"

namespace winnow {

class RunnableNetwork {
 public:
  virtual ~RunnableNetwork() = default;

  virtual std::span<float> input() = 0;   // nchw, kept from run to run
  virtual std::span<float> output() = 0;  // nchw, valid after run()

  // All steps; or one step with the conversions before it (after it too, for the last).
  virtual void run(ThreadPool& pool) = 0;
  virtual void run_step(std::size_t step, ThreadPool& pool) = 0;

  // Runs all steps and gives the output of each, row-major; empty of a deferred one.
  virtual std::vector<std::vector<float>> step_outputs(ThreadPool& pool) = 0;
};

}  // namespace winnow
