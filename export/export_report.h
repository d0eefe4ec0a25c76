// What an export made of a model, as a table and as JSON.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "export/export_model.h"

namespace winnow {

// One conv or linear layer.
struct LayerExport {
  std::string name;
  Shape shape;
  std::string form;      // "csr" or "dense"
  std::string encoding;  // "codebook4", ...
  std::int64_t channel_scales = 0;
  int vector = 1;
  double sparsity = 0;          // share of weights of `shape` that are 0
  std::int64_t row_length = 0;  // blocks per row, pads included; 0 for dense
  double padding = 0;           // share of the row's blocks that are pads
  std::int64_t index_bytes = 0;
  std::int64_t value_bytes = 0;
  std::int64_t dense_f32_bytes = 0;  // of the layer before channels were removed
};

// A result. An empty path: not written.
struct WrittenFile {
  std::string path;
  std::int64_t bytes = 0;
};

struct WrittenFiles {
  WrittenFile model;  // .wnw
  WrittenFile onnx;
  WrittenFile safetensors;
};

struct ExportReport {
  std::string source;           // the checkpoint
  std::string values = "auto";  // as asked for: "auto", "f32", "f16"
  WrittenFiles files;
  std::int64_t original_f32_bytes = 0;  // all parameters of the checkpoint as fp32
  double weight_sparsity = 0;           // of conv and linear weights
  std::vector<LayerExport> layers;
  std::vector<RemovedChannels> removed;
};

ExportReport make_report(const Model& original, const ExportedModel& exported,
                         const WrittenFiles& files);
std::string report_table(const ExportReport& report);
// "file" and "bytes" are of the model file; results that were not written are left out.
std::string report_json(const ExportReport& report);

}  // namespace winnow
