#include "runtime/gpu/gathered/gathered_groups.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <numeric>

#include "runtime/gpu/gathered/channel_cover.h"
#include "runtime/model/csr.h"
#include "tests/gpu/random_values.h"

namespace winnow {
namespace {

constexpr std::size_t kGroup = 16;

Conv conv_of(std::int64_t in, std::int64_t out, std::int64_t kernel, std::int64_t groups = 1) {
  return {.in_channels = in, .out_channels = out, .kernel = {kernel, kernel}, .groups = groups};
}

// The dense weight [K, C * R * S] over all input channels that the groups stand for.
std::vector<float> dense_of(const GatheredGroups& groups) {
  const BlockCsr& weight = groups.weight;
  std::vector<float> dense(static_cast<std::size_t>(weight.channels * weight.cols));
  for (std::size_t b = 0, g = 0; b < weight.column.size(); ++b) {
    while (static_cast<std::int64_t>(b) >= weight.begin[g + 1]) ++g;
    for (std::size_t row = 0; row < kGroup; ++row) {
      const float value = weight.value[b * kGroup + row];
      const std::int32_t channel = groups.place[g * kGroup + row];
      if (value == 0) continue;
      REQUIRE(channel >= 0);
      float& at = dense[static_cast<std::size_t>(channel * weight.cols + weight.column[b])];
      CHECK(at == 0);  // once
      at = value;
    }
  }
  return dense;
}

// Every channel is in one place, and every weight that is kept is there once.
void check_groups(const CsrWeight& weight, const Conv& conv) {
  const GatheredGroups groups = gathered_groups(block_csr(weight), conv);
  std::vector<std::int32_t> channels;
  std::ranges::copy_if(groups.place, std::back_inserter(channels), [](auto c) { return c >= 0; });
  std::ranges::sort(channels);
  std::vector<std::int32_t> all(static_cast<std::size_t>(conv.out_channels));
  std::iota(all.begin(), all.end(), 0);
  CHECK(channels == all);

  const std::vector<float> narrow = dense_weight(block_csr(weight));
  const std::int64_t taps = conv.kernel[0] * conv.kernel[1];
  const std::int64_t inputs = conv.in_channels / conv.groups * taps;
  std::vector<float> expected(
      static_cast<std::size_t>(conv.out_channels * conv.in_channels * taps));
  for (std::int64_t k = 0; k < conv.out_channels; ++k) {
    const std::int64_t first = k / (conv.out_channels / conv.groups) * inputs;
    for (std::int64_t i = 0; i < inputs; ++i) {
      expected[static_cast<std::size_t>(k * conv.in_channels * taps + first + i)] =
          narrow[static_cast<std::size_t>(k * inputs + i)];
    }
  }
  CHECK(dense_of(groups) == expected);
}

// Element rows of a convolution: channel k keeps the columns of set k % sets.
CsrWeight interleaved(std::int64_t channels, std::int64_t cols, std::int64_t sets) {
  std::vector<std::uint8_t> mask(static_cast<std::size_t>(channels * cols));
  for (std::int64_t k = 0; k < channels; ++k) {
    for (std::int64_t c = 0; c < cols; ++c) {
      mask[static_cast<std::size_t>(k * cols + c)] = c % sets == k % sets ? 1 : 0;
    }
  }
  const CsrPattern pattern = build_csr_pattern(mask, channels, cols, 1);
  return csr_weight(pattern, encode_f32(std::vector<float>(pattern.column.size(), 1.0f)));
}

}  // namespace

TEST_CASE("gathered groups keep every weight once, whatever the blocks and groups are") {
  RandomValues random(71);
  for (const int vector : {1, 8, 16, 32}) {
    for (const std::int64_t out : {1, 7, 16, 33, 64, 200}) {
      for (const double density : {0.0, 0.05, 0.3, 1.0}) {
        CAPTURE(vector);
        CAPTURE(out);
        CAPTURE(density);
        check_groups(random.weight(out, 20 * 9, vector, density), conv_of(20, out, 3));
      }
    }
    check_groups(random.weight(48, 16 * 9, vector, 0.2), conv_of(48, 48, 3, 3));
    check_groups(random.weight(9, 9, vector, 0.5), conv_of(9, 9, 3, 9));
  }
}

TEST_CASE("channels that keep the same columns share a group") {
  const Conv conv = conv_of(40, 64, 1);
  const GatheredGroups groups = gathered_groups(block_csr(interleaved(64, 40, 4)), conv);
  // Each of 4 groups keeps the 10 columns of its set, not all 40.
  CHECK(groups.weight.blocks() == 4 * 10);
  CHECK(covered_share(groups) == doctest::Approx(0.25));
  CHECK(groups.place[0] == 0);
  CHECK(groups.place[1] == 4);
}

TEST_CASE("blocks of 16 and 32 channels stay in order, blocks of 8 as they are") {
  RandomValues random(72);
  const Conv conv = conv_of(30, 64, 3);
  for (const int vector : {16, 32}) {
    const auto groups = gathered_groups(block_csr(random.weight(64, 270, vector, 0.2)), conv);
    std::vector<std::int32_t> plain(64);
    std::iota(plain.begin(), plain.end(), 0);
    CHECK(groups.place == plain);
  }
  const auto pairs = gathered_groups(block_csr(random.weight(64, 270, 8, 0.1)), conv);
  for (std::size_t row = 0; row < 64; ++row) {
    CHECK(pairs.place[row] % 8 == static_cast<std::int32_t>(row % 8));
  }
}

TEST_CASE("a cover is no worse than the plain order, and the plain order where it saves nothing") {
  RandomValues random(73);
  const CsrWeight weight = random.weight(128, 576, 1, 0.1);
  const GatheredGroups groups = gathered_groups(block_csr(weight), conv_of(64, 128, 3));
  CHECK(covered_share(groups) < 1 - 0.18);  // 1 - 0.9^16 = 0.815 of random rows in any order
  const std::vector<KeptColumns> equal(40, KeptColumns{1, 5, 9});
  std::vector<std::int32_t> plain(40);
  std::iota(plain.begin(), plain.end(), 0);
  CHECK(cover_order(equal, 16) == plain);
  CHECK(covered_columns(equal, plain, 16) == 9);
  CHECK(cover_order({}, 16).empty());
  CHECK(cover_order(std::vector<KeptColumns>(20), 16).size() == 20);
}

TEST_CASE("rows are sorted by the places of their channels, and keep their weights") {
  RandomValues random(15);
  for (const int vector : {1, 16}) {
    const Conv conv = conv_of(12, 40, 3);
    const GatheredGroups groups =
        gathered_groups(block_csr(random.weight(40, 108, vector, 0.2)), conv);
    std::vector<std::int32_t> place(40);
    for (std::int32_t c = 0; c < 40; ++c) place[static_cast<std::size_t>(c)] = c * 7 % 40;
    const GatheredGroups sorted = with_sorted_rows(groups, place);
    CHECK(dense_of(sorted) == dense_of(groups));
    CHECK(sorted.weight.column == groups.weight.column);
    for (std::size_t row = 1; row < sorted.place.size(); ++row) {
      if (row % kGroup == 0 || sorted.place[row] < 0) continue;
      REQUIRE(sorted.place[row - 1] >= 0);
      CHECK(place[static_cast<std::size_t>(sorted.place[row - 1])] <
            place[static_cast<std::size_t>(sorted.place[row])]);
    }
  }
}

}  // namespace winnow
