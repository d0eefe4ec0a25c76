#include "runtime/plan/session.h"

#include <algorithm>

#include "runtime/base/error.h"

namespace winnow {

// One batch after the other; the last one is filled up with zeros.
void Session::run_all(const SampleStream& stream) {
  std::vector<float> input(static_cast<std::size_t>(stream.batch * stream.input_size));
  std::vector<float> output(static_cast<std::size_t>(stream.batch * stream.output_size));
  for (std::int64_t first = 0; first < stream.samples; first += stream.batch) {
    const std::int64_t count = std::min(stream.batch, stream.samples - first);
    const auto inputs = static_cast<std::size_t>(count * stream.input_size);
    const auto outputs = static_cast<std::size_t>(count * stream.output_size);
    stream.read(first, std::span(input).first(inputs));
    std::fill(input.begin() + static_cast<std::ptrdiff_t>(inputs), input.end(), 0.0f);
    run(input, output);
    stream.write(first, std::span<const float>(output).first(outputs));
  }
}

std::unique_ptr<Session> Session::share() const {
  fail(ErrorCode::usage, "sharing needs a GPU, the session's device is ", device());
}

void Session::run_bytes(std::span<const std::uint8_t>, std::span<float>) {
  fail(ErrorCode::usage, "this session takes no bytes");
}

void Session::run_device(const float*, std::int64_t, float*, void*) {
  fail(ErrorCode::usage, "a run on device memory needs a GPU, the session's device is ", device());
}

}  // namespace winnow
