#include "runtime/plan/channel_classes.h"

#include <algorithm>
#include <numeric>
#include <variant>

#include "runtime/plan/layout.h"

namespace winnow {
namespace {

// Union-find whose members know the distance of their first channel from their root's.
class Joiner {
 public:
  explicit Joiner(std::size_t values) : parent_(values), distance_(values, 0) {
    std::iota(parent_.begin(), parent_.end(), 0);
  }

  struct Root {
    std::size_t value;
    std::int64_t distance;
  };
  Root find(std::size_t value) const {
    std::int64_t distance = 0;
    for (; parent_[value] != value; value = parent_[value]) distance += distance_[value];
    return {value, distance};
  }

  // The first channel of `part` is channel `at` of `whole`. Values that are joined at another
  // distance stay as they are.
  void join(std::size_t part, std::size_t whole, std::int64_t at) {
    const Root a = find(part), b = find(whole);
    if (a.value == b.value) return;
    parent_[a.value] = b.value;
    distance_[a.value] = b.distance + at - a.distance;
  }

 private:
  std::vector<std::size_t> parent_;
  std::vector<std::int64_t> distance_;
};

bool keeps_channels(const Op& op) {
  return std::holds_alternative<Pool>(op) || std::holds_alternative<Add>(op) ||
         std::holds_alternative<Relu>(op);
}

void join_step(const Program& program, const Step& step, Joiner& joiner) {
  if (keeps_channels(step.op)) {
    for (const std::size_t input : step.inputs) joiner.join(input, step.output, 0);
  } else if (std::holds_alternative<Concat>(step.op)) {
    std::int64_t at = 0;
    for (const std::size_t input : step.inputs) {
      if (at % kBlockedChannels == 0) joiner.join(input, step.output, at);
      at += program.values[input].shape[1];
    }
  }
}

}  // namespace

ChannelClasses channel_classes(const Program& program) {
  const std::size_t values = program.values.size();
  Joiner joiner(values);
  for (const Step& step : program.steps) join_step(program, step, joiner);

  ChannelClasses classes;
  std::vector<std::size_t> class_of_root(values, values);
  std::vector<std::int64_t> lowest;  // by class
  for (std::size_t v = 0; v < values; ++v) {
    const Joiner::Root root = joiner.find(v);
    std::size_t& found = class_of_root[root.value];
    if (found == values) {
      found = lowest.size();
      lowest.push_back(root.distance);
    }
    lowest[found] = std::min(lowest[found], root.distance);
    classes.class_of.push_back(found);
    classes.first.push_back(root.distance);
  }
  classes.channels.resize(lowest.size());
  for (std::size_t v = 0; v < values; ++v) {
    const std::size_t found = classes.class_of[v];
    classes.first[v] -= lowest[found];
    std::int64_t& channels = classes.channels[found];
    channels = std::max(channels, classes.first[v] + program.values[v].shape[1]);
  }
  return classes;
}

}  // namespace winnow
