// The activations of some images on their way through the layers.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "runtime/base/aligned_buffer.h"
#include "runtime/challenge/engines/cpu/kernels/tile_kernels.h"
#include "runtime/challenge/images.h"

namespace winnow::challenge {

// Images that left a batch between two layers and wait for others to go on with.
struct WaitingImages {
  std::vector<std::uint32_t> image;
  std::vector<float> value;  // [neurons][images]

  std::uint32_t images() const { return static_cast<std::uint32_t>(image.size()); }
};

// The images [first, first + count) of them.
struct WaitingRange {
  const WaitingImages* from = nullptr;
  std::uint32_t first = 0;
  std::uint32_t count = 0;
};

// For each lane of a slab other than 0 if its image is alive. On a cache line of its own.
struct alignas(64) LaneFlags {
  std::array<std::uint32_t, kSlabLanes> lane = {};
};

// Images in slabs of kSlabLanes lanes, each slab [neurons][kSlabLanes] in one piece. The memory is
// kept when the images change. One object belongs to one thread.
class ImageBatch {
 public:
  // For at most `images` images at a time, of at most `neurons` neurons. Throws std::bad_alloc.
  ImageBatch(std::uint32_t neurons, std::uint32_t images);

  // Both replace what the batch held.
  void load(const SparseImages& images, std::span<const std::uint32_t> chosen);
  void load(std::span<const WaitingRange> ranges, std::uint32_t neurons);

  // Lanes in use: images that are alive, and among them dead ones that were not dropped yet.
  std::uint32_t lanes() const { return static_cast<std::uint32_t>(image_.size()); }
  std::uint32_t slabs() const;
  std::uint32_t lanes_of_slab(std::uint32_t slab) const;  // rounded up to kLaneMultiple

  // A layer calls begin_layer(); then for each slab in its turn it reads in(), writes out(), sets
  // alive(), and calls advance(), by which what was written becomes the slab's values.
  void begin_layer();
  const float* in(std::uint32_t slab) const { return slot_[slab]; }
  float* out() const { return spare_; }
  LaneFlags& alive(std::uint32_t slab) { return alive_[slab]; }
  void advance(std::uint32_t slab) { std::swap(slot_[slab], spare_); }

  // Of the last layer. drop_dead() and take_live() may be called once after each.
  std::uint32_t count_live() const;
  std::vector<std::uint32_t> live_images() const;

  // Moves live images into the lanes of dead ones where that frees enough lanes to be worth it.
  void drop_dead(std::uint32_t neurons);

  // Moves the live images out; the batch is empty then.
  WaitingImages take_live(std::uint32_t neurons);

 private:
  bool is_live(std::uint32_t lane) const {
    return alive_[lane / kSlabLanes].lane[lane % kSlabLanes] != 0;
  }
  float* column(std::uint32_t lane) const { return slot_[lane / kSlabLanes] + lane % kSlabLanes; }
  void move_together(std::uint32_t neurons);

  AlignedBuffer memory_;
  std::vector<float*> slot_;  // [slabs]
  float* spare_ = nullptr;    // one slot serves all slabs, which take turns
  std::vector<LaneFlags> alive_;
  std::vector<std::uint32_t> image_;  // by lane
};

}  // namespace winnow::challenge
