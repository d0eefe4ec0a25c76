// Ranks that divide batches, as threads of one process.
#include "prune/training/ranks/team.h"

#include <cmath>
#include <cstdlib>
#include <functional>
#include <thread>
#include <vector>

#include "prune/training/network/initialization.h"
#include "prune/training/network/operations.h"
#include "prune/training/ranks/rank_store.h"
#include "prune/training/torch_trainee.h"
#include "runtime/base/error.h"
#include "tests/free_port.h"
#include "tests/throws.h"
#include "tests/training/graphs.h"
#include "tests/training/images.h"
#include "tests/training/torch_doctest.h"

namespace winnow {
namespace {

TraineeOptions options(std::int64_t batch_size) {
  TraineeOptions result;
  result.device = "cpu";
  result.threads = 1;
  result.seed = 5;
  result.train.batch_size = batch_size;
  result.train.label_smoothing = 0.1;
  result.train.clip_norm = 1.0;
  result.augment = {.crop_padding = 1, .flip = true};
  return result;
}

Stage stage(bool is_pruning = true) {
  return {.rate = {.decay = Decay::constant, .rate = 0.05},
          .units = 4,
          .batches_per_unit = 8,
          .is_pruning = is_pruning};
}

Model model_of(bool has_norm) {
  Graph graph = small_network(1, 4);
  if (!has_norm) {
    graph.nodes.erase(graph.nodes.begin() + 2);
    graph.nodes[2].inputs = {"conv1"};
  }
  return initial_model(graph, 3);
}

using Work = std::function<void(const TeamPlace&)>;

// c10d's recorder of what went wrong is one for the process and no place for several groups.
const int kNoRecorder =
    setenv("TORCH_FR_BUFFER_SIZE", "0", 1) + setenv("TORCH_NCCL_TRACE_BUFFER_SIZE", "0", 1);

// Runs `work` once for each rank, all at the same time.
void run_team(std::int64_t size, const Work& work) {
  REQUIRE(kNoRecorder == 0);
  const std::uint16_t port = free_port();
  std::vector<std::jthread> threads;
  for (std::int64_t rank = 0; rank < size; ++rank) {
    threads.emplace_back([=] {
      RankPlace place;
      place.rank = rank;
      place.size = size;
      place.host = "127.0.0.1";
      place.port = port;
      RankStore store(place, std::chrono::seconds(20));
      work({.store = &store, .name = "all0", .rank = rank, .size = size});
    });
  }
}

struct Trained {
  Model model;
  double loss = 0.0;
  std::uint32_t checksum = 0;
};

// Batches first .. first + count - 1, by a team or, without a store, alone.
Trained trained(const Model& model, const TraineeOptions& wanted, std::int64_t first,
                std::int64_t count, const TeamPlace& place = {}) {
  TorchTrainee trainee(model, striped_data(), wanted);
  trainee.join(place);
  trainee.begin(stage());
  trainee.recompute_masks(std::vector<double>(3, 0.5), {});
  Trained result{model};
  result.loss = trainee.train_batches(first, count);
  result.checksum = trainee.checksum();
  trainee.store(result.model);
  return result;
}

std::vector<Trained> trained_by(std::int64_t size, const Model& model, const TraineeOptions& wanted,
                                std::int64_t first, std::int64_t count) {
  std::vector<Trained> all(static_cast<std::size_t>(size));
  run_team(size, [&](const TeamPlace& place) {
    all[static_cast<std::size_t>(place.rank)] = trained(model, wanted, first, count, place);
  });
  return all;
}

double distance(const Model& a, const Model& b, const std::string& name) {
  const auto x = a.tensors.at(name).values<float>(), y = b.tensors.at(name).values<float>();
  double most = 0.0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    most = std::max(most, std::abs(static_cast<double>(x[i]) - static_cast<double>(y[i])));
  }
  return most;
}

TEST_CASE("parts of a batch cover it once, nearly equal in size, or all have the whole of it") {
  for (const std::int64_t size : {2, 3, 5, 8}) {
    for (std::int64_t images = 1; images < 70; ++images) {
      CAPTURE(size);
      CAPTURE(images);
      double weight = 0.0;
      std::int64_t next = 0;
      for (std::int64_t rank = 0; rank < size; ++rank) {
        const BatchPart part = batch_part(images, rank, size);
        weight += part.weight;
        CHECK(part.of == images);
        if (images < 2 * size) {
          CHECK((part.first == 0 && part.count == images));
          continue;
        }
        CHECK(part.first == next);
        CHECK((part.count == images / size || part.count == images / size + 1));
        CHECK(part.weight == doctest::Approx(part.count / static_cast<double>(images)));
        next += part.count;
      }
      if (images >= 2 * size) CHECK(next == images);
      CHECK(weight == doctest::Approx(1.0));
    }
  }
}

TEST_CASE("dropout of the parts of a batch is that of the whole") {
  const Dropout dropout{.probability = 0.4};
  const torch::Tensor input = torch::rand({11, 3, 5, 5});
  for (const auto format : {torch::MemoryFormat::Contiguous, torch::MemoryFormat::ChannelsLast}) {
    const torch::Tensor whole = input.contiguous(format);
    torch::manual_seed(7);
    const std::vector<torch::Tensor> inputs = {whole};
    const torch::Tensor wanted = apply_operation(dropout, inputs, {}, true);
    for (std::int64_t rank = 0; rank < 3; ++rank) {
      const BatchPart part = batch_part(11, rank, 3);
      torch::manual_seed(7);
      const torch::Tensor found =
          apply_dropout(dropout, whole.narrow(0, part.first, part.count), part);
      CHECK(found.equal(wanted.narrow(0, part.first, part.count)));
    }
  }
}

// 256 images: batches of 48, of which the sixth has 16; with 9 ranks it is everybody's.
TEST_CASE("a team takes the steps of one process, up to rounding, and its ranks equal ones") {
  const Model model = model_of(false);
  const Trained alone = trained(model, options(48), 2, 6);
  for (const std::int64_t size : {2, 3, 5, 9}) {
    CAPTURE(size);
    const std::vector<Trained> team = trained_by(size, model, options(48), 2, 6);
    for (const Trained& one : team) {
      CHECK(one.checksum == team[0].checksum);
      CHECK(one.loss == team[0].loss);
      CHECK((one.model.tensors == team[0].model.tensors));
    }
    CHECK(team[0].loss == doctest::Approx(alone.loss).epsilon(1e-5));
    for (const auto& [name, tensor] : model.tensors) {
      CAPTURE(name);
      CHECK(distance(team[0].model, alone.model, name) < 1e-5);
      CHECK(distance(alone.model, model, name) > 1e-4);  // they did train
    }
  }
}

// Each rank norms by its own part. The first norm sees the same values in one process, so the mean
// of the parts' means is the batch's.
TEST_CASE("running statistics of a team are the means of its ranks', weighted by images") {
  const Model model = model_of(true);
  const Trained alone = trained(model, options(50), 0, 1);
  const std::vector<Trained> team = trained_by(3, model, options(50), 0, 1);
  for (const Trained& one : team) CHECK(one.checksum == team[0].checksum);
  CHECK(distance(team[0].model, alone.model, "norm1.running_mean") < 1e-6);
  CHECK(distance(team[0].model, model, "norm1.running_mean") > 1e-3);
  CHECK(distance(team[0].model, alone.model, "norm1.running_var") < 0.05);
  CHECK(distance(team[0].model, alone.model, "norm1.weight") > 1e-7);
}

TEST_CASE("a team that was left trains alone again, and another one can be joined") {
  const Model model = model_of(true);
  const Trained alone = trained(model, options(32), 0, 2);
  run_team(2, [&](const TeamPlace& place) {
    TorchTrainee trainee(model, striped_data(), options(32));
    const auto start = trainee.snapshot();
    trainee.join(place);
    trainee.begin(stage());
    trainee.recompute_masks(std::vector<double>(3, 0.5), {});
    trainee.train_batches(0, 2);
    TeamPlace again = place;
    again.name = "again0";
    trainee.join(again);
    trainee.train_batches(2, 1);
    trainee.join({});
    trainee.restore(*start);
    trainee.recompute_masks(std::vector<double>(3, 0.5), {});
    CHECK(trainee.train_batches(0, 2) == alone.loss);
  });
}

TEST_CASE("a request to stop at one rank stops all behind the same batch") {
  run_team(3, [&](const TeamPlace& place) {
    std::int64_t done = 0;
    TraineeOptions wanted = options(32);
    wanted.on_batch = [&](std::int64_t batch) { done = batch + 1; };
    wanted.should_stop = [&] { return place.rank == 1 && done == 3; };
    TorchTrainee trainee(model_of(true), striped_data(), wanted);
    trainee.join(place);
    trainee.begin(stage(false));
    CHECK(error_of([&] { trainee.train_batches(0, 8); }) == ErrorCode::interrupted);
    CHECK(done == 3);
  });
}

TEST_CASE("a rank that fails is named to those that wait for its gradients") {
  std::vector<std::string> said(3);
  run_team(3, [&](const TeamPlace& place) {
    TorchTrainee trainee(model_of(true), striped_data(), options(32));
    trainee.join(place);
    trainee.begin(stage());
    trainee.train_batches(0, 2);
    if (place.rank == 2) return place.store->leave(ErrorCode::bad_file, "a page is missing");
    said[static_cast<std::size_t>(place.rank)] = message_of([&] { trainee.train_batches(2, 2); });
  });
  for (const std::size_t rank : {0, 1}) {
    CAPTURE(said[rank]);
    CHECK(said[rank].find("rank 2 on ") == 0);
    CHECK(said[rank].find(": a page is missing") != std::string::npos);
  }
}

// What rank 0 says once a rank has given a reason and then the other one has come to its end.
std::string loss_at_rank_0(std::int64_t failing, const std::string& why) {
  std::string said;
  run_team(3, [&](const TeamPlace& place) {
    RankStore& store = *place.store;
    if (place.rank == failing) return store.leave(ErrorCode::device, why);
    // A wait that takes long ends with the same message.
    const std::string message = message_of([&] {
      store.take("left" + std::to_string(failing));
      if (place.rank != 0) fail(ErrorCode::internal, "has come to its end");
      store.take("left" + std::to_string(3 - failing));
      store.await_loss();
    });
    if (place.rank == 0) said = message;
  });
  return said;
}

TEST_CASE("who gave a reason is named, not who has come to an end because of it") {
  const std::string said = loss_at_rank_0(2, "no page");
  CAPTURE(said);
  CHECK(said.find("rank 2 on ") == 0);
  CHECK(said.find(": no page") != std::string::npos);
}

TEST_CASE("a rank that ended because of another one passes on its name") {
  CHECK(loss_at_rank_0(1, "rank 2 on b: no page") == "rank 2 on b: no page");
}

}  // namespace
}  // namespace winnow
