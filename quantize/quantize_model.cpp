#include "quantize/quantize_model.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "quantize/fixed_point.h"
#include "runtime/base/error.h"
#include "runtime/base/suggest.h"
#include "runtime/model/checked_values.h"
#include "runtime/model/fold_batch_norm.h"
#include "runtime/model/model_state_json.h"
#include "runtime/model/weight_parts.h"

namespace winnow {
namespace {

// One weight of the mask per weight of the node, 1 where it is kept.
std::vector<std::uint8_t> kept_weights(const WeightParts& parts) {
  std::vector<std::uint8_t> kept(static_cast<std::size_t>(element_count(parts.shape)), 1);
  if (parts.mask) for_each_masked(parts, [&](std::size_t i) { kept[i] = 0; });
  return kept;
}

// The tensors that take the place of the weight, and what they cost.
struct Codes {
  Tensor codes;
  std::map<std::string, Tensor> sides;  // ".scale", or ".codebook" and perhaps ".channel_scale"
  std::int64_t saturated = 0;
  int frac_bits = 0;
  double scale_gain = 0;
};

double max_magnitude(std::span<const float> values) {
  double largest = 0;
  for (const float value : values)
    largest = std::max(largest, std::abs(static_cast<double>(value)));
  return largest;
}

template <typename Code>
Codes fixed_point_codes(const Tensor& weight) {
  const auto values = weight.values<float>();
  const int bits = 8 * static_cast<int>(sizeof(Code));
  FixedPoint format = format_for_range(max_magnitude(values), bits);
  format.frac_bits = std::min(format.frac_bits, kMaxFractionalBits);
  Codes result{Tensor(data_type_of<Code>(), weight.shape()), {}, 0, format.frac_bits};
  const auto codes = result.codes.template values<Code>();
  const double top = (format.highest() + 0.5) * format.step();
  for (std::size_t i = 0; i < values.size(); ++i) {
    codes[i] = static_cast<Code>(to_code(values[i], format));
    if (values[i] > top) ++result.saturated;  // the negative end is one step longer and reached
  }
  const auto scale = static_cast<float>(format.step());
  result.sides[".scale"] = Tensor::from<float>({1}, std::span(&scale, 1));
  return result;
}

// In dB.
double gain_of(double error, double error_before) {
  if (error == error_before) return 0;
  return 10 * std::log10(error_before / error);
}

Codes codebook_codes(const Tensor& weight, std::span<const std::uint8_t> kept, ChannelScale scale,
                     const ClusteringOptions& options) {
  const auto values = weight.values<float>();
  Clustering clustering = cluster_weights(values, kept, options);
  double gain = 0;
  if (scale == ChannelScale::automatic) {
    const std::int64_t channels = weight.shape()[0];
    Clustering scaled = cluster_channels(values, kept, channels, options);
    gain = gain_of(scaled.error, clustering.error);
    if (gain > worthwhile_gain(channels, std::count(kept.begin(), kept.end(), 1))) {
      clustering = std::move(scaled);
    }
  }
  Codes result{Tensor::from<std::uint8_t>(weight.shape(), clustering.codes), {}, 0, 0, gain};
  result.sides[".codebook"] = Tensor::from<Half>({options.centroids}, clustering.codebook);
  if (!clustering.channel_scale.empty()) {
    result.sides[".channel_scale"] =
        Tensor::from<Half>({weight.shape()[0]}, clustering.channel_scale);
  }
  return result;
}

Codes make_codes(const Tensor& weight, std::span<const std::uint8_t> kept, WeightForm form,
                 const WeightQuantization& options) {
  switch (form) {
    case WeightForm::fixed16:
      return fixed_point_codes<std::int16_t>(weight);
    case WeightForm::fixed8:
      return fixed_point_codes<std::int8_t>(weight);
    case WeightForm::codebook8:
      return codebook_codes(weight, kept, options.channel_scale, {256, options.refine});
    case WeightForm::codebook4:
      return codebook_codes(weight, kept, options.channel_scale, {16, options.refine});
    case WeightForm::f32:
      break;
  }
  fail(ErrorCode::internal, "weights that stay f32 have no codes");
}

// Compares the weights as they were with those of the quantized model.
void measure(LayerQuantization& layer, std::span<const float> before, const Tensor& quantized) {
  const auto after = quantized.values<float>();
  double signal = 0;
  double noise = 0;
  for (std::size_t i = 0; i < before.size(); ++i) {
    const double error = static_cast<double>(before[i]) - after[i];
    signal += static_cast<double>(before[i]) * before[i];
    noise += error * error;
    layer.largest_error = std::max(layer.largest_error, std::abs(error));
  }
  layer.signal_to_noise =
      noise == 0 ? std::numeric_limits<double>::infinity() : 10 * std::log10(signal / noise);
}

// The nodes with weights that see the network's input before any other weights do.
std::vector<std::string> first_layers(const Graph& graph) {
  std::vector<std::string> raw = {graph.nodes.front().name};  // values without weights in them
  std::vector<std::string> layers;
  for (const Node& node : graph.nodes) {
    const bool reads_raw = std::any_of(
        node.inputs.begin(), node.inputs.end(),
        [&](const auto& name) { return std::find(raw.begin(), raw.end(), name) != raw.end(); });
    if (reads_raw) (has_prunable_weight(node) ? layers : raw).push_back(node.name);
  }
  return layers;
}

std::string place_of(const Model& model, const WeightQuantization& options) {
  return options.place.empty() ? model.graph.name : options.place;
}

// Kept weights of every conv and linear node.
std::map<std::string, std::int64_t> kept_counts(const Model& model, const std::string& place) {
  std::map<std::string, std::int64_t> counts;
  for (const Node& node : model.graph.nodes) {
    if (!has_prunable_weight(node)) continue;
    const std::vector<std::uint8_t> kept = kept_weights(weight_parts(model, node, place));
    counts[node.name] = std::count(kept.begin(), kept.end(), 1);
  }
  return counts;
}

// What each conv and linear node becomes, small layers aside.
std::map<std::string, WeightForm> planned_forms(const Model& model,
                                                const WeightQuantization& options) {
  const std::map<std::string, std::int64_t> counts = kept_counts(model, place_of(model, options));
  std::int64_t all = 0;
  std::map<std::string, WeightForm> forms;
  for (const auto& [name, count] : counts) {
    forms[name] = options.form;
    all += count;
  }
  if (options.form != WeightForm::codebook4) return forms;
  for (const std::string& name : first_layers(model.graph)) {
    if (counts.at(name) <= all / 20) forms[name] = options.first_layer;
  }
  return forms;
}

LayerQuantization quantize_layer(Model& model, const Node& node, WeightForm form,
                                 const WeightQuantization& options) {
  const WeightParts parts = weight_parts(model, node, place_of(model, options));
  const std::vector<std::uint8_t> kept = kept_weights(parts);
  LayerQuantization layer;
  layer.name = node.name;
  layer.weights = static_cast<std::int64_t>(kept.size());
  layer.kept = std::count(kept.begin(), kept.end(), 1);
  layer.f32_bytes = 4 * layer.kept;
  layer.code_bytes = layer.f32_bytes;
  layer.signal_to_noise = std::numeric_limits<double>::infinity();
  if (form == WeightForm::f32 || layer.kept <= parts.shape[0]) return layer;

  const Tensor weight = *parts.dense;
  if (form == WeightForm::codebook8 || form == WeightForm::codebook4) {
    require_half_range(weight.values<float>(), parts.name, place_of(model, options),
                       "the forms 16b, 8b and 32b hold such weights");
  }
  Codes codes = make_codes(weight, kept, form, options);
  layer.form = form;
  layer.frac_bits = codes.frac_bits;
  layer.saturated = codes.saturated;
  layer.has_channel_scale = codes.sides.contains(".channel_scale");
  layer.scale_gain = codes.scale_gain;
  layer.code_bytes = (layer.kept * bits_of(form) + 7) / 8;
  const std::string name = parts.name;
  model.tensors.erase(name);
  model.tensors[name + ".codes"] = std::move(codes.codes);
  for (auto& [part, tensor] : codes.sides) {
    layer.code_bytes += static_cast<std::int64_t>(tensor.bytes().size());
    model.tensors[name + part] = std::move(tensor);
  }
  measure(layer, weight.values<float>(), weight_of(model, node.name));
  return layer;
}

}  // namespace

void require_unquantized(const Model& model, const std::string& place) {
  for (const Node& node : model.graph.nodes) {
    if (!has_prunable_weight(node) || !weight_parts(model, node, place).codes) continue;
    fail(ErrorCode::usage, place, ": node ", in_quotes(node.name), " is quantized already");
  }
}

QuantizedModel quantize_weights(const Model& model, const WeightQuantization& options) {
  require_unquantized(model, place_of(model, options));
  QuantizedModel result{fold_batch_norm(model), {}};
  result.model.activation_bits = 0;
  result.model.activation_frac.clear();
  const std::map<std::string, WeightForm> forms = planned_forms(result.model, options);
  for (const Node& node : result.model.graph.nodes) {
    if (!has_prunable_weight(node)) continue;
    if (options.on_layer) options.on_layer(node.name);
    result.layers.push_back(quantize_layer(result.model, node, forms.at(node.name), options));
  }
  return result;
}

}  // namespace winnow
