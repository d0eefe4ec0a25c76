// How long each layer of a model would take at other densities: what pruning to a time target
// reads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "runtime/bench/network_fit.h"
#include "runtime/engine.h"

namespace winnow {

struct SurveyOptions {
  Device device;
  SessionOptions session;  // batch, precision, threads, timings
  std::vector<double> densities = {0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5};  // increasing, below 1
  std::vector<int> vectors = {1, 8, 16, 32};  // output channels that share a mask bit
  std::uint64_t seed = 7;                     // of the masks

  // Called after every measurement: `done` of `all`. May be empty.
  std::function<void(std::size_t done, std::size_t all)> progress = nullptr;
};

// What runs a layer, and how long it takes: the median without conversions of layout.
struct SurveyKernel {
  std::string family;
  std::string kernel;
  double ms = 0;
};

// At one density, the share of blocks that a mask keeps.
struct SurveyPoint {
  double density = 0;

  // The fastest way to run such a mask. Its time never falls with the density: a mask can run as a
  // denser one, with zeros, or dense, so that what is slower than that is not what would run.
  SurveyKernel best;

  double measured_ms = 0;  // of the fastest sparse kernel at this density
};

struct SurveyCurve {
  int vector = 1;
  std::vector<SurveyPoint> points;  // by density
};

struct LayerSurvey {
  std::string name;
  std::string op;
  Shape input_shape, output_shape;  // with the batch
  std::int64_t weights = 0;
  SurveyKernel dense;
  std::vector<SurveyCurve> curves;  // by vector, one for each that was asked for
};

// The network as a whole under masks of one granularity, the same density in all layers.
struct MaskedNetwork {
  int vector = 1;
  double density = 0;
  double ms = 0;   // median
  NetworkFit fit;  // with the dense network
};

struct Survey {
  std::string device;
  std::int64_t batch = 1;
  double dense_ms = 0;                // of the network with dense kernels alone: the median
  std::vector<MaskedNetwork> masked;  // by vector, one for each that was asked for
  std::vector<LayerSurvey> layers;    // every convolution and linear layer
};

// Measures the shapes of the model's layers with random weights under random masks (each block is
// kept with the same probability); the model's own weights do not matter. Layers of one shape are
// measured once. Throws Error{device} if the device fails, no kernel runs a layer rightly or the
// network cannot run with dense kernels alone.
Survey survey_layers(const DeployedModel& model, const SurveyOptions& options);

// An object of one batch: "batch", "network", "layers".
nlohmann::ordered_json survey_json(const Survey& survey);

// Milliseconds by layer and density, for people.
std::string survey_table(const Survey& survey);

}  // namespace winnow
