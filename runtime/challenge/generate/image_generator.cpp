// The threshold is half of a maximum that is known only when all has been computed. So that it need
// not be computed twice, a few rows give a maximum that the true one reaches or exceeds by little;
// pixels between the thresholds of both are noted with their values and decided at the end. Should
// the true maximum lie higher than assumed, everything is computed again.
#include "runtime/challenge/generate/image_generator.h"

#include <algorithm>
#include <atomic>
#include <complex>
#include <cstddef>
#include <mutex>
#include <utility>
#include <vector>

#include "runtime/base/error.h"
#include "runtime/base/thread_pool.h"
#include "runtime/challenge/files/file_limits.h"
#include "runtime/challenge/generate/interpolation.h"

namespace winnow::challenge {
namespace {

constexpr int kMostThreads = 16;             // each needs buffers of its own
constexpr std::uint32_t kProbedRows = 4;     // one in so many
constexpr double kMargin = 1.1;              // true maximum to probed one, at most; of squares
constexpr std::size_t kMostOpen = 1u << 25;  // pixels to be decided at the end: 512 MB

struct OpenPixel {
  std::uint64_t address;
  double square;
};

// Of square magnitudes.
struct Thresholds {
  double low;   // below: 0
  double high;  // from here on: 1
};

double square(std::complex<double> z) {
  return z.real() * z.real() + z.imag() * z.imag();
}

double threshold_for(double largest_square) {
  return largest_square / 4;  // half of the magnitude
}

// One thread's memory.
struct Scratch {
  explicit Scratch(const LongInterpolation& rows)
      : samples(rows.samples()), points(rows.phase_points()) {}

  ComplexBuffer samples;  // of a row, then their spectrum
  ComplexBuffer points;   // of a phase of the enlarged row
  double largest = 0;     // square magnitude
  std::vector<OpenPixel> open;
};

class Enlarger {
 public:
  Enlarger(const ImageSet& pictures, std::uint32_t side, std::uint32_t kept,
           const RowProgress& progress)
      : pictures_(pictures),
        side_(side),
        kept_(kept),
        matrix_(interpolation_matrix(static_cast<std::uint32_t>(pictures.height), side)),
        rows_(static_cast<std::uint32_t>(pictures.count),
              static_cast<std::uint32_t>(pictures.width), side),
        planes_(kept, side, rows_.phases()),
        progress_(progress),
        rows_to_do_(side + (side + kProbedRows - 1) / kProbedRows) {}

  PixelPlanes run();

 private:
  template <typename Action>
  void for_rows(std::uint32_t step, Action action);
  void analyse_row(std::uint32_t y, const Scratch& scratch) const;
  void finish_row(Scratch& scratch);

  void probe();
  bool fill(Thresholds thresholds);
  void set_pixels(std::uint32_t y, std::uint32_t phase, Thresholds thresholds, Scratch& scratch);

  const ImageSet& pictures_;
  std::uint32_t side_;
  std::uint32_t kept_;
  std::vector<std::complex<double>> matrix_;  // [side, height]
  LongInterpolation rows_;
  PixelPlanes planes_;
  const RowProgress& progress_;

  std::mutex mutex_;  // guards what follows
  std::uint32_t rows_to_do_;
  std::uint32_t rows_done_ = 0;
  double largest_ = 0;  // square magnitude so far
  std::vector<OpenPixel> open_;
  std::size_t open_count_ = 0;  // also of those not kept
};

// Calls action(y, scratch) for every step-th row, which scratch holds the spectrum of. On all
// cores.
template <typename Action>
void Enlarger::for_rows(std::uint32_t step, Action action) {
  ThreadPool pool(std::min({available_cores(), kMostThreads, static_cast<int>(side_)}));
  std::atomic<std::uint32_t> next = 0;
  std::atomic<bool> is_stopped = false;
  pool.run([&](int) {
    try {
      Scratch scratch(rows_);
      for (std::uint32_t y = next.fetch_add(step); y < side_ && !is_stopped;
           y = next.fetch_add(step)) {
        analyse_row(y, scratch);
        action(y, scratch);
        finish_row(scratch);
      }
    } catch (...) {
      is_stopped = true;
      throw;
    }
  });
}

// Row y of all pictures brought to the new height, then its spectrum.
void Enlarger::analyse_row(std::uint32_t y, const Scratch& scratch) const {
  const auto height = static_cast<std::size_t>(pictures_.height);
  const auto width = static_cast<std::size_t>(pictures_.width);
  std::vector<double> real(width), imaginary(width);
  for (std::size_t i = 0; i < static_cast<std::size_t>(pictures_.count); ++i) {
    std::fill(real.begin(), real.end(), 0);
    std::fill(imaginary.begin(), imaginary.end(), 0);
    for (std::size_t r = 0; r < height; ++r) {
      const std::complex<double> factor = matrix_[y * height + r];
      const std::uint8_t* pixels = pictures_.pixels.data() + (i * height + r) * width;
      for (std::size_t x = 0; x < width; ++x) {
        real[x] += factor.real() * pixels[x];
        imaginary[x] += factor.imag() * pixels[x];
      }
    }
    for (std::size_t x = 0; x < width; ++x)
      scratch.samples[i * width + x] = {real[x], imaginary[x]};
  }
  rows_.analyse(scratch.samples);
}

void Enlarger::finish_row(Scratch& scratch) {
  const std::scoped_lock lock(mutex_);
  largest_ = std::max(largest_, scratch.largest);
  open_count_ += scratch.open.size();
  if (open_count_ <= kMostOpen) {
    open_.insert(open_.end(), scratch.open.begin(), scratch.open.end());
  }
  scratch.open.clear();
  if (progress_) progress_(++rows_done_, rows_to_do_);
}

// A maximum over some of the pixels.
void Enlarger::probe() {
  for_rows(kProbedRows, [&](std::uint32_t, Scratch& scratch) {
    for (std::uint32_t phase = 0; phase < rows_.phases();
         phase += std::max(1u, rows_.phases() / 2)) {
      rows_.synthesise(scratch.samples, phase, scratch.points);
      for (std::size_t i = 0; i < rows_.phase_points(); ++i) {
        scratch.largest = std::max(scratch.largest, square(scratch.points[i]));
      }
    }
  });
}

void Enlarger::set_pixels(std::uint32_t y, std::uint32_t phase, Thresholds thresholds,
                          Scratch& scratch) {
  const std::uint32_t points = side_ / rows_.phases();  // of a picture
  for (std::uint32_t i = 0; i < static_cast<std::uint32_t>(pictures_.count); ++i) {
    const std::uint64_t address = i < kept_ ? planes_.address(y, phase, i, 0) : 0;
    for (std::uint32_t x = 0; x < points; ++x) {
      const double value = square(scratch.points[std::size_t{i} * points + x]);
      scratch.largest = std::max(scratch.largest, value);
      if (value < thresholds.low || i >= kept_) continue;
      if (value >= thresholds.high) {
        planes_.set(address + x);
      } else {
        scratch.open.push_back({address + x, value});
      }
    }
  }
}

// Sets all pixels and tells whether that is final: whether the true maximum lets the open ones be
// decided.
bool Enlarger::fill(Thresholds thresholds) {
  planes_.clear();
  open_.clear();
  open_count_ = 0;
  for_rows(1, [&](std::uint32_t y, Scratch& scratch) {
    for (std::uint32_t phase = 0; phase < rows_.phases(); ++phase) {
      rows_.synthesise(scratch.samples, phase, scratch.points);
      set_pixels(y, phase, thresholds, scratch);
    }
  });
  const double threshold = threshold_for(largest_);
  for (const OpenPixel& pixel : open_) {
    if (pixel.square >= threshold) planes_.set(pixel.address);
  }
  return threshold <= thresholds.high && open_count_ <= kMostOpen;
}

PixelPlanes Enlarger::run() {
  probe();
  if (!fill({threshold_for(largest_), threshold_for(largest_ * kMargin)})) {
    rows_to_do_ += side_;
    fill({threshold_for(largest_), threshold_for(largest_)});
  }
  if (largest_ == 0) fail(ErrorCode::usage, "images cannot be made: all pictures are black");
  return std::move(planes_);
}

}  // namespace

std::optional<std::uint64_t> published_ones(std::uint32_t neurons) {
  switch (neurons) {
    case 1024:
      return 6'374'505;
    case 4096:
      return 25'019'051;
    case 16384:
      return 98'858'913;
    case 65536:
      return 392'191'985;
    default:
      return std::nullopt;
  }
}

std::uint32_t image_side(std::uint32_t neurons) {
  std::uint32_t side = 0;
  while (std::uint64_t{side} * side < neurons) ++side;
  return side;
}

PixelPlanes enlarge(const ImageSet& pictures, std::uint32_t side, std::uint32_t kept,
                    const RowProgress& progress) {
  if (pictures.channels != 1) {
    fail(ErrorCode::usage, "found pictures of ", pictures.channels,
         " channels, expected grey ones");
  }
  if (kept == 0 || kept > pictures.count) {
    fail(ErrorCode::usage, "found ", kept, " images asked for, expected 1 to ", pictures.count,
         ", the pictures");
  }
  if (side == 0 || std::uint64_t{side} * side > kMostNeurons) {
    fail(ErrorCode::usage, "found images of ", side, " pixels a side, expected 1 to 4096");
  }
  return Enlarger(pictures, side, kept, progress).run();
}

SparseImages make_images(const ImageSet& pictures, std::uint32_t neurons, std::uint32_t kept,
                         const RowProgress& progress) {
  return enlarge(pictures, image_side(neurons), kept, progress).to_images(0, kept, neurons);
}

}  // namespace winnow::challenge
