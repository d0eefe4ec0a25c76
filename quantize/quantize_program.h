// The program quantize, without its command line.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "quantize/fixed_point.h"
#include "quantize/quantize_report.h"

namespace winnow {

struct QuantizeOptions {
  std::string in;
  std::string out;   // empty: quantized.safetensors beside `in`
  std::string json;  // where the caller will write the summary too; empty: nowhere, "-": stdout
  Scheme scheme;
  WeightForm first_layer = WeightForm::fixed16;
  RangeRule range = RangeRule::least_error;
  std::string range_name = "mse";
  bool refine = true;
  ChannelScale channel_scale = ChannelScale::automatic;
  bool corrects_biases = true;      // bias_correction.h
  std::string data;                 // FORMAT:DIRECTORY; empty: see find_data
  std::int64_t limit = 0;           // of test images (thin_out); 0: as in the pruning run
  std::int64_t calibration = 1024;  // training images to observe
  std::string device = "auto";
  std::int64_t batch = 512;
  bool measures_accuracy = true;
  bool is_quiet = false;  // no progress on stderr
};

// Reads the checkpoint, quantizes it, measures accuracy on the test images and writes the result
// and quantize.json beside it. Nothing is written if something fails before the writing; if that
// fails, no summary of an earlier result stays.
//
// Without measures_accuracy no image is read, so activations and biases stay as they are whatever
// the scheme says; the report tells.
// Throws Error{usage} if an output would replace the input, another output or another file of a run
// (require_distinct_outputs), if it cannot be written, or if it lies in a run folder that another
// program holds; and what its parts throw.
QuantizationReport run_quantize(const QuantizeOptions& options);

}  // namespace winnow
