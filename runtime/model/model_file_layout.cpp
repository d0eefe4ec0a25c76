#include "runtime/model/model_file_layout.h"

#include "runtime/model/little_endian.h"
#include "runtime/model/values.h"

namespace winnow {
namespace {

// As stored_bytes(), for counts that may be anything.
std::uint64_t saturating_stored_bytes(const WeightRecord& record, std::uint64_t count) {
  constexpr std::uint64_t kMostValues = std::uint64_t{1} << 56;  // no machine holds as many
  if (count > kMostValues) return kTooMany;
  return static_cast<std::uint64_t>(
      stored_bytes(static_cast<Encoding>(record.encoding), static_cast<std::int64_t>(count)));
}

std::uint64_t dense_count(const WeightRecord& record) {
  std::uint64_t count = 1;
  for (std::size_t i = 0; i < record.rank; ++i) count = saturating_product({count, record.size[i]});
  return count;
}

}  // namespace

std::uint64_t rows_of(const WeightRecord& record) {
  return (std::uint64_t{record.size[0]} + record.vector - 1) / record.vector;
}

std::uint32_t needed_features(const WeightRecord& record) {
  return record.flags & kChannelScaleFlag ? kChannelScaleFeature : 0;
}

std::uint64_t channel_scales_of(const WeightRecord& record) {
  return record.flags & kChannelScaleFlag ? record.size[0] : 0;
}

std::uint64_t decoded_bytes(const WeightRecord& record) {
  const std::uint64_t codebook = 2 * (record.codebook_entries + channel_scales_of(record));
  if (record.form == static_cast<std::uint8_t>(WeightRecordForm::dense)) {
    return saturating_sum({codebook, saturating_stored_bytes(record, dense_count(record))});
  }
  const std::uint64_t rows = rows_of(record);
  const std::uint64_t blocks = rows * record.row_length;  // below 2^64: two numbers of 32 bits
  const std::uint64_t values = saturating_product({blocks, record.vector});
  return saturating_sum({codebook, 4 * rows, saturating_product({4, blocks}),
                         saturating_stored_bytes(record, values)});
}

std::uint64_t aligned(std::uint64_t offset) {
  return (offset + kSectionAlignment - 1) / kSectionAlignment * kSectionAlignment;
}

}  // namespace winnow
