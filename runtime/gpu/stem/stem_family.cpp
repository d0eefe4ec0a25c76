// The first convolution of a network, on the input as it is given. It is no sparse kernel: it
// serves the dense baseline as well.
#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "runtime/gpu/gathered/channel_places.h"
#include "runtime/gpu/gathered/gathered_format.h"
#include "runtime/gpu/layer/family_list.h"
#include "runtime/gpu/layer/typed_weights.h"
#include "runtime/gpu/stem/stem_conv.h"

namespace winnow {
namespace {

constexpr std::size_t kMostTiles = 3;  // that are timed

class StemPrepared : public PreparedLayer {
 public:
  StemPrepared(StemLayer layer, const Extents& in) : layer_(std::move(layer)), in_(in) {}

  void launch(std::span<const ActivationView> in, const ActivationView& out, const Workspace&,
              cudaStream_t stream) const override {
    stem_conv(layer_, in[0], out, stream);
  }

  bool reads_bytes() const override { return layer_.byte_values.count() > 0; }

  void launch_on_bytes(const std::uint8_t* in, const ActivationView& out,
                       cudaStream_t stream) const override {
    stem_conv_on_bytes(layer_, in, in_, out, stream);
  }

 private:
  StemLayer layer_;
  Extents in_;
};

std::vector<StemTile> tiles_of(const LayerProblem& problem, const Conv& conv,
                               const GpuContext& gpu) {
  return best_stem_tiles(
      {.conv = conv,
       .in = problem.input_size(0),
       .out = problem.output_size(),
       .sms = gpu.sms(),
       .most_shared_bytes = static_cast<std::int64_t>(gpu.shared_bytes_per_block())},
      kMostTiles);
}

// Channels that fill multiples of 8 up were zeroed with the memory; the kernel leaves them.
bool is_nhwc(const ActivationFormat& format) {
  return format.layout == Layout::nhwc && format.precision == Precision::f16 && !format.is_deferred;
}

class StemFamily : public Family {
 public:
  std::string name() const override { return "stem"; }
  bool is_sparse() const override { return false; }

  std::string why_not(const LayerProblem& problem, GpuContext& gpu) const override {
    const auto* conv = std::get_if<Conv>(&problem.step.op);
    const bool is_first = problem.step.inputs[0] == problem.program.input;
    if (conv == nullptr || !is_first) return "runs convolutions of the network's input";
    if (problem.options.is_survey) return "layers of a survey may lie anywhere in a network";
    if (problem.options.precision != Precision::f16) return "wants half precision";
    if (stem_taps(*conv) > kMostStemTaps) {
      return "reads more than " + std::to_string(kMostStemTaps) + " values for an output";
    }
    if (!gpu.has_half_products()) return "needs compute capability 8.0";
    return tiles_of(problem, *conv, gpu).empty() ? "its input does not fit shared memory" : "";
  }

  std::vector<Candidate> candidates(const LayerProblem& problem, GpuContext& gpu) const override {
    std::vector<Candidate> found;
    const Conv& conv = std::get<Conv>(problem.step.op);
    const std::vector<StemTile> tiles = tiles_of(problem, conv, gpu);
    for (std::size_t writes = 0; writes < problem.output_formats.size(); ++writes) {
      const ActivationFormat& format = problem.output_formats[writes];
      if (!is_gathered(format) && !is_nhwc(format)) continue;
      const StemOutput output = is_gathered(format) ? StemOutput::images : StemOutput::channels;
      append(found, problem, {conv, problem.step.has_relu, {}, output}, tiles, writes);
    }
    return found;
  }

 private:
  void append(std::vector<Candidate>& found, const LayerProblem& problem, StemProblem stem,
              const std::vector<StemTile>& tiles, std::size_t writes) const {
    const StepWeights weights = problem.weights();
    const std::int64_t channels = stem.conv.out_channels;
    const bool is_placed = stem.output == StemOutput::images;
    const StemWeights packed = pack_for_stem(
        stem.conv, stem.output, dense_floats(weights.weight), bias_or_zeros(weights.bias, channels),
        is_placed ? problem.orders->places_of(problem.step.output, channels)
                  : plain_places(channels));
    const std::vector<float> byte_values =
        input_values(problem.model.preprocessing, stem.conv.in_channels);
    for (const StemTile& tile : tiles) {
      stem.tile = tile;
      const std::string kernel = to_string(tile) + " " + to_string(problem.output_formats[writes]);
      found.push_back({.family = name(),
                       .kernel = kernel,
                       .reads = {format_index(problem.input_formats[0], row_major(Precision::f32))},
                       .writes = writes,
                       .layer = std::make_shared<const StemPrepared>(
                           upload_stem_layer(packed, byte_values, stem), problem.input_size(0)),
                       .timing_key = kernel});
    }
  }
};

}  // namespace

const Family& stem_family() {
  static const StemFamily family;
  return family;
}

}  // namespace winnow
