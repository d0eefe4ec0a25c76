#include "prune/start_model.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>

#include "prune/data/text_data.h"
#include "prune/prune_program.h"
#include "prune/run/run_checks.h"
#include "prune/training/channels/channel_removal.h"
#include "prune/training/device_name.h"
#include "prune/training/network/initialization.h"
#include "prune/training/trainability.h"
#include "runtime/base/checksum.h"
#include "runtime/base/error.h"
#include "runtime/base/file.h"
#include "runtime/base/suggest.h"
#include "runtime/model/class_order.h"
#include "runtime/model/safetensors.h"
#include "runtime/model/weight_parts.h"
#include "runtime/model/zero_masks.h"

namespace winnow {
namespace {

constexpr char kWeightsKey[] = "model.weights";
constexpr char kMasksKey[] = "prune.masks";

// Floats in place of codes.
void take_values(Model& model) {
  for (const Node& node : model.graph.nodes) {
    if (!has_prunable_weight(node)) continue;
    const std::string name = weight_name(node);
    Tensor weight = weight_of(model, node.name);
    for (const char* part : {".codes", ".scale", ".codebook", ".channel_scale"}) {
      model.tensors.erase(name + part);
    }
    model.tensors.insert_or_assign(name, std::move(weight));
  }
  model.activation_frac.clear();
  model.activation_bits = 0;
}

void drop_masks(Model& model) {
  for (const auto& [node, vector] : model.mask_vector) model.tensors.erase(node + ".weight.mask");
  model.mask_vector.clear();
}

void require_channel_masks(const RunConfig& config, const Model& model) {
  try {
    masked_channels(channel_units(model.graph), model);
  } catch (const Error& error) {
    fail(error.code(), config.place(kMasksKey), kMasksKey, ": ", error.what(),
         "; from-zeros makes masks that fit");
  }
}

void require_masks(const RunConfig& config, const Model& model) {
  if (model.mask_vector.empty()) {
    fail(ErrorCode::usage, config.place(kMasksKey), kMasksKey, ": ",
         in_quotes(config.model.weights), " has no masks; from-zeros makes them of its zeros");
  }
  if (config.stage.vector == kWholeChannels) {
    require_channel_masks(config, model);
    return;
  }
  for (const auto& [node, vector] : model.mask_vector) {
    if (vector == config.stage.vector) continue;
    fail(ErrorCode::usage, config.place(kMasksKey), kMasksKey, ": the mask of layer ",
         in_quotes(node), " has granularity ", granularity_name(vector),
         ", 'prune.granularity' is ", granularity_name(config.stage.vector),
         "; from-zeros makes masks that fit");
  }
}

void mask_zeros_of(Model& model, std::int64_t vector) {
  if (vector != kWholeChannels) {
    mask_zeros(model, static_cast<int>(vector));
    return;
  }
  drop_masks(model);
  const ChannelUnits units = channel_units(model.graph);
  set_channel_masks(units, zero_channels(units, model), model);
}

void remove_zero_channels(Model& model) {
  drop_masks(model);
  const ChannelUnits units = channel_units(model.graph);
  remove_channels(units, zero_channels(units, model), model);
}

// The first difference, for people; empty if there is none. Graphs may have other names, and other
// sizes where channels were removed.
std::string difference(const Graph& file, const Graph& wanted, bool has_all_channels) {
  const std::size_t common = std::min(file.nodes.size(), wanted.nodes.size());
  for (std::size_t i = 0; i < common; ++i) {
    const Node &a = file.nodes[i], &b = wanted.nodes[i];
    if (a == b) continue;
    const bool is_named_alike = a.name == b.name && op_name(a.op) == op_name(b.op);
    if (is_named_alike && a.inputs == b.inputs && !has_all_channels) continue;
    return "node " + std::to_string(i + 1) + " is " + op_name(a.op) + " " + in_quotes(a.name) +
           " in the file, " +
           (is_named_alike ? "with other sizes or inputs here"
                           : std::string(op_name(b.op)) + " " + in_quotes(b.name) + " here");
  }
  if (file.nodes.size() == wanted.nodes.size()) return "";
  return "the file has " + std::to_string(file.nodes.size()) + " nodes, expected " +
         std::to_string(wanted.nodes.size());
}

}  // namespace

std::optional<Model> read_given_model(const RunConfig& config) {
  if (config.model.weights.empty()) return std::nullopt;
  Model model = load_model(config.model.weights);
  take_values(model);
  if (config.model.removes_zero_channels) remove_zero_channels(model);
  remove_layers_of(config, model);
  switch (config.stage.masks) {
    case Masks::none:
      drop_masks(model);
      break;
    case Masks::from_zeros:
      mask_zeros_of(model, config.stage.vector);
      break;
    case Masks::file:
      require_masks(config, model);
      break;
  }
  return model;
}

std::uint32_t checksum_of(const std::string& file) {
  return file.empty() ? 0 : crc32c(MappedFile(file).bytes());
}

void require_outside(const RunConfig& config, const char* key, const std::string& file) {
  namespace fs = std::filesystem;
  if (file.empty()) return;
  std::error_code error;
  const fs::path folder = fs::path(file).parent_path();
  if (!fs::equivalent(folder, config.run_folder(), error)) return;  // false if one is missing
  fail(ErrorCode::usage, config.place(key), key, ": ", in_quotes(file),
       " lies in the run folder; choose another output");
}

Graph run_graph(const RunConfig& config, const std::optional<Model>& given, const DataSet& data) {
  if (!given) return make_graph(config, data);
  if (config.model.graph || !config.model.architecture.empty()) {
    const char* key = config.model.graph ? "model.graph" : "model.architecture";
    const std::string found =
        difference(given->graph, make_graph(config, data), !config.model.removes_zero_channels);
    if (!found.empty()) {
      fail(ErrorCode::usage, config.place(key), key, ": not the network of ",
           in_quotes(config.model.weights), ": ", found);
    }
  }
  return given->graph;
}

Model scratch_model(const RunConfig& config, const Graph& graph, const DataSet& data) {
  const std::uint64_t seed = config.evolution.seed;
  Model model = initial_model(graph, seed);
  try {
    start_embedding(model, data, seed);
  } catch (const Error& error) {
    fail(error.code(), config.place("data.vectors"), error.what());
  }
  return model;
}

Model start_model(const RunConfig& config, const std::optional<Model>& given, const DataSet& data) {
  return given ? *given : scratch_model(config, make_graph(config, data), data);
}

void take_form(const RunConfig& config, const std::optional<Model>& given, DataSet& data) {
  if (!given) return;
  const PictureForm pictures = data.preprocessing.pictures;  // agrees with the file's
  data.preprocessing = given->preprocessing;
  data.preprocessing.pictures = pictures;
  if (given->classes.empty()) return;
  const std::vector<std::string>& known = data.train.classes;
  if (given->classes.size() != known.size()) {
    fail(ErrorCode::usage, config.place(kWeightsKey), kWeightsKey, ": ",
         in_quotes(config.model.weights), " names ", given->classes.size(),
         " classes, the data has ", known.size());
  }
  const std::string mismatch = order_mismatch(given->classes, config.model.weights, known);
  if (!mismatch.empty()) {
    fail(ErrorCode::usage, config.place(kWeightsKey), kWeightsKey, ": ", mismatch);
  }
  for (ImageSet* part : {&data.train, &data.validation, &data.test}) part->classes = given->classes;
}

namespace {

// Sentences become the tokens that the file's network knows.
void take_vocabulary(const RunConfig& config, const Model& given, DataConfig& data) {
  if (given.preprocessing.vocabulary.empty()) {
    fail(ErrorCode::usage, config.place(kWeightsKey), kWeightsKey, ": ",
         in_quotes(config.model.weights), " has no vocabulary, the data is sentences");
  }
  data.vocabulary = given.preprocessing.vocabulary;
  data.length = std::get<Input>(given.graph.nodes.front().op).shape[0];
}

// Pictures of a folder are brought to the form that the file names, or to the size of its network,
// where the configuration says nothing.
DataConfig data_config_of(const RunConfig& config, const std::optional<Model>& given) {
  DataConfig data = config.data;
  if (given && data.format == "text") take_vocabulary(config, *given, data);
  if (!given || data.format != "folder") return data;
  const PictureForm& form = given->preprocessing.pictures;
  const bool is_silent = data.size == 0 && data.resize.empty() && data.crop.empty();
  if (is_silent && form.is_given()) {
    data.resize = text_of(form.resize);
    data.crop = text_of(form.crop);
    data.interpolation = std::string(to_string(form.interpolation));
  } else if (is_silent) {
    const Shape& shape = std::get<Input>(given->graph.nodes.front().op).shape;
    if (shape.size() == 3 && shape[1] == shape[2]) data.size = shape[1];
  } else if (form.is_given() && picture_form(data) != form) {
    fail(ErrorCode::usage, config.place("data"),
         "data: resize, crop and interpolation differ from those of ",
         in_quotes(config.model.weights), "; leave them out");
  }
  return data;
}

}  // namespace

DataSet load_run_data(const RunConfig& config, bool is_quiet, const std::string& image_cache,
                      const std::optional<Model>& given) {
  device_name(config.device);
  const auto check = [&](const DataSet& outline) {
    check_run(config, outline, run_graph(config, given, outline), given);
    DataSet copy = outline;
    take_form(config, given, copy);
  };
  DataSet data = with_data_place(config, [&] {
    return load_data_set(data_config_of(config, given), static_cast<std::uint64_t>(config.seed),
                         image_cache, check);
  });
  take_form(config, given, data);
  for (const std::string& note : data.notes) {
    if (!is_quiet) std::fprintf(stderr, "prune: %s\n", one_line(note).c_str());
  }
  return data;
}

}  // namespace winnow
