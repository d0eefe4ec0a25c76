#include "runtime/images/resize.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "runtime/base/error.h"

namespace winnow {
namespace {

constexpr int kWeightBits = 22;
constexpr double kBicubic = -0.5;  // the parameter of the cubic convolution kernel

// The inputs that make one output pixel of one axis, weights in multiples of 2^-kWeightBits.
struct Taps {
  std::int64_t first = 0;
  std::vector<std::int32_t> weights;
};

// One axis: `input` pixels are scaled to `scaled`, of which `size` from `first` on are kept.
struct Axis {
  std::int64_t input = 0;
  std::int64_t scaled = 0;
  std::int64_t first = 0;
  std::int64_t size = 0;
};

double sinc(double x) {
  return x == 0 ? 1 : std::sin(x * std::numbers::pi) / (x * std::numbers::pi);
}

double reach_of(Interpolation interpolation) {
  switch (interpolation) {
    case Interpolation::box:
      return 0.5;
    case Interpolation::bicubic:
      return 2;
    case Interpolation::lanczos:
      return 3;
    default:
      return 1;
  }
}

double filter_at(Interpolation interpolation, double signed_distance) {
  const double x = std::abs(signed_distance);
  switch (interpolation) {
    case Interpolation::box:
      return signed_distance > -0.5 && signed_distance <= 0.5 ? 1 : 0;
    case Interpolation::bicubic:
      if (x < 1) return ((kBicubic + 2) * x - (kBicubic + 3)) * x * x + 1;
      return x < 2 ? (((x - 5) * x + 8) * x - 4) * kBicubic : 0;
    case Interpolation::lanczos:
      return signed_distance >= -3 && signed_distance < 3 ? sinc(x) * sinc(x / 3) : 0;
    default:
      return x < 1 ? 1 - x : 0;
  }
}

std::int32_t whole_weight(double weight) {
  return static_cast<std::int32_t>((weight < 0 ? -0.5 : 0.5) + weight * (1 << kWeightBits));
}

Taps filtered_taps(const Axis& axis, std::int64_t output, Interpolation interpolation) {
  const double scale = static_cast<double>(axis.input) / static_cast<double>(axis.scaled);
  const double stretch = std::max(scale, 1.0);
  const double reach = reach_of(interpolation) * stretch;
  const double centre = (static_cast<double>(output) + 0.5) * scale;
  const auto begin = std::max<std::int64_t>(0, static_cast<std::int64_t>(centre - reach + 0.5));
  const auto end = std::min(axis.input, static_cast<std::int64_t>(centre + reach + 0.5));
  std::vector<double> weights;
  double sum = 0;
  for (std::int64_t i = begin; i < end; ++i) {
    const double distance = static_cast<double>(i) - centre + 0.5;
    weights.push_back(filter_at(interpolation, distance * (1 / stretch)));
    sum += weights.back();
  }
  Taps taps{begin, {}};
  for (const double weight : weights) taps.weights.push_back(whole_weight(weight / sum));
  return taps;
}

// The place grows by `scale` from pixel to pixel, so that it is rounded as Pillow rounds it.
std::vector<Taps> nearest_taps(const Axis& axis) {
  const double scale = static_cast<double>(axis.input) / static_cast<double>(axis.scaled);
  std::vector<Taps> taps;
  double place = scale * 0.5;
  for (std::int64_t i = 0; i < axis.first + axis.size; ++i, place += scale) {
    const auto nearest = std::min(axis.input - 1, static_cast<std::int64_t>(place));
    if (i >= axis.first) taps.push_back({nearest, {1 << kWeightBits}});
  }
  return taps;
}

std::vector<Taps> taps_of(const Axis& axis, Interpolation interpolation) {
  if (interpolation == Interpolation::nearest) return nearest_taps(axis);
  std::vector<Taps> taps;
  for (std::int64_t i = 0; i < axis.size; ++i) {
    taps.push_back(filtered_taps(axis, axis.first + i, interpolation));
  }
  return taps;
}

std::uint8_t pixel_of(std::int32_t sum) {
  return static_cast<std::uint8_t>(std::clamp(sum >> kWeightBits, 0, 255));
}

constexpr std::int32_t kHalf = 1 << (kWeightBits - 1);

// Rows of pixels, [rows, width, channels].
struct Rows {
  std::int64_t first = 0;  // row of the picture that the first one is
  std::size_t row_size = 0;
  std::vector<std::uint8_t> pixels;
};

// First and last row of the picture that any output reads.
std::pair<std::int64_t, std::int64_t> rows_read(const std::vector<Taps>& vertical) {
  std::int64_t first = vertical.front().first, end = 0;
  for (const Taps& taps : vertical) {
    first = std::min(first, taps.first);
    end = std::max(end, taps.first + static_cast<std::int64_t>(taps.weights.size()));
  }
  return {first, end};
}

// Scales the rows that `vertical` reads along their width.
Rows scale_rows(const Picture& picture, const std::vector<Taps>& horizontal,
                const std::vector<Taps>& vertical) {
  const auto channels = static_cast<std::size_t>(picture.channels);
  const auto [first, end] = rows_read(vertical);
  Rows rows{first, horizontal.size() * channels, {}};
  rows.pixels.reserve(static_cast<std::size_t>(end - first) * rows.row_size);
  for (std::int64_t y = first; y < end; ++y) {
    const std::uint8_t* row =
        &picture.pixels[static_cast<std::size_t>(y * picture.width) * channels];
    for (const Taps& taps : horizontal) {
      for (std::size_t c = 0; c < channels; ++c) {
        const std::uint8_t* input = row + static_cast<std::size_t>(taps.first) * channels + c;
        std::int32_t sum = kHalf;
        for (std::size_t i = 0; i < taps.weights.size(); ++i) {
          sum += taps.weights[i] * input[i * channels];
        }
        rows.pixels.push_back(pixel_of(sum));
      }
    }
  }
  return rows;
}

void scale_columns(const Rows& rows, const std::vector<Taps>& vertical,
                   std::vector<std::uint8_t>& pixels) {
  std::vector<std::int32_t> sums(rows.row_size);
  for (const Taps& taps : vertical) {
    std::fill(sums.begin(), sums.end(), kHalf);
    for (std::size_t i = 0; i < taps.weights.size(); ++i) {
      const auto y = static_cast<std::size_t>(taps.first - rows.first) + i;
      const std::uint8_t* row = &rows.pixels[y * rows.row_size];
      for (std::size_t x = 0; x < rows.row_size; ++x) sums[x] += taps.weights[i] * row[x];
    }
    for (const std::int32_t sum : sums) pixels.push_back(pixel_of(sum));
  }
}

Picture scaled(const Picture& picture, const Axis& rows, const Axis& columns,
               Interpolation interpolation) {
  const std::vector<Taps> vertical = taps_of(rows, interpolation);
  const std::vector<Taps> horizontal = taps_of(columns, interpolation);
  Picture result{rows.size, columns.size, picture.channels, {}};
  result.pixels.reserve(static_cast<std::size_t>(rows.size * columns.size * picture.channels));
  scale_columns(scale_rows(picture, horizontal, vertical), vertical, result.pixels);
  return result;
}

// What `picture` is resized to.
Sides resized_sides(const Picture& picture, const Sides& resize) {
  const auto [height, width] = std::pair(picture.height, picture.width);
  if (!resize.is_given()) return {height, width};
  if (resize.width > 0) return resize;
  const std::int64_t shorter = resize.height;
  if (height <= width) return {shorter, shorter * width / height};
  return {shorter * height / width, shorter};
}

// Half of what is left over; half a pixel goes to the even side, as Python's round() has it.
std::int64_t crop_begin(std::int64_t size, std::int64_t crop) {
  const std::int64_t rest = size - crop, half = rest / 2;
  return rest % 2 == 0 ? half : half + half % 2;
}

}  // namespace

Picture cover(const Picture& picture, std::int64_t height, std::int64_t width,
              Interpolation interpolation) {
  if (picture.height == height && picture.width == width) return picture;
  Axis rows{picture.height, height, 0, height}, columns{picture.width, width, 0, width};
  if (height * picture.width >= width * picture.height) {
    columns.scaled = std::max(width, picture.width * height / picture.height);
  } else {
    rows.scaled = std::max(height, picture.height * width / picture.width);
  }
  for (Axis* axis : {&rows, &columns}) axis->first = (axis->scaled - axis->size) / 2;
  return scaled(picture, rows, columns, interpolation);
}

Picture formed(const Picture& picture, const PictureForm& form, const std::string& place) {
  const Sides sides = resized_sides(picture, form.resize);
  const Sides kept = form.crop.is_given() ? form.crop : sides;
  if (kept.height > sides.height || kept.width > sides.width) {
    fail(ErrorCode::bad_file, place, ": found a picture of ", sides.height, " x ", sides.width,
         " pixels, which is smaller than the crop of ", kept.height, " x ", kept.width);
  }
  if (kept.width > static_cast<std::int64_t>(kMaxPicturePixels) / kept.height) {
    fail(ErrorCode::bad_file, place, ": resized to ", kept.height, " x ", kept.width,
         " pixels, expected at most ", kMaxPicturePixels);
  }
  if (kept == Sides{picture.height, picture.width}) return picture;
  const Axis rows{picture.height, sides.height, crop_begin(sides.height, kept.height), kept.height};
  const Axis columns{picture.width, sides.width, crop_begin(sides.width, kept.width), kept.width};
  return scaled(picture, rows, columns, form.interpolation);
}

}  // namespace winnow
