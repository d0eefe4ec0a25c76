// The images of a set, batch by batch, wherever they are.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "runtime/images/image_set.h"

namespace winnow {

// Pictures that are in files are decoded by threads of the reader, at most kBatchesAhead batches
// before they are asked for. What comes out does not depend on the number of threads.
class ImageReader {
 public:
  static constexpr std::int64_t kBatchesAhead = 3;

  // All images in their order. `set` has to outlive the reader; batch >= 1.
  ImageReader(const ImageSet& set, std::int64_t batch);

  // Those at `order`, which may name an image more than once. `threads` decode; 0: one per core.
  ImageReader(const ImageSet& set, std::vector<std::int64_t> order, std::int64_t batch,
              int threads = 0);

  ~ImageReader();  // waits for pictures that are being decoded, not for whole batches

  // The bytes of the next batch, [images, channels, height, width], the last one smaller; nothing
  // after it. They stay until the next call. Throws Error{bad_file} for a damaged picture when its
  // batch is asked for; of several in a batch the first is named. One thread at a time.
  std::span<const std::uint8_t> next();

 private:
  class Decoder;

  const ImageSet& set_;
  std::vector<std::int64_t> order_;
  std::int64_t batch_;
  std::int64_t first_ = 0;  // place in the order of the next batch
  std::vector<std::uint8_t> gathered_;
  std::unique_ptr<Decoder> decoder_;  // of files
};

}  // namespace winnow
