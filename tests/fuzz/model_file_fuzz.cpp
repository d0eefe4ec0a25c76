// Feeds damaged model files to the reader. The mutator knows the format: it damages a field or a
// section and makes the checksums right again, for with wrong ones every input ends at the first.
#include <algorithm>
#include <cstdint>

#include "runtime/base/error.h"
#include "runtime/model/model_file.h"
#include "tests/model/file_mutation.h"
#include "tests/model/sample_models.h"

namespace {

constexpr winnow::ModelFileLimits kLimits = {std::uint64_t{1} << 24};

std::vector<std::byte> bytes_of(const std::uint8_t* data, std::size_t size) {
  const auto* bytes = reinterpret_cast<const std::byte*>(data);
  return {bytes, bytes + size};
}

// Damage is done to sound files only, so that every file stays within four changes of one.
bool is_sound(const std::vector<std::byte>& file) {
  try {
    winnow::parse_model_file(file, "fuzz", kLimits);
    return true;
  } catch (const winnow::Error&) {
    return false;
  }
}

}  // namespace

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size,
                                               std::size_t max_size, unsigned seed) {
  winnow::Random random(seed);
  std::vector<std::byte> file = bytes_of(data, size);
  if (!is_sound(file)) {
    file = winnow::serialize_model_file(random.chance(0.2)
                                            ? winnow::golden_model()
                                            : winnow::random_deployed_model(random.below(1000)));
  }
  file = winnow::mutated(std::move(file), random);
  const std::size_t length = std::min(file.size(), max_size);
  std::transform(file.begin(), file.begin() + static_cast<std::ptrdiff_t>(length), data,
                 [](std::byte b) { return std::to_integer<std::uint8_t>(b); });
  return length;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    const auto model = winnow::parse_model_file(bytes_of(data, size), "fuzz", kLimits);
    const std::vector<std::byte> again = winnow::serialize_model_file(model);
    if (winnow::serialize_model_file(winnow::parse_model_file(again, "fuzz")) != again) {
      __builtin_trap();
    }
  } catch (const winnow::Error& error) {
    if (error.code() != winnow::ErrorCode::bad_file) __builtin_trap();
  }
  return 0;
}
