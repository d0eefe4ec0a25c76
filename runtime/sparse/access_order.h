// Which outputs read shared memory together and in which order each reads its inputs, so that what
// is read at a time lies in different banks. Pure host code.
//
// Activations lie in shared memory as rows of R images, one row a neuron. A row has 16, 32 or 64
// bytes, so that one row fills a bank group: an 8th, a 4th or half of the 32 banks of 4 bytes.
// `bank_groups` is how many there are, 8, 4 or 2; row r lies in bank group r % bank_groups.
//
//   access  the `bank_groups` reads of a row that shared memory serves at a time
//   set     the outputs that read in the same accesses, each `reads` rows an access
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "runtime/sparse/level_window.h"
#include "runtime/sparse/sparse_layer.h"

namespace winnow {

inline constexpr std::uint32_t kNoOutput = 0xffffffffu;  // fills a set

struct AccessShape {
  std::uint32_t bank_groups = 8;  // 1, 2, 4 or 8
  std::uint32_t reads = 1;        // of an output in an access; divides bank_groups

  std::uint32_t outputs() const { return bank_groups / reads; }  // of a set
};

struct RowRead {
  std::uint32_t row = 0;
  float weight = 0;
};

class AccessOrder {
 public:
  // `position[i]` is the row of input i. Both must outlive the object. Requires a well-formed
  // layer.
  AccessOrder(const SparseLayer& layer, std::span<const std::uint32_t> position, AccessShape shape);

  // All outputs, set after set, from the longest to the shortest. A set is made of outputs whose
  // rows together are spread over the bank groups.
  std::vector<std::uint32_t> outputs_in_sets() const;

  // What the outputs of one set read, [output of the set][length], `reads` consecutive ones in an
  // access. Reads of weight 0 fill an output that has fewer connections; `length`, a multiple of
  // `reads`, must not be less than any has. Depends on the arguments alone.
  std::vector<std::vector<RowRead>> reads_of(std::span<const std::uint32_t> outputs,
                                             std::uint32_t length);

  std::uint32_t connections(std::uint32_t output) const {
    return output == kNoOutput ? 0 : layer_.row_begin[output + 1] - layer_.row_begin[output];
  }

  // Of all sets that reads_of() was asked for; as many passes of shared memory as accesses at best.
  std::uint64_t accesses() const { return accesses_; }
  std::uint64_t passes() const { return passes_; }

 private:
  std::uint32_t bank_group_of(std::uint32_t connection) const {
    return position_[layer_.input[connection]] & (shape_.bank_groups - 1);  // a power of two
  }
  std::vector<BankCounts> counts() const;
  void append_set(const std::vector<BankCounts>& counts, LevelWindow& window,
                  std::vector<std::uint32_t>& outputs) const;
  template <typename Visit>
  void for_each_by_bank_group(std::uint32_t output, Visit visit) const;
  std::vector<std::vector<std::uint32_t>> connections_of(std::span<const std::uint32_t> outputs,
                                                         std::uint32_t length) const;
  void place_access(const std::vector<std::vector<std::uint32_t>>& connections, std::uint32_t first,
                    std::vector<std::vector<RowRead>>& reads);

  const SparseLayer& layer_;
  std::span<const std::uint32_t> position_;
  AccessShape shape_;
  std::uint64_t accesses_ = 0;
  std::uint64_t passes_ = 0;
};

// The rows of the layer's outputs, if `output[r]` lies in row r: what the next layer calls
// `position`.
std::vector<std::uint32_t> positions_of(std::span<const std::uint32_t> output,
                                        std::uint32_t outputs);

}  // namespace winnow
