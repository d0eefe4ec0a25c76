#include "runtime/plan/memory.h"

#include <doctest/doctest.h>

#include <limits>
#include <random>

#include "tests/model/graphs.h"
#include "tests/throws.h"

namespace winnow {
namespace {

using Offsets = std::vector<std::int64_t>;

bool overlap(const Lifetime& a, const Lifetime& b) {
  return a.first_step <= b.last_step && b.first_step <= a.last_step;
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
      const bool is_alive = life.first_step <= step && step <= life.last_step;
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
      life.first_step = random() % 30;
      life.last_step = life.first_step + random() % 10;
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

TEST_CASE("session_bytes of an impossible batch is an error, not a small number") {
  DeployedModel model;
  model.graph = graph_of({100}, {{"out", Softmax{}, {}}});
  CHECK(error_of([&] { session_bytes(model, std::int64_t{1} << 60); }) == ErrorCode::usage);
}

}  // namespace winnow
