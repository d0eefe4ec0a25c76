#include "runtime/model/row_padding.h"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <vector>

namespace winnow {
namespace {

// The free columns strictly between two neighbours. A neighbour that is a kept column attracts
// pads; the borders -1 and cols do not.
struct Gap {
  std::int64_t before = -1;
  std::int64_t after = 0;
  bool is_first = false;
  bool is_last = false;

  std::int64_t free() const { return after - before - 1; }
  // How many of its columns, counted from its left end, are nearest to `before`. The middle one of
  // an odd gap counts here.
  std::int64_t left_share() const {
    if (is_first) return 0;
    return is_last ? free() : (free() + 1) / 2;
  }
};

template <typename Visit>
void for_each_gap(std::span<const std::uint32_t> kept, std::int64_t cols, Visit visit) {
  Gap gap;
  gap.is_first = true;
  for (const std::uint32_t column : kept) {
    gap.after = column;
    visit(gap);
    gap = {column, 0, false, false};
  }
  gap.after = cols;
  gap.is_last = true;
  visit(gap);
}

// Which free columns become pads: all with a distance below `limit`, and of those at `limit` the
// `rest` lowest.
struct Reach {
  std::int64_t limit = 1;
  std::int64_t rest = 0;
};

// A distance that occurs is preceded by all smaller ones, so no pad lies farther than `pads`.
Reach reach_of(std::span<const std::uint32_t> kept, std::int64_t cols, std::int64_t pads) {
  std::vector<std::int64_t> at_distance(static_cast<std::size_t>(pads) + 2);
  const auto add_run = [&](std::int64_t length) {  // one column at each distance 1..length
    if (length < 1) return;
    ++at_distance[1];
    if (length <= pads) --at_distance[static_cast<std::size_t>(length) + 1];
  };
  for_each_gap(kept, cols, [&](const Gap& gap) {
    add_run(gap.left_share());
    add_run(gap.free() - gap.left_share());
  });
  std::partial_sum(at_distance.begin(), at_distance.end(), at_distance.begin());
  Reach reach{1, pads};
  while (reach.limit <= pads) {
    const std::int64_t here = at_distance[static_cast<std::size_t>(reach.limit)];
    if (here > reach.rest) break;
    reach.rest -= here;
    ++reach.limit;
  }
  return reach;
}

}  // namespace

void pad_row(std::span<const std::uint32_t> kept, std::int64_t cols, std::span<std::uint32_t> row) {
  if (kept.empty()) {
    std::iota(row.begin(), row.end(), 0u);
    return;
  }
  if (kept.size() == row.size()) {
    std::copy(kept.begin(), kept.end(), row.begin());
    return;
  }
  Reach reach = reach_of(kept, cols, static_cast<std::int64_t>(row.size() - kept.size()));
  std::size_t next = 0;
  const auto put = [&](std::int64_t column) { row[next++] = static_cast<std::uint32_t>(column); };
  for_each_gap(kept, cols, [&](const Gap& gap) {
    const std::int64_t left = gap.left_share();
    const std::int64_t right = gap.free() - left;
    for (std::int64_t d = 1; d <= std::min(left, reach.limit - 1); ++d) put(gap.before + d);
    if (left >= reach.limit && reach.rest > 0) {
      put(gap.before + reach.limit);
      --reach.rest;
    }
    if (right >= reach.limit && reach.rest > 0) {
      put(gap.after - reach.limit);
      --reach.rest;
    }
    for (std::int64_t d = std::min(right, reach.limit - 1); d >= 1; --d) put(gap.after - d);
    if (!gap.is_last) put(gap.after);
  });
}

}  // namespace winnow
