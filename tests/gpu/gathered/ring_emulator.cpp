#include "tests/gpu/gathered/ring_emulator.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "runtime/base/half.h"
#include "runtime/gpu/gathered/ring_index.h"

namespace winnow {
namespace {

constexpr float kNothing = std::numeric_limits<float>::quiet_NaN();
constexpr int kPixel = kStageChannels * kGatheredImages;

// Shared memory of a thread block and the counts behind its barriers.
class Block {
 public:
  Block(const EmulatedLaunch& launch, const RingArguments& a, int number, std::vector<float>& out,
        std::string& failure)
      : launch_(launch),
        a_(a),
        part_(part_of(a, number)),
        out_(out),
        failure_(failure),
        ring_(a.ring_bytes / kRowBytes * kGatheredImages, kNothing) {
    const int first = part_ * a.part_groups;
    const int groups = std::min(a.part_groups, a.groups - first);
    for (int w = 0; w < groups * a.slices; ++w) {
      warps_.push_back({.group = first + w / a.slices, .slice = w % a.slices});
    }
    const int step = a.part_begin[part_ + 1] - a.part_begin[part_];
    for (int t = number - a.part_begin[part_]; t < a.tiles; t += step) tiles_.push_back(t);
    for (auto& warp : warps_) begin_tile(warp);
  }

  void run() {
    bool goes_on = true;
    while (goes_on && failure_.empty()) {
      goes_on = copy_next();
      for (Warp& warp : warps_) goes_on = step(warp) || goes_on;
    }
    const bool is_done =
        std::ranges::all_of(warps_, [&](const Warp& w) { return w.tile == tiles_.size(); });
    if (!is_done && failure_.empty()) failure_ = "no warp and no copy can go on";
  }

 private:
  struct Warp {
    int group, slice;
    std::size_t tile = 0;      // in tiles_
    int batch = -1;            // -1: waits for the first
    bool is_computed = false;  // waits for the stages of the next
    int addend = 0;            // stages of it that are added
    std::uint32_t arrived = 0, released = 0, slot = 0;
    std::vector<float> sums = {};  // [pixels][16][8]
  };

  int stage_count() const {
    return launch_.weights->stage_begin[static_cast<std::size_t>(part_) + 1] -
           launch_.weights->stage_begin[static_cast<std::size_t>(part_)];
  }
  void require(bool is_true, const char* what) {
    if (!is_true && failure_.empty()) failure_ = what;
  }

  // The next stage, if the ring has room.
  bool copy_next() {
    const auto stages = static_cast<std::uint32_t>(stage_count());
    if (copied_ == stages * tiles_.size()) return false;
    for (const Warp& warp : warps_) {
      if (copied_ > a_.stage_mask && warp.released + a_.stage_mask < copied_) return false;
    }
    const RingTileAt at = tile_at(a_, tiles_[copied_ / stages], launch_.problem.tile.width);
    const RingProblem& problem = launch_.problem;
    const int stage = first_stage() + static_cast<int>(copied_ % stages);
    const int block = block_of(stage);
    if (stage >= first_addend()) {
      copy(addend_box_at(a_, at, block), output_box(problem.tile),
           output_map(problem, launch_.in_size), *launch_.addend, slot(copied_));
    } else if (block >= 0) {
      copy(box_at(a_, at, block), box_of(problem.tile, problem.conv),
           input_map(problem, launch_.in_size), *launch_.in, slot(copied_));
    }
    ++copied_;
    return true;
  }

  int first_stage() const { return launch_.weights->stage_begin[static_cast<std::size_t>(part_)]; }
  int first_addend() const {
    return launch_.weights->addend_begin[static_cast<std::size_t>(part_)];
  }
  int block_of(int stage) const {
    return launch_.weights->stage_block[static_cast<std::size_t>(stage)];
  }
  float* slot(std::uint32_t copy) {
    return ring_.data() + (copy & a_.stage_mask) * (a_.stage_bytes / kRowBytes) * kGatheredImages;
  }

  void copy(const RingBoxAt& at, const RingBox& box, const RingMap& map,
            const std::vector<float>& values, float* to) {
    require(box.rows() * kRowBytes <= static_cast<int>(a_.stage_bytes), "a box is too large");
    for (int i = 0; i < box.height * box.width; ++i, to += kPixel) {
      const std::int64_t from = box_pixel(map, at, i / box.width, i % box.width);
      const bool is_inside = from >= 0;
      const auto size = static_cast<std::int64_t>(values.size());
      require(!is_inside || (at.map < map.images * map.blocks && from + kPixel <= size),
              "a copy reads out of bounds");
      if (!failure_.empty()) return;
      for (int e = 0; e < kPixel; ++e) {
        to[e] = is_inside ? values[static_cast<std::size_t>(from + e)] : 0.0f;
      }
    }
  }

  const std::byte* record(const Warp& warp, int batch) const {
    return launch_.weights->records.data() +
           (std::int64_t{warp.group} * a_.capacity + batch) * kRecordBytes;
  }
  int batches(const Warp& warp) const {
    return launch_.weights->batches[static_cast<std::size_t>(warp.group)];
  }
  std::uint16_t code(const Warp& warp, int batch, int column) const {
    const int holder = (batch + batches(warp) - 1) % batches(warp);
    std::uint16_t code;
    std::memcpy(&code, record(warp, holder) + kFragmentBytes + 2 * column, 2);
    return code;
  }
  std::uint32_t count(const Warp& warp, int batch, std::uint16_t bit) const {
    std::uint32_t n = 0;
    for (int i = 0; i < kBatchColumns; ++i) n += (code(warp, batch, i) & bit) != 0 ? 1 : 0;
    return n;
  }
  bool wait(Warp& warp, int batch) const {
    const std::uint32_t wanted = warp.arrived + count(warp, batch, kWaitBit);
    if (wanted > copied_) return false;
    warp.arrived = wanted;
    return true;
  }

  bool step(Warp& warp) {
    if (warp.tile == tiles_.size()) return false;
    if (warp.batch == batches(warp)) return finish(warp);
    if (warp.batch < 0) {
      if (!wait(warp, 0)) return false;
      warp.batch = 0;
      return true;
    }
    if (!warp.is_computed) {
      multiply(warp);
      warp.is_computed = true;
    }
    const bool is_last = warp.batch + 1 == batches(warp);
    if (!is_last && !wait(warp, warp.batch + 1)) return false;
    warp.released += count(warp, warp.batch, kReleaseBit);
    warp.is_computed = false;
    ++warp.batch;
    return true;
  }

  // What comes after the last batch: the stages of what is added, one by one, then the stores.
  bool finish(Warp& warp) {
    const int stage = first_addend() + warp.addend;
    if (stage == first_stage() + stage_count()) {
      end_tile(warp);
      return true;
    }
    if (warp.arrived == copied_) return false;
    add_stage(warp, block_of(stage), slot(warp.arrived));
    ++warp.arrived, ++warp.released, ++warp.addend;
    return true;
  }

  void add_stage(Warp& warp, int block, const float* stage) {
    const RingTile& tile = launch_.problem.tile;
    stage += warp.slice * tile.height * tile.width * kPixel;
    for (int p = 0; p < tile.height * tile.width; ++p) {
      const RingPixel pixel = {p / tile.width, p % tile.width};
      for (int row = 0; row < kGroupChannels; ++row) {
        const auto index = static_cast<std::size_t>(warp.group * kGroupChannels + row);
        const int place = launch_.weights->place[index];
        if (place < 0 || place / kStageChannels != block) continue;
        const std::uint32_t bytes = addend_offset(place) + addend_step(tile.width, pixel);
        for (int n = 0; n < kGatheredImages; ++n) {
          sum(warp, pixel, row, n) += stage[bytes / kRowBytes * kGatheredImages + n];
        }
      }
    }
  }

  RingTileAt at_of(const Warp& warp) const {
    RingTileAt at = tile_at(a_, tiles_[warp.tile], launch_.problem.tile.width);
    at.y += warp.slice * launch_.problem.tile.height;
    return at;
  }

  // Calls body(pixel, row, offset in the output) for all that the warp writes.
  template <typename Body>
  void for_each_output(const Warp& warp, int side, Body body) {
    RingTileAt at = at_of(warp);
    at.x /= side, at.y /= side;
    for (int y = 0; y < launch_.problem.tile.height / side; ++y) {
      for (int x = 0; x < launch_.problem.tile.width / side; ++x) {
        if (at.y + y >= a_.map.height || at.x + x >= a_.map.width) continue;
        for (int row = 0; row < kGroupChannels; ++row) {
          const auto index = static_cast<std::size_t>(warp.group * kGroupChannels + row);
          const int place = launch_.weights->place[index];
          if (place < 0) continue;
          const std::int64_t offset = channel_offset(a_.map, at.images, place) +
                                      std::int64_t{at.y + y} * a_.map.row +
                                      (at.x + x) * a_.map.column;
          require(offset >= 0 && offset + kGatheredImages <= static_cast<std::int64_t>(out_.size()),
                  "a write is out of bounds");
          if (failure_.empty()) body(RingPixel{y, x}, row, static_cast<std::size_t>(offset));
        }
      }
    }
  }

  float& sum(Warp& warp, const RingPixel& pixel, int row, int image) const {
    const int p = pixel.y * launch_.problem.tile.width + pixel.x;
    return warp
        .sums[static_cast<std::size_t>((p * kGroupChannels + row) * kGatheredImages + image)];
  }

  void begin_tile(Warp& warp) {
    if (warp.tile == tiles_.size()) return;
    const int pixels = launch_.problem.tile.height * launch_.problem.tile.width;
    warp.sums.clear();
    for (int i = 0; i < pixels * kGroupChannels; ++i) {
      const auto row = static_cast<std::size_t>(warp.group * kGroupChannels + i % kGroupChannels);
      warp.sums.insert(warp.sums.end(), kGatheredImages, launch_.bias[row]);
    }
  }

  // As lanes hold it: see write_fragment().
  static float weight(const std::byte* fragment, int row, int column) {
    const int lane = row % 8 * 4 + column % 8 / 2;
    const int half = column / 8 * 4 + row / 8 * 2 + column % 2;
    Half value;
    std::memcpy(&value, fragment + lane * 16 + half * 2, 2);
    return to_float(value);
  }

  void multiply(Warp& warp) {
    const RingTile& tile = launch_.problem.tile;
    const std::byte* fragment = record(warp, warp.batch);
    const std::uint32_t base = warp.slot * a_.stage_bytes + warp.slice * a_.slice_step;
    for (int p = 0; p < tile.height * tile.width; ++p) {
      const int pair = p / 2;
      const RingPixel pixel = pixel_of(tile.height, tile.width, pair, p % 2 == 1);
      require(pair_of(tile.height, tile.width, pixel) == pair &&
                  is_second(tile.height, tile.width, pixel) == (p % 2 == 1),
              "a pixel is not of its pair");
      for (int k = 0; k < kBatchColumns; ++k) {
        const std::uint32_t address = base + (p % 2 == 1 ? a_.pair_step : 0) +
                                      (code(warp, warp.batch, k) & 0x3fffu) * kRowBytes +
                                      pair_offset(a_, tile.height, tile.width, pair);
        require(address + kRowBytes <= a_.ring_bytes, "a row is beyond the ring");
        if (!failure_.empty()) return;
        const float* row = ring_.data() + address / kRowBytes * kGatheredImages;
        for (int r = 0; r < kGroupChannels; ++r) {
          const float w = weight(fragment, r, k);
          for (int n = 0; n < kGatheredImages; ++n) sum(warp, pixel, r, n) += w * row[n];
        }
      }
    }
  }

  void end_tile(Warp& warp) {
    const int side = a_.pool == RingPool::none ? 1 : 2;
    for_each_output(warp, side, [&](const RingPixel& pixel, int row, std::size_t offset) {
      for (int n = 0; n < kGatheredImages; ++n) {
        float& to = out_[offset + static_cast<std::size_t>(n)];
        require(std::isnan(to), "an output is written twice");
        to = result(warp, pixel, row, n, side);
      }
    });
    warp.slot = (warp.slot + static_cast<std::uint32_t>(stage_count())) & a_.stage_mask;
    warp.batch = -1;
    warp.addend = 0;
    ++warp.tile;
    begin_tile(warp);
  }

  float result(Warp& warp, const RingPixel& pixel, int row, int n, int side) const {
    float most = -std::numeric_limits<float>::infinity(), total = 0;
    for (int i = 0; i < side * side; ++i) {
      const RingPixel from = {pixel.y * side + i / side, pixel.x * side + i % side};
      const float value = sum(warp, from, row, n);
      const float kept = value < a_.least ? a_.least : value;  // what is not a number stays
      most = kept > most || std::isnan(kept) ? kept : most;
      total += kept / static_cast<float>(side * side);
    }
    return a_.pool == RingPool::average ? total : most;
  }

  const EmulatedLaunch& launch_;
  const RingArguments& a_;
  int part_;
  std::vector<float>& out_;
  std::string& failure_;
  std::vector<float> ring_;
  std::vector<Warp> warps_;
  std::vector<int> tiles_;
  std::uint32_t copied_ = 0;
};

}  // namespace

std::vector<float> emulate(const EmulatedLaunch& launch, std::string& failure) {
  failure.clear();
  const RingArguments a =
      ring_arguments(launch.problem, *launch.weights, launch.in_size, launch.sms);
  const Extents out_size = ring_output(launch.problem, launch.in_size);
  const std::int64_t images = (out_size.n + kGatheredImages - 1) / kGatheredImages;
  const std::int64_t blocks = (out_size.c + kStageChannels - 1) / kStageChannels;
  std::vector<float> out(
      static_cast<std::size_t>(images * blocks * out_size.h * out_size.w * kPixel), kNothing);
  for (int b = 0; b < thread_blocks(a) && failure.empty(); ++b) {
    Block(launch, a, b, out, failure).run();
  }
  return out;
}

}  // namespace winnow
