#include "runtime/gpu/pointwise/elementwise.h"

#include <algorithm>
#include <vector>

#include "runtime/device/overlapping_launch.h"
#include "runtime/gpu/layer/octet_grid.cuh"

namespace winnow {
namespace {

// ---------------------------------------------------------------------------------- device

template <typename T>
struct AddInputs {
  DeviceView<const T> views[kAddInputs];
  int count = 0;
};

// What is not a number compares as false and stays.
__device__ __forceinline__ float limited(float x, const ActivationLimits& limits) {
  x = x < limits.least ? limits.least : x;
  return x > limits.most ? limits.most : x;
}

template <typename T>
__global__ void __launch_bounds__(kElementThreads)
    add_kernel(const AddInputs<T> in, DeviceView<T> out, ActivationLimits limits, Unraveler order) {
  for_each_element(order, [&](const Coordinates& at) {
    float sum = 0.0f;
#pragma unroll
    for (int i = 0; i < kAddInputs; ++i) {
      if (i < in.count) {
        const DeviceView<const T>& view = in.views[i];
        sum += widen(view.origin[view.offset(at.n, at.c, at.y, at.x)]);
      }
    }
    out.origin[out.offset(at.n, at.c, at.y, at.x)] = narrow<T>(limited(sum, limits));
  });
}

// Eight elements at a time, of layouts whose octets are of the same dimension.
template <typename T>
__global__ void __launch_bounds__(kElementThreads)
    add_octets_kernel(const AddInputs<T> in, DeviceView<T> out, ActivationLimits limits,
                      OctetGrid grid, bool is_aligned) {
  for_each_octet(grid, [&](const Coordinates& at, int count) {
    Octet sum{};
#pragma unroll
    for (int i = 0; i < kAddInputs; ++i) {
      if (i >= in.count) continue;
      const DeviceView<const T>& view = in.views[i];
      const Octet term =
          load_octet(view.origin + view.offset(at.n, at.c, at.y, at.x), count, is_aligned);
#pragma unroll
      for (int lane = 0; lane < kOctet; ++lane) sum.lane[lane] += term.lane[lane];
    }
#pragma unroll
    for (int lane = 0; lane < kOctet; ++lane) sum.lane[lane] = limited(sum.lane[lane], limits);
    store_octet(out.origin + out.offset(at.n, at.c, at.y, at.x), sum, count, is_aligned);
  });
}

// ------------------------------------------------------------------------------------ host

bool have_octets(std::span<const ActivationView> in, const ActivationView& out) {
  const Layout& layout = out.format.layout;
  return has_octets(layout) && std::ranges::all_of(in, [&](const ActivationView& view) {
           return view.format.layout.order == layout.order;
         });
}

template <typename T>
void launch_add(std::span<const ActivationView> in, const ActivationLimits& limits,
                const ActivationView& out, cudaStream_t stream) {
  AddInputs<T> inputs;
  for (const ActivationView& view : in) inputs.views[inputs.count++] = device_view<const T>(view);
  if (have_octets(in, out)) {
    const OctetGrid grid(out.format.layout, out.size);
    const bool is_aligned =
        has_aligned_octets(out) &&
        std::ranges::all_of(in, [](const auto& view) { return has_aligned_octets(view); });
    launch_overlapping(add_octets_kernel<T>, {element_grid(grid.order), kElementThreads}, true,
                       stream, inputs, device_view<T>(out), limits, grid, is_aligned);
    return;
  }
  const Unraveler order(out.format.layout, out.size);
  launch_overlapping(add_kernel<T>, {element_grid(order), kElementThreads}, true, stream, inputs,
                     device_view<T>(out), limits, order);
}

}  // namespace

void add(std::span<const ActivationView> in, const ActivationLimits& limits,
         const ActivationView& out, cudaStream_t stream) {
  if (in.empty()) fail(ErrorCode::usage, "add: no inputs");
  for (const ActivationView& view : in) {
    if (view.size != out.size || view.format.precision != out.format.precision) {
      fail(ErrorCode::usage, "add: an input's size or element type is not the output's");
    }
  }
  const Extents& size = out.size;
  if (element_count({size.n, size.c, size.h, size.w}) == 0) return;

  std::vector<ActivationView> terms(in.begin(), in.end());
  ActivationView target = out;
  const bool have_one_order = std::ranges::all_of(
      in, [&](const ActivationView& view) { return view.format.order == out.format.order; });
  if (have_one_order) {  // then channels are added where they lie
    std::ranges::transform(terms, terms.begin(), as_placed);
    target = as_placed(out);
  }
  while (true) {
    const std::size_t count = std::min<std::size_t>(terms.size(), kAddInputs);
    const bool is_last = count == terms.size();
    with_element(out.format.precision, [&](auto element) {
      launch_add<decltype(element)>(std::span(terms).first(count),
                                    is_last ? limits : ActivationLimits{}, target, stream);
    });
    if (is_last) return;
    terms.erase(terms.begin() + 1, terms.begin() + static_cast<std::ptrdiff_t>(count));
    terms.front() = target;
  }
}

}  // namespace winnow
