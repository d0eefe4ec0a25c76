#include "runtime/text/folds.h"

#include <cinttypes>
#include <cstdio>

#include "runtime/base/error.h"
#include "runtime/base/random.h"

namespace winnow {
namespace {

// Apart from the streams of batches and the validation split (prune/data/partition.cpp), which have
// the same seed.
constexpr std::uint64_t kFoldStream = std::uint64_t{4} << 32;

}  // namespace

std::string to_string(const FoldRecord& record) {
  return std::to_string(record.fold.index) + " of " + std::to_string(record.fold.count) +
         ", seed " + std::to_string(record.fold.seed) + ", " + std::to_string(record.samples) +
         " sentences";
}

std::optional<FoldRecord> recorded_fold(const std::map<std::string, std::string>& metadata) {
  const auto found = metadata.find(kDataFoldKey);
  if (found == metadata.end()) return std::nullopt;
  FoldRecord record;
  std::sscanf(found->second.c_str(),
              "%" SCNd64 " of %" SCNd64 ", seed %" SCNu64 ", %" SCNd64 " sentences",
              &record.fold.index, &record.fold.count, &record.fold.seed, &record.samples);
  if (to_string(record) != found->second) return std::nullopt;
  return record;
}

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
