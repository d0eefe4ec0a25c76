#include "runtime/report/deployed_facts.h"

#include <algorithm>
#include <set>

#include "runtime/base/error.h"
#include "runtime/base/joined_kernel.h"
#include "runtime/base/suggest.h"

namespace winnow {
namespace {

using Json = nlohmann::json;

std::optional<double> median(const Json& plan, const char* key) {
  const auto found = plan.find(key);
  return found == plan.end() ? std::nullopt : number(*found, "median");
}

std::optional<double> layer_median(const Json& plan, const std::string& name) {
  if (!plan.contains("layers")) return std::nullopt;
  for (const Json& layer : plan.at("layers")) {
    if (text(layer, "name") == name) return median(layer, "ms");
  }
  return std::nullopt;
}

FamilyTime family_time(const Json& candidate) {
  FamilyTime time{text(candidate, "family"), number(candidate, "ms"), text(candidate, "rejected")};
  if (time.ms && is_timed_later(text(candidate, "kernel"), *time.ms)) time.ms.reset();
  return time;
}

// The fastest of each family and what was rejected. `bench --candidates` has more of a family.
std::vector<FamilyTime> families_of(const Json& layer) {
  std::vector<FamilyTime> families;
  const auto candidates = layer.find("candidates");
  if (candidates == layer.end()) return families;
  for (const Json& candidate : *candidates) {
    FamilyTime time = family_time(candidate);
    const auto known = std::ranges::find_if(families, [&](const FamilyTime& other) {
      return other.family == time.family && other.rejected.empty() == time.rejected.empty();
    });
    if (known != families.end()) {
      if (known->ms || !time.ms) continue;
      families.erase(known);  // what a later layer's kernel computes says nothing of the family
    }
    families.push_back(std::move(time));
  }
  return families;
}

// The index of a class, which must be one of `classes`.
std::size_t class_index(const Json& json, const char* key, std::size_t classes,
                        const std::string& path) {
  const std::int64_t index = count(json, key, 0, path);
  if (index < static_cast<std::int64_t>(classes)) return static_cast<std::size_t>(index);
  fail(ErrorCode::bad_file, path, ": '", key, "': found ", index, ", expected one of ", classes,
       " classes");
}

AgreementFacts agreement_from(const Json& run, const Json& json, const std::string& path) {
  AgreementFacts facts;
  facts.against = text(json, "model");
  facts.samples = count(run, "samples", 1, path);
  facts.agreeing = count(json, "agreeing", 0, path);
  facts.accuracy = fraction(run, "accuracy").value_or(0);
  facts.against_accuracy = fraction(json, "accuracy").value_or(0);
  for (const Json& one : json.at("classes")) {
    facts.classes.push_back({text(one, "class"), count(one, "samples", 0, path),
                             count(one, "correct", 0, path), count(one, "against_correct", 0, path),
                             count(one, "agreeing", 0, path)});
  }
  const std::size_t classes = facts.classes.size();
  for (const Json& one : json.at("answers")) {
    facts.answers.push_back({class_index(one, "against", classes, path),
                             class_index(one, "model", classes, path),
                             count(one, "count", 0, path)});
  }
  return facts;
}

std::string shape_text(const Json& shape) {
  std::string text;
  for (const Json& size : shape) text += (text.empty() ? "[" : ", ") + size.dump();
  return text.empty() ? "" : text + "]";
}

}  // namespace

void add_run(RunFacts& facts, const Json& json, const std::string& path) {
  facts.deployed_accuracy = fraction(json, "accuracy");
  facts.deployed_device = text(json, "device");
  const auto against = json.find("against");
  if (against != json.end()) facts.agreement = agreement_from(json, *against, path);
}

void add_bench(RunFacts& facts, const Json& json, const std::string& path) {
  for (const Json& comparison : json) {
    const Json &dense = comparison.at("dense"), &sparse = comparison.at("sparse");
    const Json& chosen = comparison.at("chosen");
    BatchFacts batch;
    batch.device = text(comparison, "device");
    batch.precision = text(comparison, "precision");
    batch.batch = count(comparison, "batch", 1, path);
    batch.dense_ms = median(dense, "network_ms");
    batch.sparse_ms = median(sparse, "network_ms");
    batch.chosen_ms = median(chosen, "network_ms").value_or(0);
    const auto against = comparison.find("against");
    if (against != comparison.end()) batch.against_ms = median(*against, "network_ms");
    for (const Json& layer : chosen.at("layers")) {
      const std::string name = text(layer, "name");
      batch.layers.push_back({name, layer_median(dense, name), layer_median(sparse, name),
                              median(layer, "ms").value_or(0), text(layer, "kernel"),
                              text(layer, "op"), number(layer, "dense_macs"),
                              number(layer, "weight_sparsity"), families_of(layer)});
    }
    facts.batches.push_back(std::move(batch));
  }
}

void add_inspect(RunFacts& facts, const Json& json, const std::string& path) {
  if (!json.contains("nodes")) return;  // of a version that did not list them
  std::set<std::string> known;
  for (const Json& one : json.at("nodes")) {
    NodeFacts node{text(one, "name"),
                   text(one, "op"),
                   {},
                   shape_text(one.at("output_shape")),
                   number(one, "dense_macs"),
                   number(one, "weight_sparsity")};
    if (node.dense_macs == 0) node.dense_macs.reset();
    for (const Json& input : one.at("inputs")) {
      node.inputs.push_back(input.get<std::string>());
      if (known.contains(node.inputs.back())) continue;
      fail(ErrorCode::bad_file, path, ": node ", in_quotes(node.name), ": input ",
           in_quotes(node.inputs.back()), " is no node before it");
    }
    known.insert(node.name);
    facts.nodes.push_back(std::move(node));
  }
}

}  // namespace winnow
