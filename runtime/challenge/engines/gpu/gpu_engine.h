// What the engines on a GPU share: choosing it, its streams, the clock, progress.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "runtime/challenge/engine.h"
#include "runtime/challenge/engines/gpu/image_blocks.h"
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

  // Milliseconds that `action` and the work that it puts on the device take.
  static double timed(const std::function<void()>& action);

  // Runs all layers; the time that this takes is what counts.
  virtual Categories infer() = 0;

  // Calls options.progress: images [first, last) are through the first `done` layers, images before
  // them through all.
  void report_layers(std::uint32_t done, std::uint32_t first, std::uint32_t last) const;

  // For kernel(): ", 1000 images at a time" unless that is all of them, ", in 4 blocks on 4
  // streams" unless there is one stream.
  std::string in_batches(std::uint32_t images_at_once) const;

  // The images [first, last) as a block for each stream.
  std::vector<ImageBlock> blocks(std::uint32_t first, std::uint32_t last) const {
    return divide_images(first, last, static_cast<std::uint32_t>(streams_.size()));
  }
  const std::vector<Stream>& streams() const { return streams_; }
  cudaStream_t stream(std::size_t block = 0) const { return streams_[block].get(); }

  // Until the work on all streams is done.
  void wait() const;

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
  std::vector<Stream> streams_;
};

}  // namespace winnow::challenge
