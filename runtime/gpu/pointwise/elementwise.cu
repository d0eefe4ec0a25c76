#include "runtime/gpu/pointwise/elementwise.h"

#include <algorithm>
#include <vector>

#include "runtime/device/cuda_check.h"
#include "runtime/gpu/layer/indexing.cuh"

namespace winnow {
namespace {

// ---------------------------------------------------------------------------------- device

template <typename T>
struct AddInputs {
  DeviceView<const T> views[kAddInputs];
  int count = 0;
};

template <typename T>
__global__ void __launch_bounds__(kElementThreads)
    add_kernel(const AddInputs<T> in, DeviceView<T> out, bool has_relu, Unraveler order) {
  for_each_element(order, [&](const Coordinates& at) {
    float sum = 0.0f;
#pragma unroll
    for (int i = 0; i < kAddInputs; ++i) {
      if (i < in.count) {
        const DeviceView<const T>& view = in.views[i];
        sum += widen(view.origin[view.offset(at.n, at.c, at.y, at.x)]);
      }
    }
    if (has_relu && sum < 0.0f) sum = 0.0f;  // NaN stays
    out.origin[out.offset(at.n, at.c, at.y, at.x)] = narrow<T>(sum);
  });
}

// ------------------------------------------------------------------------------------ host

template <typename T>
void launch_add(std::span<const ActivationView> in, bool has_relu, const ActivationView& out,
                cudaStream_t stream) {
  AddInputs<T> inputs;
  for (const ActivationView& view : in) inputs.views[inputs.count++] = device_view<const T>(view);
  const Unraveler order(out.format.layout, out.size);
  add_kernel<T><<<element_grid(order), kElementThreads, 0, stream>>>(inputs, device_view<T>(out),
                                                                     has_relu, order);
  CUDA_CHECK(cudaGetLastError());
}

}  // namespace

void add(std::span<const ActivationView> in, bool has_relu, const ActivationView& out,
         cudaStream_t stream) {
  if (in.empty()) fail(ErrorCode::usage, "add: no inputs");
  for (const ActivationView& view : in) {
    if (view.size != out.size || view.format.precision != out.format.precision) {
      fail(ErrorCode::usage, "add: an input's size or element type is not the output's");
    }
  }
  const Extents& size = out.size;
  if (element_count({size.n, size.c, size.h, size.w}) == 0) return;

  std::vector<ActivationView> terms(in.begin(), in.end());
  while (true) {
    const std::size_t count = std::min<std::size_t>(terms.size(), kAddInputs);
    const bool is_last = count == terms.size();
    with_element(out.format.precision, [&](auto element) {
      launch_add<decltype(element)>(std::span(terms).first(count), has_relu && is_last, out,
                                    stream);
    });
    if (is_last) return;
    terms.erase(terms.begin() + 1, terms.begin() + static_cast<std::ptrdiff_t>(count));
    terms.front() = out;
  }
}

}  // namespace winnow
