#include "prune/training/steps/batches.h"

#include <torch/types.h>

#include <algorithm>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "runtime/base/error.h"
#include "runtime/base/random.h"

namespace winnow {
namespace {

// Streams of the seed: one per epoch and purpose. prune/data/partition.cpp has the third block.
constexpr std::uint64_t kOrderStreams = std::uint64_t{1} << 32;
constexpr std::uint64_t kAugmentStreams = std::uint64_t{2} << 32;

// A copy on `device`: from_blob alone would keep pointing into `values`.
template <typename T>
torch::Tensor copied(const std::vector<T>& values, torch::IntArrayRef shape, torch::Dtype dtype,
                     torch::Device device) {
  // LibTorch's interface lacks const; the copy only reads.
  const torch::Tensor view =
      torch::from_blob(const_cast<T*>(values.data()), shape, torch::TensorOptions().dtype(dtype));
  return view.to(device, dtype, false, /*copy=*/true);
}

// As DrawnBatch::changes has them.
std::vector<std::int64_t> interleaved(const Augmentations& drawn) {
  std::vector<std::int64_t> all;
  all.reserve(drawn.row_shift.size() * 5);
  for (std::size_t i = 0; i < drawn.row_shift.size(); ++i) {
    all.insert(all.end(), {drawn.row_shift[i], drawn.column_shift[i], drawn.is_flipped[i],
                           drawn.hole_row[i], drawn.hole_column[i]});
  }
  return all;
}

torch::Tensor formed(const torch::Tensor& input, const InputFormat& format) {
  if (input.scalar_type() == torch::kInt64) return input;  // tokens
  return input.to(format.dtype)
      .contiguous(format.is_channels_last ? torch::MemoryFormat::ChannelsLast
                                          : torch::MemoryFormat::Contiguous);
}

// Null where LibTorch makes the batches.
const BatchKernels* kernels_for(const ResidentImages& images, const InputFormat& format) {
  if (images.holds_tokens() || !format.fuses_kernels) return nullptr;
  return batch_kernels(images.device());
}

torch::Tensor unchanged(const ResidentImages& images, const torch::Tensor& bytes,
                        const InputFormat& format) {
  if (const BatchKernels* kernels = kernels_for(images, format)) {
    return kernels->input({.bytes = bytes, .changes = {}, .values = images.values()}, format);
  }
  return formed(images.normalised(bytes), format);
}

void check_batch_size(std::int64_t batch_size) {
  if (batch_size < 1) {
    fail(ErrorCode::usage, "batch size: found ", batch_size, ", expected at least 1");
  }
}

// Where along one axis an output pixel comes from, and where along it the result is blank.
struct AxisMap {
  torch::Tensor source;   // [B, size] int64, within the image
  torch::Tensor outside;  // [B, size] bool: the source lies outside the image
};

//   places  [B, size] int64 or [1, size], before the shift; shift [B]
AxisMap shifted(const torch::Tensor& places, const torch::Tensor& shift) {
  const std::int64_t size = places.size(1);
  const torch::Tensor source = places - shift.unsqueeze(1);
  return {source.clamp(0, size - 1), source.lt(0).logical_or(source.ge(size))};
}

// [B, size] bool: within the hole that begins at `first` [B].
torch::Tensor within(const torch::Tensor& places, const torch::Tensor& first, std::int64_t side) {
  const torch::Tensor depth = places - first.unsqueeze(1);
  return depth.ge(0).logical_and(depth.lt(side));
}

torch::Tensor as_rows(const torch::Tensor& along) {
  return along.unsqueeze(1).unsqueeze(3);
}
torch::Tensor as_columns(const torch::Tensor& along) {
  return along.unsqueeze(1).unsqueeze(2);
}

// Pixel (y, x) of image b becomes pixel (rows[b, y], columns[b, x]) of it.
torch::Tensor gathered(const torch::Tensor& bytes, const torch::Tensor& rows,
                       const torch::Tensor& columns) {
  const torch::Tensor flat = bytes.flatten(2);  // [B, C, H * W]
  const torch::Tensor places = as_rows(rows) * bytes.size(3) + as_columns(columns);
  return flat.gather(2, places.flatten(2).expand_as(flat)).view_as(bytes);
}

}  // namespace

ResidentImages::ResidentImages(const ImageSet& images, const Preprocessing& preprocessing,
                               torch::Device device) {
  if (static_cast<std::int64_t>(images.labels.size()) != images.count) {
    fail(ErrorCode::usage, "images: found ", images.labels.size(), " labels, expected ",
         images.count);
  }
  auto set = std::make_shared<ImageSet>();
  *set = {.count = images.count,
          .channels = images.channels,
          .height = images.height,
          .width = images.width,
          .pixels = {},
          .labels = {},
          .classes = {},
          .files = images.files,
          .folder = images.folder,
          .token_count = images.token_count};
  set_ = std::move(set);
  if (images.is_in_memory()) {
    bytes_ = copied(images.pixels, {images.count, images.channels, images.height, images.width},
                    torch::kUInt8, device);
  }
  labels_ = copied(images.labels, {images.count}, torch::kInt32, device).to(torch::kInt64);
  if (images.holds_tokens()) return;
  values_ = torch::tensor(input_values(preprocessing, images.channels)).to(device);
  rows_ = (torch::arange(images.channels, torch::kInt64) * 256).view({1, -1, 1, 1}).to(device);
}

torch::Tensor ResidentImages::next_of(ImageReader& reader) const {
  const std::span<const std::uint8_t> bytes = reader.next();
  const std::int64_t image = set_->channels * set_->height * set_->width;
  const std::int64_t count = static_cast<std::int64_t>(bytes.size()) / image;
  const torch::Tensor view = torch::from_blob(const_cast<std::uint8_t*>(bytes.data()),
                                              {count, set_->channels, set_->height, set_->width},
                                              torch::TensorOptions().dtype(torch::kUInt8));
  return view.to(device(), torch::kUInt8, false, /*copy=*/true);  // the reader overwrites its own
}

torch::Tensor ResidentImages::normalised(const torch::Tensor& bytes) const {
  if (holds_tokens()) return bytes.view(torch::kInt32).flatten(1).to(torch::kInt64);
  return values_.take(bytes.to(torch::kInt64).add_(rows_));
}

TrainingBatches::TrainingBatches(ResidentImages images, const BatchOptions& options)
    : images_(std::move(images)), options_(options) {
  check_batch_size(options.batch_size);
  if (images_.count() == 0) fail(ErrorCode::usage, "no training images");
  check_augment_config(options.augment, images_.height(), images_.width());
  draw_epoch();
}

DrawnBatch TrainingBatches::draw() {
  const torch::NoGradGuard no_gradients;
  const std::int64_t first = position_.sample;
  const std::int64_t size = std::min(options_.batch_size, images_.count() - first);
  const torch::Tensor chosen = order_.narrow(0, first, size);
  DrawnBatch drawn{reader_ ? images_.next_of(*reader_) : images_.bytes().index_select(0, chosen),
                   images_.labels().index_select(0, chosen), changes_.narrow(0, first, size)};
  position_.sample += size;
  if (position_.sample == images_.count()) {
    position_ = {position_.epoch + 1, 0};
    draw_epoch();
  }
  return drawn;
}

Batch TrainingBatches::made(const DrawnBatch& drawn) const {
  const torch::NoGradGuard no_gradients;
  const InputFormat& format = options_.format;
  if (!changes_images()) return {unchanged(images_, drawn.bytes, format), drawn.target};
  if (const BatchKernels* kernels = kernels_for(images_, format)) {
    const InputParts parts = {.bytes = drawn.bytes,
                              .changes = drawn.changes,
                              .values = images_.values(),
                              .cutout = options_.augment.cutout};
    return {kernels->input(parts, format), drawn.target};
  }
  return {formed(augmented(drawn), format), drawn.target};
}

std::int64_t TrainingBatches::batches_per_epoch() const {
  return (images_.count() - 1) / options_.batch_size + 1;
}

void TrainingBatches::seek(BatchPosition position) {
  if (position.epoch < 0 || position.sample < 0 || position.sample >= images_.count()) {
    fail(ErrorCode::usage, "position in the training data: found epoch ", position.epoch,
         ", sample ", position.sample, ", expected a sample from 0 to ", images_.count() - 1);
  }
  position_ = position;
  draw_epoch();
}

// An epoch's batches begin at multiples of the batch size from where it is entered.
void TrainingBatches::start_reading() {
  if (images_.is_in_memory()) return;
  const torch::Tensor rest = order_.slice(0, position_.sample).to(torch::kCPU).contiguous();
  const auto* first = rest.const_data_ptr<std::int64_t>();
  reader_ = images_.reader({first, first + rest.size(0)}, options_.batch_size);
}

void TrainingBatches::draw_epoch() {
  const auto epoch = static_cast<std::uint64_t>(position_.epoch);
  const std::int64_t count = images_.count();
  const torch::Device device = images_.device();
  Random for_order(options_.seed, kOrderStreams + epoch);
  Random for_changes(options_.seed, kAugmentStreams + epoch);
  const Augmentations drawn =
      draw_augmentations(options_.augment, images_.height(), images_.width(), count, for_changes);
  order_ = copied(permutation(count, for_order), {count}, torch::kInt64, device);
  changes_ = copied(interleaved(drawn), {count, 5}, torch::kInt64, device);
  start_reading();
}

bool TrainingBatches::changes_images() const {
  const AugmentConfig& config = options_.augment;
  return config.crop_padding > 0 || config.flip || config.cutout > 0;
}

// Bytes are moved, not floats: a quarter of the memory traffic.
torch::Tensor TrainingBatches::augmented(const DrawnBatch& drawn) const {
  const AugmentConfig& config = options_.augment;
  const torch::Tensor& bytes = drawn.bytes;
  const auto change = [&](std::int64_t kind) { return drawn.changes.select(1, kind); };
  const auto places = torch::TensorOptions().dtype(torch::kInt64).device(bytes.device());
  const torch::Tensor rows = torch::arange(bytes.size(2), places).unsqueeze(0);
  const torch::Tensor columns = torch::arange(bytes.size(3), places).unsqueeze(0);
  // The last change is undone first: an output column is mirrored, then shifted back.
  const torch::Tensor unflipped =
      torch::where(change(2).ne(0).unsqueeze(1), bytes.size(3) - 1 - columns, columns);
  const AxisMap vertical = shifted(rows, change(0));
  const AxisMap horizontal = shifted(unflipped, change(1));
  torch::Tensor blank = as_rows(vertical.outside).logical_or(as_columns(horizontal.outside));
  if (config.cutout > 0) {
    const torch::Tensor hole_rows = within(rows, change(3), config.cutout);
    const torch::Tensor hole_columns = within(columns, change(4), config.cutout);
    blank = blank.logical_or(as_rows(hole_rows).logical_and(as_columns(hole_columns)));
  }
  const torch::Tensor moved = gathered(bytes, vertical.source, horizontal.source);
  return images_.normalised(moved).mul_(blank.logical_not_().to(torch::kFloat32));
}

EvaluationBatches::EvaluationBatches(ResidentImages images, std::int64_t batch_size,
                                     const InputFormat& format)
    : images_(std::move(images)), batch_size_(batch_size), format_(format) {
  check_batch_size(batch_size);
}

std::int64_t EvaluationBatches::count() const {
  return images_.count() / batch_size_ + (images_.count() % batch_size_ > 0 ? 1 : 0);
}

torch::Tensor EvaluationBatches::bytes_at(std::int64_t index, std::int64_t size) const {
  const std::int64_t first = index * batch_size_;
  if (images_.is_in_memory()) return images_.bytes().narrow(0, first, size);
  if (!reader_ || next_ != index) {
    std::vector<std::int64_t> order(static_cast<std::size_t>(images_.count() - first));
    std::iota(order.begin(), order.end(), first);
    reader_ = images_.reader(std::move(order), batch_size_);
  }
  next_ = index + 1;
  return images_.next_of(*reader_);
}

Batch EvaluationBatches::at(std::int64_t index) const {
  if (index < 0 || index >= count()) {
    fail(ErrorCode::usage, "batch: found ", index, ", expected 0 to ", count() - 1);
  }
  const torch::NoGradGuard no_gradients;
  const std::int64_t first = index * batch_size_;
  const std::int64_t size = std::min(batch_size_, images_.count() - first);
  return {unchanged(images_, bytes_at(index, size), format_),
          images_.labels().narrow(0, first, size)};
}

}  // namespace winnow
