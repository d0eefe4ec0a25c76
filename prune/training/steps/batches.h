// Images on the training device, in batches.
#pragma once

#include <torch/types.h>

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "prune/data/augment.h"
#include "prune/training/steps/batch_kernels.h"
#include "runtime/images/image_reader.h"
#include "runtime/images/image_set.h"
#include "runtime/model/model.h"

namespace winnow {

// What a network is fed with.
struct Batch {
  torch::Tensor input;   // [B, C, H, W], or [B, L] int64 tokens
  torch::Tensor target;  // [B] int64, classes
};

// What a batch is made of on the device.
struct DrawnBatch {
  torch::Tensor bytes;    // [B, C, H, W] uint8, as stored
  torch::Tensor target;   // [B] int64
  torch::Tensor changes;  // [B, 5] int64: shift of rows, of columns, is flipped, hole's row, column
};

// The images of a set as bytes on a device, for as long as they are trained with; pictures too many
// for memory stay in their files. Copies share them.
class ResidentImages {
 public:
  // Throws Error{usage} if the images have no labels or the preprocessing another number of
  // channels.
  ResidentImages(const ImageSet& images, const Preprocessing& preprocessing, torch::Device device);

  std::int64_t count() const { return labels_.size(0); }
  std::int64_t height() const { return set_->height; }
  std::int64_t width() const { return set_->width; }
  torch::Device device() const { return labels_.device(); }
  bool is_in_memory() const { return set_->is_in_memory(); }

  torch::Tensor bytes() const { return bytes_; }  // [N, C, H, W] uint8; none if in files
  bool holds_tokens() const { return set_->holds_tokens(); }

  // Reads pictures in files in batches. The images have to outlive it.
  std::unique_ptr<ImageReader> reader(std::vector<std::int64_t> order, std::int64_t batch) const {
    return std::make_unique<ImageReader>(*set_, std::move(order), batch);
  }

  // What a reader gave next, [B, C, H, W] uint8 on the device.
  torch::Tensor next_of(ImageReader& reader) const;

  torch::Tensor labels() const { return labels_; }  // [N] int64

  // Bytes [B, C, H, W] as the network's input: input_values of preprocessing.h, looked up. Those of
  // tokens (image_set.h) put together, [B, L] int64.
  torch::Tensor normalised(const torch::Tensor& bytes) const;
  torch::Tensor values() const { return values_; }  // what normalised() looks up; none of tokens

 private:
  std::shared_ptr<const ImageSet> set_;  // its pixels are empty: bytes_ has them
  torch::Tensor bytes_;                  // [N, C, H, W] uint8
  torch::Tensor labels_;                 // [N] int64
  torch::Tensor values_;                 // [C * 256] the input for every byte of every channel
  torch::Tensor rows_;                   // [1, C, 1, 1] int64, where the values of a channel begin
};

// Where training stands: `sample` images of `epoch` were given out.
struct BatchPosition {
  std::int64_t epoch = 0;
  std::int64_t sample = 0;

  friend bool operator==(const BatchPosition&, const BatchPosition&) = default;
};

struct BatchOptions {
  std::int64_t batch_size = 128;
  std::uint64_t seed = 1;
  AugmentConfig augment = {};
  InputFormat format = {};
};

// Endless shuffled and augmented batches. Every epoch gives each image once, in an order and with
// changes that depend on (seed, epoch) alone: they are drawn on the CPU, once per epoch, and
// applied on the device, so all devices give equal batches. The last batch of an epoch holds the
// rest.
class TrainingBatches {
 public:
  // Throws Error{usage} for an empty set, a batch size below 1 or an AugmentConfig that does not
  // fit.
  TrainingBatches(ResidentImages images, const BatchOptions& options);

  Batch next() { return made(draw()); }

  // next() in two parts: the second works on the device alone, with tensors of equal shapes for all
  // batches but the last one of an epoch.
  DrawnBatch draw();
  Batch made(const DrawnBatch& drawn) const;

  std::int64_t batches_per_epoch() const;
  const ResidentImages& images() const { return images_; }

  // Of the next batch; after the last batch of an epoch {epoch + 1, 0}.
  BatchPosition position() const { return position_; }

  // Goes on at `position` as an uninterrupted run does. Throws Error{usage} if it lies outside.
  void seek(BatchPosition position);

 private:
  void draw_epoch();
  void start_reading();
  bool changes_images() const;
  torch::Tensor augmented(const DrawnBatch& drawn) const;

  ResidentImages images_;
  std::unique_ptr<ImageReader> reader_;  // of pictures in files: those of the epoch
  BatchOptions options_;
  BatchPosition position_;
  // Of this epoch, by place in the order.
  torch::Tensor order_;    // [N] int64
  torch::Tensor changes_;  // [N, 5] int64, as in DrawnBatch
};

// The same images in their order, unchanged, for measurements. Pictures in files are read ahead, so
// batches are best asked for in order. One thread at a time.
class EvaluationBatches {
 public:
  // Throws Error{usage} for a batch size below 1.
  EvaluationBatches(ResidentImages images, std::int64_t batch_size, const InputFormat& format = {});

  std::int64_t count() const;  // of batches; the last one holds the rest
  Batch at(std::int64_t index) const;

 private:
  torch::Tensor bytes_at(std::int64_t index, std::int64_t size) const;

  ResidentImages images_;
  std::int64_t batch_size_;
  InputFormat format_;
  mutable std::unique_ptr<ImageReader> reader_;  // of pictures in files
  mutable std::int64_t next_ = 0;                // the batch that it gives next
};

}  // namespace winnow
