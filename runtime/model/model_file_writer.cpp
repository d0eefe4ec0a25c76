#include <functional>
#include <iterator>
#include <utility>

#include "runtime/base/error.h"
#include "runtime/base/file.h"
#include "runtime/model/graph_json.h"
#include "runtime/model/little_endian.h"
#include "runtime/model/model_file.h"
#include "runtime/model/model_state_json.h"
#include "runtime/model/section_file.h"
#include "runtime/model/vocabulary_section.h"
#include "runtime/model/weight_sections.h"

namespace winnow {
namespace {

using Write = std::function<void(std::span<const std::byte>)>;

SectionContent json_section(SectionKind kind, const std::string& text, const std::string& place) {
  if (text.size() > kMaxJsonSection) {
    fail(ErrorCode::bad_file, place, ": ", kind == SectionKind::graph ? "graph" : "metadata",
         " takes ", text.size(), " bytes of JSON, at most ", kMaxJsonSection, " expected");
  }
  SectionContent section{kind, kNoOwner, {}, {}};
  append_bytes(section.own, std::as_bytes(std::span(text)));
  return section;
}

// The whole file: graph, meta, weights, vocabulary, then the sections of each weight.
void write_model(const DeployedModel& model, const std::string& place, const Write& write) {
  check_deployed_model(model, place);
  std::vector<SectionContent> sections;
  sections.push_back(json_section(SectionKind::graph, graph_to_json(model.graph), place));
  sections.push_back(json_section(SectionKind::meta, deployed_state_to_json(model), place));
  sections.push_back({SectionKind::weights, kNoOwner, {}, {}});

  std::vector<std::byte> records;
  std::vector<std::byte> names;
  SectionSummary summary;
  if (!model.preprocessing.vocabulary.empty()) {
    SectionContent words{
        SectionKind::vocabulary, kNoOwner, encode_vocabulary(model.preprocessing.vocabulary), {}};
    summary.decoded_bytes += vocabulary_bytes(words.own, place);
    summary.needed_features |= kVocabularyFeature;
    sections.push_back(std::move(words));
  }
  for (const auto& [name, weight] : model.weights) {
    EncodedWeight encoded = encode_weight(name, weight, summary.weight_count++);
    append(records, encoded.record);
    append_bytes(names, std::as_bytes(std::span(name)));
    summary.decoded_bytes += decoded_bytes(encoded.record);
    summary.needed_features |= needed_features(encoded.record);
    std::move(encoded.sections.begin(), encoded.sections.end(), std::back_inserter(sections));
  }
  append_bytes(records, names);
  sections[2].own = std::move(records);
  write_sections(sections, summary, write);
}

std::int64_t dense_count(const DenseWeight& weight) {
  return weight.values.count;
}
std::int64_t dense_count(const CsrWeight& weight) {
  return weight.channels * weight.cols;
}

}  // namespace

std::vector<std::byte> serialize_model_file(const DeployedModel& model) {
  std::vector<std::byte> file;
  write_model(model, model.graph.name, [&](auto bytes) { append_bytes(file, bytes); });
  return file;
}

void write_model_file(const std::string& path, const DeployedModel& model) {
  AtomicFile out(path);
  write_model(model, path, [&](auto bytes) { out.write(bytes); });
  out.commit();
}

std::vector<StoredSize> stored_sizes(const DeployedModel& model) {
  std::vector<StoredSize> sizes;
  for (const auto& [name, weight] : model.weights) {
    StoredSize size;
    size.name = name;
    size.dense_f32_bytes =
        4 * std::visit([](const auto& form) { return dense_count(form); }, weight);
    for (const SectionContent& section : encode_weight(name, weight, 0).sections) {
      const auto bytes = static_cast<std::int64_t>(section.bytes().size());
      (section.kind == SectionKind::index ? size.index_bytes : size.value_bytes) += bytes;
    }
    sizes.push_back(size);
  }
  return sizes;
}

}  // namespace winnow
