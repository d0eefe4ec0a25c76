#include "runtime/challenge/engines/cpu/image_batch.h"

#include <algorithm>

namespace winnow::challenge {
namespace {

// Moving images costs about a tenth of a layer, freeing an eighth of the lanes gains more.
constexpr std::uint32_t kWorthwhile = 8;

std::uint32_t multiples_of(std::uint32_t lanes) {
  return (lanes + kLaneMultiple - 1) / kLaneMultiple;
}

std::uint32_t slabs_of(std::uint32_t lanes) {
  return (lanes + kSlabLanes - 1) / kSlabLanes;
}

// Columns that lie beside each other on both sides.
struct Columns {
  const float* from;
  std::size_t from_step;  // floats to the next neuron
  float* to;
  std::size_t count;
};

}  // namespace

ImageBatch::ImageBatch(std::uint32_t neurons, std::uint32_t images) : alive_(slabs_of(images)) {
  const std::size_t floats = std::size_t{neurons} * kSlabLanes;
  memory_ = AlignedBuffer(static_cast<std::int64_t>((alive_.size() + 1) * floats));
  for (std::size_t s = 0; s < alive_.size(); ++s) slot_.push_back(memory_.data() + s * floats);
  spare_ = memory_.data() + alive_.size() * floats;
}

std::uint32_t ImageBatch::slabs() const {
  return slabs_of(lanes());
}

std::uint32_t ImageBatch::lanes_of_slab(std::uint32_t slab) const {
  const std::uint32_t left = lanes() - slab * kSlabLanes;
  return std::min<std::uint32_t>(multiples_of(left) * kLaneMultiple, kSlabLanes);
}

void ImageBatch::begin_layer() {
  std::fill_n(alive_.begin(), slabs(), LaneFlags{});
}

void ImageBatch::load(const SparseImages& images, std::span<const std::uint32_t> chosen) {
  image_.assign(chosen.begin(), chosen.end());
  for (std::uint32_t s = 0; s < slabs(); ++s) {
    std::fill_n(slot_[s], std::size_t{images.neurons} * kSlabLanes, 0.0f);
  }
  for (std::uint32_t lane = 0; lane < lanes(); ++lane) {
    float* to = column(lane);
    const std::uint64_t end = images.row_begin[image_[lane] + std::size_t{1}];
    for (std::uint64_t k = images.row_begin[image_[lane]]; k < end; ++k) {
      to[std::size_t{images.neuron[k]} * kSlabLanes] = 1;
    }
  }
}

// What the lanes beyond the last image hold does not matter: nobody looks at them.
void ImageBatch::load(std::span<const WaitingRange> ranges, std::uint32_t neurons) {
  image_.clear();
  std::vector<Columns> copies;
  for (const WaitingRange& range : ranges) {
    const WaitingImages& from = *range.from;
    for (std::uint32_t i = range.first; i < range.first + range.count;) {
      const std::uint32_t room = kSlabLanes - lanes() % kSlabLanes;
      const std::uint32_t count = std::min(range.first + range.count - i, room);
      copies.push_back({.from = from.value.data() + i,
                        .from_step = from.images(),
                        .to = column(lanes()),
                        .count = count});
      image_.insert(image_.end(), from.image.begin() + i, from.image.begin() + i + count);
      i += count;
    }
  }
  for (std::size_t n = 0; n < neurons; ++n) {
    for (const Columns& copy : copies) {
      std::copy_n(copy.from + n * copy.from_step, copy.count, copy.to + n * kSlabLanes);
    }
  }
}

std::uint32_t ImageBatch::count_live() const {
  std::uint32_t count = 0;
  for (std::uint32_t lane = 0; lane < lanes(); ++lane) count += is_live(lane) ? 1 : 0;
  return count;
}

std::vector<std::uint32_t> ImageBatch::live_images() const {
  std::vector<std::uint32_t> live;
  for (std::uint32_t lane = 0; lane < lanes(); ++lane) {
    if (is_live(lane)) live.push_back(image_[lane]);
  }
  return live;
}

void ImageBatch::drop_dead(std::uint32_t neurons) {
  const std::uint32_t multiples = multiples_of(lanes());
  const std::uint32_t freed = multiples - multiples_of(count_live());
  if (freed > 0 && freed * kWorthwhile >= multiples) move_together(neurons);
}

// Live images from the end take the lanes of dead ones before them.
void ImageBatch::move_together(std::uint32_t neurons) {
  const std::uint32_t live = count_live();
  std::vector<std::pair<const float*, float*>> moves;
  std::uint32_t from = live;
  for (std::uint32_t to = 0; to < live; ++to) {
    if (is_live(to)) continue;
    while (!is_live(from)) ++from;
    moves.emplace_back(column(from), column(to));
    image_[to] = image_[from];
    ++from;
  }
  for (std::size_t at = 0; at < std::size_t{neurons} * kSlabLanes; at += kSlabLanes) {
    for (const auto& [source, target] : moves) target[at] = source[at];
  }
  image_.resize(live);
}

WaitingImages ImageBatch::take_live(std::uint32_t neurons) {
  move_together(neurons);
  WaitingImages taken;
  taken.image = std::move(image_);
  image_.clear();
  taken.value.reserve(std::size_t{neurons} * taken.images());
  for (std::size_t n = 0; n < neurons; ++n) {
    for (std::uint32_t lane = 0; lane < taken.images(); lane += kSlabLanes) {
      const float* from = column(lane) + n * kSlabLanes;
      const std::uint32_t count = std::min<std::uint32_t>(taken.images() - lane, kSlabLanes);
      taken.value.insert(taken.value.end(), from, from + count);
    }
  }
  return taken;
}

}  // namespace winnow::challenge
