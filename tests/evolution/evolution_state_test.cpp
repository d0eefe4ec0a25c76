#include "prune/evolution/evolution_state.h"

#include <doctest/doctest.h>

#include <bit>
#include <cmath>

#include "tests/evolution/synthetic_trainee.h"
#include "tests/throws.h"

namespace winnow {
namespace {

Solution solution(std::int64_t id, std::shared_ptr<const Snapshot> snapshot) {
  Solution s;
  s.id = id;
  s.parent = id - 1;
  s.trained = 100 * id;
  s.continued = 2;
  s.sparsities = {0.1 / 3, std::nextafter(0.5, 1.0)};
  s.plan = {0.7 / 3, 0x1p-1060};
  s.kept_weights = {7, std::int64_t{1} << 60};
  s.density = 1.0 / 3;
  s.accuracy = 2.0 / 7;
  s.level = -0.0;
  s.snapshot = std::move(snapshot);
  return s;
}

EvolutionState example() {
  EvolutionState state;
  state.iteration = 12;
  state.batches = 34;
  state.next_id = 56;
  state.best_id = 3;
  state.without_progress = 2;
  state.collapsed = 1;
  state.random = {~std::uint64_t{0}, 1, std::uint64_t{1} << 63, 0};
  state.alphas = {0.1, 1e-9};
  state.learned.trend = -1.0 / 3;
  state.initial_density = 0.8;
  state.learned.sensitivity = {1e-300, -0.25};
  const auto shared = std::make_shared<SyntheticTrainee::State>();
  state.pool = {solution(3, shared), solution(4, std::make_shared<SyntheticTrainee::State>()),
                solution(5, shared)};
  return state;
}

TEST_CASE("a state written when all layers had one alpha is read") {
  FlatState flat = flatten(example());
  flat.integers[0] = 2;
  flat.numbers.erase(flat.numbers.begin() + 1);
  const EvolutionState back = unflatten(flat);
  CHECK(back.alphas == std::vector<double>{0.1, 0.1});
  CHECK(back.initial_density == example().initial_density);
  CHECK(back.learned.sensitivity == example().learned.sensitivity);
}

TEST_CASE("a state written before collapses were noted is read") {
  FlatState flat = flatten(example());
  flat.integers[0] = 1;
  flat.integers.erase(flat.integers.begin() + 8);
  flat.numbers.erase(flat.numbers.begin() + 1);
  const EvolutionState back = unflatten(flat);
  CHECK(back.without_progress == 2);
  CHECK(back.collapsed == 0);
  CHECK(back.random == example().random);
}

TEST_CASE("a state survives being plain numbers bit by bit") {
  const EvolutionState state = example();
  const FlatState flat = flatten(state);
  const EvolutionState back = unflatten(flat);

  CHECK(flat.snapshots.size() == 2);
  CHECK(back.iteration == 12);
  CHECK(back.collapsed == 1);
  CHECK(back.random == state.random);
  CHECK(back.learned.sensitivity == state.learned.sensitivity);
  REQUIRE(back.pool.size() == 3);
  CHECK(back.pool[2].snapshot == state.pool[0].snapshot);
  CHECK(back.pool[1].snapshot == state.pool[1].snapshot);
  CHECK(back.pool[1].kept_weights == state.pool[1].kept_weights);
  CHECK(std::signbit(back.pool[1].level));
  const FlatState again = flatten(back);
  CHECK(again.integers == flat.integers);
  REQUIRE(again.numbers.size() == flat.numbers.size());
  for (std::size_t i = 0; i < flat.numbers.size(); ++i) {
    CHECK(std::bit_cast<std::uint64_t>(again.numbers[i]) ==
          std::bit_cast<std::uint64_t>(flat.numbers[i]));
  }
}

TEST_CASE("a state cut short or too long is refused at every length") {
  const FlatState flat = flatten(example());
  const auto code = [](const FlatState& f) { return error_of([&] { unflatten(f); }); };
  for (std::size_t length = 0; length < flat.integers.size(); ++length) {
    FlatState cut = flat;
    cut.integers.resize(length);
    CHECK(code(cut) == ErrorCode::bad_file);
  }
  for (std::size_t length = 0; length < flat.numbers.size(); ++length) {
    FlatState cut = flat;
    cut.numbers.resize(length);
    CHECK(code(cut) == ErrorCode::bad_file);
  }
  FlatState longer = flat;
  longer.numbers.push_back(0.0);
  CHECK(code(longer) == ErrorCode::bad_file);
}

TEST_CASE("a state with impossible numbers is refused") {
  const FlatState good = flatten(example());
  FlatState bad = good;
  SUBCASE("version") {
    bad.integers[0] = 4;
  }
  SUBCASE("number of layers") {
    bad.integers[1] = -1;
  }
  SUBCASE("huge number of layers") {
    bad.integers[1] = INT64_MAX;
  }
  SUBCASE("huge number of solutions") {
    bad.integers[2] = INT64_MAX;
  }
  SUBCASE("random state") {
    for (std::size_t i = 9; i < 13; ++i) bad.integers[i] = 0;
  }
  SUBCASE("number that is not finite") {
    bad.numbers[0] = INFINITY;
  }
  SUBCASE("snapshot index") {
    bad.integers[17] = 2;
  }
  SUBCASE("missing snapshot") {
    bad.snapshots[1] = nullptr;
  }
  SUBCASE("sparsity of 1") {
    bad.numbers[10] = 1.0;
  }
  SUBCASE("density of 0") {
    bad.numbers[7] = 0.0;
  }
  CHECK(error_of([&] { unflatten(good); }) == std::nullopt);
  CHECK(error_of([&] { unflatten(bad); }) == ErrorCode::bad_file);
}

}  // namespace
}  // namespace winnow
