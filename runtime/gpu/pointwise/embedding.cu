#include "runtime/gpu/pointwise/embedding.h"

#include "runtime/device/overlapping_launch.h"
#include "runtime/gpu/layer/indexing.cuh"

namespace winnow {
namespace {

// ---------------------------------------------------------------------------------- device

template <typename T>
__global__ void __launch_bounds__(kElementThreads)
    embedding_kernel(EmbeddingTable table, const float* tokens, DeviceView<T> out,
                     Unraveler order) {
  for_each_element(order, [&](const Coordinates& at) {
    const std::int64_t length = order.width.divisor;
    const float last = static_cast<float>(table.rows - 1);
    const float token = fminf(fmaxf(tokens[at.n * length + at.x], 0.0f), last);
    const std::int64_t width = order.channels.divisor;
    const float value = table.values[static_cast<std::int64_t>(token) * width + at.c];
    out.origin[out.offset(at.n, at.c, at.y, at.x)] = narrow<T>(value);
  });
}

}  // namespace

// ------------------------------------------------------------------------------------ host

void embedding(const EmbeddingTable& table, const float* tokens, const ActivationView& out,
               cudaStream_t stream) {
  if (element_count({out.size.n, out.size.c, out.size.w}) == 0) return;
  if (table.rows <= 0) fail(ErrorCode::usage, "embedding: the table is empty");
  const Unraveler order(out.format.layout, out.size);
  with_element(out.format.precision, [&](auto element) {
    using T = decltype(element);
    launch_overlapping(embedding_kernel<T>, {element_grid(order), kElementThreads}, true, stream,
                       table, tokens, device_view<T>(out), order);
  });
}

}  // namespace winnow
