#include "runtime/challenge/engines/gpu/image_places.h"

#include <doctest/doctest.h>

#include "runtime/base/random.h"
#include "runtime/challenge/images.h"
#include "runtime/device/buffer.h"
#include "runtime/device/stream.h"
#include "tests/challenge/download.h"
#include "tests/gpu/gpu_case.h"

namespace winnow::challenge {
namespace {

using Words = std::vector<std::uint32_t>;

struct Case {
  std::uint32_t images, words_per_tile, multiple;
  double density;
};

struct Placed {
  Words first, id, number, live;
  std::uint32_t count = 0;
};

// Plain loops.
Placed expected_of(const Case& sample, const Words& alive, const Words& id) {
  Placed placed;
  placed.live.resize(alive.size());
  placed.id.assign(alive.size() * 32, 0);
  placed.number = placed.id;
  const std::uint32_t tile_images = 32 * sample.words_per_tile;
  for (std::uint32_t tile = 0; tile * tile_images < sample.images; ++tile) {
    placed.first.push_back(placed.count);
    std::uint32_t place = placed.count;
    for (std::uint32_t i = tile * tile_images; i < (tile + 1) * tile_images; ++i) {
      if (i >= sample.images || (alive[i / 32] >> i % 32 & 1) == 0) continue;
      placed.number[place] = i;
      placed.id[place++] = id[i];
      placed.live[id[i] / 32] |= 1u << id[i] % 32;
    }
    placed.count = (place + sample.multiple - 1) / sample.multiple * sample.multiple;
  }
  return placed;
}

void check_case(const Case& sample, Random& random) {
  const Stream stream;
  Words alive((sample.images + 63) / 64 * 2), id(alive.size() * 32);
  for (std::uint32_t i = 0; i < alive.size() * 32; ++i) {
    if (random.chance(sample.density)) alive[i / 32] |= 1u << i % 32;
    id[i] = static_cast<std::uint32_t>(id.size()) - 1 - i;
  }
  const auto device_alive = upload(alive), device_id = upload(id);
  const auto count = upload(Words{sample.images});
  const auto first = upload(Words(alive.size())), out_id = upload(Words(id.size()));
  const auto live = upload(Words(alive.size())), out_count = upload(Words(1));
  const auto out_number = upload(Words(id.size()));
  launch_image_places({.words_per_tile = sample.words_per_tile,
                       .multiple = sample.multiple,
                       .alive = device_alive.get(),
                       .in_count = count.get(),
                       .in_id = device_id.get(),
                       .first = first.get(),
                       .out_count = out_count.get(),
                       .out_id = out_id.get(),
                       .out_number = out_number.get(),
                       .live_bits = live.get()},
                      stream.get());
  CUDA_CHECK(cudaStreamSynchronize(stream.get()));
  const Placed expected = expected_of(sample, alive, id);
  CHECK(download(out_count)[0] == expected.count);
  CHECK(download(out_id) == expected.id);
  CHECK(download(out_number) == expected.number);
  CHECK(download(live) == expected.live);
  Words firsts = download(first);
  firsts.resize(expected.first.size());
  CHECK(firsts == expected.first);
}

}  // namespace

TEST_CASE("live images get places in order, tiles a multiple of places") {
  if (lacks_gpu()) return;
  Random random(1);
  for (const std::uint32_t images : {1u, 31u, 64u, 65u, 1000u, 70001u}) {
    for (const std::uint32_t words : {1u, 2u}) {
      for (const std::uint32_t multiple : {1u, 2u, 16u}) {
        for (const double density : {0.0, 0.3, 1.0}) {
          CAPTURE(images);
          CAPTURE(words);
          CAPTURE(multiple);
          CAPTURE(density);
          check_case({images, words, multiple, density}, random);
        }
      }
    }
  }
}

}  // namespace winnow::challenge
