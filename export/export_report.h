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

struct ExportReport {
  std::string file;
  std::int64_t file_bytes = 0;
  std::int64_t original_f32_bytes = 0;  // all parameters of the checkpoint as fp32
  double weight_sparsity = 0;           // of conv and linear weights
  std::vector<LayerExport> layers;
  std::vector<RemovedChannels> removed;
};

ExportReport make_report(const Model& original, const ExportedModel& exported,
                         const std::string& file, std::int64_t file_bytes);
std::string report_table(const ExportReport& report);
std::string report_json(const ExportReport& report);

}  // namespace winnow
