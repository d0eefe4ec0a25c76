#include "quantize/data_source.h"

#include <filesystem>
#include <optional>

#include "prune/config/run_config.h"
#include "runtime/base/error.h"
#include "runtime/base/run_names.h"
#include "runtime/base/suggest.h"
#include "runtime/images/image_set.h"
#include "runtime/text/sentences.h"

namespace winnow {
namespace {

// Side of the model's square input, for folders of pictures; 0 if it has none.
std::int64_t input_size(const Model& model) {
  const Shape& shape = std::get<Input>(model.graph.nodes.front().op).shape;
  return shape.size() == 3 && shape[1] == shape[2] ? shape[1] : 0;
}

// Sentences become tokens, and their test part is chosen, as when the model was trained.
void take_text_form(const Model& model, DataConfig& data) {
  data.vocabulary = model.preprocessing.vocabulary;
  data.length = std::get<Input>(model.graph.nodes.front().op).shape[0];
  const std::optional<FoldRecord> record = recorded_fold(model.metadata);
  if (!record) return;
  data.fold = record->fold.index;
  data.folds = record->fold.count;
}

// A configuration leaves the form to the model where that came from elsewhere (model.weights).
void bring_to_model(const Model& model, DataConfig& data) {
  if (data.format == "text") take_text_form(model, data);
  if (data.format != "folder") return;
  const PictureForm& form = model.preprocessing.pictures;
  data.resize = text_of(form.resize);
  data.crop = text_of(form.crop);
  data.interpolation = to_string(form.interpolation);
  data.size = form.is_given() ? 0 : input_size(model);
}

std::uint64_t seed_of(const Model& model) {
  const std::optional<FoldRecord> record = recorded_fold(model.metadata);
  return record ? record->fold.seed : 1;
}

DataConfig data_config(const std::string& format, const std::string& path, const Model& model) {
  DataConfig data;
  data.format = format;
  data.path = path;
  data.validation = 0;
  bring_to_model(model, data);
  return data;
}

DataConfig parsed(const std::string& text, const Model& model) {
  const DataPlace place = data_place_from(text);
  return data_config(text.substr(0, text.find(':')), place.directory, model);
}

// The data set of the metadata: format and path, or both in one text under the key "data",
// "cifar10 in /data/cifar10".
std::optional<DataConfig> remembered(const Model& model) {
  const auto of = [&](const char* key) {
    const auto found = model.metadata.find(key);
    return found == model.metadata.end() ? std::string() : found->second;
  };
  std::string format = of(kDataFormatKey), path = of(kDataPathKey);
  if (format.empty()) {
    const std::string text = of("data");
    const std::size_t middle = text.find(" in ");
    if (middle == std::string::npos) return std::nullopt;
    format = text.substr(0, middle);
    path = text.substr(middle + 4);
  }
  return data_config(format, path, model);
}

}  // namespace

DataSource find_data(const std::string& text, const std::string& checkpoint, const Model& model) {
  if (!text.empty()) return {parsed(text, model), seed_of(model), "--data"};
  const std::optional<DataConfig> metadata = remembered(model);
  const auto config_path = std::filesystem::path(checkpoint).parent_path() / kConfigFile;
  if (std::filesystem::exists(config_path)) {
    const RunConfig config = read_run_config(config_path.string());
    DataSource source{config.data, static_cast<std::uint64_t>(config.seed), config_path.string()};
    // The configuration's path may be relative to where prune was started.
    const bool is_same = metadata && metadata->format == source.data.format;
    const bool is_text = source.data.format == "text";
    const bool is_there = is_same && (is_text ? holds_sentences(metadata->path)
                                              : std::filesystem::is_directory(metadata->path));
    if (is_there) source.data.path = metadata->path;
    bring_to_model(model, source.data);
    return source;
  }
  if (metadata) return {*metadata, seed_of(model), "the checkpoint"};
  fail(ErrorCode::usage, checkpoint,
       ": does not say which images it belongs to, and no config.yaml lies beside it; give --data "
       "FORMAT:DIRECTORY, or --no-accuracy");
}

}  // namespace winnow
