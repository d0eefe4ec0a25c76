// Cross-validation: a set that is not split is dealt into equal parts, one of which is for tests.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace winnow {

struct Fold {
  std::int64_t index = 0;   // from 0
  std::int64_t count = 10;  // of parts
  std::uint64_t seed = 1;
};

// Which of `samples` samples are in part `fold.index`: a seeded shuffle is dealt out, so the parts
// of one seed have no sample in common, cover all, and differ by at most one in size.
// Throws Error{usage} unless 0 <= index < count <= samples and count >= 2.
std::vector<bool> fold_members(std::int64_t samples, const Fold& fold);

// The part that a model was not trained with, and of how many samples, as its metadata says it:
// "data_fold": "3 of 10, seed 1, 10662 sentences".
inline constexpr char kDataFoldKey[] = "data_fold";

struct FoldRecord {
  Fold fold;
  std::int64_t samples = 0;
};

std::string to_string(const FoldRecord& record);

// What the metadata says; nothing if it says nothing that to_string() makes.
std::optional<FoldRecord> recorded_fold(const std::map<std::string, std::string>& metadata);

}  // namespace winnow
