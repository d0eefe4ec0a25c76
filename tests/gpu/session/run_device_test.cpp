// Runs on a caller's device memory and streams equal runs on host memory.
#include <doctest/doctest.h>

#include <string>

#include "runtime/device/buffer.h"
#include "runtime/device/graph.h"
#include "runtime/device/stream.h"
#include "runtime/gpu/session/gpu_session.h"
#include "tests/gpu/gpu_case.h"
#include "tests/gpu/session/session_models.h"
#include "tests/throws.h"

namespace winnow {
namespace {

constexpr std::int64_t kBatch = 9;
constexpr std::size_t kInputs = 3 * 13 * 11, kOutputs = 10;

std::unique_ptr<Session> chain_session(Precision precision = Precision::f32) {
  return make_gpu_session(
      model_of(chain_graph(), 1, 81),
      {.batch = kBatch, .precision = precision, .choice = KernelChoice::sparse});
}

// Device memory for one run, its output poisoned.
struct Request {
  explicit Request(const std::vector<float>& values)
      : input(upload(values)), output(upload(std::vector<float>(kBatch * kOutputs, -7.0f))) {}

  std::vector<float> result() const {
    std::vector<float> values(output.count());
    CUDA_CHECK(cudaMemcpy(values.data(), output.get(), output.bytes(), cudaMemcpyDeviceToHost));
    return values;
  }

  DeviceBuffer<float> input, output;
};

std::vector<float> on_host(Session& session, const std::vector<float>& input) {
  std::vector<float> output(kBatch * kOutputs);
  session.run(input, output);
  return output;
}

}  // namespace

TEST_CASE("a run on device memory equals one on host memory, for any number of samples") {
  if (lacks_gpu()) return;
  for (const Precision precision : {Precision::f32, Precision::f16}) {
    const auto session = chain_session(precision);
    RandomValues random(82);
    const std::vector<float> input = input_for(chain_graph(), kBatch, random);
    const std::vector<float> expected = on_host(*session, input);
    const Stream stream;
    for (std::int64_t samples = 0; samples <= kBatch; ++samples) {
      CAPTURE(samples);
      const Request request(input);
      session->run_device(request.input.get(), samples, request.output.get(), stream.get());
      stream.synchronize();
      const std::vector<float> found = request.result();
      for (std::size_t i = 0; i < found.size(); ++i) {
        const bool is_sample = i < static_cast<std::size_t>(samples) * kOutputs;
        CHECK(found[i] ==
              (is_sample ? doctest::Approx(expected[i]).epsilon(1e-3) : doctest::Approx(-7)));
      }
    }
  }
}

TEST_CASE("runs on device memory follow each other on whatever streams") {
  if (lacks_gpu()) return;
  const auto session = chain_session();
  RandomValues random(83);
  constexpr int kRuns = 24;
  std::vector<std::vector<float>> inputs, expected;
  std::vector<Request> requests;
  for (int i = 0; i < kRuns; ++i) {
    inputs.push_back(input_for(chain_graph(), kBatch, random));
    expected.push_back(on_host(*session, inputs.back()));
    requests.emplace_back(inputs.back());
  }
  const Stream streams[3];
  for (int i = 0; i < kRuns; ++i) {
    cudaStream_t stream = i % 4 == 3 ? nullptr : streams[i % 4].get();
    session->run_device(requests[i].input.get(), kBatch, requests[i].output.get(), stream);
  }
  // A run on host memory follows them, and does not disturb them.
  CHECK(on_host(*session, inputs[0]) == expected[0]);
  for (const Stream& stream : streams) stream.synchronize();
  CUDA_CHECK(cudaStreamSynchronize(nullptr));
  for (int i = 0; i < kRuns; ++i) {
    CAPTURE(i);
    CHECK(requests[i].result() == expected[i]);
  }
}

TEST_CASE("a run on device memory may be recorded by its caller") {
  if (lacks_gpu()) return;
  const auto session = chain_session(Precision::f16);
  RandomValues random(84);
  const std::vector<float> first = input_for(chain_graph(), kBatch, random);
  const std::vector<float> second = input_for(chain_graph(), kBatch, random);
  const std::vector<float> expected_first = on_host(*session, first);
  const std::vector<float> expected_second = on_host(*session, second);
  const Request request(first);
  const Stream stream;
  const DeviceGraph graph = DeviceGraph::capture(stream.get(), [&] {
    session->run_device(request.input.get(), kBatch, request.output.get(), stream.get());
  });
  CHECK(request.result() == std::vector<float>(kBatch * kOutputs, -7.0f));
  graph.launch(stream.get());
  stream.synchronize();
  CHECK(request.result() == expected_first);
  copy_to_device(request.input.get(), second.data(), request.input.bytes());
  graph.launch(stream.get());
  stream.synchronize();
  CHECK(request.result() == expected_second);
  CHECK(on_host(*session, first) == expected_first);
}

TEST_CASE("a run on device memory refuses other memory and too many samples") {
  if (lacks_gpu()) return;
  const auto session = chain_session();
  std::vector<float> host(kBatch * kInputs);
  const PinnedBuffer<float> pinned(kBatch * kInputs);
  const Request request(host);
  const auto refusal = [&](const float* input, std::int64_t samples, float* output) {
    const auto run = [&] { session->run_device(input, samples, output, nullptr); };
    CHECK(error_of(run) == ErrorCode::usage);
    return message_of(run);
  };
  float* output = request.output.get();
  CHECK(refusal(host.data(), 1, output) ==
        "run_device: input: found a pointer to host memory, expected memory of GPU 0");
  CHECK(refusal(pinned.values().data(), 1, output).find("host memory") != std::string::npos);
  CHECK(refusal(request.input.get(), 1, host.data()) ==
        "run_device: output: found a pointer to host memory, expected memory of GPU 0");
  CHECK(refusal(request.input.get(), 10, output) ==
        "run_device: found 10 samples, expected 0 to the batch of 9");
  CHECK(refusal(request.input.get(), -1, output) ==
        "run_device: found -1 samples, expected 0 to the batch of 9");
  void* managed = nullptr;
  CUDA_CHECK(cudaMallocManaged(&managed, request.input.bytes()));
  CHECK_FALSE(error_of([&] {
                session->run_device(static_cast<float*>(managed), 0, output, nullptr);
              }).has_value());
  CUDA_CHECK(cudaFree(managed));
}

}  // namespace winnow
