// Checkpoints: a Model as a safetensors file.
#include <cstring>
#include <string_view>

#include "runtime/base/error.h"
#include "runtime/base/suggest.h"
#include "runtime/model/graph_json.h"
#include "runtime/model/model_state_json.h"
#include "runtime/model/safetensors.h"
#include "runtime/model/strict_json.h"
#include "runtime/model/vocabulary_section.h"
#include "runtime/model/weight_parts.h"

namespace winnow {
namespace {

constexpr std::string_view kReserved = "winnow.";  // keys of ours begin with it, others must not
constexpr const char* kFormatKey = "winnow.format";
constexpr const char* kFormat = "1";
constexpr const char* kGraphKey = "winnow.graph";
constexpr const char* kStateKey = "winnow.state";
constexpr const char* kVocabularyTensor = "winnow.vocabulary";  // U8, words that end with 0x0a

// A masked weight is 0 in every form: as a float, as a fixed-point code, as a codebook entry.
void apply_masks(Model& model, const std::string& place) {
  for (const Node& node : model.graph.nodes) {
    if (!has_prunable_weight(node)) continue;
    const WeightParts parts = weight_parts(model, node, place);
    if (!parts.mask) continue;
    Tensor& stored = model.tensors.at(parts.dense ? parts.name : parts.name + ".codes");
    const std::size_t size = size_of(stored.type());
    const std::span<std::byte> bytes = stored.bytes();
    for_each_masked(parts, [&](std::size_t i) { std::memset(&bytes[i * size], 0, size); });
  }
}

std::string take(std::map<std::string, std::string>& metadata, const std::string& key,
                 const std::string& path) {
  const auto found = metadata.find(key);
  if (found == metadata.end()) {
    fail(ErrorCode::bad_file, path,
         ": no Winnow checkpoint, but a safetensors file of another program: metadata '", key,
         "' is missing");
  }
  return std::move(metadata.extract(found).mapped());
}

void require_format(const std::string& format, const std::string& path) {
  if (format == kFormat) return;
  fail(ErrorCode::bad_file, path, ": checkpoint format ", in_quotes(format),
       ", this program reads ", kFormat);
}

void require_no_reserved_key(const std::map<std::string, std::string>& metadata, ErrorCode code,
                             const std::string& path) {
  for (const auto& [key, text] : metadata) {
    if (!key.starts_with(kReserved)) continue;
    fail(code, path, ": metadata ", in_quotes(key), ": names beginning with '", kReserved,
         "' are reserved");
  }
}

Tensor vocabulary_tensor(const std::vector<std::string>& words) {
  const std::string text = joined_words(words);
  const std::vector<std::uint8_t> bytes(text.begin(), text.end());
  return Tensor::from<std::uint8_t>({static_cast<std::int64_t>(bytes.size())}, bytes);
}

// Takes the tensor out of the file.
std::vector<std::string> take_vocabulary(std::map<std::string, Tensor>& tensors,
                                         const std::string& path) {
  const auto found = tensors.find(kVocabularyTensor);
  if (found == tensors.end()) return {};
  const Tensor tensor = std::move(tensors.extract(found).mapped());
  const std::string place = path + ": tensor '" + kVocabularyTensor + "'";
  if (tensor.type() != DataType::u8) {
    fail(ErrorCode::bad_file, place, ": found ", to_string(tensor.type()), ", expected U8");
  }
  const std::span<const std::byte> bytes = tensor.bytes();
  return split_words({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, place);
}

std::string within_limit(std::string json, const std::string& path) {
  if (json.size() <= JsonLimits().bytes) return json;
  fail(ErrorCode::bad_file, path, ": graph or state takes ", json.size(),
       " bytes of JSON, at most ", JsonLimits().bytes, " expected");
}

}  // namespace

void save_model(const std::string& path, const Model& model) {
  require_no_reserved_key(model.metadata, ErrorCode::usage, path);
  Model masked = model;
  apply_masks(masked, path);
  check_model(masked, path);

  SafetensorsFile file{std::move(masked.tensors), std::move(masked.metadata)};
  file.metadata.insert_or_assign(kFormatKey, std::string(kFormat));
  file.metadata.insert_or_assign(kGraphKey, within_limit(graph_to_json(model.graph), path));
  file.metadata.insert_or_assign(kStateKey, within_limit(checkpoint_state_to_json(model), path));
  if (!model.preprocessing.vocabulary.empty()) {
    file.tensors.insert_or_assign(kVocabularyTensor,
                                  vocabulary_tensor(model.preprocessing.vocabulary));
  }
  write_safetensors(path, file);
}

Model load_model(const std::string& path) {
  SafetensorsFile file = read_safetensors(path);
  require_format(take(file.metadata, kFormatKey, path), path);
  Model model;
  model.graph = graph_from_json(take(file.metadata, kGraphKey, path), path + ": graph");
  read_checkpoint_state(take(file.metadata, kStateKey, path), path + ": state", model);
  require_no_reserved_key(file.metadata, ErrorCode::bad_file, path);
  model.preprocessing.vocabulary = take_vocabulary(file.tensors, path);
  model.tensors = std::move(file.tensors);
  model.metadata = std::move(file.metadata);
  check_model(model, path);
  return model;
}

}  // namespace winnow
