// The dense baseline: the same weights with their zeros multiplied too.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "runtime/base/library_facts.h"
#include "runtime/cpu/layer.h"

namespace winnow {

// Family "dense" by our own register-blocked direct convolution; always there.
std::unique_ptr<CpuLayer> make_own_dense(const ConvWork& work, const MicroKernels& kernels,
                                         int threads);

// Family "dense" by oneDNN, in the layouts that it prefers: by its algorithm number `algorithm`
// (direct, Winograd, ...) of those that may run the work. Null in a build without oneDNN, and for
// works that it refuses.
std::unique_ptr<CpuLayer> make_onednn_layer(const ConvWork& work, int algorithm, int threads);

// How many algorithms may run the work; none in a build without oneDNN.
int onednn_algorithms(const ConvWork& work);

// How many times fewer multiply-adds than a direct one that algorithm may do: 4 for Winograd's of 4
// x 4 outputs by 3 x 3.
int onednn_saving(const ConvWork& work, int algorithm);

// "oneDNN", its version and file; without a version in a build without it.
LibraryFacts onednn_facts();

}  // namespace winnow
