#include "prune/training/steps/step_replay.h"

#include <string>

#include "tests/throws.h"
#include "tests/training/torch_doctest.h"

namespace winnow {
namespace {

// Graphs that do the work when it is recorded and nothing when it is launched; `log` has letters
// for what is asked of them, with the number of a launch.
class FakeGraphs : public StepGraphs {
 public:
  explicit FakeGraphs(std::string& log) : log_(log) {}

  void run(const Work& work) override {
    log_ += 'r';
    work();
  }
  std::size_t record(const Work& work) override {
    log_ += 'g';
    work();  // makes tensors, as a recording does; what it computes counts for nothing
    return recorded_++;
  }
  void forget() override {
    log_ += 'f';
    recorded_ = 0;
  }
  void launch(std::size_t number) override {
    REQUIRE(number < recorded_);
    log_ += 'l';
    log_ += std::to_string(number);
  }

 private:
  std::string& log_;
  std::size_t recorded_ = 0;
};

DrawnBatch batch_of(std::int64_t size, std::int64_t value) {
  return {torch::full({size, 1, 1, 1}, value, torch::kByte), torch::zeros({size}, torch::kLong),
          torch::zeros({size, 5}, torch::kLong)};
}

std::int64_t value_of(const DrawnBatch& batch) {
  return batch.bytes[0].item<std::int64_t>();
}

const StepKind kOfFour = {.is_pruning = false, .images = 4};

torch::Tensor sum_of(const DrawnBatch& batch) {
  return batch.bytes.sum();
}

TEST_CASE("a step runs three times, is recorded, and is launched from then on") {
  std::string log;
  StepReplay replay(std::make_unique<FakeGraphs>(log));
  std::vector<std::int64_t> seen;
  const auto step = [&](const DrawnBatch& batch) {
    seen.push_back(value_of(batch));
    return sum_of(batch);
  };
  CHECK(replay.records());
  for (int i = 1; i <= 6; ++i) replay.run(batch_of(4, i), kOfFour, step);
  CHECK(log == "rrrgl0l0l0");
  CHECK((seen == std::vector<std::int64_t>{1, 2, 3, 4}));  // recorded on the fourth batch
}

TEST_CASE("a shorter last batch is recorded too, and a third size runs as it is") {
  std::string log;
  StepReplay replay(std::make_unique<FakeGraphs>(log));
  for (int epoch = 0; epoch < 5; ++epoch) {
    replay.run(batch_of(4, 1), kOfFour, sum_of);
    replay.run(batch_of(3, 1), {.is_pruning = false, .images = 3}, sum_of);
  }
  CHECK(log == "rrrrrrgl0gl1l0l1");
  log.clear();
  CHECK(
      replay.run(batch_of(2, 7), {.is_pruning = false, .images = 2}, sum_of).item<std::int64_t>() ==
      14);
  CHECK(log == "");
  replay.run(batch_of(4, 8), kOfFour, sum_of);
  CHECK(log == "l0");
}

// As those of two ranks' shares of 8 and of 7 images.
TEST_CASE("parts of one size are recorded for each size of the whole batch") {
  std::string log;
  StepReplay replay(std::make_unique<FakeGraphs>(log));
  for (int i = 0; i < 4; ++i) {
    replay.run(batch_of(4, 1), {.is_pruning = false, .images = 8}, sum_of);
    replay.run(batch_of(4, 1), {.is_pruning = false, .images = 7}, sum_of);
  }
  CHECK(log == "rrrrrrgl0gl1");
}

TEST_CASE("the recorded step reads the batch that is there when it is launched") {
  std::string log;
  StepReplay replay(std::make_unique<FakeGraphs>(log));
  const DrawnBatch* read = nullptr;
  const auto step = [&](const DrawnBatch& batch) {
    read = &batch;
    return batch.bytes.sum();
  };
  for (int i = 1; i <= 4; ++i) replay.run(batch_of(4, i), kOfFour, step);
  const void* place = read->bytes.const_data_ptr();
  replay.run(batch_of(4, 9), kOfFour, step);
  CHECK(read->bytes.const_data_ptr() == place);
  CHECK(value_of(*read) == 9);
}

TEST_CASE("a step of pruning is recorded anew") {
  std::string log;
  StepReplay replay(std::make_unique<FakeGraphs>(log));
  for (int i = 0; i < 5; ++i) replay.run(batch_of(4, i), kOfFour, sum_of);
  for (int i = 0; i < 5; ++i) {
    replay.run(batch_of(4, i), {.is_pruning = true, .images = 4}, sum_of);
  }
  CHECK(log == "rrrgl0l0frrrgl0l0");
}

TEST_CASE("a step that was forgotten is recorded anew") {
  std::string log;
  StepReplay replay(std::make_unique<FakeGraphs>(log));
  for (int i = 0; i < 5; ++i) replay.run(batch_of(4, i), kOfFour, sum_of);
  replay.forget();
  for (int i = 0; i < 5; ++i) replay.run(batch_of(2, i), kOfFour, sum_of);
  CHECK(log == "rrrgl0l0frrrgl0l0");
}

TEST_CASE("without a graph every step runs as it is") {
  StepReplay replay(nullptr);
  CHECK_FALSE(replay.records());
  int runs = 0;
  for (int i = 0; i < 5; ++i) {
    replay.run(batch_of(4, i), kOfFour, [&](const DrawnBatch& batch) {
      ++runs;
      return batch.bytes.sum();
    });
  }
  CHECK(runs == 5);
  CHECK(make_step_graphs(torch::kCPU) == nullptr);
}

}  // namespace
}  // namespace winnow
