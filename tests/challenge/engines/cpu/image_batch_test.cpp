#include "runtime/challenge/engines/cpu/image_batch.h"

#include <doctest/doctest.h>

#include <numeric>

#include "runtime/challenge/engines/cpu/image_tasks.h"
#include "tests/challenge/random_network.h"

namespace winnow::challenge {
namespace {

using Numbers = std::vector<std::uint32_t>;
constexpr std::uint32_t kNeurons = 5;

// A value that tells where it belongs.
float value_of(std::uint32_t image, std::uint32_t neuron) {
  return static_cast<float>(100 * image + neuron);
}

WaitingImages waiting_images(std::uint32_t first, std::uint32_t count) {
  WaitingImages waiting;
  waiting.image.resize(count);
  std::iota(waiting.image.begin(), waiting.image.end(), first);
  for (std::uint32_t n = 0; n < kNeurons; ++n) {
    for (const std::uint32_t image : waiting.image) waiting.value.push_back(value_of(image, n));
  }
  return waiting;
}

// Lets the images live for which `lives` says so, and all others die.
template <typename Lives>
void run_layer(ImageBatch& batch, const Numbers& images, Lives lives) {
  batch.begin_layer();
  for (std::uint32_t lane = 0; lane < images.size(); ++lane) {
    batch.alive(lane / kSlabLanes).lane[lane % kSlabLanes] = lives(images[lane]) ? 1 : 0;
  }
}

void check_taken(const WaitingImages& taken) {
  for (std::uint32_t n = 0; n < kNeurons; ++n) {
    for (std::uint32_t i = 0; i < taken.images(); ++i) {
      REQUIRE(taken.value[n * taken.images() + i] == value_of(taken.image[i], n));
    }
  }
}

}  // namespace

TEST_CASE("a batch holds the ones of the images that were chosen") {
  const SparseImages images = random_images(kNeurons, 60, 1);
  const Numbers chosen = {3, 59, 7};
  ImageBatch batch(kNeurons, 64);
  batch.load(random_images(kNeurons, 64, 2), Numbers(64, 1));  // leaves nothing behind
  batch.load(images, chosen);
  REQUIRE(batch.lanes() == 3);
  CHECK(batch.slabs() == 1);
  CHECK(batch.lanes_of_slab(0) == kLaneMultiple);
  for (std::uint32_t lane = 0; lane < kLaneMultiple; ++lane) {
    std::vector<float> expected(kNeurons);
    if (lane < chosen.size()) {
      for (auto k = images.row_begin[chosen[lane]]; k < images.row_begin[chosen[lane] + 1]; ++k) {
        expected[images.neuron[k]] = 1;
      }
    }
    for (std::uint32_t n = 0; n < kNeurons; ++n) {
      CHECK(batch.in(0)[n * kSlabLanes + lane] == expected[n]);
    }
  }
}

TEST_CASE("images that wait come out of a batch with their own values") {
  const std::vector<WaitingImages> waiting = {waiting_images(0, 20), waiting_images(20, 50),
                                              waiting_images(70, 1)};
  Numbers all(71);
  std::iota(all.begin(), all.end(), 0u);
  ImageBatch batch(kNeurons, 96);
  const auto task = waiting_tasks(waiting, Numbers{0, 71}).front();
  for (const std::uint32_t step : {1, 2, 3, 8, 70, 1000}) {
    CAPTURE(step);
    batch.load(task.waiting, kNeurons);
    REQUIRE(batch.lanes() == 71);
    CHECK(batch.slabs() == 3);
    CHECK(batch.lanes_of_slab(2) == kLaneMultiple);
    run_layer(batch, all, [&](std::uint32_t image) { return image % step == step - 1; });
    const std::uint32_t live = batch.count_live();
    CHECK(live == 71 / step);
    CHECK(batch.live_images().size() == live);
    const WaitingImages taken = batch.take_live(kNeurons);
    CHECK(taken.images() == live);
    check_taken(taken);
    CHECK(batch.lanes() == 0);
  }
}

TEST_CASE("dead images are dropped once that frees enough lanes") {
  const std::vector<WaitingImages> waiting = {waiting_images(0, 64)};
  const auto task = waiting_tasks(waiting, Numbers{0, 64}).front();
  ImageBatch batch(kNeurons, 64);
  batch.load(task.waiting, kNeurons);
  run_layer(batch, waiting[0].image, [](std::uint32_t image) { return image >= 15; });
  batch.drop_dead(kNeurons);
  CHECK(batch.lanes() == 64);  // 49 live ones still need four multiples
  run_layer(batch, waiting[0].image, [](std::uint32_t image) { return image >= 16; });
  const Numbers live = batch.live_images();
  batch.drop_dead(kNeurons);
  CHECK(batch.lanes() == 48);
  Numbers lanes(48);  // the last images took the lanes of the first 16
  std::iota(lanes.begin(), lanes.begin() + 16, 48u);
  std::iota(lanes.begin() + 16, lanes.end(), 16u);
  run_layer(batch, lanes, [](std::uint32_t image) { return image % 2 == 0; });
  const WaitingImages taken = batch.take_live(kNeurons);
  CHECK(taken.images() == live.size() / 2);
  for (const std::uint32_t image : taken.image) CHECK(image % 2 == 0);
  check_taken(taken);
}

TEST_CASE("tasks cover all images and are shared evenly") {
  for (const std::uint32_t images : {1u, 15u, 16u, 17u, 70u, 1000u, 60000u}) {
    for (const std::uint32_t threads : {1u, 2u, 7u}) {
      CAPTURE(images);
      CAPTURE(threads);
      const Numbers bounds = cut_evenly(images, 128, threads);
      CHECK(bounds.front() == 0);
      CHECK(bounds.back() == images);
      const std::size_t tasks = bounds.size() - 1;
      const std::size_t multiples = (images + kLaneMultiple - 1) / kLaneMultiple;
      CHECK((tasks % threads == 0 || tasks == multiples));
      for (std::size_t t = 0; t < tasks; ++t) {
        CHECK(bounds[t] < bounds[t + 1]);
        CHECK(bounds[t + 1] - bounds[t] <= 128);
        CHECK(bounds[t] % kLaneMultiple == 0);
      }
    }
  }
  CHECK(cut_evenly(0, 128, 2) == Numbers{0});
}

TEST_CASE("tasks take waiting images in order, wherever they lie") {
  const std::vector<WaitingImages> waiting = {waiting_images(0, 3), waiting_images(3, 30)};
  Numbers seen;
  for (const ImageTask& task : waiting_tasks(waiting, Numbers{0, 16, 32, 33})) {
    for (const WaitingRange& range : task.waiting) {
      const auto first = range.from->image.begin() + range.first;
      seen.insert(seen.end(), first, first + range.count);
    }
  }
  Numbers expected(33);
  std::iota(expected.begin(), expected.end(), 0u);
  CHECK(seen == expected);
}

}  // namespace winnow::challenge
