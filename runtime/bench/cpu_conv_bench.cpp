// Sparse against dense convolution on the CPU, layer by layer.
//
//   cpu_conv_bench [threads]
//   cpu_conv_bench --peak [threads]: how fast multiply-adds go on registers alone, as a JSON line
//
// VGG16's convolutions at CIFAR size, masks of 90 and 95 %, single elements and vectors of 16
// channels, batches of 1 and 128. Every kernel runs on random input in its own layout; conversions
// of layout are not counted. Milliseconds, the fastest of several runs.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <exception>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "runtime/base/aligned_buffer.h"
#include "runtime/base/random.h"
#include "runtime/cpu/chwn_conv.h"
#include "runtime/cpu/cpu_features.h"
#include "runtime/cpu/dense_layer.h"
#include "runtime/cpu/nchw_conv.h"
#include "runtime/cpu/nhwc_conv.h"
#include "runtime/cpu/peak_rate.h"

namespace winnow {
namespace {

struct LayerSize {
  std::int64_t channels, outputs, side;
};
constexpr LayerSize kVgg16[] = {{3, 64, 32},    {64, 64, 32},  {64, 128, 16},
                                {128, 128, 16}, {128, 256, 8}, {256, 256, 8},
                                {256, 512, 4},  {512, 512, 4}, {512, 512, 2}};

ConvWork random_work(const LayerSize& size, std::int64_t batch, double density, int vector) {
  ConvWork work;
  work.shape.in = {batch, size.channels, size.side, size.side};
  work.shape.out = {batch, size.outputs, size.side, size.side};
  work.shape.kernel = {3, 3};
  work.shape.padding = {1, 1};
  work.bias.assign(size.outputs, 0.1f);
  work.has_relu = true;
  Random random(7);
  const std::int64_t cols = work.shape.cols();
  std::vector<float> weight(size.outputs * cols);
  for (std::int64_t row = 0; row < size.outputs; row += vector) {
    for (std::int64_t col = 0; col < cols; ++col) {
      if (!random.chance(density)) continue;
      for (std::int64_t k = row; k < std::min(row + vector, size.outputs); ++k) {
        weight[k * cols + col] = static_cast<float>(random.uniform(-0.1, 0.1));
      }
    }
  }
  work.blocks = block_csr(weight, size.outputs, vector);
  return work;
}

// Fastest of some runs, at least 5 and as many as fit 0.2 s.
double measure(CpuLayer& layer, const ConvShape& shape, ThreadPool& pool) {
  AlignedBuffer in(planes_of(layer.input_layout, shape.in).count());
  AlignedBuffer out(planes_of(layer.output_layout, shape.out).count());
  AlignedBuffer scratch(layer.scratch_floats());
  Random random(3);
  for (float& x : in.span()) x = static_cast<float>(random.uniform());
  const float* inputs[] = {in.data()};
  double best = 1e9, total = 0;
  for (int i = 0; i < 200 && (i < 5 || total < 200); ++i) {
    const auto begin = std::chrono::steady_clock::now();
    layer.run({inputs, out.data(), scratch.data()}, pool);
    const std::chrono::duration<double, std::milli> ms = std::chrono::steady_clock::now() - begin;
    best = std::min(best, ms.count());
    total += ms.count();
  }
  return best;
}

using Layers = std::vector<std::pair<std::string, std::unique_ptr<CpuLayer>>>;

Layers dense_layers(const ConvWork& work, const MicroKernels& kernels, int threads) {
  Layers layers;
  for (int i = 0; i < onednn_algorithms(work); ++i) {
    auto layer = make_onednn_layer(work, i, threads);
    if (!layer) continue;
    const bool is_winograd = layer->kernel.find("wino") != std::string::npos;
    layers.emplace_back(is_winograd ? "winograd" : "onednn", std::move(layer));
  }
  layers.emplace_back("own", make_own_dense(work, kernels, threads));
  return layers;
}

Layers sparse_layers(const ConvWork& work, const MicroKernels& kernels, int threads) {
  Layers layers;
  layers.emplace_back("images", make_chwn_conv(work, kernels, threads));
  if (work.shape.in.n < 16) layers.emplace_back("planar", make_nchw_conv(work, kernels, threads));
  if (nhwc_conv_fits(work, kernels)) {
    layers.emplace_back("channels", make_nhwc_conv(work, kernels, threads));
  }
  return layers;
}

// Prints one row and returns the fastest.
double print_row(const std::string& title, const Layers& layers, const ConvShape& shape,
                 ThreadPool& pool) {
  std::printf("  %-12s", title.c_str());
  double best = 1e9;
  for (const auto& [name, layer] : layers) {
    const double ms = measure(*layer, shape, pool);
    std::printf("  %s %.3f", name.c_str(), ms);
    best = std::min(best, ms);
  }
  return best;
}

void bench(std::int64_t batch, ThreadPool& pool) {
  const MicroKernels& kernels = micro_kernels(available_isas().back());
  for (const LayerSize& size : kVgg16) {
    std::printf("batch %d, %d -> %d channels, %d x %d\n", static_cast<int>(batch),
                static_cast<int>(size.channels), static_cast<int>(size.outputs),
                static_cast<int>(size.side), static_cast<int>(size.side));
    const ConvWork dense = random_work(size, batch, 1, 1);
    const double baseline =
        print_row("dense", dense_layers(dense, kernels, pool.threads()), dense.shape, pool);
    std::printf("\n");
    for (const int vector : {1, 16}) {
      for (const double density : {0.1, 0.05}) {
        const ConvWork work = random_work(size, batch, density, vector);
        const std::string title =
            std::to_string(static_cast<int>(100 - 100 * density)) + " % x" + std::to_string(vector);
        const double ms =
            print_row(title, sparse_layers(work, kernels, pool.threads()), work.shape, pool);
        const double gmacs = 1e-6 * density * static_cast<double>(work.shape.out.count()) *
                             static_cast<double>(work.shape.cols()) / ms;
        std::printf("   %.2f times as fast, %.0f GMAC/s\n", baseline / ms, gmacs);
      }
    }
  }
}

void print_peak(ThreadPool& pool) {
  const Timing time = time_multiply_adds(pool);
  std::printf("{\"processor\": \"%s\", \"threads\": %d, \"multiply_adds_per_second\": %.4g}\n",
              cpu_model_name().c_str(), pool.threads(), kTimedMultiplyAdds / (time.min_ms * 1e-3));
}

}  // namespace
}  // namespace winnow

int main(int argc, char** argv) {
  try {
    const bool is_peak = argc > 1 && std::string(argv[1]) == "--peak";
    const int threads = is_peak ? 2 : 1;  // where the number of threads stands
    winnow::ThreadPool pool(argc > threads ? std::stoi(argv[threads]) : 0);
    if (is_peak) {
      winnow::print_peak(pool);
      return 0;
    }
    std::printf("%s, %d threads, oneDNN %s\n", winnow::cpu_model_name().c_str(), pool.threads(),
                winnow::onednn_facts().version.c_str());
    for (const int batch : {1, 128}) winnow::bench(batch, pool);
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "cpu_conv_bench: %s\n", error.what());
    return 1;
  }
}
