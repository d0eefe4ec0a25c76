// How well a checkpoint classifies images, and what its activations look like: measured by the
// runtime's backends on the network as `export` would deploy it.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "quantize/bias_correction.h"
#include "quantize/histogram.h"
#include "quantize/stepwise_network.h"
#include "runtime/base/device_name.h"
#include "runtime/engine.h"
#include "runtime/images/image_set.h"
#include "runtime/model/model.h"

namespace winnow {

struct MeasurementOptions {
  std::int64_t batch = 512;  // images at once; the result does not depend on it
  std::function<void(std::int64_t samples)> on_batch = {};  // told how many a batch had, after it
};

// A network to be measured as often as is wanted: its kernels are chosen once.
//
// Methods throw Error{usage} if the images do not fit the model, have no labels or are none, or an
// option is no batch; Error{device} if the device fails. Pixels go through model.preprocessing.
class MeasuredNetwork {
 public:
  // The model may be pruned or quantized. Batch norms are folded first (fold_batch_norm.h).
  // `planned` is told after each step that `done` of `all` are planned; it may be empty.
  // Throws Error{device} if the device is missing.
  MeasuredNetwork(const Model& model, Device device,
                  decltype(SessionOptions::progress) planned = nullptr);

  // What measures, in words: the device as its backend describes it.
  std::string device() const { return engine_.session().device(); }

  // Has activations rounded from now on: Model::activation_bits and Model::activation_frac, with
  // the names of nodes that activations() gives.
  void round_activations(int bits, std::map<std::string, int> frac);

  // Fraction of `images` whose label has the highest output, in [0, 1]; of equal outputs the first
  // class wins. If activation_bits > 0, the value of every node in activation_frac is rounded to
  // that fixed point (fixed_point.h).
  double accuracy(const ImageSet& images, const MeasurementOptions& options = {});

  // The outputs of the last node, [images.count, classes] row-major, as accuracy sees them.
  std::vector<float> outputs(const ImageSet& images, const MeasurementOptions& options = {});

  // Histograms of the input and of the nodes that have a value when the network runs, over
  // `images`, by node name: a relu that alone reads a layer or addition has one, that layer then
  // has none. Nothing is rounded, whatever activation_bits says.
  // Throws Error{usage} too if an activation is not finite.
  std::map<std::string, Histogram> activations(const ImageSet& images,
                                               const MeasurementOptions& options = {});

  // What correct_biases needs of the model before its weights are quantized: what its conv and
  // linear nodes read on average over `images`. Nothing is rounded. Throws as activations does.
  MeanInputs mean_layer_inputs(const ImageSet& images, const MeasurementOptions& options = {});

 private:
  // Takes normalised samples, gives what the network makes of them.
  using Run = std::function<std::vector<float>(std::int64_t samples, std::vector<float> input)>;

  // Takes the first image of each batch and the network's outputs.
  using Use = std::function<void(std::int64_t first, std::span<const float> outputs)>;

  void run_batches(const ImageSet& images, const MeasurementOptions& options, const Run& run,
                   const Use& use);
  void run_rounded(const ImageSet& images, const MeasurementOptions& options, const Use& use);
  void visit_values(const ImageSet& images, const MeasurementOptions& options,
                    const StepwiseNetwork::Visit& visit);
  void round(const std::string& node, std::span<float> values);
  StepwiseNetwork& stepwise();

  Device device_;
  SessionOptions options_;                      // of all sessions
  Engine engine_;                               // runs where nothing is rounded or looked at
  std::optional<StepwiseNetwork> stepwise_;     // made when it is first wanted
  int activation_bits_;                         // 0: nothing is rounded
  std::map<std::string, int> activation_frac_;  // by node
};

}  // namespace winnow
