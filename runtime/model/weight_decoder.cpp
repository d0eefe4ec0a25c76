#include <algorithm>
#include <cmath>

#include "runtime/base/error.h"
#include "runtime/model/csr_packing.h"
#include "runtime/model/little_endian.h"
#include "runtime/model/vector_size.h"
#include "runtime/model/weight_sections.h"

namespace winnow {
namespace {

std::string number_defect(const char* what, std::uint64_t found, const char* expected) {
  return std::string(what) + " is " + std::to_string(found) + ", expected " + expected;
}

bool is_dense(const WeightRecord& record) {
  return record.form == static_cast<std::uint8_t>(WeightRecordForm::dense);
}

std::string encoding_defect(const WeightRecord& record) {
  const bool is_known = record.encoding >= static_cast<std::uint8_t>(Encoding::f32) &&
                        record.encoding <= static_cast<std::uint8_t>(Encoding::codebook4);
  if (!is_known) return number_defect("encoding", record.encoding, "1 to 6");
  const auto encoding = static_cast<Encoding>(record.encoding);
  const std::uint32_t most = encoding == Encoding::codebook8   ? 256
                             : encoding == Encoding::codebook4 ? 16
                                                               : 0;
  if (record.codebook_entries > most) {
    return number_defect("number of codebook entries", record.codebook_entries,
                         ("at most " + std::to_string(most)).c_str());
  }
  if (!std::isfinite(record.scale)) return "scale is not finite";
  if ((record.flags & kChannelScaleFlag) && most == 0) return "channel scales without a codebook";
  return "";
}

std::string size_defect(const WeightRecord& record) {
  for (std::size_t i = 0; i < kMaxRank; ++i) {
    const bool is_used = i < record.rank;
    if (is_used && record.size[i] == 0) return "a size is 0";
    if (!is_used && record.size[i] != 0) return "a size beyond the rank is not 0";
  }
  return "";
}

std::string dense_defect(const WeightRecord& record) {
  if (record.rank > kMaxRank) return number_defect("rank", record.rank, "at most 8");
  const bool has_csr_fields = record.index_form || record.count_bytes || record.vector ||
                              record.row_length || (record.flags & kKeptCountsFlag);
  if (has_csr_fields) return "a field of sparse weights is not 0";
  if (record.flags > kChannelScaleFlag) return number_defect("flags", record.flags, "0 or 2");
  if (record.flags != 0 && record.rank == 0) return "channel scales of a weight without channels";
  return size_defect(record);
}

std::string csr_defect(const WeightRecord& record) {
  const std::uint64_t cols = record.size[1];
  if (record.rank != 2) return number_defect("rank", record.rank, "2");
  if (!is_vector_size(record.vector)) {
    return number_defect("vector", record.vector, kVectorSizes);
  }
  if (record.index_form < 1 || record.index_form > 3) {
    return number_defect("index form", record.index_form, "1 to 3");
  }
  if (record.index_form == static_cast<std::uint8_t>(IndexForm::u16) && cols > 65536) {
    return "index form u16 for " + std::to_string(cols) + " columns";
  }
  const unsigned count_bytes = record.row_length <= 65535 ? 2 : 4;
  if (record.count_bytes != count_bytes) {
    return number_defect("size of a count", record.count_bytes, count_bytes == 2 ? "2" : "4");
  }
  if (record.flags > (kKeptCountsFlag | kChannelScaleFlag)) {
    return number_defect("flags", record.flags, "0 to 3");
  }
  if (record.row_length > cols) {
    return "rows of " + std::to_string(record.row_length) + " blocks in " + std::to_string(cols) +
           " columns";
  }
  return size_defect(record);
}

std::vector<Half> halves(std::span<const std::byte> bytes) {
  std::vector<Half> values(bytes.size() / 2);
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i].bits = load<std::uint16_t>(bytes.data() + 2 * i);
  }
  return values;
}

Values empty_values(const WeightRecord& record, const WeightBytes& bytes,
                    const WeightPlaces& places) {
  const std::uint64_t scales = channel_scales_of(record);
  const std::uint64_t expected = 2 * (record.codebook_entries + scales);
  if (bytes.codebook.size() != expected) {
    fail(ErrorCode::bad_file, places.codebook, ": ", bytes.codebook.size(), " bytes, ",
         record.codebook_entries, " entries ",
         scales == 0 ? "" : "and " + std::to_string(scales) + " channel scales ", "take ",
         expected);
  }
  Values values;
  values.encoding = static_cast<Encoding>(record.encoding);
  values.scale = record.scale;
  values.codebook = halves(bytes.codebook.first(2 * std::size_t{record.codebook_entries}));
  values.channel_scale = halves(bytes.codebook.subspan(2 * values.codebook.size()));
  values.lanes = scales != 0 && !is_dense(record) ? record.vector : 1;
  return values;
}

// The codes are known to be as many as announced; what they hold is checked with the model.
DenseWeight decode_dense(const WeightRecord& record, const WeightBytes& bytes,
                         const WeightPlaces& places) {
  DenseWeight weight;
  std::uint64_t count = 1;
  for (std::size_t i = 0; i < record.rank; ++i) {
    weight.shape.push_back(record.size[i]);
    count = saturating_product({count, record.size[i]});
  }
  if (count != record.value_count) {
    fail(ErrorCode::bad_file, places.values, ": ", record.value_count, " values, shape ",
         to_string(weight.shape), " has ", count);
  }
  weight.values = empty_values(record, bytes, places);
  weight.values.count = static_cast<std::int64_t>(count);
  const std::int64_t expected = stored_bytes(weight.values.encoding, weight.values.count);
  if (bytes.values.size() != static_cast<std::uint64_t>(expected)) {
    fail(ErrorCode::bad_file, places.values, ": ", bytes.values.size(), " bytes, ", count,
         " values take ", expected);
  }
  weight.values.data.assign(bytes.values.begin(), bytes.values.end());
  return weight;
}

// Takes `rows` counts off the front of `bytes`, which has them.
std::vector<std::uint32_t> take_counts(std::span<const std::byte>& bytes, std::size_t rows,
                                       std::size_t count_bytes) {
  std::vector<std::uint32_t> counts(rows);
  for (std::size_t i = 0; i < rows; ++i) {
    const std::byte* at = bytes.data() + i * count_bytes;
    counts[i] = count_bytes == 2 ? load<std::uint16_t>(at) : load<std::uint32_t>(at);
  }
  bytes = bytes.subspan(rows * count_bytes);
  return counts;
}

CsrWeight decode_csr(const WeightRecord& record, const WeightBytes& bytes,
                     const WeightPlaces& places) {
  CsrWeight weight;
  weight.channels = record.size[0];
  weight.cols = record.size[1];
  weight.vector = record.vector;
  weight.rows = static_cast<std::int64_t>(rows_of(record));
  weight.row_length = record.row_length;
  weight.values = empty_values(record, bytes, places);

  const auto rows = static_cast<std::size_t>(weight.rows);
  const bool has_kept_counts = record.flags & kKeptCountsFlag;
  const std::size_t count_bytes = rows * record.count_bytes * (has_kept_counts ? 2 : 1);
  if (bytes.index.size() < count_bytes) {
    fail(ErrorCode::bad_file, places.index, ": ", bytes.index.size(), " bytes, the counts of ",
         rows, " rows take ", count_bytes);
  }
  std::span<const std::byte> index = bytes.index;
  const auto length = take_counts(index, rows, record.count_bytes);
  weight.kept = has_kept_counts ? take_counts(index, rows, record.count_bytes) : length;
  if (has_kept_counts && weight.kept == length) {
    fail(ErrorCode::bad_file, places.index, ": the kept counts repeat the stored counts");
  }
  std::uint64_t blocks = 0;
  for (const std::uint32_t stored : length) blocks += stored;
  if (blocks * record.vector != record.value_count) {
    fail(ErrorCode::bad_file, places.values, ": ", record.value_count, " values, ", blocks,
         " stored blocks have ", blocks * record.vector);
  }
  const auto form = static_cast<IndexForm>(record.index_form);
  const std::string defect =
      unpack_rows(weight, length, RowReader(form, weight.cols, index), bytes.values);
  if (!defect.empty()) fail(ErrorCode::bad_file, places.index, ": ", defect);
  return weight;
}

}  // namespace

std::string find_defect(const WeightRecord& record) {
  if (record.name_bytes < 1 || record.name_bytes > kMaxNameBytes) {
    return number_defect("length of the name", record.name_bytes, "1 to 1024");
  }
  if (record.form != static_cast<std::uint8_t>(WeightRecordForm::dense) &&
      record.form != static_cast<std::uint8_t>(WeightRecordForm::csr)) {
    return number_defect("form", record.form, "1 or 2");
  }
  std::string defect = encoding_defect(record);
  if (!defect.empty()) return defect;
  return is_dense(record) ? dense_defect(record) : csr_defect(record);
}

bool has_index(const WeightRecord& record) {
  return !is_dense(record);
}

bool has_codebook(const WeightRecord& record) {
  return record.encoding >= static_cast<std::uint8_t>(Encoding::codebook8);
}

Weight decode_weight(const WeightRecord& record, const WeightBytes& bytes,
                     const WeightPlaces& places) {
  if (is_dense(record)) return decode_dense(record, bytes, places);
  return decode_csr(record, bytes, places);
}

}  // namespace winnow
