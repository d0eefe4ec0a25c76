#include "runtime/challenge/engines/cusparse/activations/live_rows.h"

#include <doctest/doctest.h>

#include "runtime/base/random.h"
#include "runtime/device/stream.h"
#include "tests/gpu/gpu_case.h"

namespace winnow::challenge {
namespace {

std::vector<std::uint8_t> random_flags(std::uint32_t rows, double density, Random& random) {
  std::vector<std::uint8_t> flags(rows);
  for (std::uint8_t& flag : flags) flag = random.chance(density) ? 1 : 0;
  return flags;
}

std::vector<std::uint32_t> download_words(const std::uint32_t* device, std::size_t count) {
  std::vector<std::uint32_t> values(count);
  CUDA_CHECK(
      cudaMemcpy(values.data(), device, count * sizeof(std::uint32_t), cudaMemcpyDeviceToHost));
  return values;
}

// Drops rows by random flags until few are left, and checks each step against plain loops.
void check_keep(std::uint32_t images, std::uint32_t first, double density, Random& random) {
  const Stream stream;
  LiveRows live(images + 5);
  live.reset(first, images, stream.get());
  Categories expected;
  for (std::uint32_t i = 0; i < images; ++i) expected.push_back(first + i);
  for (int step = 0; step < 3; ++step) {
    CHECK(live.download(stream.get()) == expected);
    const auto flags = random_flags(static_cast<std::uint32_t>(expected.size()), density, random);
    copy_to_device(live.alive(), flags.data(), flags.size());
    Categories left;
    std::vector<std::uint32_t> rows;
    for (std::uint32_t r = 0; r < flags.size(); ++r) {
      if (flags[r] == 0) continue;
      left.push_back(expected[r]);
      rows.push_back(r);
    }
    live.keep(stream.get());
    stream.synchronize();
    CHECK(download_words(live.rows(), rows.size()) == rows);
    CHECK(download_words(live.count(), 1).front() == left.size());
    expected = left;
  }
  CHECK(live.download(stream.get()) == expected);
}

}  // namespace

TEST_CASE("rows are kept in order whatever their number") {
  if (lacks_gpu()) return;
  Random random(11);
  for (const std::uint32_t images : {0u, 1u, 31u, 1023u, 1024u, 1025u, 2048u, 5000u, 60000u}) {
    CAPTURE(images);
    for (const double density : {0.0, 0.03, 0.6, 1.0}) {
      CAPTURE(density);
      check_keep(images, 7, density, random);
    }
  }
}

TEST_CASE("flags of rows that are no longer there do not count") {
  if (lacks_gpu()) return;
  const Stream stream;
  LiveRows live(10);
  live.reset(0, 10, stream.get());
  for (const std::uint32_t left : {4u, 2u, 2u}) {
    const std::vector<std::uint8_t> flags(left, 1);
    stream.synchronize();
    copy_to_device(live.alive(), flags.data(), flags.size());
    live.keep(stream.get());
    CHECK(live.download(stream.get()).size() == left);
  }
  live.keep(stream.get());
  CHECK(live.download(stream.get()).empty());
}

}  // namespace winnow::challenge
