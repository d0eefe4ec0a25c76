#include "runtime/gpu/gathered/column_batches.h"

#include <algorithm>
#include <deque>
#include <limits>
#include <numeric>

namespace winnow {
namespace {

constexpr int kHalf = kBatchColumns / 2;

struct Waiting {
  GatheredColumn column;
  int stage = 0;
};

using Half = std::vector<GatheredColumn>;

class Batcher {
 public:
  // Two stages leave no room to carry columns over.
  Batcher(const std::vector<StageColumns>& stages, int ring)
      : ring_(ring),
        most_carried_(ring <= 2 ? 0 : ring / 2),
        last_(static_cast<int>(stages.size()) - 1),
        last_with_fillers_(last_) {
    while (stages[static_cast<std::size_t>(last_with_fillers_)].fillers.empty())
      --last_with_fillers_;
    for (const StageColumns& stage : stages) add(stage);
  }

  std::vector<ColumnBatch> result() && { return std::move(batches_); }

 private:
  void add(const StageColumns& stage) {
    const bool is_last = stage_ == last_;
    if (!stage.fillers.empty()) fillers_ = &stage.fillers;
    for (const GatheredColumn& column : stage.columns) {
      waiting_[column.row % kBankClasses].push_back({column, stage_});
    }
    const std::size_t before = batches_.size();
    while (count() > 0 && (smallest() >= 2 || is_last || has_old())) {
      smallest() >= 2 ? take_two_of_each() : take_what_there_is(is_last || most_carried_ == 0);
    }
    release_quietly(batches_.size() == before, is_last);
    ++stage_;
  }

  std::size_t count() const {
    return std::accumulate(waiting_.begin(), waiting_.end(), std::size_t{0},
                           [](std::size_t sum, const auto& w) { return sum + w.size(); });
  }
  std::size_t smallest() const {
    return std::ranges::min(waiting_, {}, [](const auto& w) { return w.size(); }).size();
  }
  // A column whose stage must leave the ring soon.
  bool has_old() const {
    return std::ranges::any_of(waiting_, [&](const auto& w) {
      return !w.empty() && w.front().stage <= stage_ - most_carried_;
    });
  }
  std::array<int, kBankClasses> classes_by_size() const {
    std::array<int, kBankClasses> order;
    std::iota(order.begin(), order.end(), 0);
    std::ranges::stable_sort(order, std::greater(), [&](int k) { return waiting_[k].size(); });
    return order;
  }
  void take(int bank_class, Half& half) {
    half.push_back(waiting_[bank_class].front().column);
    waiting_[bank_class].pop_front();
  }

  void take_two_of_each() {
    std::array<Half, 2> halves;
    for (Half& half : halves) {
      for (int k = 0; k < kBankClasses; ++k) take(k, half);
    }
    emit(halves);
  }

  // One of each class in each half; more of a class only where nothing may be left and the batches
  // that remain could not hold it otherwise.
  void take_what_there_is(bool takes_all) {
    std::array<Half, 2> halves;
    const std::size_t later = takes_all ? (count() + kBatchColumns - 1) / kBatchColumns - 1 : 0;
    for (int h = 0; h < 2; ++h) {
      const auto order = classes_by_size();
      for (const int k : order) {
        const auto& w = waiting_[k];
        if (w.empty()) continue;
        if (w.size() > 1 || h == 1 || takes_all || w.front().stage <= stage_ - 2)
          take(k, halves[h]);
      }
      const std::size_t room = 2 * later + (h == 0 ? 1 : 0);
      for (const int k : order) {
        while (takes_all && halves[h].size() < kHalf && waiting_[k].size() > room)
          take(k, halves[h]);
      }
    }
    emit(halves);
  }

  // A warp without batches lets go of stages too, before the ring is full of them.
  void release_quietly(bool is_quiet, bool is_last) {
    quiet_ = is_quiet ? quiet_ + 1 : 0;
    if (quiet_ == 0 || (quiet_ < std::max(1, ring_ / 2 - 1) && !is_last)) return;
    emit({});
    quiet_ = 0;
  }

  void emit(const std::array<Half, 2>& halves) {
    ColumnBatch batch;
    for (int h = 0; h < 2; ++h) fill(halves[h], batch, h * kHalf);
    batch.newest = stage_;
    batch.finished = stage_ + 1;
    for (const auto& w : waiting_) {
      for (const Waiting& column : w) batch.finished = std::min(batch.finished, column.stage);
    }
    // Later batches may have no other rows to be filled up with.
    if (stage_ < last_) batch.finished = std::min(batch.finished, last_with_fillers_);
    batches_.push_back(batch);
  }

  // Places that are left read rows of the classes that are missing, where there are such rows.
  void fill(const Half& half, ColumnBatch& batch, int first) {
    std::array<int, kBankClasses> used{};
    std::copy(half.begin(), half.end(), batch.column.begin() + first);
    for (const GatheredColumn& column : half) ++used[column.row % kBankClasses];
    for (std::size_t i = half.size(); i < kHalf; ++i) {
      const std::uint16_t row = *std::ranges::min_element(
          *fillers_, {}, [&](std::uint16_t r) { return used[r % kBankClasses]; });
      ++used[row % kBankClasses];
      batch.column[static_cast<std::size_t>(first) + i] = {kNoBlock, row};
    }
  }

  int ring_;
  int most_carried_;
  int last_;               // stage
  int last_with_fillers_;  // stage
  int stage_ = 0;
  int quiet_ = 0;
  const std::vector<std::uint16_t>* fillers_ = nullptr;
  std::array<std::deque<Waiting>, kBankClasses> waiting_;
  std::vector<ColumnBatch> batches_;
};

}  // namespace

std::vector<ColumnBatch> batch_columns(const std::vector<StageColumns>& stages, int ring) {
  return Batcher(stages, ring).result();
}

double bank_conflicts(const std::vector<ColumnBatch>& batches) {
  double reads = 0;
  for (const ColumnBatch& batch : batches) {
    for (int first = 0; first < kBatchColumns; first += kHalf) {
      std::array<int, kBankClasses> rows{};
      for (int i = first; i < first + kHalf; ++i) {
        ++rows[batch.column[static_cast<std::size_t>(i)].row % kBankClasses];
      }
      reads += std::ranges::max(rows);
    }
  }
  return batches.empty() ? 1 : reads / (2.0 * static_cast<double>(batches.size()));
}

}  // namespace winnow
