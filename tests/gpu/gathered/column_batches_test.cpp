#include "runtime/gpu/gathered/column_batches.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <random>

namespace winnow {
namespace {

constexpr int kRowsOfStage = 6 * 9 * kStageChannels;

// Stages in which each of 288 columns is kept with this probability.
std::vector<StageColumns> random_stages(int count, int ring, double density, std::mt19937& random) {
  std::vector<StageColumns> stages(static_cast<std::size_t>(count));
  std::int64_t block = 0;
  for (int s = 0; s < count; ++s) {
    StageColumns& stage = stages[static_cast<std::size_t>(s)];
    for (int row = 0; row < 288; ++row) {
      const auto at = static_cast<std::uint16_t>(s % ring * kRowsOfStage + row);
      if (row < kStageChannels) stage.fillers.push_back(at);
      if (static_cast<double>(random() % 1000) < 1000 * density) {
        stage.columns.push_back({block++, at});
      }
    }
  }
  return stages;
}

// Whether a stage with rows lies in this slot of the ring.
bool is_there(const std::vector<StageColumns>& stages, int slot, int ring, int released,
              int newest) {
  for (int s = released; s <= newest; ++s) {
    if (s % ring == slot && !stages[static_cast<std::size_t>(s)].fillers.empty()) return true;
  }
  return false;
}

// The same where the last stages hold nothing, as those that only fill the ring up.
std::vector<StageColumns> with_empty_end(std::vector<StageColumns> stages, std::size_t empty) {
  const std::size_t kept = stages.size() - std::min(empty, stages.size() - 1);
  for (std::size_t s = kept; s < stages.size(); ++s) stages[s] = {};
  return stages;
}

// Every kept column once, and every row that is read, after its stage was waited for and before it
// was let go of; no batch waits for a stage that the ring cannot hold yet.
void check_batches(const std::vector<StageColumns>& stages, int ring) {
  const std::vector<ColumnBatch> batches = batch_columns(stages, ring);
  std::map<std::int64_t, int> stage_of;
  for (std::size_t s = 0; s < stages.size(); ++s) {
    for (const GatheredColumn& c : stages[s].columns) stage_of[c.block] = static_cast<int>(s);
  }
  std::size_t found = 0;
  int released = 0, newest = -1;
  for (std::size_t b = 0; b < batches.size(); ++b) {
    const ColumnBatch& batch = batches[b];
    CHECK(batch.newest >= newest);
    CHECK(batch.finished >= released);
    CHECK(batch.finished <= batch.newest + 1);
    const int before = b < 2 ? 0 : batches[b - 2].finished;
    CHECK(batch.newest < before + ring);
    CHECK(batch.newest - newest <= kBatchColumns);  // a bit of a code for each
    CHECK(batch.finished - released <= kBatchColumns);
    for (const GatheredColumn& c : batch.column) {
      const int slot = c.row / kRowsOfStage;
      CHECK(is_there(stages, slot, ring, released, batch.newest));
      if (c.block == kNoBlock) continue;
      REQUIRE(stage_of.count(c.block) == 1);
      CHECK(stage_of[c.block] <= batch.newest);
      CHECK(stage_of[c.block] >= released);
      stage_of.erase(c.block);
      ++found;
    }
    newest = batch.newest;
    released = batch.finished;
  }
  CHECK(stage_of.empty());
  CHECK(newest == static_cast<int>(stages.size()) - 1);
  CHECK(released == static_cast<int>(stages.size()));
  std::size_t kept = 0;
  for (const StageColumns& stage : stages) kept += stage.columns.size();
  CHECK(found == kept);
}

}  // namespace

TEST_CASE("batches have every kept column once, in stages that are there") {
  std::mt19937 random(5);
  for (const int ring : {2, 4, 8, 16}) {
    for (const int count : {1, 2, 4, 8, 16, 64}) {
      for (const double density : {0.0, 0.003, 0.02, 0.1, 0.4, 1.0}) {
        CAPTURE(ring);
        CAPTURE(count);
        CAPTURE(density);
        const auto stages = random_stages(count, ring, density, random);
        check_batches(stages, ring);
        check_batches(with_empty_end(stages, random() % static_cast<unsigned>(ring)), ring);
      }
    }
  }
}

TEST_CASE("batches of many columns are full and nearly without bank conflicts") {
  std::mt19937 random(6);
  for (const double density : {0.05, 0.1, 0.2}) {
    const auto stages = random_stages(16, 8, density, random);
    std::size_t kept = 0;
    for (const StageColumns& stage : stages) kept += stage.columns.size();
    const auto batches = batch_columns(stages, 8);
    CHECK(static_cast<double>(batches.size() * kBatchColumns) < 1.15 * static_cast<double>(kept));
    CHECK(bank_conflicts(batches) < 1.35);
  }
}

TEST_CASE("one column makes one batch, filled up with rows of other banks") {
  StageColumns stage;
  for (std::uint16_t row = 0; row < 32; ++row) stage.fillers.push_back(row);
  stage.columns = {{7, 35}};
  const auto batches = batch_columns({stage}, 8);
  REQUIRE(batches.size() == 1);
  CHECK(batches[0].column[0].block == 7);
  CHECK(batches[0].newest == 0);
  CHECK(batches[0].finished == 1);
  CHECK(bank_conflicts(batches) == 1);
}

}  // namespace winnow
