// The C ABI on device memory, from a program with a CUDA runtime of its own.
#include <cuda_runtime_api.h>
#include <doctest/doctest.h>

#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include "winnow.h"

namespace {

// Whether the case must end here because there is no GPU. ctest counts it as skipped; where a GPU
// is required (-DWINNOW_GPU_REQUIRED=ON) it fails instead.
bool lacks_gpu() {
  int count = 0;
  if (cudaGetDeviceCount(&count) == cudaSuccess && count > 0) return false;
#ifdef WINNOW_GPU_REQUIRED
  FAIL("a GPU is required");
#endif
  std::printf("skipped: no GPU\n");
  return true;
}

winnow_engine* load(std::int64_t batch, winnow_precision precision) {
  winnow_options options = {};
  options.struct_size = sizeof options;
  options.device = "cuda";
  options.batch = batch;
  options.precision = precision;
  winnow_engine* engine = nullptr;
  const winnow_status status = winnow_load(WINNOW_GOLDEN_MODEL, &options, &engine);
  INFO(winnow_last_error());
  REQUIRE(status == WINNOW_OK);
  return engine;
}

// Samples in device memory; 0.25, 0.5, ... repeated.
struct Samples {
  Samples(winnow_engine* engine, std::int64_t count) {
    host.resize(static_cast<std::size_t>(count * winnow_input_size(engine)));
    for (std::size_t i = 0; i < host.size(); ++i) host[i] = 0.25f * static_cast<float>(i % 7);
    result.resize(static_cast<std::size_t>(count * winnow_output_size(engine)));
    input = allocate(host.size());
    output = allocate(result.size());
    REQUIRE(cudaMemcpy(input, host.data(), host.size() * sizeof(float), cudaMemcpyDefault) ==
            cudaSuccess);
  }
  ~Samples() {
    cudaFree(input);
    cudaFree(output);
  }
  static float* allocate(std::size_t floats) {
    void* data = nullptr;
    REQUIRE(cudaMalloc(&data, floats * sizeof(float)) == cudaSuccess);
    return static_cast<float*>(data);
  }
  std::vector<float> download() {
    CHECK(cudaMemcpy(result.data(), output, result.size() * sizeof(float), cudaMemcpyDefault) ==
          cudaSuccess);
    return result;
  }

  std::vector<float> host, result;
  float* input = nullptr;
  float* output = nullptr;
};

}  // namespace

TEST_CASE("the C ABI runs on device memory and a caller's stream") {
  if (lacks_gpu()) return;
  for (const winnow_precision precision : {WINNOW_F32, WINNOW_F16}) {
    winnow_engine* engine = load(4, precision);
    Samples samples(engine, 4);
    std::vector<float> expected(samples.result.size());
    REQUIRE(winnow_run(engine, samples.host.data(), 4, expected.data()) == WINNOW_OK);
    cudaStream_t stream = nullptr;
    REQUIRE(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking) == cudaSuccess);
    for (cudaStream_t on : {stream, cudaStream_t{nullptr}}) {
      REQUIRE(cudaMemset(samples.output, 0xff, samples.result.size() * sizeof(float)) ==
              cudaSuccess);
      REQUIRE(cudaDeviceSynchronize() == cudaSuccess);
      CHECK(winnow_run_device(engine, samples.input, 4, samples.output, on) == WINNOW_OK);
      CHECK(std::string(winnow_last_error()) == "");
      CHECK(cudaStreamSynchronize(on) == cudaSuccess);
      CHECK(samples.download() == expected);
    }
    CHECK(cudaStreamDestroy(stream) == cudaSuccess);
    winnow_free(engine);
  }
}

TEST_CASE("a run of the C ABI can be recorded into a caller's graph") {
  if (lacks_gpu()) return;
  winnow_engine* engine = load(2, WINNOW_F32);
  Samples samples(engine, 2);
  std::vector<float> expected(samples.result.size());
  REQUIRE(winnow_run(engine, samples.host.data(), 2, expected.data()) == WINNOW_OK);
  cudaStream_t stream = nullptr;
  REQUIRE(cudaStreamCreate(&stream) == cudaSuccess);
  REQUIRE(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal) == cudaSuccess);
  CHECK(winnow_run_device(engine, samples.input, 2, samples.output, stream) == WINNOW_OK);
  INFO(winnow_last_error());
  cudaGraph_t graph = nullptr;
  REQUIRE(cudaStreamEndCapture(stream, &graph) == cudaSuccess);
  cudaGraphExec_t executable = nullptr;
  REQUIRE(cudaGraphInstantiate(&executable, graph, 0) == cudaSuccess);
  for (int i = 0; i < 2; ++i) {
    REQUIRE(cudaMemset(samples.output, 0xff, samples.result.size() * sizeof(float)) == cudaSuccess);
    CHECK(cudaGraphLaunch(executable, stream) == cudaSuccess);
    CHECK(cudaStreamSynchronize(stream) == cudaSuccess);
    CHECK(samples.download() == expected);
  }
  cudaGraphExecDestroy(executable);
  cudaGraphDestroy(graph);
  cudaStreamDestroy(stream);
  winnow_free(engine);
}

TEST_CASE("the C ABI shares an engine, and runs fewer samples than a batch") {
  if (lacks_gpu()) return;
  winnow_engine* engine = load(8, WINNOW_F32);
  Samples samples(engine, 8);
  std::vector<float> expected(samples.result.size());
  REQUIRE(winnow_run(engine, samples.host.data(), 8, expected.data()) == WINNOW_OK);
  winnow_engine* shared = nullptr;
  REQUIRE(winnow_share(engine, &shared) == WINNOW_OK);
  CHECK(std::string(winnow_device(shared)) == winnow_device(engine));
  winnow_free(engine);
  const auto outputs = static_cast<std::size_t>(winnow_output_size(shared));
  for (std::int64_t count = 1; count <= 8; ++count) {
    CAPTURE(count);
    CHECK(winnow_run_device(shared, samples.input, count, samples.output, nullptr) == WINNOW_OK);
    CHECK(cudaStreamSynchronize(nullptr) == cudaSuccess);
    const std::vector<float> found = samples.download();
    for (std::size_t i = 0; i < static_cast<std::size_t>(count) * outputs; ++i) {
      CHECK(found[i] == doctest::Approx(expected[i]).epsilon(1e-5));
    }
  }
  winnow_free(shared);
}

TEST_CASE("a run of the C ABI on device memory refuses what it cannot do") {
  if (lacks_gpu()) return;
  winnow_engine* engine = load(2, WINNOW_F32);
  Samples samples(engine, 2);
  const auto refusal = [&](const float* input, std::int64_t count, float* output) {
    CHECK(winnow_run_device(engine, input, count, output, nullptr) == WINNOW_USAGE);
    return std::string(winnow_last_error());
  };
  CHECK(refusal(nullptr, 1, samples.output) ==
        "winnow_run_device: engine, input or output is NULL");
  CHECK(refusal(samples.input, 1, nullptr) == "winnow_run_device: engine, input or output is NULL");
  CHECK(refusal(samples.input, 3, samples.output) ==
        "run_device: found 3 samples, expected 0 to the batch of 2");
  CHECK(refusal(samples.host.data(), 1, samples.output) ==
        "run_device: input: found a pointer to host memory, expected memory of GPU 0");
  winnow_free(engine);
}
