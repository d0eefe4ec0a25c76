// oneDNN's primitives for one slice of images, the same for versions 2 and 3 of the library.
#pragma once

#include <dnnl.hpp>

#include "runtime/cpu/layer.h"

namespace winnow {

enum class DenseAlgorithm { direct, winograd, inner_product };

// A compiled primitive and the layouts that it wants.
struct DensePrimitive {
  dnnl::primitive primitive;
  dnnl::memory::desc source;
  dnnl::memory::desc weights;
  dnnl::memory::desc target;
  std::int64_t scratch_floats = 0;
  std::string implementation;  // "brgconv:avx512_core"
  Layout input_layout;
  Layout output_layout;
};

// For `images` of the work's images. Throws dnnl::error if oneDNN cannot run it so.
DensePrimitive make_primitive(const ConvWork& work, std::int64_t images, DenseAlgorithm algorithm,
                              const dnnl::engine& engine);

// Where the weights lie in our order: [K, C, R, S], [G, K / G, C / G, R, S] or [K, C].
dnnl::memory::desc dense_weights(const ConvWork& work, DenseAlgorithm algorithm);

}  // namespace winnow
