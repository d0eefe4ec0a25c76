// Sparse weights as a model file stores them: without the blocks that the padding rule re-creates.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "runtime/model/csr.h"
#include "runtime/model/index_encoding.h"

namespace winnow {

// The stored blocks of a CsrWeight, row after row.
//
// build_csr_pattern's padding rule, applied to the stored columns of a row, gives back all columns
// of the row, and every block that is not stored has code 0 (whose value is 0). So a row stores its
// nonzero blocks; where the rule would pad them in another way, and in the first full row if no
// other row is long enough, it stores all its blocks.
struct StoredRows {
  std::vector<std::uint32_t> length;  // [rows] stored blocks; the longest row has row_length
  std::vector<std::uint32_t> column;  // [sum of length]
  std::vector<std::byte> values;      // [sum of length, vector] in the weight's encoding
};

// Requires find_defect(weight).empty().
StoredRows pack_rows(const CsrWeight& weight);

// The opposite, from bytes that may be anything. `weight` comes with everything but column and
// values.data, which are made here once `length` and `values` are known to fit.
//
//   length  [rows] stored blocks, each at most row_length
//   index   the columns of the stored blocks; read to its end
//   values  stored_bytes(encoding, sum of length * vector) bytes
//
// Names the first rule that the bytes break; empty if none.
std::string unpack_rows(CsrWeight& weight, std::span<const std::uint32_t> length, RowReader index,
                        std::span<const std::byte> values);

}  // namespace winnow
