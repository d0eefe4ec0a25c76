#include "runtime/device/overlapping_launch.h"

#include <doctest/doctest.h>

#include <vector>

#include "runtime/device/stream.h"
#include "runtime/gpu/pointwise/elementwise.h"
#include "tests/gpu/device_tensor.h"
#include "tests/gpu/gpu_case.h"
#include "tests/gpu/random_values.h"

namespace winnow {
namespace {

// How many edges of a captured graph let the later kernel begin early, and how many do not.
struct Edges {
  int programmatic = 0, full = 0;
};

#if CUDART_VERSION >= 12030
Edges edges_of(cudaGraph_t graph) {
#if CUDART_VERSION >= 13000
  const auto get = cudaGraphGetEdges;
#else
  const auto get = cudaGraphGetEdges_v2;
#endif
  std::size_t count = 0;
  CUDA_CHECK(get(graph, nullptr, nullptr, nullptr, &count));
  std::vector<cudaGraphNode_t> from(count), to(count);
  std::vector<cudaGraphEdgeData> data(count);
  CUDA_CHECK(get(graph, from.data(), to.data(), data.data(), &count));
  Edges edges;
  for (const cudaGraphEdgeData& edge : data) {
    ++(edge.type == cudaGraphDependencyTypeProgrammatic ? edges.programmatic : edges.full);
  }
  return edges;
}

template <typename Enqueue>
Edges captured_edges(cudaStream_t stream, Enqueue enqueue) {
  CUDA_CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
  enqueue();
  cudaGraph_t graph = nullptr;
  CUDA_CHECK(cudaStreamEndCapture(stream, &graph));
  const Edges edges = edges_of(graph);
  CUDA_CHECK(cudaGraphDestroy(graph));
  return edges;
}
#endif

}  // namespace

#if CUDART_VERSION >= 12030
TEST_CASE("a captured graph lets kernels of ours begin early, and nothing around copies") {
  if (lacks_gpu()) return;
  RandomValues random(61);
  const DeviceTensor a({}, random.array({2, 3, 4, 4})), b({}, {2, 3, 4, 4}), c({}, {2, 3, 4, 4});
  const Stream stream;
  const auto copy = [&](const DeviceTensor& from, const DeviceTensor& to) {
    const ActivationView view = from.view();
    add(std::span(&view, 1), {}, to.view(), stream.get());
  };
  const Edges edges = captured_edges(stream.get(), [&] {
    copy(a, b);
    copy(b, c);
    CUDA_CHECK(cudaMemcpyAsync(b.view().data, c.view().data, 4 * 96, cudaMemcpyDeviceToDevice,
                               stream.get()));
    copy(b, c);
  });
  CHECK(edges.programmatic == (can_overlap() ? 1 : 0));
  CHECK(edges.full == (can_overlap() ? 2 : 3));
}
#endif

// Each launch overwrites what the one before it reads: without the waits values would mix.
TEST_CASE("launches that begin early keep memory that is used in turn apart") {
  if (lacks_gpu()) return;
  RandomValues random(62);
  const reference::Array values = random.array({64, 32, 16, 16});
  const DeviceTensor a({}, values), b({}, values.shape);
  const Stream stream;
  const auto doubled = [&](const DeviceTensor& from, const DeviceTensor& to) {
    const ActivationView views[2] = {from.view(), from.view()};
    add(views, {}, to.view(), stream.get());
  };
  CUDA_CHECK(cudaDeviceSynchronize());
  for (int i = 0; i < 8; ++i) i % 2 == 0 ? doubled(a, b) : doubled(b, a);
  stream.synchronize();
  std::vector<float> expected = values.values;
  for (float& value : expected) value *= 256;
  CHECK(a.values() == expected);
}

}  // namespace winnow
