#include "runtime/challenge/engines/gpu/gpu_engine.h"

#include <algorithm>
#include <chrono>

#include "runtime/base/error.h"
#include "runtime/device/attribute.h"
#include "runtime/device/gpu.h"

namespace winnow::challenge {

double GpuEngine::timed(const std::function<void()>& action) {
  CUDA_CHECK(cudaDeviceSynchronize());
  const auto begin = std::chrono::steady_clock::now();
  try {
    action();
  } catch (...) {
    cudaDeviceSynchronize();  // memory that the work uses may be freed next
    throw;
  }
  CUDA_CHECK(cudaDeviceSynchronize());
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin)
      .count();
}

GpuEngine::GpuEngine(const Network& network, const EngineOptions& options)
    : options_(options),
      network_name_(network.name()),
      layers_(network.layers()),
      neurons_(network.neurons()),
      streams_(static_cast<std::size_t>(std::max(options.streams, 1))) {}

std::string GpuEngine::device() const {
  return gpu_name(options_.gpu);
}

DeviceClocks GpuEngine::clocks() const {
  return {device_attribute(cudaDevAttrClockRate, options_.gpu) / 1000,
          device_attribute(cudaDevAttrMemoryClockRate, options_.gpu) / 1000};
}

void GpuEngine::set_images(const SparseImages& images) {
  check_images(images, "images");
  if (images.neurons != neurons_) {
    fail(ErrorCode::usage, network_name_, ": the images have ", images.neurons,
         " neurons, expected ", neurons_);
  }
  select_gpu(options_.gpu);
  has_images_ = false;
  images_ = images.images();
  upload_ms_ = timed([&] { upload(images); });
  timed([&] { tune(); });
  has_images_ = true;
}

Categories GpuEngine::run(RunTimes& times) {
  if (!has_images_) fail(ErrorCode::usage, network_name_, ": run without images");
  select_gpu(options_.gpu);
  Categories categories;
  times.inference_ms = timed([&] { categories = infer(); });
  times.transfer_ms = upload_ms_;
  return categories;
}

void GpuEngine::report_layers(std::uint32_t done, std::uint32_t first, std::uint32_t last) const {
  if (!options_.progress || images_ == 0) return;
  const std::uint64_t row_layers =
      std::uint64_t{first} * layers_ + std::uint64_t{last - first} * done;
  options_.progress(static_cast<std::uint32_t>(row_layers / images_), layers_);
}

std::string GpuEngine::in_batches(std::uint32_t images_at_once) const {
  std::string text;
  if (images_at_once < images_) text = ", " + std::to_string(images_at_once) + " images at a time";
  if (streams_.size() == 1) return text;
  const std::string count = std::to_string(streams_.size());
  return text + ", in " + count + " blocks on " + count + " streams";
}

void GpuEngine::wait() const {
  for (const Stream& stream : streams_) stream.synchronize();
}

}  // namespace winnow::challenge
