// What quantization did, as a table and as JSON.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "quantize/quantize_model.h"

namespace winnow {

// Fractions of the test images classified right.
struct QuantizationAccuracy {
  std::string data;  // "cifar10 in data/cifar10"
  std::int64_t samples = 0;
  double before = 0;   // the checkpoint as it came
  double weights = 0;  // weights quantized, activations not
  double after = 0;    // all of it

  double drop_points() const { return 100 * (before - after); }
};

struct QuantizationReport {
  std::string input;
  std::string output;
  std::string network;
  Scheme requested;
  Scheme done;                        // without activations if no image was there to observe
  std::string activation_range;       // "max", "mse", "percentile"
  std::int64_t calibration = 0;       // images observed
  bool has_corrected_biases = false;  // bias_correction.h
  std::string device;
  std::optional<QuantizationAccuracy> accuracy;
  std::vector<LayerQuantization> layers;
  double seconds = 0;
};

// A row per layer, sums, then accuracies.
std::string report_table(const QuantizationReport& report);

// docs/commands.md lists the keys. Accuracies are in percent; signal_to_noise_db is null where
// nothing changed.
std::string report_json(const QuantizationReport& report);

}  // namespace winnow
