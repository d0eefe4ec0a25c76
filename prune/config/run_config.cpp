#include "prune/config/run_config.h"

#include <filesystem>

#include "prune/config/config_keys.h"
#include "prune/config/run_config_fields.h"
#include "prune/config/yaml_document.h"
#include "prune/config/yaml_reader.h"
#include "prune/config/yaml_writer.h"
#include "runtime/base/utf8.h"

namespace winnow {
namespace {

// What no single key can say.
void check(const RunConfig& config, const std::string& place) {
  const auto refuse = [&](const auto&... parts) { fail(ErrorCode::usage, place, ": ", parts...); };
  if (!is_utf8(config.name) || has_control_characters(config.name)) {
    refuse("the file's name cannot name the run; give 'name'");
  }
  if (config.data.format.empty()) {
    refuse("missing key 'data.format'; known: cifar10, cifar100, idx, folder");
  }
  if (config.model.architecture.empty() == !config.model.graph.has_value()) {
    refuse("'model' needs either 'architecture' or 'graph'",
           config.model.graph ? ", found both" : ", found neither");
  }
  if (config.model.graph && config.model.dropout > 0) {
    refuse("'model.dropout' is for built-in architectures; a graph says where its dropout is");
  }
  if (config.stage.start == Start::dense && config.train.epochs == 0) {
    refuse(
        "'prune.start' is dense, but 'train.epochs' is 0: nothing would be trained to start from");
  }
  if (config.train.is_nesterov && config.train.momentum == 0) {
    refuse("'train.nesterov' needs 'train.momentum' above 0");
  }
  try {
    check_config(config.evolution);
  } catch (const Error& error) {
    refuse("'prune': ", error.what());
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
  check(config, document.places.file());
  return config;
}

std::string write_run_config(const RunConfig& config) {
  RunConfig copy = config;  // visitors take what they may change
  YamlWriter writer;
  visit_run_config(copy, writer);
  return writer.text();
}

std::vector<std::string> run_config_keys() {
  RunConfig config;
  KeyList keys(true);
  visit_run_config(config, keys);
  return keys.keys();
}

}  // namespace winnow
