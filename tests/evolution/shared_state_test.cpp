#include "prune/evolution/ranks/shared_state.h"

#include <doctest/doctest.h>

#include "prune/evolution/evolution.h"
#include "tests/evolution/synthetic_trainee.h"
#include "tests/evolution/thread_peers.h"

namespace winnow {
namespace {

StartingPoint begun() {
  SyntheticTrainee trainee({{.blocks = 900}, {.blocks = 4000}});
  EvolutionConfig config;
  config.iter_nr = 8;
  config.batch_nr = 10;
  Evolution evolution(config, trainee);
  for (int i = 0; i < 5; ++i) evolution.step();
  return {.evolution = evolution.state(), .current = nullptr};
}

}  // namespace

TEST_CASE("all ranks begin with the state of rank 0, snapshots shared as they are there") {
  const StartingPoint start = begun();
  const FlatState expected = flatten(start.evolution);
  REQUIRE(expected.snapshots.size() > 1);
  std::vector<FlatState> found(3);
  run_ranks(3, [&](Peers& peers) {
    const StartingPoint mine = share_start(peers.rank() == 0 ? start : StartingPoint{}, peers);
    found[static_cast<std::size_t>(peers.rank())] = flatten(mine.evolution);
    CHECK(mine.current == nullptr);
  });
  for (const FlatState& flat : found) {
    CHECK(flat.integers == expected.integers);
    CHECK(flat.numbers == expected.numbers);
    CHECK(flat.snapshots == expected.snapshots);
  }
}

TEST_CASE("a run that has not begun shares the network that it begins with") {
  SyntheticTrainee trainee({{.blocks = 900}, {.blocks = 50}});
  const std::shared_ptr<const Snapshot> network = trainee.snapshot();
  run_ranks(2, [&](Peers& peers) {
    StartingPoint mine;
    if (peers.rank() == 0) mine.current = network;
    mine = share_start(std::move(mine), peers);
    CHECK(mine.current == network);
    CHECK(mine.evolution.pool.empty());
  });
}

}  // namespace winnow
