// The fixed parts of a model file, field by field. docs/model-file.md is their normative
// description; the numbers here never change.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace winnow {

// As in PNG: a byte that is no text, then line ends that a transfer as text would change.
constexpr std::array<std::uint8_t, 8> kModelFileMagic = {0x89, 'W',  'N',  'W',
                                                         '\r', '\n', 0x1a, '\n'};
constexpr std::uint16_t kFormatMajor = 1;
constexpr std::uint32_t kEndianTag = 0x01020304;

constexpr std::size_t kHeaderBytes = 64;
constexpr std::size_t kTableEntryBytes = 32;
constexpr std::size_t kWeightRecordBytes = 64;
constexpr std::size_t kSectionAlignment = 64;  // a cache line; enough for any vector load
constexpr std::size_t kMaxJsonSection = std::size_t{1} << 20;
constexpr std::size_t kMaxNameBytes = 1024;
constexpr std::size_t kMaxRank = 8;

// Features that a reader must understand: version 1.0 defines none, 1.1 the first, 1.2 the second.
constexpr std::uint32_t kChannelScaleFeature = 1;  // a weight has channel scales
constexpr std::uint32_t kVocabularyFeature = 2;    // the file has a vocabulary
constexpr std::uint32_t kKnownFeatures = kChannelScaleFeature | kVocabularyFeature;

// The first minor version that defines all of these (known) features.
constexpr std::uint16_t minor_version_of(std::uint32_t features) {
  return features & kVocabularyFeature ? 2 : features & kChannelScaleFeature ? 1 : 0;
}

struct FileHeader {
  std::array<std::uint8_t, 8> magic = kModelFileMagic;
  std::uint16_t major = kFormatMajor;
  std::uint16_t minor = 0;
  std::uint32_t endian_tag = kEndianTag;
  std::uint32_t section_count = 0;
  std::uint32_t weight_count = 0;
  std::uint64_t table_offset = kHeaderBytes;
  std::uint64_t file_bytes = 0;
  std::uint32_t needed_features = 0;
  std::uint32_t optional_features = 0;
  std::uint64_t decoded_bytes = 0;  // of all weights in memory, see decoded_bytes()
  std::uint32_t reserved = 0;
  std::uint32_t checksum = 0;  // of the 60 bytes before it and the section table
};

enum class SectionKind : std::uint32_t {
  graph = 1,
  meta = 2,
  weights = 3,
  index = 4,
  codebook = 5,
  values = 6,
  vocabulary = 7,
};
constexpr std::uint32_t kFirstOptionalKind = 0x8000'0000;  // a reader skips those it does not know
constexpr std::uint32_t kNoOwner = 0xffff'ffff;

struct SectionEntry {
  std::uint32_t kind = 0;
  std::uint32_t owner = kNoOwner;  // number of the weight that the section belongs to
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;
  std::uint32_t checksum = 0;
  std::uint32_t reserved = 0;
};

enum class WeightRecordForm : std::uint8_t { dense = 1, csr = 2 };
constexpr std::uint8_t kKeptCountsFlag = 1;    // kept counts follow the stored counts
constexpr std::uint8_t kChannelScaleFlag = 2;  // channel scales follow the codebook's entries

struct WeightRecord {
  std::uint32_t name_bytes = 0;
  std::uint8_t form = 0;         // WeightRecordForm
  std::uint8_t encoding = 0;     // Encoding
  std::uint8_t index_form = 0;   // IndexForm; 0 for dense
  std::uint8_t count_bytes = 0;  // 2 or 4, the size of a row's counts; 0 for dense
  std::uint8_t rank = 0;         // of `size` in use; 2 for CSR
  std::uint8_t flags = 0;        // kKeptCountsFlag, kChannelScaleFlag
  std::uint16_t vector = 0;      // 0 for dense
  float scale = 1.0f;
  std::uint32_t codebook_entries = 0;
  std::uint32_t row_length = 0;                   // 0 for dense
  std::uint64_t value_count = 0;                  // values in the values section
  std::array<std::uint32_t, kMaxRank> size = {};  // dense: the shape; CSR: channels, cols
};

// Written and read as they lie in memory: the numbers are little-endian and nothing is padded.
static_assert(sizeof(FileHeader) == kHeaderBytes && offsetof(FileHeader, checksum) == 60);
static_assert(sizeof(SectionEntry) == kTableEntryBytes && offsetof(SectionEntry, checksum) == 24);
static_assert(sizeof(WeightRecord) == kWeightRecordBytes && offsetof(WeightRecord, size) == 32);

// Rows of blocks of a CSR record with vector > 0.
std::uint64_t rows_of(const WeightRecord& record);

// The features that a record asks of a reader.
std::uint32_t needed_features(const WeightRecord& record);

// Channel scales that a record announces: one per channel, or none.
std::uint64_t channel_scales_of(const WeightRecord& record);

// Bytes in memory of a decoded weight: values, codebook, channel scales and, for CSR, columns and
// kept counts.
// Saturates at the largest number. Requires a known form and encoding and, for CSR, vector > 0.
std::uint64_t decoded_bytes(const WeightRecord& record);

// The next multiple of kSectionAlignment; requires an offset well below 2^64.
std::uint64_t aligned(std::uint64_t offset);

}  // namespace winnow
