// The one place for measured times, whatever the backend.
#pragma once

#include <functional>
#include <map>
#include <string>

#include "runtime/model/model.h"
#include "runtime/plan/program.h"

namespace winnow {

// Milliseconds by a key that names device, step or conversion, kernel and formats.
class TimingTable {
 public:
  // The time under `key`; where there is none yet, what `measure` returns, which is kept.
  double get(const std::string& key, const std::function<double()>& measure);

 private:
  std::map<std::string, double> ms_;
};

// Names a step: op, sizes, relu and a checksum of its weight. Steps of one key take the same time
// in the same kernel.
std::string step_key(const DeployedModel& model, const Program& program, const Step& step);

// Of the stored values and, of a sparse weight, their columns.
std::uint32_t checksum_of(const Weight& weight);

}  // namespace winnow
