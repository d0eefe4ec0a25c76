// Images on the training device, in batches.
#pragma once

#include <torch/types.h>

#include <cstdint>

#include "prune/data/augment.h"
#include "runtime/images/image_set.h"
#include "runtime/model/model.h"

namespace winnow {

// What a network is fed with.
struct Batch {
  torch::Tensor input;   // [B, C, H, W]
  torch::Tensor target;  // [B] int64, classes
};

// Form of Batch::input.
struct InputFormat {
  torch::Dtype dtype = torch::kFloat32;  // or kBFloat16, kFloat16: rounded from float
  bool is_channels_last = false;
};

// The images of a set as bytes on a device, for as long as they are trained with. Copies share
// them.
class ResidentImages {
 public:
  // Throws Error{usage} if the images have no labels or the preprocessing another number of
  // channels.
  ResidentImages(const ImageSet& images, const Preprocessing& preprocessing, torch::Device device);

  std::int64_t count() const { return bytes_.size(0); }
  std::int64_t height() const { return bytes_.size(2); }
  std::int64_t width() const { return bytes_.size(3); }
  torch::Device device() const { return bytes_.device(); }

  torch::Tensor bytes() const { return bytes_; }    // [N, C, H, W] uint8
  torch::Tensor labels() const { return labels_; }  // [N] int64

  // Bytes [B, C, H, W] as the network's input: input_values of preprocessing.h, looked up.
  torch::Tensor normalised(const torch::Tensor& bytes) const;

 private:
  torch::Tensor bytes_;   // [N, C, H, W] uint8
  torch::Tensor labels_;  // [N] int64
  torch::Tensor values_;  // [C * 256] the input for every byte of every channel
  torch::Tensor rows_;    // [1, C, 1, 1] int64, where the values of a channel begin
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

  Batch next();

  std::int64_t batches_per_epoch() const;
  const ResidentImages& images() const { return images_; }

  // Of the next batch; after the last batch of an epoch {epoch + 1, 0}.
  BatchPosition position() const { return position_; }

  // Goes on at `position` as an uninterrupted run does. Throws Error{usage} if it lies outside.
  void seek(BatchPosition position);

 private:
  void draw_epoch();
  torch::Tensor augmented(const torch::Tensor& bytes) const;

  ResidentImages images_;
  BatchOptions options_;
  BatchPosition position_;
  // Of this epoch, by place in the order; int64 [N].
  torch::Tensor order_;
  torch::Tensor row_shift_;
  torch::Tensor column_shift_;
  torch::Tensor is_flipped_;  // bool
  torch::Tensor hole_row_;
  torch::Tensor hole_column_;
};

// The same images in their order, unchanged, for measurements.
class EvaluationBatches {
 public:
  // Throws Error{usage} for a batch size below 1.
  EvaluationBatches(ResidentImages images, std::int64_t batch_size, const InputFormat& format = {});

  std::int64_t count() const;  // of batches; the last one holds the rest
  Batch at(std::int64_t index) const;

 private:
  ResidentImages images_;
  std::int64_t batch_size_;
  InputFormat format_;
};

}  // namespace winnow
