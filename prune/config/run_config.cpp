#include "prune/config/run_config.h"

#include <algorithm>
#include <filesystem>

#include "prune/config/config_keys.h"
#include "prune/config/run_config_fields.h"
#include "prune/config/yaml_document.h"
#include "prune/config/yaml_reader.h"
#include "prune/config/yaml_writer.h"
#include "runtime/base/file.h"
#include "runtime/base/suggest.h"
#include "runtime/base/utf8.h"

namespace winnow {
namespace {

// The value under a dotted key, undefined if the section does not give it.
YAML::Node find(const YAML::Node& section, const std::string& path) {
  const std::size_t dot = path.find('.');
  if (section.IsMap()) {
    for (const auto& entry : section) {
      if (entry.first.Scalar() != path.substr(0, dot)) continue;
      return dot == std::string::npos ? entry.second : find(entry.second, path.substr(dot + 1));
    }
  }
  return YAML::Node(YAML::NodeType::Undefined);
}

// Where the values that the document gives stand, argument or file, by dotted key.
std::map<std::string, std::string> places_in(const YamlDocument& document) {
  std::map<std::string, std::string> places = {{"", document.places.file()}};
  for (const std::string& path : run_config_keys()) {
    const YAML::Node node = find(document.root, path);
    if (node.IsDefined()) places[path] = document.places.of(node, path);
  }
  return places;
}

template <typename... Parts>
[[noreturn]] void refuse_key(const RunConfig& config, const char* key, const Parts&... parts) {
  fail(ErrorCode::usage, config.place(key), parts...);
}

void check_network(const RunConfig& config) {
  const ModelConfig& model = config.model;
  const bool has_architecture = !model.architecture.empty();
  if (model.graph && has_architecture) {
    refuse_key(config, "", "'model' needs either 'architecture' or 'graph', found both");
  }
  if (!model.graph && !has_architecture && model.weights.empty()) {
    refuse_key(config, "", "'model' needs 'weights', 'architecture' or 'graph', found none");
  }
  if (model.removes_zero_channels && model.weights.empty()) {
    refuse_key(config, "model.remove_zero_channels",
               "'model.remove_zero_channels' is for 'model.weights', which names no file");
  }
  if (!has_architecture && model.dropout > 0) {
    refuse_key(config, "model.dropout",
               "'model.dropout' is for built-in architectures; a graph says where its dropout is");
  }
  if (model.stem != Stem::automatic && !has_stem(model.architecture)) {
    refuse_key(config, "model.stem", "'model.stem' is for the architectures resnet... and ",
               "densenet..., found ",
               has_architecture ? in_quotes(model.architecture) : "no architecture");
  }
}

// Groups of paper 001 are not vectors of neighbouring channels, nor equal in rows.
void check_groups(const RunConfig& config) {
  if (config.method.method != Method::fssl) return;
  const std::string granularity = granularity_name(config.stage.vector);
  if (granularity != "element" && granularity != "channel") {
    refuse_key(config, "prune.granularity", "'prune.method: fssl' prunes filters, channels and ",
               "kernel shapes: 'prune.granularity' is ", granularity,
               ", expected element or channel");
  }
  if (config.stage.feedback) {
    refuse_key(config, "prune.feedback",
               "'prune.method: fssl' drops groups for good and knows no 'prune.feedback'");
  }
  if (config.stage.uses_fisher) {
    refuse_key(
        config, "prune.criterion",
        "'prune.method: fssl' prunes groups by their norms: found fisher, expected magnitude");
  }
  if (config.stage.row_balance) {
    refuse_key(config, "prune.row_balance",
               "'prune.method: fssl' prunes groups of weights and knows no 'prune.row_balance'");
  }
  if (granularity == "channel" && config.method.between_channels != 1) {
    refuse_key(
        config, "prune.between_channels", "'prune.granularity: channel' has no stage within ",
        "channels: 'prune.between_channels' is ", config.method.between_channels, ", expected 1");
  }
}

void check_start(const RunConfig& config) {
  const PruneStage& stage = config.stage;
  if (stage.start == Start::dense && config.train.epochs == 0) {
    refuse_key(
        config, "prune.start",
        "'prune.start' is dense, but 'train.epochs' is 0: nothing would be trained to start from");
  }
  if (stage.start == Start::weights && config.model.weights.empty()) {
    refuse_key(config, "prune.start",
               "'prune.start' is weights, but 'model.weights' names no file");
  }
  if (stage.batch_norm_images == 1) {
    refuse_key(
        config, "prune.reestimate_batch_norm",
        "'prune.reestimate_batch_norm': found 1, expected 0 or at least 2 images: one has no "
        "variance");
  }
  if (stage.distillation.weight > 0 && stage.teacher.empty() && !config.has_baseline()) {
    refuse_key(config, "prune.distillation",
               "'prune.distillation' learns from the dense baseline, but 'train.epochs' is 0 and "
               "neither 'model.weights' nor 'prune.teacher' names a file");
  }
  if (stage.distillation.weight == 0 && !stage.teacher.empty()) {
    refuse_key(config, "prune.teacher",
               "'prune.teacher' names a file, but 'prune.distillation' is 0: nothing is learned "
               "from it");
  }
  if (stage.feedback && granularity_name(stage.vector) == "channel") {
    refuse_key(config, "prune.feedback", "'prune.feedback' is for single weights and vectors; ",
               "'prune.granularity: channel' keeps what dropped channels were");
  }
  if (stage.uses_fisher && granularity_name(stage.vector) == "channel") {
    refuse_key(config, "prune.criterion", "'prune.criterion: fisher' is for single weights and ",
               "vectors, found 'prune.granularity: channel'");
  }
  if (stage.feedback_decay > 0 && !stage.feedback) {
    refuse_key(config, "prune.feedback_decay", "'prune.feedback_decay' is ", stage.feedback_decay,
               ", but 'prune.feedback' is false: pruned weights are 0 already");
  }
  if (stage.row_balance && granularity_name(stage.vector) == "channel") {
    refuse_key(
        config, "prune.row_balance",
        "'prune.row_balance' balances what is kept within rows; 'prune.granularity: channel' "
        "keeps or drops whole rows");
  }
  if (stage.masks == Masks::none) return;
  if (stage.start != Start::weights) {
    refuse_key(config, "prune.masks",
               "'prune.masks' belongs to 'model.weights': it needs 'prune.start: weights'");
  }
  if (config.train.epochs > 0) {
    refuse_key(config, "prune.masks", "'prune.masks' needs 'train.epochs: 0', found ",
               config.train.epochs, ": a dense baseline trains all weights");
  }
}

// What a channel costs depends on those of other layers; of weights and multiply-accumulates that
// is not solved.
void check_least_loss(const RunConfig& config) {
  if (granularity_name(config.stage.vector) != "channel") return;
  if (config.evolution.budget == Budget::time) return;
  const char* key = config.method.allocation == Allocation::least_loss ? "prune.allocation"
                    : config.evolution.base_allocation == Allocation::least_loss
                        ? "prune.base_allocation"
                        : nullptr;
  if (key == nullptr) return;
  refuse_key(config, key, "'", key, ": least_loss' of whole channels needs 'prune.budget: time'");
}

// Masks of vectors alone ask which channels are neighbours, and only trained weights answer.
void check_permutation(const RunConfig& config) {
  const PruneStage& stage = config.stage;
  if (!stage.permutes_channels) return;
  const std::string granularity = granularity_name(stage.vector);
  if (granularity == "element" || granularity == "channel") {
    refuse_key(config, "prune.permute_channels",
               "'prune.permute_channels' is for masks of vectors: 'prune.granularity' is ",
               granularity, ", expected vector8, vector16, vector32 or mixed");
  }
  if (stage.start == Start::scratch) {
    refuse_key(config, "prune.permute_channels",
               "'prune.permute_channels' goes by trained weights: 'prune.start' is scratch, "
               "expected dense or weights");
  }
  if (stage.masks != Masks::none) {
    refuse_key(config, "prune.permute_channels",
               "'prune.permute_channels' moves what 'prune.masks' has in vectors; expected "
               "'prune.masks: none'");
  }
}

// Each layer's granularity is chosen by times and by weights that nothing masks yet.
void check_mixed(const RunConfig& config) {
  if (granularity_name(config.stage.vector) != "mixed") return;
  if (config.evolution.budget != Budget::time) {
    refuse_key(config, "prune.granularity",
               "'prune.granularity: mixed' chooses what is fastest: it needs 'prune.budget: time'");
  }
  if (config.stage.masks == Masks::none) return;
  refuse_key(config, "prune.masks",
             "'prune.masks' gives layers a granularity, which 'prune.granularity: mixed' chooses");
}

void check_time(const RunConfig& config) {
  const bool is_time = config.evolution.budget == Budget::time;
  if (is_time && config.time_table.empty()) {
    refuse_key(config, "prune.budget",
               "'prune.budget' is time, but 'prune.time_table' names no file; runtime tune --table "
               "writes one");
  }
  if (!is_time && (!config.time_table.empty() || config.time_batch != 0)) {
    const char* key = config.time_table.empty() ? "prune.time_batch" : "prune.time_table";
    refuse_key(config, key, "'", key, "' belongs to 'prune.budget: time'");
  }
  if (!is_time && config.time_loop.rounds > 0) {
    refuse_key(config, "prune.time_rounds", "'prune.time_rounds' belongs to 'prune.budget: time'");
  }
}

// Paths start at the folder of the file that gives them.
void resolve_path(std::string& path, const YamlPlaces& places, const char* key) {
  if (path.empty()) return;
  const auto place = places.folder_of(key) / path;
  path = std::filesystem::absolute(place).lexically_normal().string();
}

// What the file leaves open and other keys decide.
void resolve_weights(RunConfig& config, const YamlPlaces& places) {
  resolve_path(config.time_table, places, "prune.time_table");
  resolve_path(config.time_loop.programs, places, "prune.time_programs");
  resolve_path(config.stage.teacher, places, "prune.teacher");
  resolve_path(config.model.weights, places, "model.weights");
  if (config.model.weights.empty()) return;
  if (!config.places.contains("prune.start")) config.stage.start = Start::weights;
}

// A pool that the file makes small has no more clusters than solutions. Whole channels have the
// first stage of fssl only.
void resolve_stages(RunConfig& config) {
  EvolutionConfig& evolution = config.evolution;
  if (!config.places.contains("prune.clusters") && evolution.pool_size >= 1) {
    evolution.clusters = std::min(evolution.clusters, evolution.pool_size);
  }
  const bool is_open = !config.places.contains("prune.between_channels");
  if (is_open && granularity_name(config.stage.vector) == "channel") {
    config.method.between_channels = 1;
  }
}

// What no single key can say.
void check(const RunConfig& config) {
  const auto refuse_at = [&](const char* key, const auto&... parts) {
    refuse_key(config, key, parts...);
  };
  const auto refuse = [&](const auto&... parts) { refuse_at("", parts...); };
  if (!is_utf8(config.name) || has_control_characters(config.name)) {
    refuse("the file's name cannot name the run; give 'name'");
  }
  if (config.data.format.empty()) {
    refuse("missing key 'data.format'", suggestion("", kDataFormats));
  }
  check_network(config);
  check_start(config);
  check_groups(config);
  check_time(config);
  check_mixed(config);
  check_permutation(config);
  check_least_loss(config);
  if (config.train.is_nesterov && config.train.momentum == 0) {
    refuse_at("train.nesterov", "'train.nesterov' needs 'train.momentum' above 0");
  }
  try {
    check_config(config.evolution);
    check_config(config.method, config.evolution);
  } catch (const Error& error) {  // "clusters: found ..."
    const std::string message = error.what();
    const std::string key = "prune." + message.substr(0, message.find(':'));
    refuse_at(key.c_str(), "prune.", message);
  }
}

}  // namespace

RunConfig read_run_config(const std::string& file, std::span<const std::string> overrides) {
  YamlDocument document = load_yaml_file(file);
  for (const std::string& argument : overrides) apply_override(document, argument);
  RunConfig config;
  config.data.format.clear();  // must be given
  config.name = std::filesystem::path(file).stem().string();
  YamlReader::read(document.root, "", document.places,
                   [&](Fields& fields) { visit_run_config(config, fields); });
  config.evolution.seed = static_cast<std::uint64_t>(config.seed);
  config.places = places_in(document);
  resolve_weights(config, document.places);
  resolve_stages(config);
  check(config);
  return config;
}

std::string RunConfig::place(const std::string& key) const {
  for (const std::string& given : {key, std::string()}) {
    if (const auto found = places.find(given); found != places.end()) return found->second + ": ";
  }
  return "";
}

std::string write_run_config(const RunConfig& config) {
  RunConfig copy = config;  // visitors take what they may change
  YamlWriter writer;
  visit_run_config(copy, writer);
  return writer.text();
}

bool is_written_config(const std::string& file) {
  try {
    return write_run_config(read_run_config(file)) == read_text_file(file);
  } catch (const Error&) {
    return false;
  }
}

std::vector<std::string> run_config_keys() {
  RunConfig config;
  KeyList keys(true);
  visit_run_config(config, keys);
  return keys.keys();
}

}  // namespace winnow
