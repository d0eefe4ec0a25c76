// The challenge's inputs from grey images such as MNIST's.
//
// The published ones were made so (found from their numbers of ones, which all four sizes meet):
// all pictures side by side, as one of height 28 and width 60,000 * 28, are brought to another size
// by trigonometric interpolation (interpolation.h), each column for itself and each row as a whole,
// so that a picture's neighbours matter to it. A pixel is 1 if its magnitude is at least half of
// the largest of all.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "runtime/challenge/generate/pixel_planes.h"
#include "runtime/challenge/images.h"
#include "runtime/images/image_set.h"

namespace winnow::challenge {

// Called with (rows done, rows in all), from one thread at a time. May throw to stop.
using RowProgress = std::function<void(std::uint32_t, std::uint32_t)>;

inline constexpr std::uint32_t kPublishedImages = 60000;

// Ones in all published images together, or nothing for sizes that are not published.
std::optional<std::uint64_t> published_ones(std::uint32_t neurons);

// Pixels a side of images with so many neurons: the least whose square is not below.
std::uint32_t image_side(std::uint32_t neurons);

// The first `kept` pictures as black and white ones of side x side; all others take part in the
// interpolation. Uses up to 16 cores and, beside the pictures and the result, 1 KB of memory per
// picture and core for 28 pixels a side.
//
//   pictures  one channel
//
// Throws Error{usage} if there are several channels or fewer pictures than `kept`, if all pictures
// are black, or if this build lacks FFTW.
PixelPlanes enlarge(const ImageSet& pictures, std::uint32_t side, std::uint32_t kept,
                    const RowProgress& progress = nullptr);

// The same as images with one neuron a pixel; what lies beyond `neurons` is cut off.
SparseImages make_images(const ImageSet& pictures, std::uint32_t neurons, std::uint32_t kept,
                         const RowProgress& progress = nullptr);

}  // namespace winnow::challenge
