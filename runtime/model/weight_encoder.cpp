#include <algorithm>

#include "runtime/base/error.h"
#include "runtime/model/csr_packing.h"
#include "runtime/model/little_endian.h"
#include "runtime/model/weight_sections.h"

namespace winnow {
namespace {

constexpr std::uint32_t kMaxU16 = 65535;

std::uint32_t size32(std::int64_t size, const std::string& name) {
  if (size >= 1 && size <= std::int64_t{0xffff'ffff}) return static_cast<std::uint32_t>(size);
  fail(ErrorCode::usage, name, ": a model file cannot hold a size of ", size);
}

WeightRecord record_of(const std::string& name, const Values& values) {
  if (name.empty() || name.size() > kMaxNameBytes) {
    fail(ErrorCode::usage, name, ": a name of ", name.size(), " bytes, at most ", kMaxNameBytes,
         " expected");
  }
  WeightRecord record;
  record.name_bytes = static_cast<std::uint32_t>(name.size());
  record.encoding = static_cast<std::uint8_t>(values.encoding);
  record.scale = values.scale;
  record.codebook_entries = static_cast<std::uint32_t>(values.codebook.size());
  if (!values.channel_scale.empty()) record.flags = kChannelScaleFlag;
  return record;
}

void append_counts(std::vector<std::byte>& out, std::uint8_t count_bytes,
                   const std::vector<std::uint32_t>& counts) {
  for (const std::uint32_t count : counts) {
    if (count_bytes == 2) {
      append(out, static_cast<std::uint16_t>(count));
    } else {
      append(out, count);
    }
  }
}

SectionContent index_section(const WeightRecord& record, const CsrWeight& weight,
                             const StoredRows& rows) {
  SectionContent section{SectionKind::index, 0, {}, {}};
  append_counts(section.own, record.count_bytes, rows.length);
  if (record.flags & kKeptCountsFlag) append_counts(section.own, record.count_bytes, weight.kept);
  std::size_t at = 0;
  for (const std::uint32_t length : rows.length) {
    const auto row = std::span(rows.column).subspan(at, length);
    append_row(section.own, static_cast<IndexForm>(record.index_form), weight.cols, row);
    at += length;
  }
  return section;
}

void add_codebook(EncodedWeight& encoded, const Values& values) {
  if (!has_codebook(encoded.record)) return;
  SectionContent section{SectionKind::codebook, 0, {}, {}};
  append_bytes(section.own, std::as_bytes(std::span(values.codebook)));
  append_bytes(section.own, std::as_bytes(std::span(values.channel_scale)));
  encoded.sections.push_back(std::move(section));
}

EncodedWeight encode(const std::string& name, const DenseWeight& weight) {
  EncodedWeight encoded{record_of(name, weight.values), {}};
  WeightRecord& record = encoded.record;
  if (weight.shape.size() > kMaxRank) {
    fail(ErrorCode::usage, name, ": rank ", weight.shape.size(), ", at most ", kMaxRank,
         " expected");
  }
  record.form = static_cast<std::uint8_t>(WeightRecordForm::dense);
  record.rank = static_cast<std::uint8_t>(weight.shape.size());
  for (std::size_t i = 0; i < record.rank; ++i) record.size[i] = size32(weight.shape[i], name);
  record.value_count = static_cast<std::uint64_t>(weight.values.count);
  add_codebook(encoded, weight.values);
  encoded.sections.push_back({SectionKind::values, 0, {}, weight.values.data});
  return encoded;
}

EncodedWeight encode(const std::string& name, const CsrWeight& weight) {
  StoredRows rows = pack_rows(weight);
  EncodedWeight encoded{record_of(name, weight.values), {}};
  WeightRecord& record = encoded.record;
  record.form = static_cast<std::uint8_t>(WeightRecordForm::csr);
  record.index_form =
      static_cast<std::uint8_t>(smallest_form(weight.cols, rows.length, rows.column));
  record.count_bytes = weight.row_length <= kMaxU16 ? 2 : 4;
  record.rank = 2;
  record.size = {size32(weight.channels, name), size32(weight.cols, name)};
  if (rows.length != weight.kept) record.flags |= kKeptCountsFlag;
  record.vector = static_cast<std::uint16_t>(weight.vector);
  record.row_length = static_cast<std::uint32_t>(weight.row_length);
  record.value_count = rows.column.size() * static_cast<std::uint64_t>(weight.vector);
  encoded.sections.push_back(index_section(record, weight, rows));
  add_codebook(encoded, weight.values);
  encoded.sections.push_back({SectionKind::values, 0, std::move(rows.values), {}});
  return encoded;
}

}  // namespace

EncodedWeight encode_weight(const std::string& name, const Weight& weight, std::uint32_t owner) {
  EncodedWeight encoded = std::visit([&](const auto& form) { return encode(name, form); }, weight);
  for (SectionContent& section : encoded.sections) section.owner = owner;
  return encoded;
}

}  // namespace winnow
