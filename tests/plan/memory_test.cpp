#include "runtime/plan/memory.h"

#include <doctest/doctest.h>

#include <limits>
#include <random>

#include "runtime/model/op_schema.h"
#include "tests/model/graphs.h"
#include "tests/throws.h"

namespace winnow {
namespace {

using Offsets = std::vector<std::int64_t>;

bool overlap(const Lifetime& a, const Lifetime& b) {
  return a.first_operation <= b.last_operation && b.first_operation <= a.last_operation;
}

std::int64_t rounded_up(std::int64_t bytes, std::int64_t alignment) {
  return (bytes + alignment - 1) / alignment * alignment;
}

// No plan can be smaller: the bytes alive at the fullest step.
std::int64_t least_bytes(const std::vector<Lifetime>& lifetimes, std::int64_t alignment) {
  std::int64_t most = 0;
  for (std::size_t step = 0; step < 40; ++step) {
    std::int64_t alive = 0;
    for (const Lifetime& life : lifetimes) {
      const bool is_alive = life.first_operation <= step && step <= life.last_operation;
      if (is_alive) alive += rounded_up(life.bytes, alignment);
    }
    most = std::max(most, alive);
  }
  return most;
}

}  // namespace

TEST_CASE("a chain of equal values needs room for two") {
  const MemoryPlan plan = plan_memory({{100, 0, 0}, {100, 0, 1}, {100, 1, 2}, {100, 2, 3}}, 1);
  CHECK(plan.offsets == Offsets{0, 100, 0, 100});
  CHECK(plan.total_bytes == 200);
}

TEST_CASE("larger values come first, each in the lowest gap that is free all its life") {
  // By size: 300 (steps 1-2) at 0; 200 (steps 0-1) meets it, at 300; 100 (steps 2-3) meets the
  // first only, at 300 too; 50 (steps 0-0) meets the second only, at 0.
  const MemoryPlan plan = plan_memory({{200, 0, 1}, {300, 1, 2}, {100, 2, 3}, {50, 0, 0}}, 1);
  CHECK(plan.offsets == Offsets{300, 0, 300, 0});
  CHECK(plan.total_bytes == 500);
}

TEST_CASE("a gap between two values is used again when its value has died") {
  // At step 1 the bytes 400-699 are free between the first and the third value.
  const MemoryPlan plan = plan_memory({{400, 0, 2}, {300, 0, 0}, {250, 0, 1}, {200, 1, 1}}, 1);
  CHECK(plan.offsets == Offsets{0, 400, 700, 400});
  CHECK(plan.total_bytes == 950);
}

TEST_CASE("offsets are multiples of the alignment and empty values take no room") {
  const MemoryPlan plan = plan_memory({{1, 0, 1}, {257, 0, 1}, {0, 0, 1}, {3, 1, 1}}, 256);
  CHECK(plan.offsets == Offsets{768, 0, 0, 512});
  CHECK(plan.total_bytes == 1024);
  CHECK(plan_memory({}).total_bytes == 0);
}

TEST_CASE(
    "values that live at the same time share no byte, and the arena is never larger than all") {
  std::mt19937 random(31);
  for (int i = 0; i < 300; ++i) {
    const std::int64_t alignment = std::int64_t{1} << (random() % 9);
    std::vector<Lifetime> lifetimes(random() % 30);
    std::int64_t sum = 0;
    for (Lifetime& life : lifetimes) {
      life.bytes = random() % 5000;
      life.first_operation = random() % 30;
      life.last_operation = life.first_operation + random() % 10;
      sum += rounded_up(life.bytes, alignment);
    }
    const MemoryPlan plan = plan_memory(lifetimes, alignment);
    REQUIRE(plan.offsets.size() == lifetimes.size());
    REQUIRE(plan.total_bytes <= sum);
    REQUIRE(plan.total_bytes >= least_bytes(lifetimes, alignment));
    for (std::size_t a = 0; a < lifetimes.size(); ++a) {
      REQUIRE(plan.offsets[a] % alignment == 0);
      REQUIRE(plan.offsets[a] >= 0);
      REQUIRE(plan.offsets[a] + lifetimes[a].bytes <= plan.total_bytes);
      for (std::size_t b = 0; b < a; ++b) {
        if (!overlap(lifetimes[a], lifetimes[b])) continue;
        const bool is_apart = plan.offsets[a] + lifetimes[a].bytes <= plan.offsets[b] ||
                              plan.offsets[b] + lifetimes[b].bytes <= plan.offsets[a];
        REQUIRE(is_apart);
      }
    }
  }
}

TEST_CASE("impossible sizes and alignments are refused") {
  const std::int64_t most = std::numeric_limits<std::int64_t>::max();
  CHECK(error_of([] { plan_memory({{-1, 0, 0}}); }) == ErrorCode::usage);
  CHECK(error_of([&] { plan_memory({{most, 0, 0}}); }) == ErrorCode::usage);
  CHECK(error_of([&] {
          plan_memory({{most - 5, 0, 0}, {most - 5, 0, 0}}, 1);
        }) == ErrorCode::usage);
  CHECK(error_of([] { plan_memory({{1, 0, 0}}, 0); }) == ErrorCode::usage);
}

TEST_CASE("session_bytes counts weights in each form and every activation") {
  DeployedModel model;
  model.graph = graph_of({100}, {{"fc", Linear{100, 40, true}, {}}, {"out", Softmax{}, {}}});
  model.weights["fc.weight"] =
      DenseWeight{{40, 100}, encode_fixed8(std::vector<std::int8_t>(4000, 1), 0.5f)};
  model.weights["fc.bias"] = DenseWeight{{40}, encode_f32(std::vector<float>(40, 0.0f))};
  // 4000 codes and as many floats, 40 biases twice, activations of 100 + 40 + 40.
  CHECK(session_bytes(model, 1) == 4000 + 4 * 4000 + 2 * 160 + 4 * 180);
  CHECK(session_bytes(model, 8) == 4000 + 4 * 4000 + 2 * 160 + 8 * 4 * 180);

  // One unit of 8 channels in each of 5 rows: columns in both forms, kept counts, 40 values.
  std::vector<std::uint8_t> mask(500, 0);
  for (std::size_t row = 0; row < 5; ++row) mask[100 * row] = 1;
  model.weights["fc.weight"] =
      csr_weight(build_csr_pattern(mask, 40, 100, 8), encode_f32(std::vector<float>(40, 1.0f)));
  CHECK(session_bytes(model, 1) == 2 * 4 * 40 + 8 * 5 + 4 * 5 + 4 * 4000 + 2 * 160 + 4 * 180);
}

TEST_CASE("session_bytes counts what convolutions read with its padding, 16 channels at a time") {
  const auto bytes_of = [](const Graph& graph, std::int64_t batch) {
    DeployedModel model;
    model.graph = graph;
    for (const Node& node : graph.nodes) {
      for (const Parameter& parameter : parameters_of(node)) {
        const auto count = static_cast<std::size_t>(element_count(parameter.shape));
        model.weights[parameter.name] =
            DenseWeight{parameter.shape, encode_f32(std::vector<float>(count, 0.0f))};
      }
    }
    return session_bytes(model, batch);
  };
  // Weights count as stored and as floats; activations are 3 + 1 planes of 5 x 7.
  const std::uint64_t point = 4 * 2 * 3 + 4 * 2 * (3 + 1) * 35;
  Conv op = conv(3, 1, 1);
  op.has_bias = false;
  CHECK(bytes_of(graph_of({3, 5, 7}, {{"conv", op, {}}}), 2) == point);

  // A padding of 2 rows and 1 column: the input again as 16 channels of 9 x 9, the output 9 x 9.
  op.padding = {2, 1};
  CHECK(bytes_of(graph_of({3, 5, 7}, {{"conv", op, {}}}), 2) ==
        4 * 2 * 3 + 4 * 2 * (3 * 35 + 81) + 4 * 2 * 16 * 81);

  // A second reader that pads columns by 3: together 9 x 13, not 9 x 9 and 5 x 13.
  Conv wide = conv(17, 1, 1);
  wide.has_bias = false;
  wide.padding = {0, 3};
  op.in_channels = 17;
  const Graph two = graph_of({17, 5, 7}, {{"a", op, {}},
                                          {"b", wide, {"input"}},
                                          {"pa", GlobalPool{}, {"a"}},
                                          {"pb", GlobalPool{}, {"b"}},
                                          {"sum", Add{}, {"pa", "pb"}}});
  const std::uint64_t values = 17 * 35 + 81 + 5 * 13 + 3;
  CHECK(bytes_of(two, 1) == 2 * 2 * 4 * 17 + 4 * values + 4 * 32 * 9 * 13);

  // One dimension: a kernel of 3 without padding is copied as well.
  Conv line = conv1d(3, 1, 3);
  line.has_bias = false;
  CHECK(bytes_of(graph_of({3, 9}, {{"conv", line, {}}}), 1) ==
        2 * 4 * 9 + 4 * (27 + 7) + 4 * 16 * 9);
}

TEST_CASE("session_bytes of an impossible batch is an error, not a small number") {
  DeployedModel model;
  model.graph = graph_of({100}, {{"out", Softmax{}, {}}});
  CHECK(error_of([&] { session_bytes(model, std::int64_t{1} << 60); }) == ErrorCode::usage);
}

}  // namespace winnow
