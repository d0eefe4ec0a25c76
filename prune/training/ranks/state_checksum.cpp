#include "prune/training/ranks/state_checksum.h"

#include <torch/types.h>

#include <span>

#include "runtime/base/checksum.h"
#include "runtime/base/error.h"
#include "runtime/base/random.h"

namespace winnow {
namespace {

constexpr std::int64_t kRow = 1024;

torch::ScalarType bits_of(std::int64_t bytes) {
  switch (bytes) {
    case 1:
      return torch::kByte;
    case 2:
      return torch::kShort;
    case 4:
      return torch::kInt;
    case 8:
      return torch::kLong;
    default:
      fail(ErrorCode::internal, "checksum: elements of ", bytes, " bytes");
  }
}

torch::Tensor odd_numbers(const torch::Device& device) {
  torch::Tensor all = torch::empty({kRow}, torch::kLong);
  const std::span<std::int64_t> values(all.data_ptr<std::int64_t>(), kRow);
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = static_cast<std::int64_t>(mix_bits(i + 1) | 1);
  }
  return all.to(device);
}

// Of whole rows, and of what is left behind them.
void append_sums(const torch::Tensor& tensor, const torch::Tensor& factors,
                 std::vector<torch::Tensor>& sums) {
  const torch::Tensor bits =
      tensor.detach().contiguous().flatten().view(bits_of(tensor.element_size()));
  const std::int64_t rows = bits.numel() / kRow, rest = bits.numel() % kRow;
  const torch::Tensor whole = bits.narrow(0, 0, rows * kRow).view({rows, kRow});
  sums.push_back((whole * factors).sum(1));
  const torch::Tensor part = bits.narrow(0, rows * kRow, rest);
  sums.push_back((part * factors.narrow(0, 0, rest)).sum(0, true));
}

}  // namespace

std::uint32_t checksum(const std::vector<torch::Tensor>& tensors) {
  const torch::NoGradGuard no_grad;
  if (tensors.empty()) return crc32c({});
  const torch::Tensor factors = odd_numbers(tensors.front().device());
  std::vector<torch::Tensor> sums;
  for (const torch::Tensor& tensor : tensors) append_sums(tensor, factors, sums);
  const torch::Tensor host = torch::cat(sums).cpu();
  return crc32c(std::as_bytes(
      std::span(host.const_data_ptr<std::int64_t>(), static_cast<std::size_t>(host.numel()))));
}

}  // namespace winnow
