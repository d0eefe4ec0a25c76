#include "prune/training/tensor_layout.h"

#include "tests/throws.h"
#include "tests/training/torch_doctest.h"

namespace winnow {
namespace {

TEST_CASE("strides of one element make no other layout") {
  const torch::Tensor filter = torch::rand({5, 3, 1, 1});
  CHECK(has_layout_of(filter.contiguous(torch::MemoryFormat::ChannelsLast), filter));
  const torch::Tensor wide = torch::rand({5, 3, 2, 2});
  const torch::Tensor last = wide.contiguous(torch::MemoryFormat::ChannelsLast);
  CHECK_FALSE(has_layout_of(last, wide));
  CHECK_FALSE(has_layout_of(wide, wide.narrow(0, 0, 4)));
  const torch::Tensor moved = laid_out_as(wide, last);
  CHECK(has_layout_of(moved, last));
  CHECK(torch::equal(moved, wide));
  CHECK(laid_out_as(wide, wide).is_same(wide));
}

TEST_CASE("elements in memory order are a view of the tensor") {
  const torch::Tensor values = torch::arange(24, torch::kFloat).reshape({2, 3, 2, 2});
  torch::Tensor last = values.contiguous(torch::MemoryFormat::ChannelsLast);
  const torch::Tensor flat = in_memory_order(last);
  CHECK(flat.const_data_ptr() == last.const_data_ptr());
  CHECK(torch::equal(flat, values.permute({0, 2, 3, 1}).reshape({24})));
  flat[1].fill_(-1);
  CHECK(last[0][1][0][0].item<float>() == -1);
  CHECK(torch::equal(in_memory_order(values.narrow(0, 1, 1)), values[1].flatten()));
  CHECK(in_memory_order(torch::tensor(2.0F)).sizes() == torch::IntArrayRef{1});
  const auto flatten = [&] { (void)in_memory_order(values.narrow(1, 0, 2)); };
  CHECK(error_of(flatten) == ErrorCode::internal);
}

}  // namespace
}  // namespace winnow
