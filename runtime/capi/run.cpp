// Engines run here.
#include <algorithm>
#include <cstddef>
#include <limits>
#include <span>

#include "runtime/capi/guard.h"
#include "runtime/verify/verify.h"

using namespace winnow::capi;

namespace {

// Rows of floats that an engine reads and writes, as sizes in memory.
void require_samples(const winnow::Engine& engine, int64_t samples, const char* who) {
  const int64_t largest = std::max(engine.input_size(), engine.output_size());
  const auto most = std::numeric_limits<int64_t>::max() / static_cast<int64_t>(sizeof(float));
  if (samples >= 0 && samples <= most / std::max<int64_t>(largest, 1)) return;
  winnow::fail(winnow::ErrorCode::usage, who, ": found ", samples, " samples, expected 0 to ",
               most / std::max<int64_t>(largest, 1));
}

}  // namespace

winnow_status winnow_run(winnow_engine* engine, const float* input, int64_t samples,
                         float* output) {
  return guarded([&] {
    require(engine && input && output, "winnow_run: engine, input or output is NULL");
    winnow::Engine& target = engine->engine;
    require_samples(target, samples, "winnow_run");
    target.run({input, static_cast<std::size_t>(samples * target.input_size())},
               {output, static_cast<std::size_t>(samples * target.output_size())});
  });
}

winnow_status winnow_run_device(winnow_engine* engine, const float* input, int64_t samples,
                                float* output, void* stream) {
  return guarded([&] {
    require(engine && input && output, "winnow_run_device: engine, input or output is NULL");
    engine->engine.run_device(input, samples, output, stream);
  });
}

winnow_status winnow_run_bytes(winnow_engine* engine, const uint8_t* bytes, int64_t samples,
                               float* output) {
  return guarded([&] {
    require(engine && bytes && output, "winnow_run_bytes: engine, bytes or output is NULL");
    winnow::Engine& target = engine->engine;
    require_samples(target, samples, "winnow_run_bytes");
    const auto read = [&](std::int64_t first, std::span<std::uint8_t> batch) {
      std::copy_n(bytes + first * target.input_size(), batch.size(), batch.begin());
    };
    const auto write = [&](std::int64_t first, std::span<const float> outputs) {
      std::ranges::copy(outputs, output + first * target.output_size());
    };
    target.run_bytes(samples, read, write);
  });
}

winnow_status winnow_tokenize(const winnow_engine* engine, const char* sentence, float* input,
                              int64_t* unknown) {
  return guarded([&] {
    require(engine && sentence && input, "winnow_tokenize: engine, sentence or input is NULL");
    const winnow::Engine& target = engine->engine;
    const winnow::TokenSentence tokens =
        target.tokenize(sentence, {input, static_cast<std::size_t>(target.input_size())});
    if (unknown) *unknown = tokens.unknown;
  });
}

winnow_status winnow_verify(winnow_engine* engine, double* worst) {
  return guarded([&] {
    require(engine, "winnow_verify: engine is NULL");
    winnow::Engine& target = engine->engine;
    const double largest = winnow::verify_session(target.model(), target.session(), engine->how);
    if (worst) *worst = largest;
  });
}
