// The deployed model file, .wnw: data only, one checksum per section. docs/model-file.md is its
// normative description.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "runtime/model/model.h"

namespace winnow {

// Bytes of memory that a model may take unless the user says otherwise.
constexpr std::uint64_t kDefaultModelBytes = std::uint64_t{8} << 30;

// What a reader grants a file. The weights of a file take this many bytes in memory at most; the
// file announces its need, and is refused before anything is allocated. Pads make weights in memory
// larger than in the file, so a small hostile file could ask for much.
struct ModelFileLimits {
  std::uint64_t decoded_bytes = kDefaultModelBytes;
};

// Called while a file is read: `done` of `all` weights.
using ModelFileProgress = std::function<void(std::size_t done, std::size_t all)>;

// Deterministic: equal models give equal bytes. Throws Error{bad_file} if parse_model_file would
// refuse the result, so that no such file is ever written.
std::vector<std::byte> serialize_model_file(const DeployedModel& model);

// Parses and checks everything a kernel relies on: lengths before allocation, checksums, columns,
// codes, shapes, graph. Throws Error{bad_file}: "name: section 3 (conv1.weight index): ...".
DeployedModel parse_model_file(std::span<const std::byte> bytes, const std::string& name,
                               const ModelFileLimits& limits = {},
                               const ModelFileProgress& progress = nullptr);

// File forms of the two; writing is atomic.
void write_model_file(const std::string& path, const DeployedModel& model);
DeployedModel read_model_file(const std::string& path, const ModelFileLimits& limits = {},
                              const ModelFileProgress& progress = nullptr);

// Bytes of each weight as stored (index, values, codebook), for reports.
struct StoredSize {
  std::string name;
  std::int64_t index_bytes = 0;
  std::int64_t value_bytes = 0;  // codebook and channel scales included
  std::int64_t dense_f32_bytes = 0;
};
std::vector<StoredSize> stored_sizes(const DeployedModel& model);

}  // namespace winnow
