// A network run step by step by the runtime's backends, so that every value can be seen and
// changed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "runtime/base/device_name.h"
#include "runtime/engine.h"
#include "runtime/model/model.h"
#include "runtime/plan/program.h"
#include "runtime/reference/operations.h"

namespace winnow {

// Every step is a session of its own (engine.h), planned once. Of many samples only the values that
// later steps read are in memory. Additions, concatenations and flattening are plain loops.
class StepwiseNetwork {
 public:
  // Called with every value as it comes into being, the network's input first, under the name of
  // the node that gives it; of a relu that runs with the step before it, the relu's. What is
  // changed is what later steps read.
  using Visit = std::function<void(const std::string& node, std::span<float> values)>;

  // `options` are those of every step's session, but that its batch is smaller where all sessions
  // together would take much memory; options.progress is told of steps.
  // Throws Error{device} if the device is missing.
  StepwiseNetwork(const DeployedModel& model, Device device, SessionOptions options);

  // The value of the last node for `samples` inputs, which lie one after the other, normalised.
  std::vector<float> run(std::int64_t samples, std::vector<float> input, const Visit& visit);

 private:
  std::vector<float> step_values(std::size_t index, const Step& step,
                                 const std::vector<reference::Array>& values);

  Graph graph_;
  std::vector<std::optional<Engine>> engines_;  // by step; none where plain loops run it
};

}  // namespace winnow
