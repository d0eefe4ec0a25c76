#include "runtime/plan/timing_table.h"

#include <span>
#include <variant>

#include "runtime/base/checksum.h"
#include "runtime/plan/step_weights.h"

namespace winnow {
namespace {

// What of an op its time depends on and its shapes do not tell.
std::string op_key(const Op& op) {
  std::string key = op_name(op);
  const auto append = [&](const char* name, const Pair& pair) {
    key.append(" ").append(name).append(std::to_string(pair[0]));
    key.append("x").append(std::to_string(pair[1]));
  };
  if (const auto* conv = std::get_if<Conv>(&op)) {
    append("k", conv->kernel);
    append("s", conv->stride);
    append("p", conv->padding);
    append("d", conv->dilation);
    key.append(" g").append(std::to_string(conv->groups));
  } else if (const auto* pool = std::get_if<Pool>(&op)) {
    append("k", pool->kernel);
    append("s", pool->stride);
    append("p", pool->padding);
  }
  return key;
}

}  // namespace

double TimingTable::get(const std::string& key, const std::function<double()>& measure) {
  const auto known = ms_.find(key);
  return known != ms_.end() ? known->second : ms_.emplace(key, measure()).first->second;
}

std::string step_key(const DeployedModel& model, const Program& program, const Step& step) {
  std::string key = op_key(step.op);
  for (const std::size_t input : step.inputs) {
    key.append(" ").append(to_string(program.values[input].shape));
  }
  key.append(" -> ").append(to_string(program.values[step.output].shape));
  if (step.has_relu) key += " relu";
  if (const Weight* weight = weights_of(model, step).weight) {
    key.append(" crc ").append(std::to_string(checksum_of(*weight)));
  }
  return key;
}

std::uint32_t checksum_of(const Weight& weight) {
  if (const auto* dense = std::get_if<DenseWeight>(&weight)) return crc32c(dense->values.data);
  const auto& sparse = std::get<CsrWeight>(weight);
  return crc32c(sparse.values.data, crc32c(std::as_bytes(std::span(sparse.column))));
}

}  // namespace winnow
