#include "quantize/optimal_runs.h"

#include <algorithm>
#include <cstdint>
#include <limits>

#include "runtime/base/error.h"

namespace winnow {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// Error of any run in constant time, from prefix sums.
class RunErrors {
 public:
  explicit RunErrors(std::span<const WeightedValue> values) {
    // Sums around the middle of the range lose fewer digits to cancellation.
    const double middle = values.empty() ? 0 : (values.front().value + values.back().value) / 2;
    sums_.resize(values.size() + 1);
    for (std::size_t i = 0; i < values.size(); ++i) {
      const double x = values[i].value - middle;
      const double count = values[i].count;
      sums_[i + 1] = {sums_[i].count + count, sums_[i].first + count * x,
                      sums_[i].second + count * x * x};
    }
  }

  double operator()(std::size_t begin, std::size_t end) const {
    if (end - begin < 2) return 0;
    const double count = sums_[end].count - sums_[begin].count;
    const double first = sums_[end].first - sums_[begin].first;
    const double second = sums_[end].second - sums_[begin].second;
    return std::max(0.0, second - first * first / count);
  }

 private:
  struct Sums {
    double count = 0;
    double first = 0;   // of count x
    double second = 0;  // of count x^2
  };
  std::vector<Sums> sums_;
};

// One row of the table: least error of splitting the first `end` values into one run more than the
// row before, for every end, and where the last run then begins.
class NextRow {
 public:
  NextRow(const RunErrors& errors, const std::vector<double>& before, std::size_t runs)
      : errors_(errors),
        before_(before),
        least_(before.size(), kInfinity),
        begin_(before.size(), 0) {
    solve({runs, before.size()}, {runs - 1, before.size() - 1});
  }

  std::vector<double> take_least() { return std::move(least_); }
  std::vector<std::uint32_t> take_begin() { return std::move(begin_); }

 private:
  struct Range {
    std::size_t first;
    std::size_t last;  // not included
  };

  // Fills the ends in `ends`, whose last runs begin in `begins`.
  void solve(Range ends, Range begins) {
    if (ends.first >= ends.last) return;
    const std::size_t end = ends.first + (ends.last - ends.first) / 2;
    std::size_t best = begins.first;
    const std::size_t last = std::min(begins.last, end);
    for (std::size_t begin = begins.first; begin < last; ++begin) {
      const double error = before_[begin] + errors_(begin, end);
      if (error < least_[end]) {
        least_[end] = error;
        best = begin;
      }
    }
    begin_[end] = static_cast<std::uint32_t>(best);
    solve({ends.first, end}, {begins.first, best + 1});
    solve({end + 1, ends.last}, {best, begins.last});
  }

  const RunErrors& errors_;
  const std::vector<double>& before_;
  std::vector<double> least_;
  std::vector<std::uint32_t> begin_;
};

void require_increasing(std::span<const WeightedValue> values) {
  for (std::size_t i = 1; i < values.size(); ++i) {
    if (!(values[i - 1].value < values[i].value)) {
      fail(ErrorCode::usage, "clustering: value ", i, " is not above the one before");
    }
  }
}

}  // namespace

double run_error(std::span<const WeightedValue> values, std::size_t begin, std::size_t end) {
  return RunErrors(values.subspan(begin, end - begin))(0, end - begin);
}

std::vector<std::size_t> optimal_runs(std::span<const WeightedValue> values, int clusters) {
  if (clusters < 1) fail(ErrorCode::usage, "clustering: ", clusters, " clusters, expected 1");
  require_increasing(values);
  const std::size_t n = values.size();
  const std::size_t runs = std::min(n, static_cast<std::size_t>(clusters));
  if (runs == n) {  // every value alone, and no table for nothing
    std::vector<std::size_t> begin(n + 1);
    for (std::size_t i = 0; i <= n; ++i) begin[i] = i;
    return begin;
  }

  const RunErrors errors(values);
  std::vector<double> least(n + 1);
  for (std::size_t end = 0; end <= n; ++end) least[end] = errors(0, end);
  std::vector<std::vector<std::uint32_t>> last_begin = {std::vector<std::uint32_t>(n + 1, 0)};
  for (std::size_t run = 2; run <= runs; ++run) {
    NextRow row(errors, least, run);
    least = row.take_least();
    last_begin.push_back(row.take_begin());
  }

  std::vector<std::size_t> begin(runs + 1, n);
  for (std::size_t run = runs; run-- > 0;) begin[run] = last_begin[run][begin[run + 1]];
  return begin;
}

}  // namespace winnow
