#include "prune/training/steps/batches.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "prune/training/device.h"
#include "prune/training/steps/batch_kernels.h"
#include "runtime/base/random.h"
#include "runtime/engine.h"
#include "tests/throws.h"
#include "tests/training/same_bits.h"
#include "tests/training/torch_doctest.h"

namespace winnow {
namespace {

const Preprocessing kPreprocessing = {{0.4914f, 0.25f}, {0.247f, 0.3f}};

// Random pixels; the label of image i is i.
ImageSet random_images(std::int64_t count, std::int64_t height, std::int64_t width) {
  Random random(1);
  ImageSet set;
  set.count = count;
  set.channels = 2;
  set.height = height;
  set.width = width;
  for (std::int64_t i = 0; i < count * 2 * height * width; ++i) {
    set.pixels.push_back(static_cast<std::uint8_t>(random.below(256)));
  }
  for (std::int64_t i = 0; i < count; ++i) set.labels.push_back(static_cast<std::int32_t>(i));
  return set;
}

ResidentImages resident(const ImageSet& set) {
  return {set, kPreprocessing, torch::kCPU};
}

std::vector<std::int64_t> labels_of(const Batch& batch) {
  const auto* first = batch.target.const_data_ptr<std::int64_t>();
  return {first, first + batch.target.size(0)};
}

std::vector<std::int64_t> next_epoch(TrainingBatches& batches) {
  std::vector<std::int64_t> labels;
  for (std::int64_t i = 0; i < batches.batches_per_epoch(); ++i) {
    const std::vector<std::int64_t> of_batch = labels_of(batches.next());
    labels.insert(labels.end(), of_batch.begin(), of_batch.end());
  }
  return labels;
}

float normal_pixel(const ImageSet& set, std::int64_t image, std::int64_t channel, std::int64_t row,
                   std::int64_t column) {
  const auto c = static_cast<std::size_t>(channel);
  const std::uint8_t byte = set.pixels[static_cast<std::size_t>(
      ((image * 2 + channel) * set.height + row) * set.width + column)];
  return (static_cast<float>(byte) / 255.0f - kPreprocessing.mean[c]) / kPreprocessing.deviation[c];
}

// What happened to one image, as augment.h words it, one change after the other.
struct Change {
  std::int64_t row_shift = 0, column_shift = 0, hole_row = 0, hole_column = 0, cutout = 0;
  bool is_flipped = false;
};

std::vector<float> changed_image(const ImageSet& set, std::int64_t image, const Change& change) {
  const std::int64_t height = set.height, width = set.width;
  const auto at = [&](std::int64_t channel, std::int64_t row, std::int64_t column) {
    return static_cast<std::size_t>((channel * height + row) * width + column);
  };
  std::vector<float> moved(static_cast<std::size_t>(2 * height * width), 0.0f);
  for (std::int64_t c = 0; c < 2; ++c) {
    for (std::int64_t y = 0; y < height; ++y) {
      for (std::int64_t x = 0; x < width; ++x) {
        const std::int64_t to_row = y + change.row_shift, to_column = x + change.column_shift;
        if (to_row < 0 || to_row >= height || to_column < 0 || to_column >= width) continue;
        moved[at(c, to_row, to_column)] = normal_pixel(set, image, c, y, x);
      }
    }
  }
  for (std::int64_t c = 0; c < 2; ++c) {
    for (std::int64_t y = 0; y < height; ++y) {
      auto row = moved.begin() + static_cast<std::ptrdiff_t>(at(c, y, 0));
      if (change.is_flipped) std::reverse(row, row + width);
      if (y < change.hole_row || y >= change.hole_row + change.cutout) continue;
      const auto first = std::clamp<std::int64_t>(change.hole_column, 0, width);
      const auto last = std::clamp<std::int64_t>(change.hole_column + change.cutout, 0, width);
      std::fill(row + first, row + last, 0.0f);
    }
  }
  return moved;
}

// The image that `batch` holds at place i.
std::vector<float> image_at(const Batch& batch, std::int64_t i) {
  const torch::Tensor image = batch.input[i].contiguous();
  const auto* first = image.const_data_ptr<float>();
  return {first, first + image.numel()};
}

TEST_CASE("an epoch gives each image once, with its label and exactly normalised") {
  const ImageSet set = random_images(23, 5, 7);
  TrainingBatches batches(resident(set), {.batch_size = 4, .seed = 9});
  CHECK(batches.batches_per_epoch() == 6);
  std::vector<int> hits(23);
  for (int i = 0; i < 6; ++i) {
    const Batch batch = batches.next();
    REQUIRE(batch.input.size(0) == (i < 5 ? 4 : 3));
    const std::vector<std::int64_t> labels = labels_of(batch);
    for (std::size_t place = 0; place < labels.size(); ++place) {
      ++hits[static_cast<std::size_t>(labels[place])];
      REQUIRE(image_at(batch, static_cast<std::int64_t>(place)) ==
              changed_image(set, labels[place], {}));
    }
  }
  CHECK(hits == std::vector<int>(23, 1));
  CHECK(batches.position() == BatchPosition{1, 0});
}

TEST_CASE("epochs and seeds differ in their order, equal ones do not") {
  const ImageSet set = random_images(40, 2, 2);
  TrainingBatches first(resident(set), {.batch_size = 7, .seed = 1});
  TrainingBatches second(resident(set), {.batch_size = 40, .seed = 1});
  TrainingBatches third(resident(set), {.batch_size = 7, .seed = 2});
  const auto epoch = next_epoch(first);
  CHECK(epoch == next_epoch(second));  // whatever the batch size
  CHECK(epoch != next_epoch(third));
  CHECK(epoch != next_epoch(first));
}

TEST_CASE("crop, flip and cutout equal a plain loop over each image") {
  const ImageSet set = random_images(50, 6, 9);
  const AugmentConfig everything = {.crop_padding = 3, .flip = true, .cutout = 4};
  for (const AugmentConfig& config :
       {everything, AugmentConfig{.crop_padding = 2}, AugmentConfig{.flip = true},
        AugmentConfig{.cutout = 3}, AugmentConfig{.crop_padding = 5, .cutout = 40}}) {
    constexpr std::uint64_t kSeed = 77, kEpoch = 1;
    TrainingBatches batches(resident(set), {.batch_size = 16, .seed = kSeed, .augment = config});
    batches.seek({kEpoch, 0});
    Random random(kSeed, (std::uint64_t{2} << 32) + kEpoch);
    const Augmentations drawn = draw_augmentations(config, 6, 9, 50, random);
    for (std::size_t place = 0; place < 50;) {
      const Batch batch = batches.next();
      const std::vector<std::int64_t> labels = labels_of(batch);
      for (std::size_t i = 0; i < labels.size(); ++i, ++place) {
        CAPTURE(place);
        const Change change = {.row_shift = drawn.row_shift[place],
                               .column_shift = drawn.column_shift[place],
                               .hole_row = drawn.hole_row[place],
                               .hole_column = drawn.hole_column[place],
                               .cutout = config.cutout,
                               .is_flipped = drawn.is_flipped[place] != 0};
        REQUIRE(image_at(batch, static_cast<std::int64_t>(i)) ==
                changed_image(set, labels[i], change));
      }
    }
  }
}

TEST_CASE("seek goes on as an uninterrupted run does") {
  const ImageSet set = random_images(30, 4, 4);
  const BatchOptions options = {
      .batch_size = 8, .seed = 5, .augment = {.crop_padding = 1, .flip = true, .cutout = 2}};
  constexpr std::size_t kSteps = 11;  // nearly three epochs of four batches
  TrainingBatches uninterrupted(resident(set), options);
  std::vector<BatchPosition> positions;
  std::vector<Batch> expected;
  for (std::size_t i = 0; i < kSteps; ++i) {
    positions.push_back(uninterrupted.position());
    expected.push_back(uninterrupted.next());
  }
  CHECK(positions[3] == BatchPosition{0, 24});
  CHECK(positions[4] == BatchPosition{1, 0});
  for (std::size_t begin = 0; begin < kSteps; ++begin) {
    TrainingBatches resumed(resident(set), options);
    resumed.seek(positions[begin]);
    for (std::size_t i = begin; i < kSteps; ++i) {
      const Batch batch = resumed.next();
      REQUIRE(torch::equal(batch.input, expected[i].input));
      REQUIRE(torch::equal(batch.target, expected[i].target));
    }
  }
}

TEST_CASE("bfloat16 and channels-last batches hold the same values") {
  const ImageSet set = random_images(10, 4, 6);
  const BatchOptions plain = {.batch_size = 10, .seed = 3};
  BatchOptions other = plain;
  other.format = {torch::kBFloat16, true};
  const Batch a = TrainingBatches(resident(set), plain).next();
  const Batch b = TrainingBatches(resident(set), other).next();
  CHECK(b.input.dtype() == torch::kBFloat16);
  CHECK(b.input.is_contiguous(torch::MemoryFormat::ChannelsLast));
  CHECK(torch::equal(a.input.to(torch::kBFloat16), b.input));
}

TEST_CASE("evaluation gives the images in their order, the rest last") {
  const ImageSet set = random_images(11, 3, 4);
  const EvaluationBatches batches(resident(set), 4);
  REQUIRE(batches.count() == 3);
  std::int64_t image = 0;
  for (std::int64_t i = 0; i < 3; ++i) {
    const Batch batch = batches.at(i);
    for (const std::int64_t label : labels_of(batch)) {
      REQUIRE(label == image);
      REQUIRE(image_at(batch, image - 4 * i) == changed_image(set, image, {}));
      ++image;
    }
  }
  CHECK(image == 11);
  CHECK(error_of([&] { batches.at(3); }) == ErrorCode::usage);
}

// Every byte under many means and deviations: a division and a multiplication with the reciprocal
// differ in some.
TEST_CASE("training and the deployed engine feed a network the same bits") {
  ImageSet set;
  set.count = 1;
  set.channels = 3;
  set.height = set.width = 16;
  set.labels = {0};
  for (int i = 0; i < 3 * 256; ++i) set.pixels.push_back(static_cast<std::uint8_t>(i));
  DeployedModel model;
  model.graph.nodes.push_back({"image", Input{{3, 16, 16}}, {}});
  Random random(4);
  for (int draw = 0; draw < 20; ++draw) {
    const auto three = [&](double low, double high) {
      std::vector<float> values(3);
      for (float& value : values) value = static_cast<float>(random.uniform(low, high));
      return values;
    };
    model.preprocessing = {three(0, 1), three(0.05, 1)};
    std::vector<float> deployed(set.pixels.size());
    preprocess(model, set.pixels, deployed);
    const ResidentImages images(set, model.preprocessing, torch::kCPU);
    CHECK(image_at(EvaluationBatches(images, 1).at(0), 0) == deployed);
    CHECK(deployed[255] == (1.0f - model.preprocessing.mean[0]) / model.preprocessing.deviation[0]);
  }
}

TEST_CASE("preprocessing of another number of channels is refused") {
  CHECK(error_of([] { input_values({{0.5f}, {}}, 3); }) == ErrorCode::usage);
  CHECK(error_of([] { input_values({{}, {1, 1}}, 3); }) == ErrorCode::usage);
}

TEST_CASE("preprocessing without numbers leaves byte / 255") {
  const ImageSet set = random_images(3, 2, 2);
  const ResidentImages images(set, {}, torch::kCPU);
  const Batch batch = EvaluationBatches(images, 3).at(0);
  const torch::Tensor flat = batch.input.flatten();
  for (std::int64_t i = 0; i < flat.size(0); ++i) {
    const float expected = static_cast<float>(set.pixels[static_cast<std::size_t>(i)]) / 255.0f;
    CHECK(flat[i].item<float>() == expected);
  }
}

TEST_CASE("resident images do not depend on the set that they came from") {
  ImageSet set = random_images(6, 3, 3);
  const ImageSet before = set;
  const ResidentImages images = resident(set);
  std::fill(set.pixels.begin(), set.pixels.end(), std::uint8_t{0});
  std::fill(set.labels.begin(), set.labels.end(), 0);
  const Batch batch = EvaluationBatches(images, 6).at(0);
  CHECK(image_at(batch, 5) == changed_image(before, 5, {}));
  CHECK(labels_of(batch)[5] == 5);
}

TEST_CASE("batches refuse what does not fit") {
  const ImageSet set = random_images(6, 3, 3);
  const auto refusal = [&](const BatchOptions& options) {
    return error_of([&] { TrainingBatches(resident(set), options); });
  };
  CHECK(refusal({.batch_size = 0}) == ErrorCode::usage);
  CHECK(refusal({.batch_size = 1, .augment = {.crop_padding = 3}}) == ErrorCode::usage);
  CHECK(refusal({.batch_size = 100}) == std::nullopt);
  CHECK(error_of([&] { EvaluationBatches(resident(set), 0); }) == ErrorCode::usage);

  TrainingBatches batches(resident(set), {.batch_size = 2});
  CHECK(error_of([&] { batches.seek({0, 6}); }) == ErrorCode::usage);
  CHECK(error_of([&] { batches.seek({-1, 0}); }) == ErrorCode::usage);

  ImageSet unlabelled = set;
  unlabelled.labels.clear();
  CHECK(error_of([&] { resident(unlabelled); }) == ErrorCode::usage);
  const Preprocessing other = {{0.5f}, {0.5f}};
  CHECK(error_of([&] { ResidentImages(set, other, torch::kCPU); }) == ErrorCode::usage);
}

// Batches made on the CPU and on `device`, a GPU.
void check_same_batches(const ImageSet& set, const Preprocessing& preprocessing,
                        const BatchOptions& options, torch::Device device) {
  CAPTURE(set.channels);
  CAPTURE(options.format.is_channels_last);
  const ResidentImages here(set, preprocessing, torch::kCPU), there(set, preprocessing, device);
  TrainingBatches on_cpu(here, options), on_gpu(there, options);
  for (int i = 0; i < 12; ++i) {
    const Batch expected = on_cpu.next(), batch = on_gpu.next();
    REQUIRE(batch.input.device().is_cuda());
    REQUIRE(batch.input.strides() == expected.input.strides());
    REQUIRE(has_same_bits(batch.input.cpu(), expected.input));
    REQUIRE(torch::equal(batch.target.cpu(), expected.target));
  }
  const EvaluationBatches plain_cpu(here, 50, options.format), plain_gpu(there, 50, options.format);
  for (std::int64_t i = 0; i < plain_cpu.count(); ++i) {
    REQUIRE(has_same_bits(plain_gpu.at(i).input.cpu(), plain_cpu.at(i).input));
  }
}

TEST_CASE("batches have the same bits on a GPU as on the CPU") {
  const torch::Device device = resolve_device("auto");
  if (device.is_cpu()) {
    MESSAGE("skipped: no GPU");
    return;
  }
  if (!batch_kernels(device)) MESSAGE("no module with kernels: LibTorch's operations are compared");
  const AugmentConfig everything = {.crop_padding = 2, .flip = true, .cutout = 3};
  for (const AugmentConfig& augment :
       {everything, AugmentConfig{}, AugmentConfig{.crop_padding = 4}, AugmentConfig{.flip = true},
        AugmentConfig{.cutout = 40}}) {
    for (const torch::Dtype dtype : {torch::kFloat32, torch::kBFloat16, torch::kFloat16}) {
      for (const bool is_channels_last : {false, true}) {
        const BatchOptions options = {
            .batch_size = 64, .seed = 8, .augment = augment, .format = {dtype, is_channels_last}};
        check_same_batches(random_images(300, 11, 13), kPreprocessing, options, device);
        check_same_batches(random_images(70, 25, 31), kPreprocessing, options, device);
      }
    }
  }
}

TEST_CASE("images of one channel or one pixel have the same bits and strides on a GPU") {
  const torch::Device device = resolve_device("auto");
  if (device.is_cpu()) {
    MESSAGE("skipped: no GPU");
    return;
  }
  ImageSet grey = random_images(40, 9, 10);
  grey.channels = 1;
  grey.width = 20;
  const BatchOptions options = {.batch_size = 16, .format = {torch::kBFloat16, true}};
  check_same_batches(grey, {{0.5f}, {0.25f}}, options, device);
  check_same_batches(random_images(40, 1, 1), kPreprocessing, options, device);
}

TEST_CASE("an empty validation set has no batches") {
  const ImageSet none = random_images(0, 3, 3);
  CHECK(EvaluationBatches(resident(none), 4).count() == 0);
  CHECK(error_of([&] { TrainingBatches(resident(none), {}); }) == ErrorCode::usage);
}

}  // namespace
}  // namespace winnow
