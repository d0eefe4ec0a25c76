#include "runtime/text/folds.h"

#include "runtime/base/error.h"
#include "runtime/base/random.h"

namespace winnow {
namespace {

// Apart from the streams of batches and the validation split (prune/data/partition.cpp), which have
// the same seed.
constexpr std::uint64_t kFoldStream = std::uint64_t{4} << 32;

}  // namespace

std::vector<bool> fold_members(std::int64_t samples, const Fold& fold) {
  if (fold.count < 2 || fold.count > samples) {
    fail(ErrorCode::usage, "data.folds: found ", fold.count, ", expected 2 to ", samples,
         ", the number of sentences");
  }
  if (fold.index < 0 || fold.index >= fold.count) {
    fail(ErrorCode::usage, "data.fold: found ", fold.index, ", expected 0 to ", fold.count - 1);
  }
  Random random(fold.seed, kFoldStream);
  const std::vector<std::int64_t> order = permutation(samples, random);
  std::vector<bool> is_member(order.size(), false);
  for (auto place = static_cast<std::size_t>(fold.index); place < order.size();
       place += static_cast<std::size_t>(fold.count)) {
    is_member[static_cast<std::size_t>(order[place])] = true;
  }
  return is_member;
}

}  // namespace winnow
