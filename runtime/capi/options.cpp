#include "runtime/capi/options.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <iterator>
#include <memory>

#include "runtime/capi/guard.h"

namespace winnow::capi {
namespace {

// Each version of the struct ends with another field.
constexpr std::size_t kSizes[] = {offsetof(winnow_options, threads) + sizeof(int32_t),
                                  offsetof(winnow_options, max_model_bytes) + sizeof(uint64_t),
                                  offsetof(winnow_options, cache_folder) + sizeof(const char*),
                                  offsetof(winnow_options, fixed_batch) + sizeof(int64_t),
                                  sizeof(winnow_options)};

}  // namespace

winnow_options known_options(const winnow_options* given) {
  winnow_options known = {};
  known.struct_size = sizeof known;
  if (!given) return known;
  const std::size_t size = given->struct_size;
  if (size < kSizes[0]) {
    fail(ErrorCode::usage, "winnow_load: struct_size is ", size,
         ", expected sizeof(winnow_options), at least ", kSizes[0]);
  }
  const bool is_known_size = std::ranges::find(kSizes, size) != std::end(kSizes);
  if (size < sizeof known && !is_known_size) {
    fail(ErrorCode::usage, "winnow_load: struct_size is ", size, ", which ends within a field");
  }
  const auto* bytes = reinterpret_cast<const unsigned char*>(given);
  for (std::size_t i = sizeof known; i < size; ++i) {
    if (bytes[i] == 0) continue;
    fail(ErrorCode::usage, "winnow_load: struct_size is ", size, ", this library knows ",
         sizeof known, " bytes of options, and byte ", i, " is not 0");
  }
  std::memcpy(&known, given, std::min(size, sizeof known));
  known.struct_size = sizeof known;
  return known;
}

SessionOptions session_options(const winnow_options& options) {
  SessionOptions result;
  require(options.batch >= 0 && options.threads >= 0, "winnow_load: batch or threads is negative");
  if (options.batch > 0) result.batch = options.batch;
  result.threads = options.threads;
  result.any_batch = options.fixed_batch == 0;
  require(options.precision == WINNOW_F32 || options.precision == WINNOW_F16,
          "winnow_load: precision is neither WINNOW_F32 nor WINNOW_F16");
  if (options.precision == WINNOW_F16) result.precision = Precision::f16;
  const bool has_cache = options.cache_folder && *options.cache_folder != '\0';
  if (has_cache) result.timings.cache = std::make_shared<TimingCache>(options.cache_folder);
  return result;
}

}  // namespace winnow::capi
