#include "runtime/challenge/engines/grouped/layout/bank_order.h"

#include <algorithm>
#include <array>
#include <utility>

namespace winnow::challenge {
namespace {

// Exchanges two outputs of a group as long as that evens out what the readers find in the banks:
// the sum of squares of how many rows of a bank each reads falls with every exchange.
class BankOrder {
 public:
  BankOrder(InputGroups& groups, const InputGroups& next)
      : groups_(groups),
        readers_(readers_of(next, static_cast<std::uint32_t>(groups.output.size()))),
        rows_(next.size()) {
    for (std::uint32_t g = 0; g < groups_.size(); ++g) {
      for (std::uint32_t place = 0; place < size(g); ++place) {
        for (const std::uint32_t r : readers_.of(output(g, place))) ++rows_[r][place % kBankGroups];
      }
    }
  }

  void improve() {
    constexpr int kMostRounds = 16;
    for (int round = 0; round < kMostRounds; ++round) {
      bool is_better = false;
      for (std::uint32_t g = 0; g < groups_.size(); ++g) is_better |= improve(g);
      if (!is_better) return;
    }
  }

 private:
  std::uint32_t size(std::uint32_t g) const {
    return groups_.output_begin[g + 1] - groups_.output_begin[g];
  }
  std::uint32_t& output(std::uint32_t g, std::uint32_t place) {
    return groups_.output[groups_.output_begin[g] + place];
  }

  bool improve(std::uint32_t g) {
    bool is_better = false;
    for (std::uint32_t a = 0; a < size(g); ++a) {
      for (std::uint32_t b = a + 1; b < size(g); ++b) {
        if (a % kBankGroups == b % kBankGroups) continue;
        if (gain(output(g, a), a, b) + gain(output(g, b), b, a) <= 0) continue;
        move(output(g, a), a, b);
        move(output(g, b), b, a);
        std::swap(output(g, a), output(g, b));
        is_better = true;
      }
    }
    return is_better;
  }

  // Half of what the sum of squares loses if `output` goes to another place. Readers of both of two
  // exchanged outputs are counted twice with opposite signs, but for 2, which is against exchanges.
  int gain(std::uint32_t output, std::uint32_t from, std::uint32_t to) const {
    int gain = 0;
    for (const std::uint32_t r : readers_.of(output)) {
      gain += rows_[r][from % kBankGroups] - rows_[r][to % kBankGroups] - 1;
    }
    return gain;
  }

  void move(std::uint32_t output, std::uint32_t from, std::uint32_t to) {
    for (const std::uint32_t r : readers_.of(output)) {
      --rows_[r][from % kBankGroups];
      ++rows_[r][to % kBankGroups];
    }
  }

  InputGroups& groups_;
  GroupReaders readers_;
  std::vector<std::array<int, kBankGroups>> rows_;  // [reader]: rows of each bank that it reads
};

}  // namespace

void order_for_banks(InputGroups& groups, const InputGroups& next) {
  BankOrder(groups, next).improve();
}

}  // namespace winnow::challenge
