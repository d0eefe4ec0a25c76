// What the engines over cuSPARSE share: images go through all layers in batches, and live images
// may be counted.
#pragma once

#include <cstdint>
#include <vector>

#include "runtime/challenge/engines/gpu/device_images.h"
#include "runtime/challenge/engines/gpu/gpu_engine.h"

namespace winnow::challenge {

class CusparseEngine : public GpuEngine {
 public:
  std::vector<std::uint32_t> live() const override { return live_; }

 protected:
  // `counts_live`: whether live() is what count_live() was told, or empty.
  CusparseEngine(const Network& network, const EngineOptions& options, bool counts_live);

  // Copies the images to the device in place of those before.
  void hold_images(const SparseImages& images);

  // The most images that infer_batch() is asked for; at least 1.
  void set_batch(std::uint32_t images) { batch_ = images; }
  std::uint32_t batch() const { return batch_; }

  // Takes the images [first, last) through all layers. Returns those that are alive at the end.
  virtual Categories infer_batch(std::uint32_t first, std::uint32_t last) = 0;

  // So many more images are alive before layer `layer`; layers(): after the last.
  void count_live(std::uint32_t layer, std::size_t images);

  const DeviceImages& device_images() const { return images_; }
  // [images + 1], in host memory: the first one of each image among all.
  const std::vector<std::uint64_t>& first_ones() const { return first_ones_; }

 private:
  Categories infer() final;

  bool counts_live_;
  DeviceImages images_;
  std::vector<std::uint64_t> first_ones_;
  std::uint32_t batch_ = 1;
  std::vector<std::uint32_t> live_;
};

}  // namespace winnow::challenge
