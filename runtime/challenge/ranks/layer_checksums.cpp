#include "runtime/challenge/ranks/layer_checksums.h"

#include <algorithm>
#include <span>

#include "runtime/base/checksum.h"
#include "runtime/challenge/ranks/packed.h"

namespace winnow::challenge {
namespace {

template <typename Value>
std::uint32_t more(const std::vector<Value>& values, std::uint32_t checksum) {
  return crc32c(std::as_bytes(std::span(values)), checksum);
}

std::uint32_t checksum_of(const SparseLayer& layer) {
  std::uint32_t checksum = more(layer.row_begin, layer.inputs);
  checksum = more(layer.input, checksum);
  checksum = more(layer.value, checksum);
  return more(layer.bias, checksum);
}

}  // namespace

SparseLayer ChecksummedNetwork::layer(std::uint32_t l) const {
  SparseLayer layer = network_.layer(l);
  checksums_[l] = checksum_of(layer);
  return layer;
}

std::uint32_t checksum_of(const SparseImages& images) {
  return more(images.neuron, more(images.row_begin, images.neurons));
}

void require_equal_layers(RankGroup& group, const ChecksummedNetwork& network) {
  const std::vector<std::string> all = group.gather(packed(network.checksums()));
  const std::vector<std::uint32_t> first = unpacked<std::uint32_t>(all.front());
  for (std::size_t rank = 1; rank < all.size(); ++rank) {
    const std::vector<std::uint32_t> here = unpacked<std::uint32_t>(all[rank]);
    const auto [a, b] = std::ranges::mismatch(first, here);
    if (a == first.end() && b == here.end()) continue;
    fail(ErrorCode::usage, group.name(static_cast<std::int64_t>(rank)),
         " has another network than rank 0: layer ", a - first.begin(), " differs");
  }
}

}  // namespace winnow::challenge
