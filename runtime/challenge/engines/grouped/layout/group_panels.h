// Which inputs a panel reads, and in which order a group takes its inputs, so that rows of inputs
// in shared memory are read without bank conflicts. A panel is kPanelGroups consecutive groups,
// which a thread block computes at a time. Pure host code.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "runtime/challenge/engines/grouped/layout/input_groups.h"

namespace winnow::challenge {

inline constexpr std::uint32_t kPanelGroups = 8;

// The inputs that a panel reads, each once, under local numbers from 0. Inputs that the same groups
// read come one after the other, in the order of the rows in which they lie.
class PanelInputs {
 public:
  // Of a layer that takes so many inputs. `row_of_input` names the rows in which these lie; empty:
  // input i lies in row i. Both must outlive the object.
  PanelInputs(const InputGroups& groups, std::uint32_t inputs,
              const std::vector<std::uint32_t>& row_of_input);

  // Goes to the panel of the groups [first_group, first_group + kPanelGroups). A panel without
  // inputs gets input 0: what fills a step reads it.
  void go_to(std::uint32_t first_group);

  // Of the panel, by local number.
  std::span<const std::uint32_t> inputs() const { return input_; }
  std::span<const std::uint32_t> rows() const { return row_; }

  // The local number of an input that the panel reads.
  std::uint32_t number(std::uint32_t input) const { return number_[input]; }

 private:
  struct Entry {
    std::uint32_t readers;  // bit per group
    std::uint32_t row;
    std::uint32_t input;
  };

  void add(std::uint32_t input, std::uint32_t reader);

  const InputGroups& groups_;
  const std::vector<std::uint32_t>& row_of_input_;
  std::vector<std::uint32_t> number_;  // [inputs]; none if the panel does not read it
  std::vector<std::uint32_t> input_, row_;
  std::vector<Entry> entries_;
};

// A group's inputs in the order of its columns, 16 to a fragment; the last fragment may be short.
// `local`: their local numbers, ascending.
//
// A quarter of a warp reads at a time, for one i of 0, 1, 8 and 9, the columns 2 q + i of
// q = 0 to 3. The order makes these four local numbers different modulo 4 where it can: always if
// the numbers come in sequences of 16.
std::vector<std::uint32_t> in_order_of_columns(const std::vector<std::uint32_t>& local);

}  // namespace winnow::challenge
