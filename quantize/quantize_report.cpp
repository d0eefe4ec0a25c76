#include "quantize/quantize_report.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "runtime/base/number_text.h"
#include "runtime/base/suggest.h"
#include "runtime/base/version.h"
#include "runtime/cli/program.h"
#include "runtime/cli/table.h"

namespace winnow {
namespace {

using Json = nlohmann::ordered_json;

std::string decibels(double value) {
  return std::isinf(value) ? "exact" : fixed(value, 1);
}

std::string ratio(std::int64_t f32_bytes, std::int64_t code_bytes) {
  if (code_bytes == 0) return "1.0x";
  return fixed(static_cast<double>(f32_bytes) / static_cast<double>(code_bytes), 1) + "x";
}

std::string percent(double fraction) {
  return fixed(100 * fraction, 2);
}

struct Totals {
  std::int64_t weights = 0;
  std::int64_t kept = 0;
  std::int64_t f32_bytes = 0;
  std::int64_t code_bytes = 0;
};

Totals totals_of(const QuantizationReport& report) {
  Totals totals;
  for (const LayerQuantization& layer : report.layers) {
    totals.weights += layer.weights;
    totals.kept += layer.kept;
    totals.f32_bytes += layer.f32_bytes;
    totals.code_bytes += layer.code_bytes;
  }
  return totals;
}

bool has_scales(const QuantizationReport& report) {
  return std::any_of(report.layers.begin(), report.layers.end(),
                     [](const auto& layer) { return layer.has_channel_scale; });
}

std::string layer_table(const QuantizationReport& report) {
  constexpr auto kRight = Table::Side::right;
  Table table({{"layer"},
               {"form"},
               {"weights", kRight},
               {"kept", kRight},
               {"SQNR dB", kRight},
               {"worst error", kRight},
               {"fp32 bytes", kRight},
               {"code bytes", kRight},
               {"ratio", kRight}});
  for (const LayerQuantization& layer : report.layers) {
    const std::string scaled = layer.has_channel_scale ? " scaled" : "";
    table.add({layer.name, std::string(to_string(layer.form)) + scaled,
               std::to_string(layer.weights), std::to_string(layer.kept),
               decibels(layer.signal_to_noise), general(layer.largest_error, 3),
               std::to_string(layer.f32_bytes), std::to_string(layer.code_bytes),
               ratio(layer.f32_bytes, layer.code_bytes)});
  }
  const Totals totals = totals_of(report);
  table.add({"all", "", std::to_string(totals.weights), std::to_string(totals.kept), "", "",
             std::to_string(totals.f32_bytes), std::to_string(totals.code_bytes),
             ratio(totals.f32_bytes, totals.code_bytes)});
  return table.text();
}

std::string accuracy_table(const QuantizationReport& report) {
  if (!report.accuracy) return "accuracy: not measured\n";
  const QuantizationAccuracy& accuracy = *report.accuracy;
  Table table({{""}, {"", Table::Side::right}, {""}});
  table.add({"  before", percent(accuracy.before) + " %"});
  table.add({"  weights " + std::string(to_string(report.done.weights)),
             percent(accuracy.weights) + " %"});
  const std::string gain = fixed(-accuracy.drop_points(), 2);
  const std::string change = gain == "-0.00" ? "0.00" : gain;
  table.add({"  weights and activations", percent(accuracy.after) + " %",
             std::string("(") + to_string(report.done) + ", " + (change.front() == '-' ? "" : "+") +
                 change + " points)"});
  return "accuracy on " + std::to_string(accuracy.samples) + " test samples (" +
         one_line(accuracy.data) + ", " + report.device + ")\n" + table.text();
}

Json layer_json(const LayerQuantization& layer) {
  Json json = {{"name", layer.name},
               {"form", to_string(layer.form)},
               {"weights", layer.weights},
               {"kept", layer.kept},
               {"signal_to_noise_db", nullptr},
               {"largest_error", layer.largest_error},
               {"f32_bytes", layer.f32_bytes},
               {"code_bytes", layer.code_bytes}};
  if (std::isfinite(layer.signal_to_noise)) json["signal_to_noise_db"] = layer.signal_to_noise;
  if (layer.form == WeightForm::fixed16 || layer.form == WeightForm::fixed8) {
    json["frac_bits"] = layer.frac_bits;
    json["saturated"] = layer.saturated;
  }
  if (layer.form == WeightForm::codebook8 || layer.form == WeightForm::codebook4) {
    json["channel_scale"] = layer.has_channel_scale;
    json["scale_gain_db"] = nullptr;
    if (std::isfinite(layer.scale_gain)) json["scale_gain_db"] = layer.scale_gain;
  }
  return json;
}

void add_accuracy(Json& json, const QuantizationAccuracy& accuracy) {
  json["data"] = accuracy.data;
  json["samples"] = accuracy.samples;
  json["accuracy_before"] = 100 * accuracy.before;
  json["accuracy_weights"] = 100 * accuracy.weights;
  json["accuracy_after"] = 100 * accuracy.after;
  json["drop_points"] = accuracy.drop_points();
}

}  // namespace

std::string report_table(const QuantizationReport& report) {
  std::string text = layer_table(report);
  text += "(bytes of kept weights; export adds where they lie";
  text += has_scales(report) ? "; scaled: with a factor per output channel)\n" : ")\n";
  if (report.has_corrected_biases) {
    text += "biases: corrected for the mean inputs of " + std::to_string(report.calibration) +
            " training images\n";
  }
  if (report.done.activation_bits > 0) {
    text += "activations: " + std::to_string(report.done.activation_bits) + " bits, range by " +
            report.activation_range + " over " + std::to_string(report.calibration) +
            " training images\n";
  } else if (report.requested.activation_bits > 0) {
    text += "activations: not quantized, there are no images to observe\n";
  }
  return text + accuracy_table(report);
}

std::string report_json(const QuantizationReport& report) {
  const Totals totals = totals_of(report);
  Json json = {{"command", "quantize"},
               {"version", version_text()},
               {"network", report.network},
               {"in", report.input},
               {"out", report.output},
               {"scheme", to_string(report.done)},
               {"requested_scheme", to_string(report.requested)}};
  if (report.done.activation_bits > 0) {
    json["activation_range"] = report.activation_range;
  }
  json["bias_correction"] = report.has_corrected_biases;
  if (report.done.activation_bits > 0 || report.has_corrected_biases) {
    json["calibration"] = report.calibration;
  }
  if (!report.device.empty()) json["device"] = report.device;
  if (report.accuracy) add_accuracy(json, *report.accuracy);
  json["weights"] = totals.weights;
  json["kept"] = totals.kept;
  json["f32_bytes"] = totals.f32_bytes;
  json["code_bytes"] = totals.code_bytes;
  json["layers"] = Json::array();
  for (const LayerQuantization& layer : report.layers) json["layers"].push_back(layer_json(layer));
  json["seconds"] = report.seconds;
  return json.dump(2);
}

}  // namespace winnow
