// Engines run here.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <span>
#include <vector>

#include "runtime/base/suggest.h"
#include "runtime/capi/guard.h"
#include "runtime/plan/layer_check.h"
#include "runtime/verify/layer_errors.h"
#include "runtime/verify/random_input.h"

using namespace winnow::capi;

namespace {

constexpr std::uint64_t kVerifySeed = 7;

// Rows of floats that an engine reads and writes, as sizes in memory.
void require_samples(const winnow::Engine& engine, int64_t samples, const char* who) {
  const int64_t largest = std::max(engine.input_size(), engine.output_size());
  const auto most = std::numeric_limits<int64_t>::max() / static_cast<int64_t>(sizeof(float));
  if (samples >= 0 && samples <= most / std::max<int64_t>(largest, 1)) return;
  winnow::fail(winnow::ErrorCode::usage, who, ": found ", samples, " samples, expected 0 to ",
               most / std::max<int64_t>(largest, 1));
}

std::vector<winnow::LayerError> errors_of(winnow_engine& engine) {
  const winnow::DeployedModel& model = engine.engine.model();
  const std::int64_t batch = engine.how.batch;
  const winnow::Shape shape = winnow::infer_shapes(model.graph, batch).front();
  return winnow::layer_errors(model, engine.engine.session(), batch,
                              winnow::random_input(model, shape, kVerifySeed), [](std::size_t) {});
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

winnow_status winnow_verify(winnow_engine* engine, double* worst) {
  return guarded([&] {
    require(engine, "winnow_verify: engine is NULL");
    const bool is_rounded = engine->how.precision == winnow::Precision::f16;
    const double tolerance = winnow::rounding_tolerance(is_rounded);
    double largest = 0;
    const winnow::LayerError* wrong = nullptr;
    const std::vector<winnow::LayerError> errors = errors_of(*engine);
    for (const winnow::LayerError& error : errors) {
      if (!wrong && !error.is_within(tolerance)) wrong = &error;
      if (!error.is_compared()) continue;
      largest = std::max(largest, error.is_finite ? error.relative : HUGE_VAL);
    }
    if (worst) *worst = largest;
    if (!wrong) return;
    winnow::fail(winnow::ErrorCode::quality, "layer ", winnow::in_quotes(wrong->plan.name), " (",
                 wrong->plan.kernel, ") differs from the reference by ", wrong->relative,
                 ", expected at most ", tolerance);
  });
}
