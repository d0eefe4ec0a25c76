#include "runtime/plan/timing_table.h"

#include <array>
#include <cstdio>
#include <optional>
#include <span>
#include <utility>
#include <variant>

#include "runtime/base/checksum.h"
#include "runtime/base/random.h"
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
    if (pool->padding_end) append("e", *pool->padding_end);
    if (pool->rounds_up) key += " up";
    if (!pool->counts_padding) key += " real";
  } else if (const auto* relu = std::get_if<Relu>(&op); relu != nullptr && relu->max_value) {
    key += " bounded";
  }
  return key;
}

}  // namespace

const Timing* TimingTable::find(const std::string& key, bool has_cold) {
  const auto known = known_.find(key);
  if (known != known_.end()) return &known->second;
  if (!store_.cache || store_.is_renewed) return nullptr;
  std::optional<Timing> cached = store_.cache->find(place_, key);
  if (!cached) return nullptr;
  const bool lacks_cold = cached->rejected.empty() && cached->cold_ms == 0;
  if (has_cold && store_.wants_cold && lacks_cold) return nullptr;
  ++counts_.cached;
  return &known_.emplace(key, std::move(*cached)).first->second;
}

const Timing& TimingTable::put(const std::string& key, Timing timing) {
  ++counts_.measured;
  if (store_.cache) store_.cache->keep(place_, key, timing);
  return known_.insert_or_assign(key, std::move(timing)).first->second;
}

const Timing& TimingTable::get(const std::string& key, const Measure& measure, bool has_cold) {
  const Timing* known = find(key, has_cold);
  return known ? *known : put(key, measure());
}

std::vector<Timing> TimingTable::get_together(const std::vector<std::string>& keys,
                                              const std::function<std::vector<Timing>()>& measure) {
  std::vector<Timing> timings;
  for (const std::string& key : keys) {
    const Timing* known = find(key);
    if (!known) break;
    timings.push_back(*known);
  }
  if (timings.size() == keys.size()) return timings;
  timings = measure();
  for (std::size_t i = 0; i < keys.size(); ++i) put(keys[i], timings[i]);
  return timings;
}

const std::vector<ChosenKernel>* TimingTable::find_choice(const std::string& key) {
  if (store_.lists_candidates) return nullptr;
  const Timing* known = find(key);
  return known && !known->kernels.empty() ? &known->kernels : nullptr;
}

void TimingTable::keep_choice(const std::string& key, std::vector<ChosenKernel> kernels) {
  if (!store_.cache) return;
  Timing choice;
  choice.kernels = std::move(kernels);
  if (store_.cache->find(place_, key) != choice) store_.cache->keep(place_, key, choice);
}

std::string shape_key(const Program& program, const Step& step) {
  std::string key = op_key(step.op);
  for (const std::size_t input : step.inputs) {
    key.append(" ").append(to_string(program.values[input].shape));
  }
  key.append(" -> ").append(to_string(program.values[step.output].shape));
  if (step.has_relu) key += " relu";
  return key;
}

std::string step_key(const DeployedModel& model, const Program& program, const Step& step) {
  std::string key = shape_key(program, step);
  if (const Weight* weight = weights_of(model, step).weight) {
    key.append(" crc ").append(std::to_string(checksum_of(*weight)));
  }
  return key;
}

std::string short_key(const std::string& text) {
  std::uint64_t word = text.size();
  for (const char c : text) word = mix_bits(word ^ static_cast<unsigned char>(c)) + 1;
  std::array<char, 17> digits{};
  std::snprintf(digits.data(), digits.size(), "%016llx", static_cast<unsigned long long>(word));
  return digits.data();
}

std::uint32_t checksum_of(const Weight& weight) {
  if (const auto* dense = std::get_if<DenseWeight>(&weight)) return crc32c(dense->values.data);
  const auto& sparse = std::get<CsrWeight>(weight);
  const std::int64_t sizes[] = {sparse.vector, sparse.row_length};
  std::uint32_t sum = crc32c(std::as_bytes(std::span(sizes)));
  sum = crc32c(std::as_bytes(std::span(sparse.column)), sum);
  sum = crc32c(std::as_bytes(std::span(sparse.kept)), sum);
  sum = crc32c(std::as_bytes(std::span(sparse.values.codebook)), sum);
  return crc32c(sparse.values.data, sum);
}

}  // namespace winnow
