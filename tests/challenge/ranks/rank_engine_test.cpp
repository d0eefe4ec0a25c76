#include "runtime/challenge/ranks/rank_engine.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "runtime/challenge/engines/engines.h"
#include "runtime/challenge/ranks/layer_checksums.h"
#include "runtime/challenge/ranks/stripe_bits.h"
#include "tests/challenge/random_network.h"
#include "tests/challenge/ranks/ranks_in_threads.h"

namespace winnow::challenge {

TEST_CASE("images divided over ranks give the categories of all at each") {
  const MemoryNetwork network = random_network({.widths = {40, 50, 40}, .seed = 3});
  for (const std::int64_t size : {2, 3, 4}) {
    CAPTURE(size);
    const auto errors = run_ranks(size, [&](RankGroup& group) {
      RankEngine engine(group, make_engine("reference", network, {}), make_tcp_gather(group));
      for (const std::uint32_t images : {0u, 3u, 101u, 400u, 640u}) {
        const SparseImages all = random_images(40, images, 7);
        const ExpectedResult expected = expected_result(network, all);
        engine.set_images(all);
        RunTimes times;
        CHECK(engine.run(times) == expected.categories);
        if (images > 0) CHECK(engine.live() == expected.live);
        CHECK(times.rank_ms.size() == static_cast<std::size_t>(size));
        CHECK(times.inference_ms >= std::ranges::max(times.rank_ms));
      }
      CHECK(engine.devices().size() == static_cast<std::size_t>(size));
      CHECK(engine.kernel().find("; images divided over " + std::to_string(size) +
                                 " processes, categories gathered by TCP") != std::string::npos);
    });
    for (const auto& error : errors) CHECK(!error);
  }
}

TEST_CASE("bits of stripes are merged in the order of the images") {
  for (const std::uint32_t ranks : {1u, 2u, 5u}) {
    for (const std::uint32_t images : {1u, 63u, 64u, 65u, 640u, 1000u}) {
      CAPTURE(ranks);
      CAPTURE(images);
      const std::uint32_t words = most_stripes(images, ranks);
      Categories all;
      std::vector<Categories> of_ranks(ranks);
      for (std::uint32_t i = 0; i < images; i += 1 + i % 3) {
        all.push_back(i);
        const std::uint32_t stripe = i / kStripeImages;
        of_ranks[stripe % ranks].push_back(stripe / ranks * kStripeImages + i % kStripeImages);
      }
      std::vector<std::vector<std::uint64_t>> bits;
      for (const Categories& own : of_ranks) bits.push_back(stripe_bits(own, words));
      CHECK(merged_categories(bits) == all);
    }
  }
}

TEST_CASE("a rank with another network is named with the layer") {
  const MemoryNetwork network = random_network({.widths = {20, 30, 20}, .seed = 3});
  std::vector<SparseLayer> layers = {network.layer(0), network.layer(1)};
  layers[1].bias.back() += 1;
  const MemoryNetwork changed("another", layers);
  const auto errors = run_ranks(3, [&](RankGroup& group) {
    const ChecksummedNetwork read(group.rank() == 1 ? changed : network);
    make_engine("reference", read, {});
    require_equal_layers(group, read);
  });
  for (const auto& error : errors) {
    REQUIRE(error);
    CHECK(error->code() == ErrorCode::usage);
    CHECK(error->what() ==
          "rank 1 of 3 on " + machine_name() + " has another network than rank 0: layer 1 differs");
  }
}

}  // namespace winnow::challenge
