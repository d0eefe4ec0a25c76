// What the engines on a GPU share: choosing it, the clock, progress.
#pragma once

#include <string>

#include "runtime/challenge/engine.h"
#include "runtime/device/stream.h"

namespace winnow::challenge {

class GpuEngine : public Engine {
 public:
  std::string device() const override;
  DeviceClocks clocks() const override;

  // Both make the GPU the calling thread's device and leave no work on it behind, thrown or not.
  void set_images(const SparseImages& images) final;
  Categories run(RunTimes& times) final;

 protected:
  // Requires that `options.gpu` is the calling thread's device.
  GpuEngine(const Network& network, const EngineOptions& options);

  // Copies the images to the device; they fit the network, and images() is their number.
  virtual void upload(const SparseImages& images) = 0;

  // Finds out by trying how to run best over these images; not timed.
  virtual void tune() {}

  // Runs all layers; the time that this takes is what counts.
  virtual Categories infer() = 0;

  // Calls options.progress: images [first, last) are through the first `done` layers, images before
  // them through all.
  void report_layers(std::uint32_t done, std::uint32_t first, std::uint32_t last) const;

  // For kernel(): ", 1000 images at a time"; empty if that is all of them.
  std::string in_batches(std::uint32_t images_at_once) const;

  cudaStream_t stream() const { return stream_.get(); }
  const EngineOptions& options() const { return options_; }
  std::uint32_t layers() const { return layers_; }
  std::uint32_t neurons() const { return neurons_; }  // inputs of the first layer
  std::uint32_t images() const { return images_; }

 private:
  EngineOptions options_;
  std::string network_name_;
  std::uint32_t layers_;
  std::uint32_t neurons_;
  std::uint32_t images_ = 0;
  bool has_images_ = false;
  double upload_ms_ = 0;
  Stream stream_;
};

}  // namespace winnow::challenge
