#include "prune/training/torch_errors.h"

#include <c10/util/Exception.h>
#include <torch/types.h>

#include <new>

#include "tests/throws.h"
#include "tests/training/torch_doctest.h"

namespace winnow {
namespace {

// The line and the code that `body` comes to.
std::string line_of(const std::function<int()>& body, ErrorCode code) {
  const auto run = [&] { without_torch_errors(body); };
  CHECK(error_of(run) == code);
  std::string line = message_of(run);
  CAPTURE(line);
  CHECK(line.find('\n') == std::string::npos);
  return line;
}

TEST_CASE("memory that LibTorch cannot get is one line that says how much it was") {
  // More than any address space, so that no machine has it.
  const auto ask = [] { return static_cast<int>(torch::empty({std::int64_t{1} << 46}).dim()); };
  const std::string line = line_of(ask, ErrorCode::device);
  CHECK(line.find("out of memory: RAM has no room for 256.0 TiB more; ") == 0);
}

TEST_CASE("memory that a GPU does not have is one line that says how much it was") {
  const auto ask = []() -> int {
    C10_THROW_ERROR(OutOfMemoryError,
                    "CUDA out of memory. Tried to allocate 20.00 GiB. GPU 0 has a total capacity "
                    "of 139.81 GiB of which 1.5 GiB is free.\nsee the documentation");
  };
  const std::string line = line_of(ask, ErrorCode::device);
  CHECK(line.find("out of memory: the GPU has no room for 20.00 GiB more; ") == 0);
}

TEST_CASE("other failures keep the first line of what they say") {
  const std::string internal =
      line_of([]() -> int { TORCH_CHECK(false, "sizes differ\nframe 0"); }, ErrorCode::internal);
  CHECK(internal.find("internal error: LibTorch: sizes differ") == 0);
  const std::string device =
      line_of([]() -> int { TORCH_CHECK(false, "CUDA error: device-side assert\nhint"); },
              ErrorCode::device);
  CHECK(device == "CUDA error: device-side assert");
  CHECK(
      line_of([]() -> int { throw std::bad_alloc(); }, ErrorCode::device).find("out of memory: ") ==
      0);
  CHECK(line_of([]() -> int { fail(ErrorCode::usage, "mine"); }, ErrorCode::usage) == "mine");
  CHECK(without_torch_errors([] { return 7; }) == 7);
}

TEST_CASE("amounts of memory are given in the unit that fits") {
  CHECK(format_bytes(1023) == "1023 bytes");
  CHECK(format_bytes(1536) == "1.5 KiB");
  CHECK(format_bytes(3221225472.0) == "3.0 GiB");
}

}  // namespace
}  // namespace winnow
