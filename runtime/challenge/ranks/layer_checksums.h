// Whether all ranks read the same network.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include "runtime/challenge/images.h"
#include "runtime/challenge/network.h"
#include "runtime/challenge/ranks/rank_group.h"

namespace winnow::challenge {

// Another network, which must outlive it; notes the checksums of the layers that are read, so that
// no layer is read twice to compare it.
class ChecksummedNetwork : public Network {
 public:
  explicit ChecksummedNetwork(const Network& network)
      : network_(network), checksums_(network.layers()) {}

  std::string name() const override { return network_.name(); }
  std::uint32_t neurons() const override { return network_.neurons(); }
  std::uint32_t layers() const override { return network_.layers(); }
  std::uint64_t connections() const override { return network_.connections(); }
  SparseLayer layer(std::uint32_t l) const override;

  // By layer; 0 of those that were not read.
  std::vector<std::uint32_t> checksums() const { return {checksums_.begin(), checksums_.end()}; }

 private:
  const Network& network_;
  mutable std::vector<std::atomic<std::uint32_t>> checksums_;
};

// CRC-32C of all that the images are.
std::uint32_t checksum_of(const SparseImages& images);

// Throws Error{usage} at all ranks, naming one that has read another layer than rank 0, and which.
void require_equal_layers(RankGroup& group, const ChecksummedNetwork& network);

}  // namespace winnow::challenge
