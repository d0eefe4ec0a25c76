#include "runtime/sparse/slice_order.h"

#include <algorithm>
#include <utility>

namespace winnow {

SliceOrder order_slices(const AccessOrder& accesses, std::vector<std::uint32_t> output,
                        std::uint32_t slice_outputs, std::uint32_t step_reads, std::uint32_t unroll,
                        const AppendSlice& append) {
  SliceOrder order;
  order.slice_outputs = slice_outputs;
  order.output = std::move(output);
  const std::uint32_t multiple = step_reads * unroll;
  for (std::size_t first = 0; first < order.output.size(); first += slice_outputs) {
    const auto outputs = std::span(order.output).subspan(first, slice_outputs);
    std::uint32_t longest = 1;  // whoever reads them takes steps before it looks for more
    for (const std::uint32_t o : outputs) longest = std::max(longest, accesses.connections(o));
    const std::uint32_t length = (longest + multiple - 1) / multiple * multiple;
    append(outputs, length, order);
    order.steps.push_back(length / step_reads);
  }
  order.accesses = accesses.accesses();
  order.passes = accesses.passes();
  return order;
}

void fill_slice(std::vector<std::uint32_t>& output, std::uint32_t slice_outputs) {
  while (output.size() % slice_outputs != 0) output.push_back(kNoOutput);
}

}  // namespace winnow
