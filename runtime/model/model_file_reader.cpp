#include <optional>

#include "runtime/base/error.h"
#include "runtime/base/file.h"
#include "runtime/base/suggest.h"
#include "runtime/model/graph_json.h"
#include "runtime/model/little_endian.h"
#include "runtime/model/model_file.h"
#include "runtime/model/model_state_json.h"
#include "runtime/model/section_file.h"
#include "runtime/model/vocabulary_section.h"
#include "runtime/model/weight_sections.h"

namespace winnow {
namespace {

std::string_view kind_name(SectionKind kind) {
  switch (kind) {
    case SectionKind::graph:
      return "graph";
    case SectionKind::meta:
      return "meta";
    case SectionKind::weights:
      return "weights";
    case SectionKind::index:
      return "index";
    case SectionKind::codebook:
      return "codebook";
    case SectionKind::values:
      return "values";
    case SectionKind::vocabulary:
      return "vocabulary";
  }
  return "unknown";
}

// Hands out the sections in the one order that the format allows.
class SectionCursor {
 public:
  struct Taken {
    std::string place;
    std::span<const std::byte> bytes;
  };

  SectionCursor(const std::vector<PlacedSection>& sections, const std::string& name)
      : sections_(sections), name_(name) {}

  // `weight` is the name of the weight called `owner`; empty for sections of the whole file.
  Taken take(SectionKind kind, std::uint32_t owner = kNoOwner, const std::string& weight = "") {
    const std::string label = (weight.empty() ? "" : weight + " ") + std::string(kind_name(kind));
    const std::string place = name_ + ": section " + std::to_string(next_) + " (" + label + ")";
    if (next_ == sections_.size()) fail(ErrorCode::bad_file, place, ": is missing");
    const PlacedSection& section = sections_[next_++];
    if (section.kind != static_cast<std::uint32_t>(kind) || section.owner != owner) {
      fail(ErrorCode::bad_file, place, ": found kind ", section.kind, " of weight ", section.owner,
           ", expected kind ", static_cast<std::uint32_t>(kind), " of weight ", owner);
    }
    return {place, section.bytes};
  }

  // What is left must be marked as optional.
  void finish() const {
    for (std::size_t i = next_; i < sections_.size(); ++i) {
      if (sections_[i].kind >= kFirstOptionalKind) continue;
      fail(ErrorCode::bad_file, name_, ": section ", i, ": kind ", sections_[i].kind,
           " is not expected here");
    }
  }

 private:
  const std::vector<PlacedSection>& sections_;
  const std::string& name_;
  std::size_t next_ = 0;
};

std::string_view text_of(const SectionCursor::Taken& section) {
  return {reinterpret_cast<const char*>(section.bytes.data()), section.bytes.size()};
}

struct NamedRecord {
  std::string name;
  WeightRecord record;
};

std::vector<WeightRecord> load_records(const SectionCursor::Taken& section, std::uint32_t count) {
  if (section.bytes.size() / kWeightRecordBytes < count) {
    fail(ErrorCode::bad_file, section.place, ": ", section.bytes.size(), " bytes are too few for ",
         count, " records");
  }
  std::vector<WeightRecord> records;
  std::uint64_t expected = std::uint64_t{count} * kWeightRecordBytes;
  for (std::uint32_t i = 0; i < count; ++i) {
    records.push_back(load<WeightRecord>(section.bytes.data() + i * kWeightRecordBytes));
    const std::string defect = find_defect(records.back());
    if (!defect.empty()) {
      fail(ErrorCode::bad_file, section.place, ": record ", i, ": ", defect);
    }
    expected += records.back().name_bytes;
  }
  if (expected == section.bytes.size()) return records;
  fail(ErrorCode::bad_file, section.place, ": ", section.bytes.size(), " bytes, ", count,
       " records and their names take ", expected);
}

std::vector<NamedRecord> read_records(const SectionCursor::Taken& section, std::uint32_t count) {
  std::vector<NamedRecord> named;
  std::size_t at = count * kWeightRecordBytes;
  for (const WeightRecord& record : load_records(section, count)) {
    const std::string name(text_of(section).substr(at, record.name_bytes));
    at += record.name_bytes;
    if (!named.empty() && name <= named.back().name) {
      fail(ErrorCode::bad_file, section.place, ": name ", in_quotes(name), " follows ",
           in_quotes(named.back().name), ", expected rising order");
    }
    named.push_back({name, record});
  }
  return named;
}

// Nothing of a weight or vocabulary is allocated before this holds; the latter takes `words` bytes.
void require_memory(const std::vector<NamedRecord>& records, std::uint64_t words,
                    std::uint64_t announced, const ModelFileLimits& limits,
                    const std::string& name) {
  std::uint64_t needed = words;
  for (const NamedRecord& named : records) {
    needed = saturating_sum({needed, decoded_bytes(named.record)});
  }
  if (needed != announced) {
    fail(ErrorCode::bad_file, name, ": byte 48: announces ", announced,
         " bytes of decoded weights, the records add up to ", needed);
  }
  if (needed > limits.decoded_bytes || needed == kTooMany) {
    fail(ErrorCode::bad_file, name, ": decoded weights take ", needed, " bytes, at most ",
         limits.decoded_bytes, " are allowed");
  }
}

// A reader that knows no more than the announced features must be able to read all weights.
void require_announced(const std::vector<NamedRecord>& records, std::uint32_t announced,
                       const std::string& name) {
  std::uint32_t needed = announced & kVocabularyFeature;  // then its section must be there
  for (const NamedRecord& named : records) needed |= needed_features(named.record);
  if (needed == announced) return;
  fail(ErrorCode::bad_file, name, ": byte 40: announces features 0x", std::hex, announced,
       ", the weights need 0x", needed);
}

Weight read_weight(SectionCursor& cursor, const NamedRecord& named, std::uint32_t owner) {
  WeightBytes bytes;
  WeightPlaces places;
  const std::string printed = in_quotes(named.name);  // fit for a message, but for the quotes
  const std::string label = printed.substr(1, printed.size() - 2);
  const auto take = [&](SectionKind kind, std::string& place) {
    const SectionCursor::Taken taken = cursor.take(kind, owner, label);
    place = taken.place;
    return taken.bytes;
  };
  if (has_index(named.record)) bytes.index = take(SectionKind::index, places.index);
  if (has_codebook(named.record)) bytes.codebook = take(SectionKind::codebook, places.codebook);
  bytes.values = take(SectionKind::values, places.values);
  return decode_weight(named.record, bytes, places);
}

}  // namespace

DeployedModel parse_model_file(std::span<const std::byte> bytes, const std::string& name,
                               const ModelFileLimits& limits, const ModelFileProgress& progress) {
  const SectionFile file = read_sections(bytes, name);
  SectionCursor cursor(file.sections, name);
  DeployedModel model;
  const SectionCursor::Taken graph = cursor.take(SectionKind::graph);
  model.graph = graph_from_json(text_of(graph), graph.place);
  const SectionCursor::Taken meta = cursor.take(SectionKind::meta);
  read_deployed_state(text_of(meta), meta.place, model);

  const auto records = read_records(cursor.take(SectionKind::weights), file.summary.weight_count);
  require_announced(records, file.summary.needed_features, name);
  std::optional<SectionCursor::Taken> words;
  if (file.summary.needed_features & kVocabularyFeature) {
    words = cursor.take(SectionKind::vocabulary);
  }
  require_memory(records, words ? vocabulary_bytes(words->bytes, words->place) : 0,
                 file.summary.decoded_bytes, limits, name);
  if (words) model.preprocessing.vocabulary = decode_vocabulary(words->bytes, words->place);
  for (std::size_t i = 0; i < records.size(); ++i) {
    model.weights.emplace_hint(model.weights.end(), records[i].name,
                               read_weight(cursor, records[i], static_cast<std::uint32_t>(i)));
    if (progress) progress(i + 1, records.size());
  }
  cursor.finish();
  check_deployed_model(model, name);
  return model;
}

DeployedModel read_model_file(const std::string& path, const ModelFileLimits& limits,
                              const ModelFileProgress& progress) {
  const MappedFile file(path);
  return parse_model_file(file.bytes(), path, limits, progress);
}

}  // namespace winnow
