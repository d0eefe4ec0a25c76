// The stem convolution: the first of a network, on the network's input as it is given.
//
// It reads row-major fp32, or bytes, rounds to half precision on its way, multiplies on tensor
// cores with sums in fp32 and writes half floats in the layout that the next layer reads: no
// conversion comes before it. It is bound by memory: batch 128 of 3 x 3 from 3 to 64 channels at
// 224 x 224 reads 77 MB and writes 822 MB, which an H200 does in 0.21 ms, and its products, filled
// up from 27 taps to 32, would take 0.06 ms. Masks are of no use here, so weights keep their zeros.
// Compute capability 8.0.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <span>

#include "runtime/device/buffer.h"
#include "runtime/gpu/layer/activation.h"
#include "runtime/gpu/stem/stem_tile.h"
#include "runtime/gpu/stem/stem_weights.h"

namespace winnow {

struct StemProblem {
  Conv conv;  // of at most kMostStemTaps taps
  bool has_relu = false;
  StemTile tile;
  StemOutput output = StemOutput::images;
};

struct StemLayer {
  StemProblem problem;
  StemBox box;
  std::int64_t chunks = 0;
  DeviceBuffer<std::uint32_t> words;        // as StemWeights::words
  DeviceBuffer<float> bias;                 // as StemWeights::bias
  DeviceBuffer<std::uint32_t> offsets;      // as stem_offsets()
  DeviceBuffer<std::uint16_t> byte_values;  // [C, 256] half floats that bytes stand for
};

// `byte_values` are the inputs that bytes of each channel stand for, [C, 256] (input_values); empty
// if the layer never reads bytes. Rounded to half, so that bytes give the same bits as those inputs
// in fp32. Throws Error{device} if memory runs out.
StemLayer upload_stem_layer(const StemWeights& weights, std::span<const float> byte_values,
                            const StemProblem& problem);

// Enqueues out = conv(in), with relu where the problem has it.
//
//   in   [N, C, H, W] row-major fp32; padding is 0
//   out  [N, K, E, F] f16 in nchw32c8n, whose order of channels the weights were packed for, or in
//        nhwc, with channel padding or without, which it leaves as it is
//
// Throws Error{usage} if formats or sizes do not fit, Error{device} if the launch is refused.
void stem_conv(const StemLayer& layer, const ActivationView& in, const ActivationView& out,
               cudaStream_t stream);

// The same on bytes [N, C, H, W] of this size. Padding is 0 where no byte needs to stand for it.
// Requires a layer with byte_values.
void stem_conv_on_bytes(const StemLayer& layer, const std::uint8_t* in, const Extents& size,
                        const ActivationView& out, cudaStream_t stream);

}  // namespace winnow
