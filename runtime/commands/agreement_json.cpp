#include "runtime/commands/agreement_json.h"

#include <map>
#include <utility>

namespace winnow {
namespace {

using Json = nlohmann::ordered_json;

struct ClassCounts {
  std::int64_t samples = 0, correct = 0, against_correct = 0, agreeing = 0;
};

ClassCounts sum_of(const std::vector<ClassCounts>& classes) {
  ClassCounts sum;
  for (const ClassCounts& one : classes) {
    sum.samples += one.samples;
    sum.correct += one.correct;
    sum.against_correct += one.against_correct;
    sum.agreeing += one.agreeing;
  }
  return sum;
}

double percent(std::int64_t part, std::int64_t whole) {
  return 100.0 * static_cast<double>(part) / static_cast<double>(whole);
}

}  // namespace

Json agreement_json(const Answers& answers, const std::vector<std::string>& classes) {
  std::vector<ClassCounts> counts(classes.size());
  std::map<std::pair<std::int32_t, std::int32_t>, std::int64_t> pairs;
  for (std::size_t i = 0; i < answers.labels.size(); ++i) {
    const std::int32_t label = answers.labels[i];
    ClassCounts& one = counts[static_cast<std::size_t>(label)];
    ++one.samples;
    one.correct += answers.model[i] == label;
    one.against_correct += answers.against[i] == label;
    one.agreeing += answers.model[i] == answers.against[i];
    ++pairs[{answers.against[i], answers.model[i]}];
  }
  const ClassCounts sum = sum_of(counts);
  Json json = {
      {"correct", sum.against_correct}, {"accuracy", percent(sum.against_correct, sum.samples)},
      {"agreeing", sum.agreeing},       {"agreement", percent(sum.agreeing, sum.samples)},
      {"classes", Json::array()},       {"answers", Json::array()}};
  for (std::size_t i = 0; i < counts.size(); ++i) {
    json["classes"].push_back({{"class", classes[i]},
                               {"index", i},
                               {"samples", counts[i].samples},
                               {"correct", counts[i].correct},
                               {"against_correct", counts[i].against_correct},
                               {"agreeing", counts[i].agreeing}});
  }
  for (const auto& [pair, count] : pairs) {
    json["answers"].push_back({{"against", pair.first}, {"model", pair.second}, {"count", count}});
  }
  return json;
}

}  // namespace winnow
