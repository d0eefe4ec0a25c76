// Outputs among which the next member of a set is sought (access_order.h), with how often each
// reads every bank group. Pure host code.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace winnow {

inline constexpr std::uint32_t kMostBankGroups = 8;

using BankCounts = std::array<std::uint32_t, kMostBankGroups>;  // reads by bank group

class LevelWindow {
 public:
  static constexpr std::size_t kMost = 256;  // outputs

  explicit LevelWindow(std::uint32_t bank_groups);

  bool is_full() const { return output_.size() == kMost; }
  bool is_empty() const { return output_.empty(); }

  // Behind the others. Requires !is_full().
  void push(std::uint32_t output, const BankCounts& counts);

  // Which of the outputs, added to reads of so many, leaves the bank groups most even: with the
  // least sum of squared differences from their mean, the first of several. Requires !is_empty().
  std::size_t most_even(const BankCounts& total) const;

  // Takes an output out; the others keep their order.
  std::uint32_t take(std::size_t i);

 private:
  // By bank group, then by output, so that several outputs are compared at a time. Rows go on
  // beyond the last output up to a multiple of kAtOnce.
  static constexpr std::size_t kAtOnce = 8;
  using Row = std::array<float, kMost>;

  std::uint32_t bank_groups_;
  std::vector<std::uint32_t> output_;
  std::array<Row, kMostBankGroups> count_{};
  Row own_{};  // what an output's unevenness has in it that no total changes
};

}  // namespace winnow
