// Cross-validation: a set that is not split is dealt into equal parts, one of which is for tests.
#pragma once

#include <cstdint>
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

}  // namespace winnow
