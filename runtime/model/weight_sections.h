// One weight of a model file: its record and its sections.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "runtime/model/model.h"
#include "runtime/model/section_file.h"

namespace winnow {

struct EncodedWeight {
  WeightRecord record;
  std::vector<SectionContent> sections;  // index, codebook, values: those that the weight has
};

// The sections may borrow from `weight`. Requires a weight without defect whose sizes fit 32 bits;
// throws Error{usage} for a name or rank beyond the format's limits.
EncodedWeight encode_weight(const std::string& name, const Weight& weight, std::uint32_t owner);

// Names the first field of a record that no weight can have; empty if none. Safe on any record.
std::string find_defect(const WeightRecord& record);

// The bytes of a weight's sections; empty where the weight has no such section.
struct WeightBytes {
  std::span<const std::byte> index;
  std::span<const std::byte> codebook;
  std::span<const std::byte> values;
};

bool has_index(const WeightRecord& record);
bool has_codebook(const WeightRecord& record);

// Where a message about a part of a weight begins: "vgg16.wnw: section 3 (conv1.weight index)".
struct WeightPlaces {
  std::string index;
  std::string codebook;
  std::string values;
};

// Requires a record without defect. Throws Error{bad_file} if the bytes do not fit it.
Weight decode_weight(const WeightRecord& record, const WeightBytes& bytes,
                     const WeightPlaces& places);

}  // namespace winnow
