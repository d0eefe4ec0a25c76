#include "runtime/kernels/linear_stack.h"

#include <algorithm>
#include <limits>

#include "runtime/base/error.h"
#include "runtime/device/cuda_check.h"
#include "runtime/device/half_cast.cuh"
#include "runtime/kernels/linear_rule.cuh"
#include "runtime/stack/resident_layers.cuh"

namespace winnow {
namespace {

// ---------------------------------------------------------------------------------- device

// Row-major values of either precision.
struct Matrix {
  void* data;
  std::uint32_t features;
  bool is_half;

  __device__ __forceinline__ float at(std::size_t i) const {
    return is_half ? __half2float(__ldg(static_cast<const __half*>(data) + i))
                   : __ldg(static_cast<const float*>(data) + i);
  }
  __device__ __forceinline__ void set(std::size_t i, float value) const {
    if (is_half) {
      static_cast<__half*>(data)[i] = __float2half_rn(value);
    } else {
      static_cast<float*>(data)[i] = value;
    }
  }
};

struct StackArguments {
  ResidentView weights;
  std::uint32_t layers;
  std::uint32_t rows;  // of a buffer
  std::uint32_t images;
  Matrix x, y;
  const float* lowest;
  const std::uint32_t* result_row;
};

// A tile's inputs to rows of shared memory; zeros for images beyond the last, and in the rows that
// fill the last slice.
template <typename T, int R>
__device__ __forceinline__ void load_rows(const StackArguments& a, std::uint32_t tile,
                                          unsigned char* x) {
  constexpr int kImages = Chunk<T>::kImages;
  const std::uint32_t rows = (a.x.features + 31) / 32 * 32;
  for (std::uint32_t row = threadIdx.x; row < rows; row += kResidentThreads) {
    float value[R];
#pragma unroll
    for (std::uint32_t r = 0; r < R; ++r) {
      const std::uint32_t image = tile * R + r;
      const bool exists = row < a.x.features && image < a.images;
      value[r] = exists ? a.x.at(std::size_t{image} * a.x.features + row) : 0.0f;
    }
#pragma unroll
    for (int j = 0; j < R / kImages; ++j) {
      float chunk[kImages];
#pragma unroll
      for (int v = 0; v < kImages; ++v) chunk[v] = value[j * kImages + v];
      *reinterpret_cast<uint4*>(x + row * ResidentRow<T, R>::kBytes + j * 16) =
          Chunk<T>::pack(chunk);
    }
  }
}

// Neighbouring threads write neighbouring outputs of an image.
template <typename T, int R>
__device__ __forceinline__ void store_rows(const StackArguments& a, std::uint32_t tile,
                                           const unsigned char* x) {
  constexpr int kImages = Chunk<T>::kImages;
  for (std::uint32_t output = threadIdx.x; output < a.y.features; output += kResidentThreads) {
    const unsigned char* row = x + __ldg(a.result_row + output) * ResidentRow<T, R>::kBytes;
#pragma unroll
    for (int j = 0; j < R / kImages; ++j) {
      float value[kImages] = {};
      Chunk<T>::add(*reinterpret_cast<const uint4*>(row + j * 16), 1.0f, value);
#pragma unroll
      for (int v = 0; v < kImages; ++v) {
        const std::uint32_t image = tile * R + j * kImages + v;
        if (image < a.images) a.y.set(std::size_t{image} * a.y.features + output, value[v]);
      }
    }
  }
}

template <typename T, int R>
__global__ void __launch_bounds__(kResidentThreads, 1) linear_stack_kernel(const StackArguments a) {
  extern __shared__ __align__(128) unsigned char memory[];
  for (std::uint32_t tile = blockIdx.x; tile * R < a.images; tile += gridDim.x) {
    ResidentStream<T, R> stream(a.weights, 0);
    load_rows<T, R>(a, tile, memory);
    __syncthreads();
    ResidentBuffers buffers{memory, memory + a.rows * ResidentRow<T, R>::kBytes};
    run_layers<T, R>(a.weights, 0, a.layers, stream, buffers,
                     [&](std::uint32_t l) { return LinearRule{__ldg(a.lowest + l)}; });
    store_rows<T, R>(a, tile, buffers.x);
    __syncthreads();
  }
}

// ------------------------------------------------------------------------------------ host

constexpr std::size_t kReservedShared = 1024;  // by the driver
constexpr ResidentForm kForms[] = {{false, 16}, {false, 8}, {false, 4}, {true, 16}, {true, 8}};

class LayerList : public LayerStack {
 public:
  explicit LayerList(const std::vector<SparseLayer>& layers) : layers_(layers) {
    for (std::size_t l = 0; l + 1 < layers.size(); ++l) {
      if (layers[l].outputs() == layers[l + 1].inputs) continue;
      fail(ErrorCode::usage, "linear stack: layer ", l, " has ", layers[l].outputs(),
           " outputs, the next ", layers[l + 1].inputs, " inputs");
    }
  }
  std::uint32_t neurons() const override { return layers_.front().inputs; }
  std::uint32_t layers() const override { return static_cast<std::uint32_t>(layers_.size()); }
  SparseLayer layer(std::uint32_t l) const override { return layers_.at(l); }

 private:
  const std::vector<SparseLayer>& layers_;
};

ResidentWeights ordered(const std::vector<SparseLayer>& layers, const ResidentForm& form) {
  if (layers.empty()) fail(ErrorCode::usage, "linear stack: no layers");
  const std::vector<std::uint32_t> classes(layers.size(), form.classes());
  return ResidentWeights(LayerList(layers), classes, 0);
}

std::vector<float> lowest_values(const std::vector<bool>& has_relu) {
  std::vector<float> lowest;
  for (const bool is_relu : has_relu) lowest.push_back(lowest_output(is_relu));
  return lowest;
}

std::int64_t tiles_of(std::int64_t images, const ResidentForm& form) {
  return (images + form.images - 1) / form.images;
}

Matrix matrix_of(const ActivationView& view, std::uint32_t features, const char* name) {
  const bool is_plain = view.format.layout == Layout::nchw && view.size.height == 1 &&
                        view.size.width == 1 && view.size.channels == features;
  if (!is_plain) {
    fail(ErrorCode::usage, "linear stack: ", name, " is not row-major with ", features,
         " features");
  }
  return {view.data, features, view.format.precision == Precision::f16};
}

template <typename T, int R>
void launch(const StackArguments& arguments, std::size_t shared, int processors,
            cudaStream_t stream) {
  const auto bytes = static_cast<int>(shared);
  CUDA_CHECK(cudaFuncSetAttribute(linear_stack_kernel<T, R>,
                                  cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
  const auto tiles = static_cast<int>((arguments.images + R - 1) / R);
  linear_stack_kernel<T, R>
      <<<std::min(tiles, processors), kResidentThreads, bytes, stream>>>(arguments);
  CUDA_CHECK(cudaGetLastError());
}

}  // namespace

LinearStackWeights::LinearStackWeights(const std::vector<SparseLayer>& layers,
                                       const std::vector<bool>& has_relu, const ResidentForm& form)
    : form_(form),
      resident_(ordered(layers, form)),
      layers_(static_cast<std::uint32_t>(layers.size())),
      inputs_(layers.front().inputs),
      outputs_(layers.back().outputs()),
      lowest_(upload(lowest_values(has_relu))),
      result_row_(upload(resident_.result_rows())) {
  if (has_relu.size() != layers.size()) {
    fail(ErrorCode::usage, "linear stack: ", has_relu.size(), " relus for ", layers.size(),
         " layers");
  }
}

std::vector<ResidentForm> linear_stack_forms(Precision precision, std::int64_t features,
                                             std::int64_t images, int processors,
                                             std::size_t shared_bytes) {
  std::vector<ResidentForm> found;
  const auto rows = static_cast<std::uint32_t>((features + 31) / 32 * 32);
  bool has_enough_tiles = false;
  for (const int tile : {4, 8, 16}) {
    // fp16 from 8 images on: rows have 16 bytes at least.
    const ResidentForm form{precision == Precision::f16 && tile >= 8, tile};
    if (form.shared_bytes(rows) + kReservedShared > shared_bytes) continue;
    if (!has_enough_tiles) found.push_back(form);
    has_enough_tiles = has_enough_tiles || tiles_of(images, form) <= processors;
  }
  return found;
}

std::int64_t most_stack_features(std::size_t shared_bytes) {
  const std::size_t room = shared_bytes > kReservedShared ? shared_bytes - kReservedShared : 0;
  const std::size_t row = ResidentForm{false, 4}.shared_bytes(1);
  return static_cast<std::int64_t>(room / row / 32 * 32);
}

void linear_stack(const LinearStackWeights& weights, const ActivationView& x,
                  const ActivationView& y, int processors, cudaStream_t stream) {
  if (x.size.images != y.size.images) {
    fail(ErrorCode::usage, "linear stack: ", x.size.images, " images in, ", y.size.images, " out");
  }
  if (x.size.images == 0) return;
  const StackArguments arguments{.weights = weights.resident_.view(),
                                 .layers = weights.layers_,
                                 .rows = weights.resident_.rows(),
                                 .images = static_cast<std::uint32_t>(x.size.images),
                                 .x = matrix_of(x, weights.inputs_, "x"),
                                 .y = matrix_of(y, weights.outputs_, "y"),
                                 .lowest = weights.lowest_.get(),
                                 .result_row = weights.result_row_.get()};
  const std::size_t shared = weights.shared_bytes();
  const auto go = [&](auto kernel) { kernel(arguments, shared, processors, stream); };
  if (weights.form_ == kForms[0]) return go(launch<float, 16>);
  if (weights.form_ == kForms[1]) return go(launch<float, 8>);
  if (weights.form_ == kForms[2]) return go(launch<float, 4>);
  if (weights.form_ == kForms[3]) return go(launch<__half, 16>);
  if (weights.form_ == kForms[4]) return go(launch<__half, 8>);
  fail(ErrorCode::usage, "linear stack: no kernel for ", weights.form_.images, " images a tile");
}

}  // namespace winnow
