// What runs a network over images. Every engine gives the same categories.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "runtime/challenge/images.h"
#include "runtime/challenge/network.h"

namespace winnow::challenge {

struct EngineOptions {
  int threads = 0;                   // that compute, or prepare `fused` and `grouped`; 0: all cores
  int blocks = 64;                   // `cpu`: into which the outputs of a layer are cut (paper 002)
  int gpu = 0;                       // CUDA device number
  std::vector<int> gpus = {};        // GPU engines: images split over these; empty: `gpu` alone
  std::uint32_t images_at_once = 0;  // GPU engines; 0: as many as memory holds
  int streams = 0;                   // kStreamEngines: blocks of images, each on a CUDA stream;
                                     // 0: 2 for `fused` in shared memory, else 1
  std::size_t weight_bytes = 0;      // `fused`: GPU memory for weights; 0: 3/4 of what is free
  bool use_half = true;              // `fused`, `grouped`: fp16 activations from some layer on;
                                     // `grouped` cannot do without
  int full_precision_layers = -1;    // `fused`, `grouped`: before fp16 activations; -1: by neurons
  // Called between layers or blocks of layers with (layers done, layers in all). May throw to stop.
  std::function<void(std::uint32_t, std::uint32_t)> progress;
  // `grouped`, and `fused` where it gathers rows: called by the thread that makes the engine, with
  // (layers ready, layers in all). May throw to stop.
  std::function<void(std::uint32_t, std::uint32_t)> loading = nullptr;
};

// Images that are not zero everywhere after the last layer, from 0, ascending.
using Categories = std::vector<std::uint32_t>;

struct RunTimes {
  double inference_ms = 0;           // from the first layer to the categories in host memory
  double transfer_ms = 0;            // images to the device, not in inference_ms
  std::vector<double> rank_ms = {};  // of several processes each's own inference
};

// The highest at which a GPU's SMs and memory may run; 0 if not known.
struct DeviceClocks {
  int sm_mhz = 0;
  int memory_mhz = 0;
};

// A network made ready on a device.
class Engine {
 public:
  virtual ~Engine() = default;

  virtual std::string device() const = 0;  // "cpu (...)", "cuda:0 (NVIDIA H200)"
  virtual DeviceClocks clocks() const { return {}; }
  virtual std::string kernel() const = 0;  // the kernels and storage forms that run, in one line

  // Moves the images to the device. Throws Error{usage} if their neurons are not the network's.
  virtual void set_images(const SparseImages& images) = 0;

  // Runs all layers over all images; repeatable. Throws Error{device}.
  virtual Categories run(RunTimes& times) = 0;

  // Images that are alive before each layer and after the last one: [layers + 1], of the last run;
  // empty if the engine does not count.
  virtual std::vector<std::uint32_t> live() const { return {}; }

  // What was discovered or reordered at load time ("groups of 16 outputs share 32 inputs"), and
  // how long that took, upload not included.
  virtual std::string discovery() const { return ""; }
  virtual double prepare_ms() const { return 0; }
};

}  // namespace winnow::challenge
