#include "export/export_report.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "runtime/base/number_text.h"
#include "runtime/base/suggest.h"
#include "runtime/base/version.h"
#include "runtime/cli/program.h"
#include "runtime/cli/table.h"
#include "runtime/model/model_file.h"
#include "runtime/model/weight_parts.h"

namespace winnow {
namespace {

using Json = nlohmann::ordered_json;

void describe(const DenseWeight& weight, LayerExport& layer) {
  layer.form = "dense";
  layer.encoding = to_string(weight.values.encoding);
  layer.channel_scales = static_cast<std::int64_t>(weight.values.channel_scale.size());
  const std::vector<float> values = decode(weight.values);
  const auto zeros = std::count(values.begin(), values.end(), 0.0f);
  layer.sparsity =
      static_cast<double>(zeros) / static_cast<double>(std::max<std::size_t>(1, values.size()));
}

void describe(const CsrWeight& weight, LayerExport& layer) {
  layer.form = "csr";
  layer.encoding = to_string(weight.values.encoding);
  layer.channel_scales = static_cast<std::int64_t>(weight.values.channel_scale.size());
  layer.vector = weight.vector;
  layer.row_length = weight.row_length;
  double kept = 0;
  for (const std::uint32_t k : weight.kept) kept += k;
  const auto blocks = static_cast<double>(weight.rows * weight.row_length);
  layer.padding = blocks > 0 ? 1 - kept / blocks : 0;
  layer.sparsity = 1 - static_cast<double>(nonzero_count(weight)) /
                           static_cast<double>(weight.channels * weight.cols);
}

std::int64_t parameter_bytes(const Model& model) {
  std::int64_t bytes = 0;
  for (const Node& node : model.graph.nodes) {
    for (const Parameter& parameter : parameters_of(node)) {
      bytes += 4 * element_count(parameter.shape);
    }
  }
  return bytes;
}

// Of the weight before channels were removed; a node that stands for a batch norm had none.
std::int64_t weight_f32_bytes(const Model& original, const Node& deployed) {
  const Node& node = original.graph.nodes[node_index(original.graph, deployed.name)];
  const Node& source = has_prunable_weight(node) ? node : deployed;
  return 4 * element_count(parameters_of(source).front().shape);
}

Json layer_json(const LayerExport& layer) {
  return {{"name", layer.name},
          {"shape", layer.shape},
          {"form", layer.form},
          {"encoding", layer.encoding},
          {"channel_scales", layer.channel_scales},
          {"vector", layer.vector},
          {"sparsity", layer.sparsity},
          {"row_length", layer.row_length},
          {"padding", layer.padding},
          {"index_bytes", layer.index_bytes},
          {"value_bytes", layer.value_bytes},
          {"dense_f32_bytes", layer.dense_f32_bytes}};
}

Json file_json(const WrittenFile& file) {
  return {{"file", file.path}, {"bytes", file.bytes}};
}

std::string layer_table(const ExportReport& report) {
  constexpr auto kRight = Table::Side::right;
  Table table({{"layer"},
               {"weight"},
               {"form"},
               {"values"},
               {"vector", kRight},
               {"sparse %", kRight},
               {"row", kRight},
               {"pads %", kRight},
               {"index bytes", kRight},
               {"value bytes", kRight},
               {"dense fp32", kRight},
               {"ratio", kRight}});
  for (const LayerExport& layer : report.layers) {
    const auto stored = static_cast<double>(layer.index_bytes + layer.value_bytes);
    table.add({layer.name, to_string(layer.shape), layer.form,
               layer.encoding + (layer.channel_scales > 0 ? " scaled" : ""),
               std::to_string(layer.vector), fixed(100 * layer.sparsity, 2),
               std::to_string(layer.row_length), fixed(100 * layer.padding, 1),
               std::to_string(layer.index_bytes), std::to_string(layer.value_bytes),
               std::to_string(layer.dense_f32_bytes),
               stored > 0 ? fixed(static_cast<double>(layer.dense_f32_bytes) / stored, 1) : "-"});
  }
  return table.text();
}

// "m.wnw: 4000 bytes: 25.0x smaller than dense fp32"
std::string file_line(const WrittenFile& file, std::int64_t dense_bytes) {
  std::string line = one_line(file.path) + ": " + std::to_string(file.bytes) + " bytes";
  if (file.bytes > 0 && file.bytes < dense_bytes) {
    const double ratio = static_cast<double>(dense_bytes) / static_cast<double>(file.bytes);
    line += ": " + fixed(ratio, 1) + "x smaller than dense fp32";
  }
  return line + "\n";
}

}  // namespace

ExportReport make_report(const Model& original, const ExportedModel& exported,
                         const WrittenFiles& files) {
  ExportReport report;
  report.files = files;
  report.original_f32_bytes = parameter_bytes(original);
  report.weight_sparsity = sparsity(original);
  report.removed = exported.removed;
  const std::vector<StoredSize> sizes = stored_sizes(exported.model);
  for (const Node& node : exported.model.graph.nodes) {
    if (!has_prunable_weight(node)) continue;
    LayerExport layer;
    layer.dense_f32_bytes = weight_f32_bytes(original, node);
    layer.name = node.name;
    layer.shape = parameters_of(node).front().shape;
    std::visit([&](const auto& weight) { describe(weight, layer); },
               exported.model.weights.at(weight_name(node)));
    for (const StoredSize& size : sizes) {
      if (size.name != weight_name(node)) continue;
      layer.index_bytes = size.index_bytes;
      layer.value_bytes = size.value_bytes;
    }
    report.layers.push_back(std::move(layer));
  }
  return report;
}

std::string report_table(const ExportReport& report) {
  std::string text = layer_table(report);
  for (const RemovedChannels& removed : report.removed) {
    text += "removed from " + one_line(removed.layer) + ": " + std::to_string(removed.outputs) +
            " output and " + std::to_string(removed.inputs) + " input channels\n";
  }
  text += fixed(100 * report.weight_sparsity, 2) + " % sparse, dense fp32 " +
          std::to_string(report.original_f32_bytes) + " bytes\n";
  for (const WrittenFile* file :
       {&report.files.model, &report.files.onnx, &report.files.safetensors}) {
    if (!file->path.empty()) text += file_line(*file, report.original_f32_bytes);
  }
  return text;
}

std::string report_json(const ExportReport& report) {
  Json json = {{"command", "export"},
               {"version", version_text()},
               {"in", report.source},
               {"values", report.values}};
  if (!report.files.model.path.empty()) json.update(file_json(report.files.model));
  json["dense_f32_bytes"] = report.original_f32_bytes;
  json["weight_sparsity"] = report.weight_sparsity;
  json["layers"] = Json::array();
  json["removed_channels"] = Json::array();
  for (const LayerExport& layer : report.layers) json["layers"].push_back(layer_json(layer));
  for (const RemovedChannels& removed : report.removed) {
    json["removed_channels"].push_back(
        {{"layer", removed.layer}, {"outputs", removed.outputs}, {"inputs", removed.inputs}});
  }
  if (!report.files.onnx.path.empty()) json["onnx"] = file_json(report.files.onnx);
  if (!report.files.safetensors.path.empty()) {
    json["safetensors"] = file_json(report.files.safetensors);
  }
  return json.dump(2);
}

}  // namespace winnow
