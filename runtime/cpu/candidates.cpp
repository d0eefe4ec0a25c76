#include "runtime/cpu/candidates.h"

#include <utility>

#include "runtime/cpu/chwn_conv.h"
#include "runtime/cpu/cpu_features.h"
#include "runtime/cpu/dense_layer.h"
#include "runtime/cpu/gather_linear.h"
#include "runtime/cpu/jit/jit_conv.h"
#include "runtime/cpu/nchw_conv.h"
#include "runtime/cpu/nhwc_conv.h"
#include "runtime/cpu/peak_rate.h"
#include "runtime/cpu/row_conv.h"

namespace winnow {
namespace {

using Layers = std::vector<std::shared_ptr<CpuLayer>>;

// Collects layers, of which it makes only those that are wanted.
class Slots {
 public:
  explicit Slots(std::optional<int> only) : only_(only) {}

  // `make` gives a layer, or null where that cannot be made. Null if none was made.
  template <typename Make>
  const CpuLayer* add(const Make& make) {
    const int slot = next_++;
    if (!is_wanted_) return nullptr;
    if (only_ && *only_ != slot) return nullptr;
    std::shared_ptr<CpuLayer> layer = make();
    if (!layer) return nullptr;
    layer->slot = slot;
    layers_.push_back(std::move(layer));
    return layers_.back().get();
  }

  // Whether the layers that follow are.
  void want(bool is_wanted) { is_wanted_ = is_wanted; }

  // Leaves a slot empty, so that those behind it do not depend on whether its layer is wanted.
  void skip() { ++next_; }

  bool is_empty() const { return next_ == 0; }
  Layers finish() { return std::move(layers_); }

 private:
  std::optional<int> only_;
  bool is_wanted_ = true;
  int next_ = 0;
  Layers layers_;
};

// The widest set whose lanes divide the blocks, for kernels with channels in their lanes.
const MicroKernels* channel_kernels(const ConvWork& work, Isa widest) {
  const std::vector<Isa> isas = available_isas();
  for (auto isa = isas.rbegin(); isa != isas.rend(); ++isa) {
    if (*isa <= widest && nhwc_conv_fits(work, micro_kernels(*isa))) return &micro_kernels(*isa);
  }
  return nullptr;
}

// The widest set of which `images` fill more than half the lanes; else the narrowest.
const MicroKernels& image_kernels(std::int64_t images, Isa widest) {
  const std::vector<Isa> isas = available_isas();
  const MicroKernels* kernels = &micro_kernels(isas.front());
  for (const Isa isa : isas) {
    if (isa <= widest && 2 * images > micro_kernels(isa).lanes) kernels = &micro_kernels(isa);
  }
  return *kernels;
}

bool may_use_jit(const CandidateOptions& options) {
  return options.can_interleave && options.isa == Isa::avx512;
}

// Whether so few weights are left that what takes time for all of them, or for reading where each
// of them lies, could only lose against generated code.
bool is_clearly_sparse(const ConvWork& work, const CandidateOptions& options) {
  constexpr double kFewWeights = 0.3;
  const bool is_free = options.choice == KernelChoice::measured && options.family.empty();
  const auto all = static_cast<double>(work.shape.out.c * work.shape.cols());
  return is_free && options.has_mask &&
         static_cast<double>(work.blocks.value.size()) <= kFewWeights * all;
}

void add_sparse(const ConvWork& work, const CandidateOptions& options, Slots& slots) {
  constexpr std::int64_t kManyImages = 8;
  const std::int64_t images = work.shape.in.n;
  const MicroKernels& kernels = micro_kernels(options.isa);
  const MicroKernels* by_channels =
      work.blocks.vector > 1 ? channel_kernels(work, options.isa) : nullptr;
  if (images >= kManyImages && may_use_jit(options) && jit_conv_interleaves(work) &&
      is_clearly_sparse(work, options)) {
    slots.skip();
  } else if (images >= kManyImages && options.can_interleave) {
    slots.add(
        [&] { return make_chwn_conv(work, image_kernels(images, options.isa), options.threads); });
  }
  if (by_channels) {
    slots.add([&] { return make_nhwc_conv(work, *by_channels, options.threads); });
  }
  // Of many images those before are faster, unless none of them is there.
  if (!slots.is_empty() && images >= kManyImages) return;
  if (gather_linear_fits(work)) {
    slots.add([&] { return make_gather_linear(work, kernels, options.threads); });
  } else {
    slots.add([&] { return make_nchw_conv(work, kernels, options.threads); });
  }
}

constexpr std::int64_t kJitImages = 16;  // lanes of its interleaved layout

JitOptions jit_options(const CandidateOptions& options) {
  return {.threads = options.threads, .reads_plain = options.is_first};
}

void add_jit(const ConvWork& work, const CandidateOptions& options, Slots& slots) {
  if (!may_use_jit(options)) return;
  if (jit_conv_fits(work)) slots.add([&] { return make_jit_conv(work, jit_options(options)); });
  if (2 * work.shape.in.n > kJitImages && jit_conv_interleaves(work)) {
    slots.add(
        [&] { return make_jit_conv(work, {.threads = options.threads, .is_interleaved = true}); });
  }
}

void add_dense(const ConvWork& work, const CandidateOptions& options, Slots& slots) {
  // Fully connected layers of large networks: to make them takes longer than all else, and no dense
  // baseline is wanted.
  constexpr std::int64_t kManyWeights = std::int64_t{4} << 20;
  const bool is_large = work.shape.out.c * work.shape.cols() > kManyWeights;
  if (options.is_shared && is_large && is_clearly_sparse(work, options)) return;
  const double direct = dense_multiply_adds(work.shape);
  const auto is_worth_making = [&](int saving) {
    return !options.is_worth_making || options.is_worth_making(direct / saving);
  };
  bool needs_own = true;
  const int algorithms = options.is_shared ? 0 : onednn_algorithms(work);
  for (int i = 0; i < algorithms; ++i) {
    if (!is_worth_making(onednn_saving(work, i))) {
      slots.skip();
      continue;
    }
    const CpuLayer* layer = slots.add([&] { return make_onednn_layer(work, i, options.threads); });
    // Ours may be the better one beside layers of ours that the library's threads would disturb.
    if (layer) needs_own = layer->uses_own_threads && options.choice == KernelChoice::measured;
  }
  if (needs_own && is_worth_making(1)) {
    slots.add([&] { return make_own_dense(work, micro_kernels(options.isa), options.threads); });
  } else {
    slots.skip();
  }
  // Beside a mask it only makes the dense baseline of a layer that no dense kernel wins.
  const bool is_alone = !options.has_mask || options.choice != KernelChoice::measured;
  if (is_alone && options.can_interleave && options.isa == Isa::avx512 && row_conv_fits(work)) {
    slots.add([&] { return make_row_conv(work, options.is_first); });
  }
}

}  // namespace

bool may_generate(const ConvWork& work, const CandidateOptions& options) {
  return may_use_jit(options) && jit_conv_fits(work);
}

std::vector<std::string> cpu_families() {
  return {"jit", "direct", "dense"};
}

Layers make_candidates(const ConvWork& work, const CandidateOptions& options) {
  const bool any = options.family.empty();
  const bool is_sparse =
      any ? options.choice != KernelChoice::dense && options.has_mask : options.family == "direct";
  const bool is_jit = any ? is_sparse : options.family == "jit";
  const bool is_dense =
      any ? options.choice != KernelChoice::sparse || !options.has_mask : options.family == "dense";
  Slots slots(options.only_slot);
  slots.want(options.kind != CandidateKind::dense);
  if (is_jit) add_jit(work, options, slots);
  if (is_sparse) add_sparse(work, options, slots);
  slots.want(options.kind != CandidateKind::sparse);
  if (is_dense) add_dense(work, options, slots);
  return slots.finish();
}

}  // namespace winnow
