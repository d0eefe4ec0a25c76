#include "runtime/gpu/linear/linear_stack.h"

#include <algorithm>

#include "runtime/base/error.h"
#include "runtime/device/half_cast.cuh"
#include "runtime/device/overlap.cuh"
#include "runtime/device/overlapping_launch.h"
#include "runtime/gpu/linear/linear_epilogue.cuh"
#include "runtime/gpu/linear/row_major_values.cuh"
#include "runtime/gpu/linear/thread_block_cluster.cuh"
#include "runtime/sparse/resident_layers.cuh"

namespace winnow {
namespace {

// ---------------------------------------------------------------------------------- device

struct StackArguments {
  ResidentView weights;
  std::uint32_t layers;
  std::uint32_t rows;  // of a buffer
  std::uint32_t images;
  RowMajorValues x, y;
  const float* lowest;
  const std::uint32_t* result_row;
};

// A tile's inputs to rows of shared memory; zeros for images beyond the last, and in the rows that
// fill the last slice.
template <typename T, int R, typename From>
__device__ __forceinline__ void load_rows(const StackArguments& a, const From* from,
                                          std::uint32_t tile, unsigned char* x) {
  constexpr int kImages = Chunk<T>::kImages;
  const std::uint32_t rows = (a.x.features + 31) / 32 * 32;
  for (std::uint32_t row = threadIdx.x; row < rows; row += kResidentThreads) {
#pragma unroll 2
    for (std::uint32_t j = 0; j < R / kImages; ++j) {
      float value[kImages];
#pragma unroll
      for (std::uint32_t v = 0; v < kImages; ++v) {
        const std::uint32_t image = tile * R + j * kImages + v;
        const bool exists = row < a.x.features && image < a.images;
        value[v] = exists ? widen(from[std::size_t{image} * a.x.features + row]) : 0.0f;
      }
      *reinterpret_cast<uint4*>(x + row * ResidentRow<T, R>::kBytes + j * 16) =
          Chunk<T>::pack(value);
    }
  }
}

template <typename T, int R>
__device__ __forceinline__ void load_rows(const StackArguments& a, std::uint32_t tile,
                                          unsigned char* x) {
  if (a.x.is_half) {
    load_rows<T, R>(a, static_cast<const __half*>(a.x.data), tile, x);
  } else {
    load_rows<T, R>(a, static_cast<const float*>(a.x.data), tile, x);
  }
}

// The outputs first + thread, then every step-th. Neighbouring threads write neighbouring outputs
// of an image.
template <typename T, int R>
__device__ __forceinline__ void store_rows(const StackArguments& a, std::uint32_t first,
                                           std::uint32_t step, std::uint32_t tile,
                                           const unsigned char* x) {
  constexpr int kImages = Chunk<T>::kImages;
  for (std::uint32_t output = first + threadIdx.x; output < a.y.features; output += step) {
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

// One block has the tile to itself.
class SingleThreadBlock : public ThreadBlock {
 public:
  static constexpr int kUnroll = kResidentUnroll;

  explicit __device__ __forceinline__ SingleThreadBlock(ClusterBarrier*) {}
  __device__ __forceinline__ std::uint32_t rank() const { return 0; }
  __device__ __forceinline__ std::uint32_t blocks() const { return 1; }
  __device__ __forceinline__ void end_tile() const { __syncthreads(); }
};

template <typename T, int R, typename Threads>
__global__ void __launch_bounds__(kResidentThreads, 1) linear_stack_kernel(const StackArguments a) {
  extern __shared__ __align__(128) unsigned char memory[];
  __shared__ ClusterBarrier barriers[2];
  Threads threads(barriers);
  begin_next_launch();
  const std::uint32_t tiles_at_once = gridDim.x / threads.blocks();
  const std::uint32_t buffer = a.rows * ResidentRow<T, R>::kBytes;
  for (std::uint32_t tile = blockIdx.x / threads.blocks(); tile * R < a.images;
       tile += tiles_at_once) {
    ResidentStream<T, R, Threads::kUnroll> stream(a.weights, 0, threads.warp());
    wait_for_launch_before();
    load_rows<T, R>(a, tile, memory);
    __syncthreads();
    ResidentBuffers buffers{memory, memory + buffer};
    run_layers<T, R>(threads, a.weights, 0, a.layers, stream, buffers,
                     [&](std::uint32_t l) { return LinearEpilogue{__ldg(a.lowest + l)}; });
    store_rows<T, R>(a, threads.rank() * kResidentThreads, threads.blocks() * kResidentThreads,
                     tile, buffers.x);
    threads.end_tile();
  }
}

// ------------------------------------------------------------------------------------ host

class LayerList : public LayerSource {
 public:
  explicit LayerList(const std::vector<SparseLayer>& layers) : layers_(layers) {}
  std::uint32_t neurons() const override { return layers_.front().inputs; }
  std::uint32_t layers() const override { return static_cast<std::uint32_t>(layers_.size()); }
  SparseLayer layer(std::uint32_t l) const override { return layers_.at(l); }

 private:
  const std::vector<SparseLayer>& layers_;
};

ResidentSchedule schedule_of(const LinearStackForm& form) {
  return {.warps = static_cast<std::uint32_t>(form.blocks) * kResidentWarps,
          .unroll = static_cast<std::uint32_t>(form.blocks > 1 ? ThreadBlockCluster::kUnroll
                                                               : SingleThreadBlock::kUnroll)};
}

void check_layers(const std::vector<SparseLayer>& layers, const LinearStackForm& form) {
  if (layers.empty()) fail(ErrorCode::usage, "linear stack: no layers");
  for (std::size_t l = 0; l + 1 < layers.size(); ++l) {
    check_follows(layers[l], layers[l + 1], l + 1, "linear stack");
    if (layers[l].outputs() < fewest_outputs(form.blocks)) {
      fail(ErrorCode::usage, "linear stack: layer ", l, " has ", layers[l].outputs(),
           " outputs, too few for ", to_string(form));
    }
  }
}

ResidentWeights ordered(const std::vector<SparseLayer>& layers, const LinearStackForm& form) {
  check_layers(layers, form);
  const std::vector<ResidentLayerForm> forms(layers.size(), {form.rows.bank_groups(), false});
  return ResidentWeights(LayerList(layers), forms, schedule_of(form), 0);
}

std::vector<float> lowest_values(const std::vector<bool>& has_relu) {
  std::vector<float> lowest;
  for (const bool is_relu : has_relu) lowest.push_back(lowest_output(is_relu));
  return lowest;
}

RowMajorValues matrix_of(const ActivationView& view, std::uint32_t features, const char* name) {
  if (!is_matrix(view, Layout::nchw, features)) {
    fail(ErrorCode::usage, "linear stack: ", name, " is not row-major with ", features,
         " features");
  }
  return {view.data, features, view.format.precision == Precision::f16};
}

using Kernel = void (*)(StackArguments);

Kernel kernel_for(const LinearStackForm& form) {
  if (form.blocks > 1) {
    if (form.rows == ResidentForm{false, kClusterImages}) {
      return linear_stack_kernel<float, kClusterImages, ThreadBlockCluster>;
    }
  } else if (form.rows.is_half) {
    if (form.rows.images == 16) return linear_stack_kernel<__half, 16, SingleThreadBlock>;
    if (form.rows.images == 8) return linear_stack_kernel<__half, 8, SingleThreadBlock>;
  } else {
    if (form.rows.images == 16) return linear_stack_kernel<float, 16, SingleThreadBlock>;
    if (form.rows.images == 8) return linear_stack_kernel<float, 8, SingleThreadBlock>;
    if (form.rows.images == 4) return linear_stack_kernel<float, 4, SingleThreadBlock>;
  }
  fail(ErrorCode::usage, "linear stack: no kernel for ", to_string(form));
}

void launch(Kernel kernel, const StackArguments& arguments, const LinearStackForm& form,
            std::size_t shared, int sms, cudaStream_t stream) {
  allow_shared_memory(kernel, shared);
  if (form.blocks > sms) {
    fail(ErrorCode::usage, "linear stack: ", to_string(form), " on ", sms, " SMs");
  }
  const std::int64_t tiles_at_once = std::min<std::int64_t>(
      (arguments.images + form.rows.images - 1) / form.rows.images, sms / form.blocks);
  const LaunchSize size{.blocks = static_cast<unsigned>(tiles_at_once * form.blocks),
                        .threads = kResidentThreads,
                        .shared_bytes = shared,
                        .cluster = form.blocks};
  launch_overlapping(kernel, size, true, stream, arguments);
}

}  // namespace

LinearStackWeights::LinearStackWeights(const std::vector<SparseLayer>& layers,
                                       const std::vector<bool>& has_relu,
                                       const LinearStackForm& form)
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

void linear_stack(const LinearStackWeights& weights, const ActivationView& x,
                  const ActivationView& y, int sms, cudaStream_t stream) {
  if (x.size.n != y.size.n) {
    fail(ErrorCode::usage, "linear stack: ", x.size.n, " images in, ", y.size.n, " out");
  }
  if (x.size.n == 0) return;
  const StackArguments arguments{.weights = weights.resident_.view(),
                                 .layers = weights.layers_,
                                 .rows = weights.resident_.rows(),
                                 .images = static_cast<std::uint32_t>(x.size.n),
                                 .x = matrix_of(x, weights.inputs_, "x"),
                                 .y = matrix_of(y, weights.outputs_, "y"),
                                 .lowest = weights.lowest_.get(),
                                 .result_row = weights.result_row_.get()};
  launch(kernel_for(weights.form_), arguments, weights.form_, weights.shared_bytes(), sms, stream);
}

}  // namespace winnow
