#include "runtime/challenge/engines/grouped/kernels/group_kernel.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "runtime/base/half.h"
#include "runtime/base/random.h"
#include "runtime/device/buffer.h"
#include "runtime/device/stream.h"
#include "tests/challenge/download.h"
#include "tests/challenge/engines/grouped/shared_network.h"
#include "tests/gpu/gpu_case.h"

namespace winnow::challenge {
namespace {

using Words = std::vector<std::uint32_t>;

// A layer between layers of two halves, from which a third of the images is dropped on the way.
class MovingLayer {
 public:
  static constexpr std::uint32_t kTiles = 11, kNeurons = 256;

  MovingLayer()
      : layer_(group_layer(network_.layer(1), find_input_groups(network_.layer(1)),
                           rows_of_outputs(find_input_groups(network_.layer(0))))),
        piece_(layer_),
        weights_(upload_piece(layer_, piece_)) {
    Random random(1);
    std::vector<std::uint16_t> halves(std::size_t{kTiles} * kNeurons * 2 * kGroupImages);
    for (std::size_t i = 0; i < halves.size(); ++i) {
      const bool is_low = i / kGroupImages % 2 == 1;
      halves[i] = to_half(is_low ? 0.0f : static_cast<float>(64 * random.below(64))).bits;
    }
    in_ = upload(halves);
    Words keep(kTiles * 2), first(kTiles * 2);
    for (std::uint32_t tile = 0, place = 0; tile < kTiles; ++tile) {
      std::uint32_t kept = 0;
      first[tile] = place;
      for (std::uint32_t i = 0; i < kGroupImages && tile * kGroupImages + i < kImages; ++i) {
        if (random.below(3) == 0) continue;
        keep[tile * 2 + i / 32] |= 1u << i % 32;
        ++kept;
      }
      place += (kept + kMultiple - 1) / kMultiple * kMultiple;
    }
    keep_ = upload(keep);
    first_ = upload(first);
    count_ = upload(Words{kImages});
  }

  std::vector<std::uint16_t> run(std::uint32_t tile_set_log2, bool is_reverse) const {
    const Stream stream;
    const auto out = upload(std::vector<std::uint16_t>(in_.count()));
    const auto alive = upload(Words(keep_.count() + 2));
    const auto id = upload(Words(kTiles * kGroupImages));
    GroupLaunch launch;
    launch.weights = piece_.view(weights_.get());
    launch.in_form = launch.out_form = GroupForm::split;
    launch.rows = kNeurons;
    launch.in = in_.get();
    launch.out = out.get();
    launch.count = count_.get();
    launch.order.is_reverse = is_reverse;
    launch.order.tile_set_log2 = tile_set_log2;
    launch.moves.keep = keep_.get();
    launch.moves.first = first_.get();
    launch.moves.multiple = kMultiple;
    launch.moves.out_id = id.get();
    launch.alive = alive.get();
    constexpr int kSms = 3;
    launch_group_layer(launch, kSms, stream.get());
    CUDA_CHECK(cudaStreamSynchronize(stream.get()));
    std::vector<std::uint16_t> all = download(out);
    for (const auto& words : {download(alive), download(id)}) {
      for (const std::uint32_t word : words) {
        all.push_back(static_cast<std::uint16_t>(word));
        all.push_back(static_cast<std::uint16_t>(word >> 16));
      }
    }
    return all;
  }

 private:
  static constexpr std::uint32_t kImages = kTiles * kGroupImages - 23, kMultiple = 16;

  static DeviceBuffer<std::byte> upload_piece(const GroupedLayer& layer, const GroupPiece& piece) {
    std::vector<std::byte> bytes(piece.bytes());
    piece.write(layer, bytes);
    return upload(bytes);
  }

  MemoryNetwork network_ = class_network(kNeurons, 2, {});
  GroupedLayer layer_;
  GroupPiece piece_;
  DeviceBuffer<std::byte> weights_;
  DeviceBuffer<std::uint16_t> in_;
  DeviceBuffer<std::uint32_t> keep_, first_, count_;
};

}  // namespace

TEST_CASE("grouped: tiles that are computed together give what they give one after the other") {
  if (lacks_gpu()) return;
  const MovingLayer layer;
  const auto expected = layer.run(0, false);
  CHECK(std::count(expected.begin(), expected.end(), 0) < std::ssize(expected) * 7 / 8);  // live
  for (const std::uint32_t log2 : {1u, 2u, 4u}) {
    for (const bool is_reverse : {false, true}) {
      CAPTURE(log2);
      CHECK(layer.run(log2, is_reverse) == expected);
    }
  }
}

}  // namespace winnow::challenge
