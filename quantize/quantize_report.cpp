#include "quantize/quantize_report.h"

#include <algorithm>
#include <cmath>
#include <cstdarg>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "runtime/cli/program.h"

namespace winnow {
namespace {

using Json = nlohmann::ordered_json;

__attribute__((format(printf, 2, 3))) void append(std::string& text, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  char line[512];
  std::vsnprintf(line, sizeof line, format, arguments);
  va_end(arguments);
  text += line;
}

std::string decibels(double value) {
  if (std::isinf(value)) return "exact";
  char text[32];
  std::snprintf(text, sizeof text, "%.1f", value);
  return text;
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

constexpr char kRow[] = "%-20s %-12s %12lld %12lld %9s %12.3g %12lld %12lld %6.1fx\n";

void append_row(std::string& text, const LayerQuantization& layer) {
  const std::string form =
      std::string(to_string(layer.form)) + (layer.has_channel_scale ? " scaled" : "");
  append(text, kRow, layer.name.c_str(), form.c_str(), static_cast<long long>(layer.weights),
         static_cast<long long>(layer.kept), decibels(layer.signal_to_noise).c_str(),
         layer.largest_error, static_cast<long long>(layer.f32_bytes),
         static_cast<long long>(layer.code_bytes),
         layer.code_bytes > 0
             ? static_cast<double>(layer.f32_bytes) / static_cast<double>(layer.code_bytes)
             : 1.0);
}

void append_accuracy(std::string& text, const QuantizationReport& report) {
  if (!report.accuracy) {
    text += "accuracy: not measured\n";
    return;
  }
  const QuantizationAccuracy& accuracy = *report.accuracy;
  append(text, "accuracy on %lld test images (%s, %s)\n", static_cast<long long>(accuracy.samples),
         accuracy.data.c_str(), report.device.c_str());
  append(text, "  before                     %6.2f %%\n", 100 * accuracy.before);
  append(text, "  weights %-18s %6.2f %%\n", std::string(to_string(report.done.weights)).c_str(),
         100 * accuracy.weights);
  append(text, "  weights and activations    %6.2f %%  (%s, %+.2f points)\n", 100 * accuracy.after,
         to_string(report.done).c_str(), -accuracy.drop_points());
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
  std::string text;
  append(text, "%-20s %-12s %12s %12s %9s %12s %12s %12s %7s\n", "layer", "form", "weights", "kept",
         "SQNR dB", "worst error", "fp32 bytes", "code bytes", "ratio");
  for (const LayerQuantization& layer : report.layers) append_row(text, layer);
  const Totals totals = totals_of(report);
  append(text, "%-20s %-12s %12lld %12lld %9s %12s %12lld %12lld %6.1fx\n", "all", "",
         static_cast<long long>(totals.weights), static_cast<long long>(totals.kept), "", "",
         static_cast<long long>(totals.f32_bytes), static_cast<long long>(totals.code_bytes),
         totals.code_bytes > 0
             ? static_cast<double>(totals.f32_bytes) / static_cast<double>(totals.code_bytes)
             : 1.0);
  text += "(bytes of kept weights; export adds where they lie";
  text += has_scales(report) ? "; scaled: with a factor per output channel)\n" : ")\n";
  if (report.done.activation_bits > 0) {
    append(text, "activations: %d bits, range by %s over %lld training images\n",
           report.done.activation_bits, report.activation_range.c_str(),
           static_cast<long long>(report.calibration));
  } else if (report.requested.activation_bits > 0) {
    text += "activations: not quantized, there are no images to observe\n";
  }
  append_accuracy(text, report);
  return text;
}

std::string report_json(const QuantizationReport& report) {
  const Totals totals = totals_of(report);
  Json json = {{"program", "quantize"},
               {"network", report.network},
               {"in", report.input},
               {"out", report.output},
               {"scheme", to_string(report.done)},
               {"requested_scheme", to_string(report.requested)}};
  if (report.done.activation_bits > 0) {
    json["activation_range"] = report.activation_range;
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
  json["winnow"] = version_text();
  return json.dump(2);
}

}  // namespace winnow
