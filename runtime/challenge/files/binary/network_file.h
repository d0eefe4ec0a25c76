// Our binary form of networks (.wsn), read and written layer by layer. docs/challenge-files.md
// describes it byte by byte.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "runtime/challenge/network.h"

namespace winnow::challenge {

class PartFileWriter;

// Holds one layer at a time. The file appears as a whole with commit(), else not at all.
// Equal networks give equal files.
class NetworkFileWriter {
 public:
  // Throws Error{usage} unless 0 < neurons <= kMostNeurons and 0 < layers <= kMostLayers,
  // Error{bad_file} if `path` cannot be written.
  NetworkFileWriter(const std::string& path, std::uint32_t neurons, std::uint32_t layers);
  ~NetworkFileWriter();

  // Throws Error{usage} if the layer is malformed, does not take as many inputs as the one before
  // has outputs (the first: `neurons`), or is one too many.
  void append(const SparseLayer& layer);

  // Throws Error{usage} unless all layers were appended.
  void commit();

 private:
  std::string path_;
  std::unique_ptr<PartFileWriter> file_;
  std::uint32_t layers_;
  std::uint32_t outputs_;  // of the layer before
  std::uint64_t connections_ = 0;
};

// The first `layers` layers of a network file (0: all), memory-mapped. The header and the table of
// layers are checked at once, the bytes of a layer when it is first read.
// Throws Error{bad_file}, Error{usage} if the file holds fewer layers.
std::unique_ptr<Network> open_network_file(const std::string& path, std::uint32_t layers = 0);

// The same for a file in memory, which must outlive the network; `name` stands for the path.
std::unique_ptr<Network> open_network_bytes(std::span<const std::byte> bytes,
                                            const std::string& name, std::uint32_t layers = 0);

}  // namespace winnow::challenge
