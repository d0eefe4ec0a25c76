#include "runtime/images/resize.h"

#include <algorithm>
#include <cmath>

namespace winnow {
namespace {

// The inputs that make one output pixel of one axis.
struct Taps {
  std::int64_t first = 0;
  std::vector<float> weights;
};

// One axis: `input` pixels are scaled to `scaled`, of which `size` in the middle are kept.
struct Axis {
  std::int64_t input = 0;
  std::int64_t scaled = 0;
  std::int64_t size = 0;
};

Taps taps_at(const Axis& axis, std::int64_t output) {
  const double scale = static_cast<double>(axis.input) / static_cast<double>(axis.scaled);
  const double reach = std::max(scale, 1.0);
  const double centre = (static_cast<double>(output) + 0.5) * scale;
  const auto first = static_cast<std::int64_t>(std::floor(centre - reach));
  const auto last = static_cast<std::int64_t>(std::ceil(centre + reach));
  const std::int64_t begin = std::max<std::int64_t>(0, first);
  const std::int64_t end = std::min(axis.input, last);
  std::vector<double> weights;
  double sum = 0;
  for (std::int64_t i = begin; i < end; ++i) {
    const double distance = std::abs(static_cast<double>(i) + 0.5 - centre) / reach;
    weights.push_back(std::max(0.0, 1.0 - distance));
    sum += weights.back();
  }
  Taps taps{begin, {}};
  for (double weight : weights) taps.weights.push_back(static_cast<float>(weight / sum));
  return taps;
}

std::vector<Taps> taps_of(const Axis& axis) {
  const std::int64_t skipped = (axis.scaled - axis.size) / 2;
  std::vector<Taps> taps;
  for (std::int64_t i = 0; i < axis.size; ++i) taps.push_back(taps_at(axis, skipped + i));
  return taps;
}

// Rows of floats, [rows, width, channels].
struct FloatRows {
  std::int64_t first = 0;  // row of the picture that the first one is
  std::size_t row_size = 0;
  std::vector<float> values;
};

// Scales the rows that `vertical` reads along their width.
FloatRows scale_rows(const Picture& picture, const std::vector<Taps>& horizontal,
                     const std::vector<Taps>& vertical) {
  const auto channels = static_cast<std::size_t>(picture.channels);
  FloatRows rows{vertical.front().first, horizontal.size() * channels, {}};
  const Taps& last = vertical.back();
  const auto end = static_cast<std::size_t>(last.first) + last.weights.size();
  rows.values.reserve((end - static_cast<std::size_t>(rows.first)) * rows.row_size);
  for (auto y = static_cast<std::size_t>(rows.first); y < end; ++y) {
    const std::uint8_t* row =
        &picture.pixels[y * static_cast<std::size_t>(picture.width) * channels];
    for (const Taps& taps : horizontal) {
      for (std::size_t c = 0; c < channels; ++c) {
        const std::uint8_t* input = row + static_cast<std::size_t>(taps.first) * channels + c;
        float sum = 0;
        for (std::size_t i = 0; i < taps.weights.size(); ++i) {
          sum += taps.weights[i] * static_cast<float>(input[i * channels]);
        }
        rows.values.push_back(sum);
      }
    }
  }
  return rows;
}

void scale_columns(const FloatRows& rows, const std::vector<Taps>& vertical,
                   std::vector<std::uint8_t>& pixels) {
  std::vector<float> sums(rows.row_size);
  for (const Taps& taps : vertical) {
    std::fill(sums.begin(), sums.end(), 0.0f);
    for (std::size_t i = 0; i < taps.weights.size(); ++i) {
      const auto y = static_cast<std::size_t>(taps.first - rows.first) + i;
      const float* row = &rows.values[y * rows.row_size];
      for (std::size_t x = 0; x < rows.row_size; ++x) sums[x] += taps.weights[i] * row[x];
    }
    for (float sum : sums) {
      pixels.push_back(static_cast<std::uint8_t>(std::clamp(sum + 0.5f, 0.0f, 255.0f)));
    }
  }
}

}  // namespace

Picture cover(const Picture& picture, std::int64_t height, std::int64_t width) {
  if (picture.height == height && picture.width == width) return picture;
  Axis rows{picture.height, height, height}, columns{picture.width, width, width};
  if (height * picture.width >= width * picture.height) {
    columns.scaled = std::max(width, picture.width * height / picture.height);
  } else {
    rows.scaled = std::max(height, picture.height * width / picture.width);
  }
  const std::vector<Taps> vertical = taps_of(rows);
  Picture scaled{height, width, picture.channels, {}};
  scaled.pixels.reserve(static_cast<std::size_t>(height * width * picture.channels));
  scale_columns(scale_rows(picture, taps_of(columns), vertical), vertical, scaled.pixels);
  return scaled;
}

}  // namespace winnow
