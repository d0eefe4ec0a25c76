#include "runtime/challenge/engines/gpu/layer_plan.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <random>

#include "runtime/challenge/engines/gpu/image_bits.h"

namespace winnow::challenge {

TEST_CASE("launches cover all layers in order, and fp16 begins where it is asked for") {
  for (const std::uint32_t layers : {1u, 2u, 5u, 6u, 7u, 11u, 120u, 1920u}) {
    for (const std::uint32_t half_from : {0u, 6u, 8u, 12u, 5000u}) {
      std::uint32_t next = 0;
      for (const FusedLaunch& launch : plan_resident_launches(layers, half_from)) {
        CHECK(launch.first == next);
        CHECK(launch.last > launch.first);
        CHECK(launch.is_half == (launch.first >= half_from));
        CHECK((launch.is_half || launch.last <= half_from));
        next = launch.last;
      }
      CHECK(next == layers);
    }
  }
}

TEST_CASE("a network of six layers becomes five launches") {
  CHECK(plan_resident_launches(6, 6) ==
        std::vector<FusedLaunch>{
            {0, 2, false}, {2, 3, false}, {3, 4, false}, {4, 5, false}, {5, 6, false}});
}

TEST_CASE("launches between which no image dies are joined, but not over where fp16 begins") {
  const LaunchCosts costs{.images = 16, .layer = 10, .border = 4, .launch = 5};
  const auto launches = plan_resident_launches(12, 6);  // 0, 2, 3, 4, 5, 6, 7, 8, 10
  const std::vector<std::uint32_t> all(launches.size(), 60000);
  CHECK(join_launches(launches, all, 132, costs, costs) ==
        std::vector<FusedLaunch>{{0, 6, false}, {6, 12, true}});
  std::vector<std::uint32_t> halved;
  for (std::size_t p = 0; p < launches.size(); ++p) halved.push_back(60000u >> p);
  CHECK(join_launches(launches, halved, 1, costs, costs) == launches);
}

double cost_of(std::span<const FusedLaunch> joined, std::span<const FusedLaunch> launches,
               std::span<const std::uint32_t> live, const LaunchCosts& full,
               const LaunchCosts& half) {
  double sum = 0;
  for (const FusedLaunch& launch : joined) {
    const LaunchCosts& costs = launch.is_half ? half : full;
    std::size_t p = 0;
    while (launches[p].first != launch.first) ++p;
    const double tiles = std::ceil(live[p] / static_cast<double>(costs.images));
    sum += costs.launch +
           std::ceil(tiles / 7) * (costs.border + (launch.last - launch.first) * costs.layer);
  }
  return sum;
}

TEST_CASE("no other way to join launches is cheaper") {
  std::mt19937 random(6);
  const auto launches = plan_resident_launches(10, 5);
  for (int round = 0; round < 50; ++round) {
    const auto some = [&] { return static_cast<double>(random() % 20); };
    const LaunchCosts full{.images = 4, .layer = some(), .border = some(), .launch = some()};
    const LaunchCosts half{.images = 8, .layer = some(), .border = some(), .launch = some()};
    std::vector<std::uint32_t> live;
    for (std::size_t p = 0; p < launches.size(); ++p) live.push_back(random() % 200);
    std::ranges::sort(live, std::greater());
    const auto joined = join_launches(launches, live, 7, full, half);
    const double cost = cost_of(joined, launches, live, full, half);
    for (std::uint32_t borders = 0; borders < 1u << (launches.size() - 1); ++borders) {
      std::vector<FusedLaunch> other = {launches.front()};
      for (std::size_t p = 1; p < launches.size(); ++p) {
        if ((borders >> (p - 1) & 1) != 0 || launches[p].is_half != other.back().is_half) {
          other.push_back(launches[p]);
        } else {
          other.back().last = launches[p].last;
        }
      }
      CHECK(cost <= cost_of(other, launches, live, full, half));
    }
  }
}

TEST_CASE("gathered rows drop dead images at every early layer and where fp16 begins") {
  for (std::uint32_t done = 1; done <= 16; ++done) CHECK(gathered_drops_at(done, 120, 12));
  CHECK_FALSE(gathered_drops_at(17, 120, 12));
  CHECK(gathered_drops_at(24, 120, 12));
  CHECK(gathered_drops_at(32, 120, 12));
  CHECK(gathered_drops_at(120, 120, 12));
  CHECK_FALSE(gathered_drops_at(41, 120, 12));
  CHECK(gathered_drops_at(41, 120, 41));
}

TEST_CASE("groups drop dead images from the second layer on, and before many layers in a launch") {
  std::vector<std::uint32_t> drops;
  for (std::uint32_t done = 1; done <= 120; ++done) {
    if (grouped_drops_at(done, 120, 70)) drops.push_back(done);
  }
  CHECK(drops == std::vector<std::uint32_t>{2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 16, 32, 64, 70, 120});
  CHECK(grouped_drops_at(1, 1, 1));
}

TEST_CASE("the first block of the challenge's networks keeps fp32") {
  CHECK(full_precision_layers(1024) == 6);
  CHECK(full_precision_layers(4096) == 8);
  CHECK(full_precision_layers(16384) == 10);
  CHECK(full_precision_layers(65536) == 12);
  CHECK(full_precision_layers(1) == 6);
}

TEST_CASE("images become bits and bits numbers") {
  SparseImages images{.neurons = 3, .row_begin = {0}, .neuron = {}};
  for (std::uint32_t i = 0; i < 40; ++i) {
    if (i % 3 == 0) images.neuron.push_back(i % 2);
    images.row_begin.push_back(images.neuron.size());
  }
  const std::vector<std::uint32_t> words = image_bits(images, 4, 40);
  REQUIRE(words.size() == 2 * 3);
  CHECK(words[0] == 0x04104104u);  // images 6, 12, 18, 24, 30 of 0 mod 6
  CHECK(words[1] == 0x20820820u);  // images 9, 15, 21, 27, 33
  CHECK(words[2] == 0u);
  CHECK(words[3] == 1u);  // image 36
  CHECK(words[4] == 8u);  // image 39
  CHECK(numbers_of_set_bits(words.data(), 1) == std::vector<std::uint32_t>{2, 8, 14, 20, 26});
}

}  // namespace winnow::challenge
