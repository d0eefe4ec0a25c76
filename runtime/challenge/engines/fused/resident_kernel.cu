// Threads that compute and some that move tiles (tile_mover.cuh); the layers are those of
// runtime/sparse/resident_layers.cuh and resident_fragments.cuh.
#include "runtime/challenge/engines/fused/resident_kernel.h"

#include <algorithm>

#include "runtime/base/error.h"
#include "runtime/challenge/engines/fused/tile_mover.cuh"
#include "runtime/challenge/engines/gpu/activation.cuh"
#include "runtime/device/cuda_check.h"
#include "runtime/sparse/resident_fragments.cuh"
#include "runtime/sparse/resident_layers.cuh"

namespace winnow::challenge {
namespace {

// ---------------------------------------------------------------------------------- device

constexpr int kThreads = kResidentThreads + kMoverThreads;

// The threads that compute. They do not meet behind a tile's last layer: a warp that is done sums
// the next tile's first outputs, and stores them once all warps have read the rows that these
// replace.
class TileThreads : public ThreadBlock {
 public:
  explicit __device__ __forceinline__ TileThreads(TileSignals& signals) : signals_(signals) {}

  // The n-th tile of this block, whose inputs are there afterwards.
  __device__ __forceinline__ void begin_tile(std::uint32_t n) {
    wait(signals_.loaded, n);
    tile_ = n;
    is_first_store_ = n > 0;
  }
  __device__ __forceinline__ void begin_stores() {
    if (is_first_store_) wait(signals_.computed, tile_ - 1);
    is_first_store_ = false;
  }
  __device__ __forceinline__ void end_layer(bool is_last) {
    if (!is_last) ThreadBlock::end_layer(is_last);
  }
  // `live`: a bit for each image of the tile that is above 0 in an output of this thread.
  __device__ __forceinline__ void end_tile(std::uint32_t live) {
    live = __reduce_or_sync(0xffffffffu, live);
    const std::uint32_t slot = TileTurn(tile_).slot;
    if (threadIdx.x % 32 == 0) atomicOr(&signals_.live[slot], live);
    arrive(shared_address(&signals_.computed[slot]));
  }

 private:
  static __device__ __forceinline__ void wait(std::uint64_t (&barriers)[2], std::uint32_t n) {
    const TileTurn turn(n);
    wait_for(shared_address(&barriers[turn.slot]), turn.parity);
  }

  TileSignals& signals_;
  std::uint32_t tile_ = 0;
  bool is_first_store_ = false;
};

// Takes all tiles of this block through the layers.
template <typename T, int R, typename Stream, Input kInput>
__device__ __forceinline__ void compute_tiles(const ResidentLaunch& a, unsigned char* memory,
                                              TileSignals& signals) {
  const std::uint32_t images = *a.in.count, layers = a.last_layer - a.first_layer;
  const std::uint32_t bytes = a.rows * ResidentRow<T, R>::kBytes;
  TileThreads threads(signals);
  TileBuffers places(a.has_three_buffers);
  for (std::uint32_t tile = blockIdx.x, n = 0; tile * R < images; tile += gridDim.x, ++n) {
    Stream stream(a.weights, a.first_layer, threads.warp());
    ResidentBuffers buffers{memory + places.in() * bytes, memory + places.other() * bytes};
    threads.begin_tile(n);
    std::uint32_t layer = a.first_layer, mine = 0;
    if constexpr (kInput == Input::bits) {
      const auto* words = reinterpret_cast<const std::uint32_t*>(buffers.x);
      mine = run_layer<T, R>(threads, __ldg(a.weights.slices + layer), stream, buffers,
                             ChallengeEpilogue{}, layer + 1 == a.last_layer,
                             [&](std::uint32_t steps, typename Stream::Sums& sums) {
                               stream.add_bits(steps, words, sums);
                             });
      ++layer;
    }
    if (layer < a.last_layer) {
      mine = run_layers<T, R>(threads, a.weights, layer, a.last_layer, stream, buffers,
                              [](std::uint32_t) { return ChallengeEpilogue{}; });
    }
    threads.end_tile(mine);
    places.advance(layers);
  }
}

template <typename T, int R, typename Stream, Input kInput>
__global__ void __launch_bounds__(kThreads, 1) resident_kernel(const ResidentLaunch a) {
  extern __shared__ __align__(128) unsigned char memory[];
  __shared__ TileSignals signals;
  if (threadIdx.x == 0) signals.init();
  __syncthreads();
  if (threadIdx.x < kResidentThreads) {
    compute_tiles<T, R, Stream, kInput>(a, memory, signals);
  } else {
    TileMover<T, R, kInput>(a, memory, signals).run();
  }
}

// ------------------------------------------------------------------------------------ host

template <typename T, int R, typename Stream, Input kInput>
void launch_kernel(const ResidentLaunch& launch, int sms, cudaStream_t stream) {
  const auto kernel = resident_kernel<T, R, Stream, kInput>;
  const auto bytes = static_cast<int>(launch.form.shared_bytes(launch.rows, launch.buffers()));
  CUDA_CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
  kernel<<<sms, kThreads, bytes, stream>>>(launch);
  CUDA_CHECK(cudaGetLastError());
}

// Sums by FMAs, or of fp16 activations by tensor cores.
template <typename T, int R>
void launch_fma(const ResidentLaunch& launch, int sms, cudaStream_t stream) {
  using Stream = ResidentStream<T, R>;
  if (launch.in.bits != nullptr) {
    launch_kernel<T, R, Stream, Input::bits>(launch, sms, stream);
  } else {
    launch_kernel<T, R, Stream, Input::activations>(launch, sms, stream);
  }
}
template <int R>
void launch_mma(const ResidentLaunch& launch, int sms, cudaStream_t stream) {
  using Stream = FragmentStream<R>;
  if (launch.in.bits != nullptr) {
    launch_kernel<__half, R, Stream, Input::images>(launch, sms, stream);
  } else {
    launch_kernel<__half, R, Stream, Input::activations>(launch, sms, stream);
  }
}

}  // namespace

void launch_resident(const ResidentLaunch& launch, int sms, cudaStream_t stream) {
  const ResidentForm& form = launch.form;
  if (launch.has_fragments) {
    if (form == ResidentForm{true, 16}) return launch_mma<16>(launch, sms, stream);
    fail(ErrorCode::internal, "resident kernel: no such form by tensor cores");
  }
  if (form == ResidentForm{false, 16}) return launch_fma<float, 16>(launch, sms, stream);
  if (form == ResidentForm{false, 8}) return launch_fma<float, 8>(launch, sms, stream);
  if (form == ResidentForm{false, 4}) return launch_fma<float, 4>(launch, sms, stream);
  if (form == ResidentForm{true, 16}) return launch_fma<__half, 16>(launch, sms, stream);
  if (form == ResidentForm{true, 8}) return launch_fma<__half, 8>(launch, sms, stream);
  fail(ErrorCode::internal, "resident kernel: no such form");
}

}  // namespace winnow::challenge
