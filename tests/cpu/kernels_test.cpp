// Every kernel on every instruction set of this machine against the reference.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include "runtime/base/aligned_buffer.h"
#include "runtime/cpu/chwn_conv.h"
#include "runtime/cpu/cpu_features.h"
#include "runtime/cpu/dense_layer.h"
#include "runtime/cpu/gather_linear.h"
#include "runtime/cpu/jit/jit_conv.h"
#include "runtime/cpu/max_rows.h"
#include "runtime/cpu/nchw_conv.h"
#include "runtime/cpu/nhwc_conv.h"
#include "runtime/cpu/row_conv.h"
#include "tests/cpu/random_work.h"

namespace winnow {
namespace {

using Layers = std::vector<std::unique_ptr<CpuLayer>>;
using MakeLayers = std::function<Layers(const ConvWork&, const MicroKernels&, int threads)>;

template <typename Layer>
Layers one(std::unique_ptr<Layer> layer) {
  Layers layers;
  layers.push_back(std::move(layer));
  return layers;
}

// What later layers take for granted of nchw with gaps; true of all other layouts.
bool has_zero_gaps(const Planes& planes, const float* value) {
  float sum = 0;
  for (std::int64_t i = 0; i < planes.origin; ++i) sum += std::abs(value[i]);
  if (planes.origin == 0) return true;
  for (std::int64_t plane = 0; plane < planes.planes; ++plane) {
    const float* from = value + planes.origin + plane * planes.stride;
    for (std::int64_t i = planes.plane_floats(); i < planes.stride; ++i) sum += std::abs(from[i]);
  }
  return sum == 0;
}

// Runs a layer on input in nchw, with conversions around it.
std::vector<float> run_layer(CpuLayer& layer, const ConvShape& shape,
                             const std::vector<float>& input, ThreadPool& pool,
                             const float* addend = nullptr) {
  AlignedBuffer in(planes_of(layer.input_layout, shape.in).count());
  AlignedBuffer out(planes_of(layer.output_layout, shape.out).count());
  AlignedBuffer scratch(layer.scratch_floats());
  for (float& x : out.span()) x = 1e30f;      // what a layer leaves out shows
  for (float& x : scratch.span()) x = 1e30f;  // and what it takes for granted
  convert({shape.in, {}, layer.input_layout}, input.data(), in.data(), pool);
  const float* inputs[] = {in.data(), addend};
  layer.run({inputs, out.data(), scratch.data()}, pool);
  CHECK(has_zero_gaps(planes_of(layer.output_layout, shape.out), out.data()));
  std::vector<float> result(static_cast<std::size_t>(shape.out.count()));
  convert({shape.out, layer.output_layout, {}}, out.data(), result.data(), pool);
  return result;
}

struct Sweep {
  RandomWork (*make_work)(Random&) = nullptr;
  int count = 0;
  std::uint64_t seed = 0;
  double slack = 1;
};

// How many results were compared.
int compare(const Sweep& sweep, const MakeLayers& make) {
  Random random(sweep.seed);
  ThreadPool pools[] = {ThreadPool(1), ThreadPool(2), ThreadPool(3)};
  int compared = 0;
  for (int i = 0; i < sweep.count; ++i) {
    const RandomWork work = sweep.make_work(random);
    const ConvWork cpu = conv_work(work);
    const std::vector<float> input = random_input(work, random);
    const Expected expected = expected_of(work, input);
    ThreadPool& pool = pools[i % 3];
    for (const Isa isa : available_isas()) {
      for (const auto& layer : make(cpu, micro_kernels(isa), pool.threads())) {
        CAPTURE(work.text);
        CAPTURE(layer->kernel);
        CAPTURE(pool.threads());
        CHECK(first_wrong(run_layer(*layer, cpu.shape, input, pool), expected, sweep.slack) == -1);
        ++compared;
      }
    }
  }
  return compared;
}

Layers channel_layers(const ConvWork& work, const MicroKernels& kernels, int threads) {
  return nhwc_conv_fits(work, kernels) ? one(make_nhwc_conv(work, kernels, threads)) : Layers{};
}

Layers onednn_layers(const ConvWork& work, const MicroKernels& kernels, int threads) {
  if (kernels.isa != Isa::baseline) return {};  // once is enough
  Layers layers;
  for (int i = 0; i < onednn_algorithms(work); ++i) {
    auto layer = make_onednn_layer(work, i, threads);
    if (layer) layers.push_back(std::move(layer));
  }
  return layers;
}

Layers jit_layers(const ConvWork& work, const MicroKernels& kernels, int threads) {
  if (kernels.isa != Isa::avx512 || !jit_conv_fits(work)) return {};
  Layers layers = one(make_jit_conv(work, {.threads = threads}));
  layers.push_back(make_jit_conv(work, {.threads = threads, .reads_plain = true}));
  if (jit_conv_interleaves(work)) {
    layers.push_back(make_jit_conv(work, {.threads = threads, .is_interleaved = true}));
  }
  return layers;
}

TEST_CASE("convolution by generated code agrees with the reference") {
  const int compared = compare({random_conv, 300, 11}, jit_layers);
  const int large = compare({random_large_conv, 20, 12}, jit_layers);
  const int near = compare({random_near_conv, 80, 16}, jit_layers);
  if (available_isas().back() != Isa::avx512) return;
  CHECK(compared >= 100);
  CHECK(large >= 10);
  CHECK(near >= 160);
}

TEST_CASE("generated code adds a second input before the activation") {
  Random random(13);
  ThreadPool pool(2);
  int compared = 0;
  for (int i = 0; i < 60; ++i) {
    RandomWork work = random_conv(random);
    work.has_relu = false;
    const ConvWork plain = conv_work(work);
    if (available_isas().back() != Isa::avx512 || !jit_conv_fits(plain)) continue;
    ConvWork active = plain;
    active.has_relu = random.chance(0.5);
    const std::vector<float> input = random_input(work, random);
    Expected expected = expected_of(work, input);
    std::vector<float> addend(expected.values.size());
    for (std::size_t j = 0; j < addend.size(); ++j) {
      addend[j] = static_cast<float>(random.normal());
      expected.values[j] += addend[j];
      expected.magnitudes[j] += std::abs(addend[j]);
      if (active.has_relu) expected.values[j] = std::max(expected.values[j], 0.0f);
    }
    ++expected.terms;
    const auto layer = make_jit_conv(active, {.threads = 2, .has_addend = true});
    AlignedBuffer second(planes_of(layer->output_layout, plain.shape.out).count());
    convert({plain.shape.out, {}, layer->output_layout}, addend.data(), second.data(), pool);
    CAPTURE(work.text);
    const std::vector<float> found = run_layer(*layer, plain.shape, input, pool, second.data());
    CHECK(first_wrong(found, expected) == -1);
    ++compared;
  }
  if (available_isas().back() == Isa::avx512) CHECK(compared >= 20);
}

// Of 2 x 2 neighbours; what was computed from no more than they.
std::vector<float> pooled(const std::vector<float>& values, const Extents& x) {
  std::vector<float> result;
  for (std::int64_t plane = 0; plane < x.n * x.c; ++plane) {
    for (std::int64_t i = 0; i < (x.h / 2) * (x.w / 2); ++i) {
      const float* at = &values[(plane * x.h + i / (x.w / 2) * 2) * x.w + i % (x.w / 2) * 2];
      result.push_back(std::max({at[0], at[1], at[x.w], at[x.w + 1]}));
    }
  }
  return result;
}

TEST_CASE("generated code pools what it computes") {
  Random random(14);
  ThreadPool pools[] = {ThreadPool(1), ThreadPool(2)};
  int compared = 0;
  for (int i = 0; i < 200; ++i) {
    const RandomWork work = i % 2 == 0 ? random_near_conv(random) : random_conv(random);
    const ConvWork conv = conv_work(work);
    ThreadPool& pool = pools[i / 2 % 2];
    if (!jit_conv_pools(conv, Pool{})) continue;
    const std::vector<float> input = random_input(work, random);
    const Expected whole = expected_of(work, input);
    const Expected expected{pooled(whole.values, conv.shape.out),
                            pooled(whole.magnitudes, conv.shape.out), whole.terms};
    ConvShape shape = conv.shape;
    shape.out.h /= 2;
    shape.out.w /= 2;
    const auto layer = make_jit_conv(conv, {.threads = pool.threads(), .pool = Pool{}});
    CAPTURE(work.text);
    CHECK(layer->kernel.find(" pool ") != std::string::npos);
    CHECK(first_wrong(run_layer(*layer, shape, input, pool), expected) == -1);
    ++compared;
  }
  if (available_isas().back() == Isa::avx512) CHECK(compared >= 60);
}

TEST_CASE("pooling keeps what is not a number") {
  if (available_isas().back() != Isa::avx512) return;
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  for (std::int64_t at = 0; at < 80; ++at) {
    std::vector<float> a(40), b(40), found(21, -1.0f);
    for (std::int64_t i = 0; i < 40; ++i)
      a[i] = static_cast<float>(i), b[i] = static_cast<float>(-i);
    (at < 40 ? a[at] : b[at - 40]) = kNan;
    max_pairs(a.data(), b.data(), 20, found.data());
    for (std::int64_t x = 0; x < 20; ++x) {
      const bool is_nan = x == at % 40 / 2;
      CHECK(std::isnan(found[x]) == is_nan);
      if (!is_nan) CHECK(found[x] == static_cast<float>(2 * x + 1));
    }
    CHECK(found[20] == -1.0f);
  }
}

TEST_CASE("convolution with images in the lanes agrees with the reference") {
  const MakeLayers make = [](const auto&... args) { return one(make_chwn_conv(args...)); };
  CHECK(compare({random_conv, 200, 1}, make) >= 200);
}

TEST_CASE("convolution with positions in the lanes agrees with the reference") {
  const MakeLayers make = [](const auto&... args) { return one(make_nchw_conv(args...)); };
  CHECK(compare({random_conv, 200, 2}, make) >= 200);
}

TEST_CASE("convolution with channels in the lanes agrees with the reference") {
  const int sets = static_cast<int>(available_isas().size());
  CHECK(compare({random_conv, 200, 3}, channel_layers) >= 80 * sets);  // fits about half
}

TEST_CASE("work for several threads agrees with the reference in every kernel") {
  const MakeLayers make = [](const ConvWork& work, const MicroKernels& kernels, int threads) {
    Layers layers = channel_layers(work, kernels, threads);
    layers.push_back(make_chwn_conv(work, kernels, threads));
    layers.push_back(make_nchw_conv(work, kernels, threads));
    return layers;
  };
  CHECK(compare({random_large_conv, 15, 8}, make) >= 30);
}

Layers row_layers(const ConvWork& work, const MicroKernels& kernels, int) {
  if (kernels.isa != Isa::avx512 || !row_conv_fits(work)) return {};
  Layers layers = one(make_row_conv(work, false));
  layers.push_back(make_row_conv(work, true));
  return layers;
}

TEST_CASE("dense convolution over rows agrees with the reference") {
  const int compared = compare({random_conv, 300, 14}, row_layers);
  const int wide = compare({random_wide_conv, 150, 15}, row_layers);
  if (available_isas().back() != Isa::avx512) return;
  CHECK(compared >= 100);
  CHECK(wide >= 60);
}

TEST_CASE("dense convolution agrees with the reference") {
  const MakeLayers own = [](const auto&... args) { return one(make_own_dense(args...)); };
  CHECK(compare({random_conv, 80, 4}, own) >= 80);
}

TEST_CASE("oneDNN's convolution agrees with the reference") {
  if (onednn_facts().version.empty()) {
    MESSAGE("skipped: built without oneDNN");
    return;
  }
  // Winograd's transforms lose a few bits more than sums do.
  CHECK(compare({random_conv, 120, 5, 16}, onednn_layers) >= 120);
}

TEST_CASE("linear layers agree with the reference in every kernel") {
  const MakeLayers make = [](const ConvWork& work, const MicroKernels& kernels, int threads) {
    Layers layers = channel_layers(work, kernels, threads);
    layers.push_back(make_chwn_conv(work, kernels, threads));
    layers.push_back(make_gather_linear(work, kernels, threads));
    layers.push_back(make_own_dense(work, kernels, threads));
    for (auto& layer : onednn_layers(work, kernels, threads)) layers.push_back(std::move(layer));
    return layers;
  };
  CHECK(compare({random_linear, 60, 6}, make) >= 240);
}

TEST_CASE("sparse kernels give equal bits for any number of threads") {
  Random random(7);
  ThreadPool pools[] = {ThreadPool(1), ThreadPool(2), ThreadPool(5)};
  for (int i = 0; i < 60; ++i) {
    const RandomWork work = i % 4 == 0   ? random_linear(random)
                            : i % 4 == 1 ? random_large_conv(random)
                                         : random_conv(random);
    const ConvWork cpu = conv_work(work);
    const std::vector<float> input = random_input(work, random);
    const MicroKernels& kernels = micro_kernels(available_isas().back());
    std::vector<std::vector<float>> first;
    for (ThreadPool& pool : pools) {
      Layers layers = channel_layers(cpu, kernels, pool.threads());
      layers.push_back(make_chwn_conv(cpu, kernels, pool.threads()));
      layers.push_back(gather_linear_fits(cpu) ? make_gather_linear(cpu, kernels, pool.threads())
                                               : make_nchw_conv(cpu, kernels, pool.threads()));
      std::vector<std::vector<float>> results;
      for (auto& layer : layers) results.push_back(run_layer(*layer, cpu.shape, input, pool));
      CAPTURE(work.text);
      if (first.empty()) first = results;
      CHECK(results == first);
    }
  }
}

TEST_CASE("a forced instruction set that the machine lacks is refused") {
  const std::vector<Isa> isas = available_isas();
  CHECK(isas.front() == Isa::baseline);
  for (const Isa isa : isas) CHECK(micro_kernels(isa).isa == isa);
}

}  // namespace
}  // namespace winnow
