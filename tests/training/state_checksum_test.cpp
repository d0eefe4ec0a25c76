#include "prune/training/ranks/state_checksum.h"

#include "prune/training/device.h"
#include "runtime/base/checksum.h"
#include "runtime/base/random.h"
#include "tests/training/torch_doctest.h"

namespace winnow {
namespace {

constexpr std::size_t kRow = 1024;

// The definition, value by value: of bytes, as masks are.
std::uint32_t plain_checksum(const std::vector<std::uint8_t>& bytes) {
  std::vector<std::uint64_t> sums(bytes.size() / kRow + 1);  // the last one of what is left
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    sums[i / kRow] += bytes[i] * (mix_bits(i % kRow + 1) | 1);
  }
  return crc32c(std::as_bytes(std::span(sums)));
}

// Of each size of elements, with ragged ends.
std::vector<torch::Tensor> various_tensors() {
  torch::manual_seed(3);
  return {torch::randn({3, 5, 7, 11}),        torch::randn({70, 30}).to(torch::kBFloat16),
          torch::rand({2048}) > 0.5,          torch::randint(255, {1500}, torch::kByte),
          torch::randn({33}, torch::kDouble), torch::tensor(-2.5F)};
}

TEST_CASE("a checksum is the CRC of the rows' weighted sums") {
  for (const std::size_t count : {0U, 1U, 1023U, 1024U, 1025U, 5000U}) {
    CAPTURE(count);
    SplitMix64 random(count);
    std::vector<std::uint8_t> bytes(count);
    for (std::uint8_t& byte : bytes) byte = static_cast<std::uint8_t>(random.next());
    const torch::Tensor tensor =
        torch::from_blob(bytes.data(), {static_cast<std::int64_t>(count)}, torch::kByte);
    CHECK(checksum({tensor}) == plain_checksum(bytes));
  }
  CHECK(checksum({}) == crc32c({}));
}

TEST_CASE("a checksum sees every bit and every exchange, and no layout") {
  const torch::Tensor values = torch::randn({2, 3, 16, 16});
  const std::uint32_t before = checksum({values});
  CHECK(checksum({values.contiguous(torch::MemoryFormat::ChannelsLast)}) == before);
  CHECK(checksum({values.neg().neg()}) == before);
  for (const std::int64_t at : {0, 1, 1023, 1024, 1535}) {
    for (const int bit : {0, 17, 31}) {
      torch::Tensor other = values.clone();
      other.flatten().view(torch::kInt)[at].bitwise_xor_(
          torch::tensor(static_cast<std::int32_t>(1U << static_cast<unsigned>(bit))));
      CHECK(checksum({other}) != before);
    }
  }
  torch::Tensor mask = torch::zeros({64, 8}, torch::kByte);
  mask[3][1] = 1;
  torch::Tensor moved = torch::zeros({64, 8}, torch::kByte);
  moved[3][2] = 1;
  CHECK(checksum({mask}) != checksum({moved}));
}

TEST_CASE("a checksum on a GPU is that on the CPU") {
  const torch::Device device = resolve_device("auto");
  if (!device.is_cuda()) {
    MESSAGE("skipped: no GPU");
    return;
  }
  const std::vector<torch::Tensor> here = various_tensors();
  std::vector<torch::Tensor> there;
  for (const torch::Tensor& tensor : here) there.push_back(tensor.to(device));
  CHECK(checksum(there) == checksum(here));
}

}  // namespace
}  // namespace winnow
