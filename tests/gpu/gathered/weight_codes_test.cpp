#include "runtime/gpu/gathered/weight_codes.h"

#include <doctest/doctest.h>

#include <cstring>

#include "runtime/gpu/gathered/resident_weights.h"
#include "runtime/gpu/gathered/weight_fragments.h"
#include "tests/gpu/codebook_weight.h"
#include "tests/gpu/random_values.h"
#include "tests/throws.h"

namespace winnow {
namespace {

std::vector<Half> random_centroids(RandomValues& random) {
  std::vector<Half> found;
  while (found.size() < kMostCentroids) {
    found.push_back({static_cast<std::uint16_t>(random.below(0x10000))});
  }
  return found;
}

CsrWeight with_codebook(const std::vector<float>& entries, Encoding encoding) {
  std::vector<Half> codebook;
  std::vector<std::uint8_t> codes;
  for (const float entry : entries) {
    codes.push_back(static_cast<std::uint8_t>(codebook.size()));
    codebook.push_back(to_half(entry));
  }
  const auto cols = static_cast<std::int64_t>(entries.size());
  const std::vector<std::uint8_t> mask(entries.size(), 1);
  return csr_weight(build_csr_pattern(mask, 1, cols, 1),
                    encode_codebook(encoding, codes, codebook));
}

std::optional<CodedGroups> coded_of(const std::vector<float>& entries, Encoding encoding) {
  const auto cols = static_cast<std::int64_t>(entries.size());
  return coded_groups(with_codebook(entries, encoding), {.in_channels = cols, .out_channels = 1});
}

std::vector<float> numbers(int first, int last) {
  std::vector<float> found;
  for (int i = first; i <= last; ++i) found.push_back(static_cast<float>(i));
  return found;
}

// All batches of a weight's groups, each of 16 blocks in their order.
std::vector<ColumnBatch> batches_of(const GatheredGroups& groups) {
  std::vector<ColumnBatch> batches;
  for (std::int64_t g = 0; g < groups.weight.rows(); ++g) {
    const auto at = static_cast<std::size_t>(g);
    const std::int64_t end = groups.weight.begin[at + 1];
    for (std::int64_t b = groups.weight.begin[at]; b < end; b += kBatchColumns) {
      ColumnBatch batch;
      for (int i = 0; i < kBatchColumns; ++i) {
        batch.column[static_cast<std::size_t>(i)].block = b + i < end ? b + i : kNoBlock;
      }
      batches.push_back(batch);
    }
  }
  return batches;
}

}  // namespace

TEST_CASE("bytes are chosen as by PRMT") {
  CHECK(chosen_bytes(0x03020100, 0x07060504, 0x5140) == 0x05010400);
  CHECK(chosen_bytes(0x03020100, 0x07060504, 0x7362) == 0x07030602);
  CHECK(chosen_bytes(0x00007f80, 0, 0xabcd98) == 0x000000ff);  // signs; 16 bits of the selector
  CHECK(chosen_bytes(0, 0xff, 0xc4c4) == 0xffffffff);
}

TEST_CASE("every code in every place gives its centroid, whatever its bits") {
  RandomValues random(61);
  for (int i = 0; i < 200; ++i) {
    const std::vector<Half> centroids = random_centroids(random);
    const CentroidTable table = centroid_table(centroids);
    std::uint32_t codes = 0, words[4];
    for (int n = 0; n < 8; ++n) codes |= static_cast<std::uint32_t>(random.below(16)) << (4 * n);
    look_up(table, codes, words);
    for (int n = 0; n < 8; ++n) {
      CHECK((words[n / 2] >> (n % 2 * 16) & 0xffff) == centroids[codes >> (4 * n) & 15].bits);
    }
  }
}

TEST_CASE("codes of a batch stand for the fragment that half floats make") {
  RandomValues random(62);
  for (const int vector : {1, 8, 16, 32}) {
    for (const std::size_t centroids : {2, 3, 7, 15, 16}) {
      const CsrWeight weight =
          codebook_weight(random.weight(41, 77, vector, 0.3), centroids, true, random);
      const auto coded = coded_groups(weight, {.in_channels = 77, .out_channels = 41});
      REQUIRE(coded.has_value());
      CHECK(coded->codebook.centroid.size() <= centroids);
      const WeightCodes codes(coded->codebook.centroid);
      const CentroidTable table = centroid_table(coded->codebook.centroid);
      for (const ColumnBatch& batch : batches_of(coded->groups)) {
        std::byte halves[kFragmentBytes], written[kCodeBytes];
        write_fragment(coded->groups, batch, halves);
        write_codes(coded->groups, batch, codes, written);
        for (int lane = 0; lane < 32; ++lane) {
          std::uint32_t word, found[4];
          std::memcpy(&word, written + 4 * lane, sizeof(word));
          look_up(table, word, found);
          CHECK(std::memcmp(found, halves + 16 * lane, sizeof(found)) == 0);
        }
      }
    }
  }
}

TEST_CASE("centroids times the factors of channels are the weight") {
  RandomValues random(63);
  for (const bool has_scale : {false, true}) {
    const Conv conv{.in_channels = 60, .out_channels = 37};
    const CsrWeight weight = codebook_weight(random.weight(37, 60, 8, 0.2), 11, has_scale, random);
    const CodedGroups coded = coded_groups(weight, conv).value();
    const GatheredGroups decoded = gathered_groups(block_csr(weight), conv);
    CHECK(coded.groups.place == decoded.place);
    CHECK(coded.groups.weight.begin == decoded.weight.begin);
    CHECK(coded.groups.weight.column == decoded.weight.column);
    REQUIRE(coded.codebook.scale.size() == 37);
    for (std::int64_t g = 0; g < decoded.weight.rows(); ++g) {
      const auto at = static_cast<std::size_t>(g);
      for (std::int64_t b = decoded.weight.begin[at]; b < decoded.weight.begin[at + 1]; ++b) {
        for (std::int64_t row = 0; row < kGroupChannels; ++row) {
          const std::int32_t k = decoded.place[static_cast<std::size_t>(g * kGroupChannels + row)];
          if (k < 0) continue;
          const auto value = static_cast<std::size_t>(b * kGroupChannels + row);
          CHECK(coded.groups.weight.value[value] *
                    coded.codebook.scale[static_cast<std::size_t>(k)] ==
                decoded.weight.value[value]);
        }
      }
    }
  }
}

TEST_CASE("only weights of a codebook of at most 16 values, with 0, have codes") {
  RandomValues random(64);
  const Conv conv{.in_channels = 20, .out_channels = 9};
  CHECK(!coded_groups(random.weight(9, 20, 1, 0.5), conv).has_value());
  CHECK(coded_of(numbers(0, 15), Encoding::codebook4).has_value());
  CHECK(coded_of(numbers(1, 15), Encoding::codebook4)->codebook.centroid.size() == 16);
  CHECK(!coded_of(numbers(1, 16), Encoding::codebook4).has_value());
  CHECK(!coded_of(numbers(0, 16), Encoding::codebook8).has_value());
  CHECK(coded_of({0.0f, -0.0f, 2.0f, 2.0f}, Encoding::codebook8)->codebook.centroid ==
        std::vector<Half>{to_half(0.0f), to_half(2.0f)});
}

TEST_CASE("weights that are no centroids are refused") {
  RandomValues random(65);
  const CsrWeight weight = codebook_weight(random.weight(20, 30, 16, 0.5), 16, false, random);
  const Conv conv{.in_channels = 30, .out_channels = 20};
  const CodedGroups coded = coded_groups(weight, conv).value();
  const Extents in{8, 30, 1, 1}, out{8, 20, 1, 1};
  const ResidentTile tile =
      valid_resident_tiles({.conv = conv, .in = in, .out = out, .has_codes = true}, {})[0];
  const ResidentGeometry g = resident_geometry(tile, conv, in, out);
  std::vector<std::int32_t> place(30);
  for (std::size_t i = 0; i < place.size(); ++i) place[i] = static_cast<std::int32_t>(i);
  const auto pack = [&](const WeightCodebook& codebook) {
    pack_for_resident(coded.groups, conv, tile, g, place, place, codebook);
  };
  pack(coded.codebook);
  WeightCodebook other = coded.codebook;
  other.centroid.back() = to_half(3.0f);
  CHECK(error_of([&] { pack(other); }) == ErrorCode::usage);
  CHECK(error_of([&] { pack({}); }) == ErrorCode::usage);
  CHECK(error_of([] { centroid_table(std::vector<Half>(17)); }) == ErrorCode::usage);
  CHECK(message_of([] { WeightCodes(std::vector<Half>{to_half(0.5f)}).of(to_half(3.0f)); }) ==
        "weight 3 has no code: it is none of 1 centroids");
}

}  // namespace winnow
