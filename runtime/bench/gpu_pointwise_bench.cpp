// Pools and changes of layout on one GPU: JSON lines on stdout.
//
// Each line is one operation: time of a launch (median over CUDA graphs of several launches), bytes
// that it must read and write, and their rate. Inputs stay in the L2 cache if they fit.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "runtime/base/median.h"
#include "runtime/bench/gpu_bench.h"
#include "runtime/device/buffer.h"
#include "runtime/device/graph.h"
#include "runtime/gpu/pointwise/convert.h"
#include "runtime/gpu/pointwise/noise.h"
#include "runtime/gpu/pointwise/pool.h"
#include "runtime/gpu/session/gpu_session.h"
#include "runtime/gpu/vendor/gpu_context.h"

namespace winnow {
namespace {

constexpr int kLaunches = 20;
constexpr int kGraphs = 15;

struct Sizes {
  std::int64_t channels, side;
};
// The maps of VGG16 on CIFAR-10 and the first of ResNet50.
constexpr Sizes kSizes[] = {{3, 32}, {64, 32}, {128, 16}, {256, 8}, {512, 4}, {512, 2}, {64, 112}};

struct Arguments {
  GpuBenchOptions common{.batches = {128}, .vectors = {}};
};

ActivationFormat format_of(const Layout& layout, Precision precision, std::int64_t channels) {
  ActivationFormat format{.layout = layout, .precision = precision};
  if (layout == Layout::nhwc) format.channel_padding = static_cast<int>(-channels & 7);
  return format;
}

class Tensor {
 public:
  Tensor(const ActivationFormat& format, const Extents& size, cudaStream_t stream)
      : format_(format), size_(size), data_(static_cast<std::size_t>(bytes_of(format, size))) {
    fill_noise(data_.get(), strides_of(format, size).total, format.precision, 1, stream);
  }
  ActivationView view() const { return {data_.get(), format_, size_}; }
  std::int64_t bytes() const { return size_.count() * size_of(format_.precision); }

 private:
  ActivationFormat format_;
  Extents size_;
  DeviceBuffer<std::byte> data_;
};

template <typename Launch>
double time_of(cudaStream_t stream, const Launch& launch) {
  const DeviceGraph graph = DeviceGraph::capture(stream, [&] {
    for (int i = 0; i < kLaunches; ++i) launch();
  });
  std::vector<double> times;
  for (int i = 0; i < kGraphs; ++i) {
    const Event begin, end;
    begin.record(stream);
    graph.launch(stream);
    end.record(stream);
    times.push_back(milliseconds_between(begin, end) / kLaunches);
  }
  return median(times);
}

void print(const std::string& operation, const Tensor& from, const Tensor& to, double ms) {
  const ActivationView in = from.view(), out = to.view();
  const double bytes = static_cast<double>(from.bytes() + to.bytes());
  const nlohmann::ordered_json line = {{"operation", operation},
                                       {"from", to_string(in.format)},
                                       {"to", to_string(out.format)},
                                       {"images", in.size.n},
                                       {"channels", in.size.c},
                                       {"side", in.size.h},
                                       {"us", 1000 * ms},
                                       {"tera_bytes_per_second", bytes / ms * 1e-9}};
  std::printf("%s\n", line.dump().c_str());
  std::fflush(stdout);
}

void bench(const Sizes& sizes, std::int64_t batch, Precision precision, cudaStream_t stream) {
  const Extents size{batch, sizes.channels, sizes.side, sizes.side};
  const Layout layouts[] = {Layout::nchw, Layout::nhwc, Layout::chwn8};
  const Tensor given({.precision = Precision::f32}, size, stream);
  for (const Layout& layout : layouts) {
    const Tensor in(format_of(layout, precision, size.c), size, stream);
    print("convert", given, in, time_of(stream, [&] { convert(given.view(), in.view(), stream); }));
    for (const Layout& other : layouts) {
      if (other == layout) continue;
      const Tensor out(format_of(other, precision, size.c), size, stream);
      print("convert", in, out, time_of(stream, [&] { convert(in.view(), out.view(), stream); }));
    }
    const Pool op{.kernel = {2, 2}, .stride = {2, 2}};
    const Extents half{batch, size.c, size.h / 2, size.w / 2};
    const Tensor out(format_of(layout, precision, size.c), half, stream);
    print("pool 2x2", in, out, time_of(stream, [&] { pool(op, in.view(), out.view(), stream); }));
  }
}

int run(const Arguments& arguments) {
  const nlohmann::ordered_json header = {{"gpu", gpu_description(arguments.common.gpu)}};
  std::printf("%s\n", header.dump().c_str());
  GpuContext gpu(arguments.common.gpu);
  for (const std::string& precision : arguments.common.precisions) {
    for (const std::int64_t batch : arguments.common.batches) {
      for (const Sizes& sizes : kSizes) {
        bench(sizes, batch, bench_session(arguments.common, batch, precision).precision,
              gpu.stream());
      }
    }
  }
  return 0;
}

}  // namespace
}  // namespace winnow

int main(int argc, char** argv) {
  winnow::Arguments arguments;
  CLI::App app("Pools and changes of layout on a GPU, as JSON lines", "gpu_pointwise_bench");
  winnow::add_gpu_bench_options(app, arguments.common);
  return winnow::gpu_bench_main(app, argc, argv, [&] { return winnow::run(arguments); });
}
