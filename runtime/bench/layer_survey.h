// How long each layer of a model would take at other densities: what pruning to a time target
// reads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
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
  // Of a layer's output and input channels, increasing, below 1; empty: channels are left out.
  std::vector<double> shares = {0.0625, 0.125, 0.25, 0.5, 0.75};
  // Whether each layer is measured dense among sparse ones too: a network for each layer and
  // vector.
  bool has_dense_among_sparse = false;
  std::uint64_t seed = 7;  // of the masks

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

  // What the layer adds to the masked network when it alone stays dense there, at the scale of
  // `points`: values that its neighbours keep in another layout are converted, and no pooling is
  // fused with it. 0: not measured.
  double dense_among_sparse_ms = 0;
};

// The layer with so many channels and dense kernels.
struct ChannelPoint {
  std::int64_t outputs = 0, inputs = 0;
  double ms = 0;        // never falls with either (never_falling of channel_grid.h)
  SurveyKernel kernel;  // what was measured
};

struct LayerSurvey {
  std::string name;
  std::string op;
  Shape input_shape, output_shape;  // with the batch
  std::int64_t weights = 0;
  SurveyKernel dense;
  std::vector<SurveyCurve> curves;     // by vector, one for each that was asked for
  std::vector<ChannelPoint> channels;  // by outputs, then inputs: all pairs of a ChannelGrid
};

// The network as a whole under masks of one density in all layers, of one granularity or, if
// it is a survey's `mixed`, of all in turn.
struct MaskedNetwork {
  int vector = 1;
  double density = 0;
  double ms = 0;   // median
  NetworkFit fit;  // with the dense network
};

// The network as a whole, dense, with a share of the channels that can go.
struct NarrowNetwork {
  double share = 0;
  double ms = 0;   // median
  NetworkFit fit;  // with the dense network
};

struct Survey {
  std::string device;
  std::int64_t batch = 1;
  double dense_ms = 0;                  // of the network with dense kernels alone: the median
  std::vector<MaskedNetwork> masked;    // by vector, one for each that was asked for
  std::optional<MaskedNetwork> mixed;   // if several vectors were asked for
  std::optional<NarrowNetwork> narrow;  // if channels were asked for
  std::vector<double> shares;           // of channels, as asked for
  std::vector<LayerSurvey> layers;      // every convolution and linear layer
};

// Measures the shapes of the model's layers with random weights under random masks (each block is
// kept with the same probability), and with fewer channels; the model's own weights do not matter.
// Layers of one shape are measured once. Throws Error{device} if the device fails, no kernel runs a
// layer rightly or the network cannot run with dense kernels alone.
Survey survey_layers(const DeployedModel& model, const SurveyOptions& options);

// An object of one batch: "batch", "network", "layers".
nlohmann::ordered_json survey_json(const Survey& survey);

// The version of what survey_json() writes, under "format" in the table's file. Tables of format 1
// have no number and no times of channels.
inline constexpr int kTimeTableFormat = 2;

// Milliseconds by layer and density, for people.
std::string survey_table(const Survey& survey);

}  // namespace winnow
