#include "prune/training/steps/step_replay.h"

#include <string>

#include "tests/throws.h"
#include "tests/training/torch_doctest.h"

namespace winnow {
namespace {

// A graph that keeps the work and does it again; `log` has a letter for what is asked of it.
class FakeGraph : public StepGraph {
 public:
  explicit FakeGraph(std::string& log) : log_(log) {}

  void run(const Work& work) override {
    log_ += 'r';
    work();
  }
  void record(const Work& work) override {
    log_ += 'g';
    work_ = work;
    work();  // makes tensors, as a recording does; what it computes counts for nothing
  }
  void forget() override { log_ += 'f'; }
  void launch() override { log_ += 'l'; }

 private:
  std::string& log_;
  Work work_;
};

DrawnBatch batch_of(std::int64_t size, std::int64_t value) {
  return {torch::full({size, 1, 1, 1}, value, torch::kByte), torch::zeros({size}, torch::kLong),
          torch::zeros({size, 5}, torch::kLong)};
}

std::int64_t value_of(const DrawnBatch& batch) {
  return batch.bytes[0].item<std::int64_t>();
}

TEST_CASE("a step runs three times, is recorded, and is launched from then on") {
  std::string log;
  StepReplay replay(std::make_unique<FakeGraph>(log));
  std::vector<std::int64_t> seen;
  const auto step = [&](const DrawnBatch& batch) {
    seen.push_back(value_of(batch));
    return batch.bytes.sum();
  };
  CHECK(replay.records());
  for (int i = 1; i <= 6; ++i) replay.run(batch_of(4, i), 0, step);
  CHECK(log == "rrrglll");
  CHECK((seen == std::vector<std::int64_t>{1, 2, 3, 4}));  // recorded on the fourth batch

  log.clear();
  CHECK(replay.run(batch_of(3, 7), 0, step).item<std::int64_t>() == 21);
  CHECK(log == "");  // another size: neither recorded nor launched
  replay.run(batch_of(4, 8), 0, step);
  CHECK(log == "l");
}

TEST_CASE("the recorded step reads the batch that is there when it is launched") {
  std::string log;
  StepReplay replay(std::make_unique<FakeGraph>(log));
  const DrawnBatch* read = nullptr;
  const auto step = [&](const DrawnBatch& batch) {
    read = &batch;
    return batch.bytes.sum();
  };
  for (int i = 1; i <= 4; ++i) replay.run(batch_of(4, i), 0, step);
  const void* place = read->bytes.const_data_ptr();
  replay.run(batch_of(4, 9), 0, step);
  CHECK(read->bytes.const_data_ptr() == place);
  CHECK(value_of(*read) == 9);
}

TEST_CASE("another kind of step is recorded anew") {
  std::string log;
  StepReplay replay(std::make_unique<FakeGraph>(log));
  const auto step = [](const DrawnBatch& batch) { return batch.bytes.sum(); };
  for (int i = 0; i < 5; ++i) replay.run(batch_of(4, i), 0, step);
  for (int i = 0; i < 5; ++i) replay.run(batch_of(4, i), 1, step);
  CHECK(log == "rrrgllrrrgll");
}

TEST_CASE("a step that was forgotten is recorded anew") {
  std::string log;
  StepReplay replay(std::make_unique<FakeGraph>(log));
  const auto step = [](const DrawnBatch& batch) { return batch.bytes.sum(); };
  for (int i = 0; i < 5; ++i) replay.run(batch_of(4, i), 0, step);
  replay.forget();
  for (int i = 0; i < 5; ++i) replay.run(batch_of(2, i), 0, step);
  CHECK(log == "rrrgllfrrrgll");
}

TEST_CASE("without a graph every step runs as it is") {
  StepReplay replay(nullptr);
  CHECK_FALSE(replay.records());
  int runs = 0;
  for (int i = 0; i < 5; ++i) {
    replay.run(batch_of(4, i), 0, [&](const DrawnBatch& batch) {
      ++runs;
      return batch.bytes.sum();
    });
  }
  CHECK(runs == 5);
  CHECK(make_step_graph(torch::kCPU) == nullptr);
}

}  // namespace
}  // namespace winnow
