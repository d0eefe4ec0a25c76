#include "tests/gpu/gathered/resident_emulation.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>

#include "runtime/base/error.h"
#include "runtime/base/half.h"
#include "runtime/gpu/gathered/resident_index.h"

namespace winnow {
namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr int kNothing = -2, kZeros = -1;  // else the barrier that a row arrives at

using Row = std::array<float, kGatheredImages>;

void require(bool is_true, const char* what) {
  if (!is_true) fail(ErrorCode::internal, "emulation: ", what);
}

// [N / 8][C / 32][H][W][32] rows of eight images.
std::vector<Row> filled_rows(const Extents& size, float value) {
  Row row;
  row.fill(value);
  const std::int64_t blocks = (size.c + 31) / 32, images = (size.n + 7) / 8;
  return std::vector<Row>(static_cast<std::size_t>(images * blocks * size.h * size.w * 32), row);
}

// What does not exist is NaN.
std::vector<Row> rows_of(const Extents& size, const std::vector<float>& values,
                         const std::vector<std::int32_t>& place) {
  const std::int64_t blocks = (size.c + 31) / 32;
  std::vector<Row> rows = filled_rows(size, kNan);
  std::size_t i = 0;
  for (std::int64_t n = 0; n < size.n; ++n) {
    for (std::int64_t c = 0; c < size.c; ++c) {
      const std::int64_t p = place[static_cast<std::size_t>(c)];
      for (std::int64_t pixel = 0; pixel < size.h * size.w; ++pixel) {
        const std::int64_t row =
            ((n / 8 * blocks + p / 32) * size.h * size.w + pixel) * 32 + p % 32;
        rows[static_cast<std::size_t>(row)][static_cast<std::size_t>(n % 8)] = values[i++];
      }
    }
  }
  return rows;
}

// Shared memory of a thread block.
class Shared {
 public:
  explicit Shared(int rows) : row_(static_cast<std::size_t>(rows)), from_(row_.size(), kNothing) {
    for (Row& row : row_) row.fill(kNan);
  }
  void write(int at, const Row& row, int barrier) {
    require(at >= 0 && at < static_cast<int>(row_.size()), "writes beyond shared memory");
    require(from_[static_cast<std::size_t>(at)] == kNothing, "writes a row twice");
    row_[static_cast<std::size_t>(at)] = row;
    from_[static_cast<std::size_t>(at)] = barrier;
  }
  const Row& read(int at) const {
    require(at >= 0 && at < static_cast<int>(row_.size()), "reads beyond shared memory");
    return row_[static_cast<std::size_t>(at)];
  }
  int barrier_of(int at) const { return from_[static_cast<std::size_t>(at)]; }

 private:
  std::vector<Row> row_;
  std::vector<int> from_;
};

struct Batch {
  float weight[kGroupChannels][kBatchColumns];
  std::uint16_t strip[kBatchColumns];
  std::uint32_t map[32];
};

// By the table of fragments of mma.m16n8k16 (PTX ISA): a0 a1 | a2 a3 | a4 a5 | a6 a7 of a lane.
Batch read_batch(const std::byte* record, const ResidentConvForm& form) {
  Batch batch{};
  for (int lane = 0; lane < 32; ++lane) {
    Half a[8];
    std::memcpy(a, record + lane * 16, sizeof(a));
    for (int i = 0; i < 8; ++i) {
      const int row = lane / 4 + (i / 2 % 2 == 1 ? 8 : 0);
      const int column = lane % 4 * 2 + i % 2 + (i >= 4 ? 8 : 0);
      batch.weight[row][column] = to_float(a[i]);
    }
  }
  const std::byte* rows = record + kFragmentBytes;
  const bool is_by_lane = has_rows_by_lane(form);
  if (is_by_lane) std::memcpy(batch.map, rows, sizeof(batch.map));
  if (!is_by_lane) std::memcpy(batch.strip, rows, sizeof(batch.strip));
  return batch;
}

PixelOfPair which_of(const ResidentConvForm& form, int q, int i) {
  return form.is_point() ? pair_of_point(4 * q + i) : pixel_of_square(form, q, i);
}
ResidentPixel pixel_of(const ResidentConvForm& form, int pair, int second) {
  return form.is_point() ? pixel_of_point(2 * pair + second) : pixel_of_pair(form, pair, second);
}

using Sums = std::vector<std::array<Row, kGroupChannels>>;  // [pair * 2 + second]

class Emulation {
 public:
  Emulation(const EmulatedLayer& layer, const ResidentConvWeights& weights,
            const std::vector<float>& bias, const Extents& in, const Extents& out)
      : layer_(layer),
        form_(layer.tile.form),
        g_(resident_geometry(layer.tile, layer.conv, in, out)),
        weights_(weights),
        bias_(bias),
        pools_(layer.pool != RingPool::none) {}

  std::vector<Row> run(const std::vector<Row>& input, const std::vector<Row>& addend,
                       std::vector<Row> output) const {
    const int blocks = thread_blocks(g_);
    for (int block = 0; block < blocks; block += g_.cluster) {
      std::vector<Shared> shared;
      for (int rank = 0; rank < g_.cluster; ++rank) {
        shared.push_back(load(block_at(block + rank), input));
      }
      for (int pass = 0; pass < g_.passes; ++pass) {
        for (int warp = 0; warp < g_.warps(); warp += g_.split) {
          finish(block, warp, pass, sums_of_shares(block, warp, pass, shared), addend, output);
        }
      }
    }
    return output;
  }

 private:
  // In the order of the launch.
  ResidentBlock block_at(int block) const {
    const int x = g_.cluster * g_.group_blocks, tile = block / x;
    return resident_block(form_, g_, block % x, tile % g_.strips, tile / g_.strips);
  }

  Shared load(const ResidentBlock& at, const std::vector<Row>& input) const {
    Shared shared(g_.shared_rows);
    std::vector<int> arrived(static_cast<std::size_t>(resident_barriers(g_)), 0);
    int last = 0;
    for (int pass = 0; pass < g_.passes; ++pass) {
      for (int i = 0; i < copies_of_pass(form_, g_, pass); ++i) {
        const ResidentCopy copy = resident_copy(form_, g_, at, pass, i);
        require(copy.barrier >= last, "copies are not in the order of their barriers");
        last = copy.barrier;
        for (int r = 0; r < copy.rows; ++r) {
          shared.write(copy.to + r, input.at(static_cast<std::size_t>(copy.from + r)),
                       copy.barrier);
        }
        ++arrived[static_cast<std::size_t>(copy.barrier)];
      }
    }
    for (int b = 0; b < resident_barriers(g_); ++b) {
      require(arrived[static_cast<std::size_t>(b)] == copies_of_barrier(form_, g_, b),
              "a barrier waits for another number of copies");
    }
    Row zeros{};
    for (int row = 0; row < g_.zero_rows; ++row) shared.write(row, zeros, kZeros);
    for (int line = 0; !form_.is_map && line < g_.rank_blocks * g_.lines; ++line) {
      const bool has_input = has_input_line(g_, at, line % g_.lines);
      for (int i = 0; i < zero_pixels(g_, has_input); ++i) {
        for (int lane = 0; lane < 32; ++lane) {
          shared.write(line * g_.line_rows() + zero_pixel(g_, has_input, i) * 32 + lane, zeros,
                       kZeros);
        }
      }
    }
    return shared;
  }

  // Of the warps that share a group and part, in the order of their shares.
  std::vector<Sums> sums_of_shares(int block, int warp, int pass,
                                   const std::vector<Shared>& shared) const {
    std::vector<Sums> sums;
    for (int rank = 0; rank < g_.cluster; ++rank) {
      const ResidentBlock at = block_at(block + rank);
      for (int split = 0; split < g_.split; ++split) {
        sums.push_back(compute(at, resident_warp(g_, at, warp + split), pass,
                               shared[static_cast<std::size_t>(rank)]));
      }
    }
    return sums;
  }

  Sums compute(const ResidentBlock& at, const ResidentWarp& warp, int pass,
               const Shared& shared) const {
    Sums sums(static_cast<std::size_t>(form_.pixels()));
    if (warp.group >= g_.all_groups) return sums;
    const int stream = resident_stream(g_, warp.group, resident_share(g_, at.rank, warp.split));
    const std::int32_t* head = &weights_.heads[static_cast<std::size_t>(stream) * 4];
    const std::int64_t bytes = resident_record_bytes(form_);
    for (int b = 0; b < head[3]; ++b) {
      int stage = 0;
      while (stage < g_.stages - 1 && b >= head[stage]) ++stage;
      const Batch batch =
          read_batch(weights_.records.data() + (stream * weights_.capacity + b) * bytes, form_);
      multiply(at, warp, pass, stage, batch, shared, sums);
    }
    return sums;
  }

  void multiply(const ResidentBlock& at, const ResidentWarp& warp, int pass, int stage,
                const Batch& batch, const Shared& shared, Sums& sums) const {
    for (int p = 0; p < form_.pairs(); ++p) {
      for (int second = 0; second < 2; ++second) {
        const ResidentPixel pixel = pixel_of(form_, p, second);
        const bool is_stored = has_pixel(g_, output_pixel(form_, at, warp.part, pass, pixel),
                                         {0, 0, 0}, g_.height, g_.width);
        for (int k = 0; k < kBatchColumns; ++k) {
          const std::uint32_t code = batch.map[second * kBatchColumns + k];
          const int x = p % form_.pair_width();
          if (may_skip_column(form_, x) && skips_column(code, x)) continue;
          const int row = pair_row(form_, g_, p) +
                          (has_rows_by_lane(form_)
                               ? row_of_set(code, p / form_.pair_width())
                               : batch.strip[k] + strip_row(form_, g_, warp.part, pass, second));
          const Row& values = shared.read(row);
          if (is_stored) check_arrived(shared.barrier_of(row), stage, pass);
          add(values, batch, k, sums[static_cast<std::size_t>(2 * p + second)]);
        }
      }
    }
  }
  void check_arrived(int barrier, int stage, int pass) const {
    require(barrier != kNothing, "reads what nothing has written");
    const bool is_there = barrier < g_.stages ? barrier <= stage : barrier < g_.stages + pass;
    require(is_there, "reads what may not have arrived");
  }
  static void add(const Row& values, const Batch& batch, int k, std::array<Row, 16>& sum) {
    for (std::size_t m = 0; m < kGroupChannels; ++m) {
      for (std::size_t n = 0; n < kGatheredImages; ++n) sum[m][n] += batch.weight[m][k] * values[n];
    }
  }

  static std::size_t row_of(const ResidentWarp& task, std::size_t m) {
    return static_cast<std::size_t>(task.group) * kGroupChannels + m;
  }

  void finish(int block, int warp, int pass, const std::vector<Sums>& shares,
              const std::vector<Row>& addend, std::vector<Row>& output) const {
    const ResidentBlock at = block_at(block);
    const ResidentWarp task = resident_warp(g_, at, warp);
    if (task.group >= g_.all_groups) return;
    for (int share = 0; share < g_.shares(); ++share) {
      for (int q = 0; 4 * q < form_.pixels(); ++q) {
        for (std::size_t m = 0; m < kGroupChannels; ++m) {
          const std::int32_t place = weights_.place[row_of(task, m)];
          if (place >= 0) store(at, task, pass, share, q, m, place, shares, addend, output);
        }
      }
    }
  }

  void store(const ResidentBlock& at, const ResidentWarp& task, int pass, int share, int q,
             std::size_t m, int place, const std::vector<Sums>& shares,
             const std::vector<Row>& addend, std::vector<Row>& output) const {
    const ResidentPixel origin = output_pixel(form_, at, task.part, pass, {0, 0, 0});
    Row pooled;
    const bool is_max = layer_.pool == RingPool::max;
    pooled.fill(is_max ? -std::numeric_limits<float>::infinity() : 0.0f);
    bool owns = false;
    for (int i = 0; i < 4; ++i) {
      if (4 * q + i >= form_.pixels() || owner_of_pixel(g_, pools_, q, i) != share) continue;
      owns = true;
      const PixelOfPair which = which_of(form_, q, i);
      const ResidentPixel pixel = pixel_of(form_, which.pair, which.second);
      const bool is_in_map = has_pixel(g_, output_pixel(form_, at, task.part, pass, pixel),
                                       {0, 0, 0}, g_.height, g_.width);
      const std::int64_t row = output_row(g_, origin, place, g_.height, g_.width) +
                               output_step(g_, pixel, g_.height, g_.width);
      for (std::size_t n = 0; n < kGatheredImages; ++n) {
        float value = bias_[static_cast<std::size_t>(weights_.channel[row_of(task, m)])];
        for (const Sums& sums : shares) {
          value += sums[static_cast<std::size_t>(2 * which.pair + which.second)][m][n];
        }
        if (!addend.empty() && is_in_map) value += addend[static_cast<std::size_t>(row)][n];
        if (layer_.has_relu && value < 0) value = 0;
        if (!pools_ && is_in_map) write(output, row, n, value);
        if (!is_max) pooled[n] += value / 4;
        if (is_max && !(value <= pooled[n])) pooled[n] = value;
      }
    }
    if (!pools_ || !owns) return;
    const PixelOfPair which = which_of(form_, q, 0);
    const ResidentPixel pixel = pooled_pixel(pixel_of(form_, which.pair, which.second));
    const ResidentPixel first = pooled_pixel(origin);
    const int height = g_.height / 2, width = g_.width / 2;
    if (!has_pixel(g_, first, pixel, height, width)) {
      return;
    }
    const std::int64_t row =
        output_row(g_, first, place, height, width) + output_step(g_, pixel, height, width);
    for (std::size_t n = 0; n < kGatheredImages; ++n) write(output, row, n, pooled[n]);
  }
  static void write(std::vector<Row>& output, std::int64_t row, std::size_t n, float value) {
    float& to = output.at(static_cast<std::size_t>(row))[n];
    require(std::isinf(to), "writes an output twice");
    to = value;
  }

  const EmulatedLayer& layer_;
  ResidentConvForm form_;
  ResidentGeometry g_;
  const ResidentConvWeights& weights_;
  const std::vector<float>& bias_;
  bool pools_;
};

}  // namespace

std::vector<float> emulate_resident(const EmulatedLayer& layer, const ResidentConvWeights& weights,
                                    const std::vector<float>& bias, const reference::Array& input,
                                    const std::vector<std::int32_t>& input_place,
                                    const std::vector<std::int32_t>& output_place,
                                    const std::vector<float>& addend, const Extents& out) {
  const Extents in = extents_of(input.shape);
  Extents stored = out;
  if (layer.pool != RingPool::none) {
    stored.h /= 2;
    stored.w /= 2;
  }
  // Infinity: not written yet.
  std::vector<Row> output = filled_rows(stored, std::numeric_limits<float>::infinity());
  std::vector<Row> addend_rows;
  if (!addend.empty()) addend_rows = rows_of(out, addend, output_place);
  const std::vector<Row> rows =
      Emulation(layer, weights, bias, in, out)
          .run(rows_of(in, input.values, input_place), addend_rows, std::move(output));
  std::vector<float> values;
  const std::int64_t blocks = (out.c + 31) / 32, pixels = stored.h * stored.w;
  for (std::int64_t n = 0; n < out.n; ++n) {
    for (std::int64_t c = 0; c < out.c; ++c) {
      for (std::int64_t pixel = 0; pixel < pixels; ++pixel) {
        const std::int64_t p = output_place[static_cast<std::size_t>(c)];
        const std::int64_t row = ((n / 8 * blocks + p / 32) * pixels + pixel) * 32 + p % 32;
        values.push_back(rows[static_cast<std::size_t>(row)][static_cast<std::size_t>(n % 8)]);
      }
    }
  }
  return values;
}

}  // namespace winnow
