// How long a network takes by the densities of its layers: what `budget: time` counts.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace winnow {

// One layer alone, measured under random masks of one granularity.
struct LayerTimeCurve {
  std::string name;
  std::int64_t weights = 0;  // of the dense layer
  double dense_ms = 0.0;
  std::vector<std::pair<double, double>> points = {};  // density below 1, rising; ms, not falling
  // Of the layer where it alone stays dense in a network of sparse ones; 0: not known.
  double dense_among_sparse_ms = 0.0;
  // A depthwise 1 x 1 convolution: what a batch norm becomes that no layer takes in. No layer of
  // the network need have its name, and then it is never pruned.
  bool is_scale = false;
};

// One layer alone with fewer channels and dense kernels.
struct LayerChannelTimes {
  std::string name;
  std::int64_t weights = 0;                   // of the whole layer
  std::vector<std::int64_t> outputs, inputs;  // rising; the last are the whole layer's
  std::vector<double> ms;                     // [outputs, inputs], never falling with either
};

// All layers under masks of one granularity.
struct MaskTimes {
  std::int64_t vector = 1;
  std::vector<LayerTimeCurve> layers = {};
};

// A pass of the network takes constant_ms + scale * (sum of its layers' ms): layers one by one take
// longer or shorter than in a row, and pools, sums and launches take their time too.
struct TimeModel {
  std::string device;
  std::string precision;
  std::int64_t batch = 1;
  std::int64_t vector = 1;          // output channels that share a mask bit, 0: whole channels,
                                    // -1: each layer's own (`granularities`)
  bool use_tf32 = false;            // of f32 on a GPU
  std::uint32_t checksum = 0;       // of the file that says all this
  bool has_removed_layers = false;  // that the network has no longer: without_removed()
  double dense_ms = 0.0;            // the dense network, measured as a whole
  double constant_ms = 0.0;
  double scale = 1.0;
  std::vector<LayerTimeCurve> layers = {};    // of masks within layers
  std::vector<MaskTimes> granularities = {};  // that a mix chooses among; `layers` are the choice
  std::vector<LayerChannelTimes> channels = {};  // of whole channels
};

// The sum of the dense layers' milliseconds, one by one.
double dense_layers_ms(const TimeModel& time);

struct LayerRange;
struct PrunableLayer;

// Null if there is none of that name.
const LayerTimeCurve* time_of(const TimeModel& time, const std::string& name);

// The same without times of layers that were removed from the network, whose prunable ones are
// `layers`. Its other times stay.
TimeModel without_removed(TimeModel time, const std::vector<PrunableLayer>& layers);

// Throws Error{usage} unless the times are those of the network's layers: of each that is not
// excluded, and of no others but scales, with as many weights. For masks within layers; ChannelTime
// asks the same of whole channels.
void require_fit(const TimeModel& time, const std::vector<PrunableLayer>& layers,
                 const std::vector<LayerRange>& ranges);

}  // namespace winnow
