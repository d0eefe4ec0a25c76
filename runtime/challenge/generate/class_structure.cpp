#include "runtime/challenge/generate/class_structure.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <iterator>
#include <utility>

#include "runtime/base/error.h"

namespace winnow::challenge {
namespace {

constexpr std::uint32_t kPublishedSizes[] = {1024, 4096, 16384, 65536};
constexpr std::uint32_t kPublishedLayers = 1920;
constexpr std::uint32_t kPublishedClassSize = 16;

std::uint32_t strides_of(std::uint32_t classes) {
  return std::max(1u, static_cast<std::uint32_t>(std::bit_width(classes - 1)));
}

// Neurons in the order of the numbers drawn for them; the earlier first where these are equal.
std::vector<std::uint32_t> random_order(std::uint32_t neurons, UniformStream& stream) {
  std::vector<std::pair<double, std::uint32_t>> drawn(neurons);
  for (std::uint32_t i = 0; i < neurons; ++i) drawn[i] = {stream.next(), i};
  std::sort(drawn.begin(), drawn.end());
  std::vector<std::uint32_t> order(neurons);
  for (std::uint32_t i = 0; i < neurons; ++i) order[i] = drawn[i].second;
  return order;
}

std::vector<std::uint32_t> deal(const std::vector<std::uint32_t>& order, std::uint32_t classes) {
  std::vector<std::uint32_t> class_of(order.size());
  for (std::uint32_t t = 0; t < order.size(); ++t) class_of[order[t]] = t % classes;
  return class_of;
}

}  // namespace

ClassStructure::ClassStructure(std::uint32_t neurons, std::uint32_t class_size,
                               std::uint32_t layers, UniformStream stream)
    : neurons_(neurons), classes_(neurons / class_size), strides_(strides_of(classes_)) {
  std::vector<std::uint32_t> order(neurons);
  for (std::uint32_t i = 0; i < neurons; ++i) order[i] = i;
  class_of_.push_back(deal(order, classes_));
  const std::uint32_t blocks = (layers + strides_ - 1) / strides_;
  while (class_of_.size() < blocks) {
    class_of_.push_back(deal(random_order(neurons, stream), classes_));
  }
}

std::vector<std::vector<std::uint32_t>> ClassStructure::input_lists(std::uint32_t l) const {
  const std::vector<std::uint32_t>& class_of = input_classes(l);
  std::vector<std::vector<std::uint32_t>> members(classes_);
  for (std::uint32_t i = 0; i < neurons_; ++i) members[class_of[i]].push_back(i);
  std::vector<std::vector<std::uint32_t>> lists(classes_);
  for (std::uint32_t c = 0; c < classes_; ++c) {
    const std::uint32_t other = (c + stride(l)) % classes_;
    if (other == c) {
      lists[c] = members[c];
    } else {
      std::merge(members[c].begin(), members[c].end(), members[other].begin(), members[other].end(),
                 std::back_inserter(lists[c]));
    }
  }
  return lists;
}

std::uint64_t ClassStructure::connections(std::uint32_t l) const {
  // A class has as many outputs as it has inputs, however they are dealt out.
  const auto size = [&](std::uint32_t c) {
    return std::uint64_t{neurons_ / classes_ + (c < neurons_ % classes_)};
  };
  std::uint64_t sum = 0;
  for (std::uint32_t c = 0; c < classes_; ++c) {
    const std::uint32_t other = (c + stride(l)) % classes_;
    sum += size(c) * (other == c ? size(c) : size(c) + size(other));
  }
  return sum;
}

std::uint64_t published_stream_position(std::uint32_t neurons) {
  std::uint64_t position = 0;
  for (const std::uint32_t size : kPublishedSizes) {
    if (size == neurons) return position;
    const std::uint32_t strides = strides_of(size / kPublishedClassSize);
    position += std::uint64_t{kPublishedLayers / strides - 1} * size;
  }
  fail(ErrorCode::usage, "found ", neurons, " neurons, published are 1024, 4096, 16384 and 65536");
}

}  // namespace winnow::challenge
