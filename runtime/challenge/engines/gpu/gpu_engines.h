// The engines that run on a GPU. In a build without CUDA they are known, but not made (no_gpu.cpp).
#pragma once

#include <array>
#include <memory>
#include <string>
#include <string_view>

#include "runtime/challenge/engine.h"

namespace winnow::challenge {

//   tiled             dense tiles in shared memory, weights streamed through pinned memory (Gokhale
//                     et al., "Optimization of Sparse Deep Neural Networks using GPU")
//   cusparse          sparse x sparse by cuSPARSE, workspace of each product on its own
//   cusparse-buffer   the same with one workspace that is kept
//   cusparse-filter   the same, dead rows dropped before every product (all three: Wang et al.,
//                     "Performance of Training Sparse Deep Neural Networks on GPUs", HPEC 2019)
//   cusparse-spmm     sparse x dense by cuSPARSE, its fastest algorithm of each layer, dead rows
//                     dropped
//   fused             ours, for any connections and weights: several layers a launch
//   grouped           ours, for outputs that read the same inputs: found at load time, computed on
//                     tensor cores
inline constexpr std::array<std::string_view, 7> kGpuEngines = {
    "tiled", "cusparse", "cusparse-buffer", "cusparse-filter", "cusparse-spmm", "fused", "grouped"};

// Those that divide the images into a block for each of EngineOptions::streams.
inline constexpr std::array<std::string_view, 3> kStreamEngines = {"tiled", "cusparse-spmm",
                                                                   "fused"};
inline constexpr int kMostStreams = 256;  // a GPU runs up to 128 kernels at the same time

// How many GPUs this process sees; 0 if it can use none.
int visible_gpus();

// `name` is one of kGpuEngines, options.streams is 0 or 1 or it is one of kStreamEngines. Reads all
// layers of `network` and moves them to the GPU (`tiled` keeps them in host memory); the network
// may go afterwards. Throws Error{device} if there is no GPU `options.gpu`, if memory runs out or
// if a library is missing.
std::unique_ptr<Engine> make_gpu_engine(const std::string& name, const Network& network,
                                        const EngineOptions& options);

}  // namespace winnow::challenge
