#include "tests/gpu/stem/stem_emulator.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "runtime/base/error.h"
#include "runtime/base/half.h"
#include "runtime/gpu/stem/stem_index.h"

namespace winnow {
namespace {

constexpr float kNothing = std::numeric_limits<float>::quiet_NaN();
constexpr int kLanes = 32;

using Octet = std::array<float, kGatheredImages>;  // a row of shared memory
using Sums = std::array<std::array<float, 4>, kLanes>;

float half_of(std::uint32_t word, int which) {
  return to_float(Half{static_cast<std::uint16_t>(which == 0 ? word & 0xffff : word >> 16)});
}

class Emulator {
 public:
  Emulator(const StemProblem& problem, const StemWeights& weights, const reference::Array& input,
           const Extents& out, const std::vector<std::int32_t>& place)
      : weights_(weights),
        input_(input),
        box_(stem_box(problem.conv, problem.tile)),
        offsets_(stem_offsets(problem.conv, box_)),
        view_{nullptr, format_of(problem.output), out},
        g_(stem_geometry(problem.conv, problem.tile, box_, extents_of(input.shape), view_)),
        is_nhwc_(problem.output == StemOutput::channels),
        place_(place),
        least_(problem.has_relu ? 0.0f : -std::numeric_limits<float>::infinity()),
        written_(static_cast<std::size_t>(strides_of(view_.format, out).total), kNothing) {}

  std::vector<float> run(int pixels) {
    for (int block = 0; block < g_.blocks(); ++block) {
      const StemTileAt at = stem_tile_at(g_, block);
      load(at);
      for (int warp = 0; warp < kStemWarps; ++warp) run_warp(at, warp, pixels);
    }
    return values();
  }

 private:
  static ActivationFormat format_of(StemOutput output) {
    const Layout layout = output == StemOutput::channels ? Layout::nhwc : Layout::nchw32c8n;
    return {.layout = layout, .precision = Precision::f16};
  }

  void load(const StemTileAt& at) {
    shared_.assign(static_cast<std::size_t>(g_.channels * g_.plane_pitch), Octet{});
    for (Octet& row : shared_) row.fill(kNothing);
    for (int c = 0; c < g_.channels; ++c) {
      for (int y = 0; y < g_.box_height; ++y) {
        for (int x = 0; x < g_.box_width; ++x) {
          Octet& row = shared_.at(static_cast<std::size_t>(stem_row(g_, c, y, x)));
          for (int i = 0; i < kGatheredImages; ++i) {
            row[static_cast<std::size_t>(i)] =
                input_at(at.octet * kGatheredImages + i, c, stem_input_pixel(g_, at, y, x));
          }
        }
      }
    }
  }
  float input_at(int image, int c, const StemPixel& pixel) const {
    if (image >= g_.images || !is_in_input(g_, pixel)) return 0;
    const std::int64_t plane = std::int64_t{image} * g_.channels + c;
    const float value =
        input_.values[static_cast<std::size_t>((plane * g_.height + pixel.y) * g_.width + pixel.x)];
    return to_float(to_half(value));
  }

  void run_warp(const StemTileAt& at, int warp, int pixels) {
    const int units = g_.tile_height * g_.tile_width / pixels;
    const StemShare share = stem_share(units, warp);
    for (int chunk = share.chunk; chunk < g_.chunks; chunk += share.chunk_step) {
      for (int unit = share.unit; unit < units; unit += share.unit_step) {
        const StemPixel pixel = stem_unit(g_, unit, pixels);
        if (at.y + pixel.y >= g_.out_height || at.x + pixel.x >= g_.out_width) continue;
        for (int x = 0; x < pixels; x += 2) {
          if (at.x + pixel.x + x < g_.out_width) run_pair(at, chunk, {pixel.y, pixel.x + x});
        }
      }
    }
  }

  // The four products of a pair of pixels and a chunk.
  void run_pair(const StemTileAt& at, int chunk, const StemPixel& pixel) {
    std::array<Sums, 4> sums{};
    for (int i = 0; i < 4; ++i) begin(sums[static_cast<std::size_t>(i)], chunk, i);
    for (int batch = 0; batch < g_.batches; ++batch) {
      for (int i = 0; i < 4; ++i) {
        multiply(sums[static_cast<std::size_t>(i)], chunk, batch, i, pixel);
      }
    }
    for (int second = 0; second < 2; ++second) {
      const StemPixel own = {pixel.y, pixel.x + second};
      if (at.x + own.x < g_.out_width) store(at, chunk, own, second, sums);
    }
  }

  // The sum's row and column in the product, and what they are: of images, channels as rows.
  static int row_of(int lane, int k) { return lane / 4 + k / 2 * 8; }
  static int column_of(int lane, int k) { return lane % 4 * 2 + k % 2; }

  void begin(Sums& sums, int chunk, int i) const {
    for (int lane = 0; lane < kLanes; ++lane) {
      for (int k = 0; k < 4; ++k) {
        const int channel = is_nhwc_ ? lane % 4 * 8 + 2 * i + k % 2 : i % 2 * 16 + row_of(lane, k);
        sums[static_cast<std::size_t>(lane)][static_cast<std::size_t>(k)] =
            weights_.bias.at(static_cast<std::size_t>(chunk * kStemChunk + channel));
      }
    }
  }

  std::uint32_t word(int chunk, int batch, int lane, int w) const {
    const int at = (((chunk * g_.batches + batch) * 2 + w / 4) * kLanes + lane) * 4 + w % 4;
    return weights_.words.at(static_cast<std::size_t>(at));
  }
  // Element [16 rows][16 taps] of matrix A, of the words that the lanes hold from `first` on.
  float weight_a(int chunk, int batch, int first, int row, int tap) const {
    const int lane = row % 8 * 4 + tap % 8 / 2;
    return half_of(word(chunk, batch, lane, first + row / 8 + tap / 8 * 2), tap % 2);
  }
  // Element [16 taps][8 columns] of matrix B.
  float weight_b(int chunk, int batch, int first, int tap, int column) const {
    const int lane = column * 4 + tap % 8 / 2;
    return half_of(word(chunk, batch, lane, first + tap / 8), tap % 2);
  }
  float input_of(int batch, int tap, const StemPixel& pixel, int image) const {
    const std::uint32_t offset = offsets_.at(static_cast<std::size_t>(batch * kBatchColumns + tap));
    const int row = stem_pixel_row(g_, pixel) + static_cast<int>(offset) / kRowBytes;
    return shared_.at(static_cast<std::size_t>(row))[static_cast<std::size_t>(image)];
  }

  void multiply(Sums& sums, int chunk, int batch, int i, const StemPixel& pixel) const {
    for (int lane = 0; lane < kLanes; ++lane) {
      for (int k = 0; k < 4; ++k) {
        const int row = row_of(lane, k), column = column_of(lane, k);
        const StemPixel own = {pixel.y, pixel.x + (is_nhwc_ ? row / 8 : i / 2)};
        float& sum = sums[static_cast<std::size_t>(lane)][static_cast<std::size_t>(k)];
        for (int tap = 0; tap < kBatchColumns; ++tap) {
          sum +=
              is_nhwc_
                  ? weight_b(chunk, batch, 2 * i, tap, column) * input_of(batch, tap, own, row % 8)
                  : weight_a(chunk, batch, i % 2 * 4, row, tap) * input_of(batch, tap, own, column);
        }
      }
    }
  }

  void write(std::int64_t element, float value) {
    float& to = written_.at(static_cast<std::size_t>(element));
    if (!std::isnan(to)) fail(ErrorCode::internal, "element ", element, " is written twice");
    to = to_float(to_half(std::max(value, least_)));
  }

  void store(const StemTileAt& at, int chunk, const StemPixel& pixel, int second,
             const std::array<Sums, 4>& sums) {
    const std::int64_t first = stem_output(g_, at, pixel, chunk);
    const int channels = g_.out_channels - chunk * kStemChunk;
    for (int lane = 0; lane < kLanes; ++lane) {
      for (int i = 0; i < 8; ++i) {
        const auto of_lane = static_cast<std::size_t>(lane);
        if (is_nhwc_) {
          const int image = lane / 4, channel = lane % 4 * 8 + i;
          if (channel >= channels || at.octet * kGatheredImages + image >= g_.images) continue;
          write(first + image * g_.out_image + channel,
                sums[static_cast<std::size_t>(i / 2)][of_lane]
                    [static_cast<std::size_t>(second * 2 + i % 2)]);
          continue;
        }
        const int channel = lane / 4 + i / 2 * 8;  // i counts eight channels, then two images
        if (channel >= channels) continue;
        write(first + channel * kGatheredImages + lane % 4 * 2 + i % 2,
              sums[static_cast<std::size_t>(second * 2 + i / 4)][of_lane]
                  [static_cast<std::size_t>(i / 2 % 2 * 2 + i % 2)]);
      }
    }
  }

  std::vector<float> values() const {
    const ActivationStrides strides = strides_of(view_.format, view_.size);
    std::vector<float> values;
    for (std::int64_t n = 0; n < view_.size.n; ++n) {
      for (std::int64_t k = 0; k < view_.size.c; ++k) {
        const std::int64_t c = place_[static_cast<std::size_t>(k)];
        const std::int64_t first = is_nhwc_ ? n * strides.image + c
                                            : n / 8 * strides.image + n % 8 +
                                                  c / 32 * strides.channel_block +
                                                  c % 32 * strides.channel;
        for (std::int64_t y = 0; y < view_.size.h; ++y) {
          for (std::int64_t x = 0; x < view_.size.w; ++x) {
            values.push_back(written_.at(
                static_cast<std::size_t>(first + y * strides.row + x * strides.column)));
          }
        }
      }
    }
    return values;
  }

  const StemWeights& weights_;
  const reference::Array& input_;
  StemBox box_;
  std::vector<std::uint32_t> offsets_;
  ActivationView view_;
  StemGeometry g_;
  bool is_nhwc_;
  const std::vector<std::int32_t>& place_;
  float least_;
  std::vector<Octet> shared_;
  std::vector<float> written_;
};

}  // namespace

std::vector<float> emulate_stem(const StemProblem& problem, const StemWeights& weights,
                                const reference::Array& input, const Extents& out,
                                const std::vector<std::int32_t>& place) {
  const int pixels = stem_batches(problem.conv) > kFewestStemBatches ? 8 : 4;
  try {
    return Emulator(problem, weights, input, out, place).run(pixels);
  } catch (const std::out_of_range& error) {
    fail(ErrorCode::internal, "stem: ", error.what());
  }
}

}  // namespace winnow
