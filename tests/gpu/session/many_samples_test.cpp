// Any number of samples, batches that are copied while others are computed, several sessions of one
// plan.
#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <thread>

#include "runtime/device/buffer.h"
#include "runtime/device/stream.h"
#include "runtime/gpu/session/gpu_session.h"
#include "runtime/gpu/session/session_plan.h"
#include "runtime/reference/reference_session.h"
#include "tests/gpu/device_tensor.h"
#include "tests/gpu/gpu_case.h"
#include "tests/gpu/session/session_models.h"
#include "tests/temporary_directory.h"
#include "tests/throws.h"

namespace winnow {
namespace {

constexpr std::int64_t kInputs = 3 * 13 * 11, kOutputs = 10;

double allowed(Precision precision) {
  return precision == Precision::f32 ? 1e-4 : 1e-2;
}

std::vector<float> reference_outputs(const DeployedModel& model, const std::vector<float>& input) {
  const std::int64_t samples = static_cast<std::int64_t>(input.size()) / kInputs;
  std::vector<float> output(static_cast<std::size_t>(samples * kOutputs));
  make_reference_session(model, {.batch = samples})->run(input, output);
  return output;
}

// All samples of `input` by run_all.
std::vector<float> outputs_of(Session& session, const std::vector<float>& input,
                              std::int64_t batch) {
  const std::int64_t samples = static_cast<std::int64_t>(input.size()) / kInputs;
  std::vector<float> output(static_cast<std::size_t>(samples * kOutputs), -7.0f);
  session.run_all({samples, batch, kInputs, kOutputs,
                   [&](std::int64_t first, std::span<float> inputs) {
                     std::copy_n(input.begin() + first * kInputs, inputs.size(), inputs.begin());
                   },
                   [&](std::int64_t first, std::span<const float> outputs) {
                     std::ranges::copy(outputs, output.begin() + first * kOutputs);
                   }});
  return output;
}

std::vector<float> first_samples(const std::vector<float>& values, std::int64_t samples,
                                 std::int64_t size) {
  return {values.begin(), values.begin() + samples * size};
}

}  // namespace

TEST_CASE("a GPU session runs any number of samples up to its batch") {
  if (lacks_gpu()) return;
  const DeployedModel model = model_of(chain_graph(), 8, 91);
  struct Case {
    Precision precision = Precision::f32;
    KernelChoice choice = KernelChoice::sparse;
  };
  for (const auto& [precision, choice] :
       {Case{Precision::f32, KernelChoice::sparse}, Case{Precision::f16, KernelChoice::measured}}) {
    constexpr std::int64_t kBatch = 21;
    const auto session = make_gpu_session(
        model, {.batch = kBatch, .precision = precision, .choice = choice, .any_batch = true});
    RandomValues random(92);
    const std::vector<float> input = input_for(model.graph, kBatch, random);
    const std::vector<float> expected = reference_outputs(model, input);
    const DeviceBuffer<float> device_in = upload(input);
    const DeviceBuffer<float> device_out(kBatch * kOutputs);
    for (std::int64_t samples = 1; samples <= kBatch; ++samples) {
      CAPTURE(samples);
      const std::vector<float> wanted = first_samples(expected, samples, kOutputs);
      const std::vector<float> found =
          outputs_of(*session, first_samples(input, samples, kInputs), kBatch);
      CHECK(relative_error(found, wanted) <= allowed(precision));
      session->run_device(device_in.get(), samples, device_out.get(), nullptr);
      CUDA_CHECK(cudaStreamSynchronize(nullptr));
      std::vector<float> on_device(wanted.size());
      CUDA_CHECK(cudaMemcpy(on_device.data(), device_out.get(), on_device.size() * sizeof(float),
                            cudaMemcpyDeviceToHost));
      CHECK(on_device == found);
    }
  }
}

TEST_CASE("a session for any batch plans powers of two, and measures nothing with a warm cache") {
  if (lacks_gpu()) return;
  const DeployedModel model = model_of(chain_graph(), 1, 93);
  SessionOptions options{.batch = 12, .any_batch = true};
  const SessionPlan plan(model, options);
  CHECK(plan.sizes() == std::vector<std::int64_t>{1, 2, 4, 8, 12});
  for (std::int64_t samples = 1; samples <= 12; ++samples) {
    std::int64_t held = 0;
    for (const std::size_t run : plan.cover(samples)) held += plan.sizes()[run];
    CHECK(held >= samples);
  }
  const TemporaryDirectory directory;
  options.timings.cache = std::make_shared<TimingCache>(directory.path());
  CHECK(make_gpu_session(model, options)->timing_counts().measured > 0);
  CHECK(make_gpu_session(model, options)->timing_counts().measured == 0);
}

TEST_CASE("a GPU session copies batches while it computes others") {
  if (lacks_gpu()) return;
  const DeployedModel model = model_of(chain_graph(), 1, 94);
  for (const bool any_batch : {false, true}) {
    const auto session = make_gpu_session(
        model, {.batch = 4, .choice = KernelChoice::sparse, .any_batch = any_batch});
    RandomValues random(95);
    const std::vector<float> input = input_for(model.graph, 43, random);
    const std::vector<float> expected = reference_outputs(model, input);
    for (const std::int64_t samples : {0, 3, 4, 5, 8, 9, 12, 43}) {
      CAPTURE(samples);
      const std::vector<float> found =
          outputs_of(*session, first_samples(input, samples, kInputs), 4);
      CHECK(relative_error(found, first_samples(expected, samples, kOutputs)) <= 1e-4);
    }
  }
}

TEST_CASE("a reader that throws ends a run of many batches, and the session goes on") {
  if (lacks_gpu()) return;
  const DeployedModel model = model_of(chain_graph(), 1, 96);
  const auto session = make_gpu_session(model, {.batch = 2, .choice = KernelChoice::sparse});
  RandomValues random(97);
  const std::vector<float> input = input_for(model.graph, 9, random);
  const auto broken = [&] {
    session->run_all({9, 2, kInputs, kOutputs,
                      [](std::int64_t first, std::span<float> inputs) {
                        std::ranges::fill(inputs, 0.5f);
                        if (first == 4) fail(ErrorCode::bad_file, "no more samples");
                      },
                      [](std::int64_t, std::span<const float>) {}});
  };
  CHECK(error_of(broken) == ErrorCode::bad_file);
  CHECK(relative_error(outputs_of(*session, input, 2), reference_outputs(model, input)) <= 1e-4);
  // Tokens are checked in every batch.
  const auto text = make_gpu_session(model_of(text_graph(), 1, 98), {.batch = 2});
  const auto wrong_token = [&] {
    text->run_all({6, 2, 9, 2,
                   [](std::int64_t first, std::span<float> inputs) {
                     std::ranges::fill(inputs, first == 4 ? 50.0f : 1.0f);
                   },
                   [](std::int64_t, std::span<const float>) {}});
  };
  CHECK(error_of(wrong_token) == ErrorCode::usage);
}

TEST_CASE("sessions that share a plan run at the same time, in threads of their own") {
  if (lacks_gpu()) return;
  const DeployedModel model = model_of(chain_graph(), 16, 99);
  constexpr std::int64_t kBatch = 6;
  constexpr int kThreads = 4, kRuns = 20;
  auto first =
      make_gpu_session(model, {.batch = kBatch, .precision = Precision::f16, .any_batch = true});
  std::vector<std::unique_ptr<Session>> sessions;
  for (int i = 0; i < kThreads; ++i) sessions.push_back(first->share());
  CHECK(sessions[0]->layers().size() == first->layers().size());
  CHECK(sessions[0]->layers()[0].kernel == first->layers()[0].kernel);
  first.reset();  // the others stay
  std::vector<std::vector<float>> inputs, expected;
  RandomValues random(100);
  for (int i = 0; i < kThreads; ++i) {
    inputs.push_back(input_for(model.graph, 15 + i, random));
    expected.push_back(outputs_of(*sessions[0], inputs.back(), kBatch));
    CHECK(relative_error(expected.back(), reference_outputs(model, inputs.back())) <= 1e-2);
  }
  std::vector<int> equal(kThreads);
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&, i] {
      for (int run = 0; run < kRuns; ++run) {
        equal[i] += outputs_of(*sessions[i], inputs[i], kBatch) == expected[i] ? 1 : 0;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (int i = 0; i < kThreads; ++i) CHECK(equal[i] == kRuns);
}

TEST_CASE("sessions that share a plan have runs under way on streams of their own") {
  if (lacks_gpu()) return;
  const DeployedModel model = model_of(chain_graph(), 1, 101);
  const auto first = make_gpu_session(model, {.batch = 4, .choice = KernelChoice::sparse});
  const auto second = first->share();
  RandomValues random(102);
  const std::vector<float> input = input_for(model.graph, 4, random);
  const std::vector<float> expected = outputs_of(*first, input, 4);
  const DeviceBuffer<float> in = upload(input);
  constexpr int kRuns = 50;
  const DeviceBuffer<float> out(2 * kRuns * expected.size());
  const Stream streams[2];
  for (int i = 0; i < 2 * kRuns; ++i) {
    Session& session = i % 2 == 0 ? *first : *second;
    session.run_device(in.get(), 4, out.get() + static_cast<std::size_t>(i) * expected.size(),
                       streams[i % 2].get());
  }
  for (const Stream& stream : streams) stream.synchronize();
  std::vector<float> found(out.count());
  CUDA_CHECK(cudaMemcpy(found.data(), out.get(), out.bytes(), cudaMemcpyDeviceToHost));
  for (int i = 0; i < 2 * kRuns; ++i) {
    const auto begin = found.begin() + static_cast<std::ptrdiff_t>(i * expected.size());
    CHECK(std::vector<float>(begin, begin + static_cast<std::ptrdiff_t>(expected.size())) ==
          expected);
  }
}

}  // namespace winnow
