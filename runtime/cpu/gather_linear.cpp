#include "runtime/cpu/gather_linear.h"

#include <algorithm>

#include "runtime/cpu/cpu_features.h"
#include "runtime/cpu/position_tiles.h"

namespace winnow {
namespace {

class GatherLinear final : public CpuLayer {
 public:
  GatherLinear(const ConvWork& work, const MicroKernels& kernels, int threads)
      : kernels_(kernels), shape_(work.shape), has_relu_(work.has_relu) {
    const BlockCsr rows = split_blocks(work.blocks, 1);
    row_groups_ = (rows.rows() + kernels.lanes - 1) / kernels.lanes;
    interleave(rows);
    bias_ = padded_bias(work.bias, row_groups_, kernels.lanes);
    std::vector<std::int64_t> costs;
    for (std::int64_t b = 0; b < row_groups_; ++b) costs.push_back(begin_[b + 1] - begin_[b] + 1);
    constexpr std::int64_t kSmallWork = 4000;  // gathers: as long as waking a thread
    const bool is_small = begin_.back() * work.shape.in.n < kSmallWork;
    shares_ = balanced_shares(costs, is_small ? 1 : threads);
    family = "direct";
    kernel = "direct gather " + std::string(to_string(kernels.isa));
  }

  void run(const LayerCall& call, ThreadPool& pool) override {
    if (shares_.size() == 2) {
      run_share(call, 0);
    } else {
      pool.run([&](int part) { run_share(call, part); });
    }
  }

 private:
  void run_share(const LayerCall& call, int part) const {
    const std::int64_t first = shares_[part], last = shares_[part + 1];
    if (first == last) return;
    for (std::int64_t image = 0; image < shape_.in.n;) {
      const std::int64_t left = shape_.in.n - image;
      const std::int64_t images = left >= 4 ? 4 : left >= 2 ? 2 : 1;
      run_images(call, image, images, first, last);
      image += images;
    }
  }

  // Rows of a group take turns; a shorter row ends in zeros times its group's first input.
  void interleave(const BlockCsr& rows) {
    const int lanes = kernels_.lanes;
    begin_.push_back(0);
    for (std::int64_t row_group = 0; row_group < row_groups_; ++row_group) {
      const std::int64_t first = row_group * lanes, last = std::min(first + lanes, rows.rows());
      std::int64_t longest = 0;
      for (std::int64_t row = first; row < last; ++row) {
        longest = std::max(longest, rows.begin[row + 1] - rows.begin[row]);
      }
      const std::size_t at = offset_.size();
      offset_.resize(at + longest * lanes);
      value_.resize(at + longest * lanes);
      for (std::int64_t row = first; row < last; ++row) {
        for (std::int64_t i = rows.begin[row]; i < rows.begin[row + 1]; ++i) {
          const std::size_t to = at + (i - rows.begin[row]) * lanes + row - first;
          offset_[to] = static_cast<std::int32_t>(rows.column[i]);
          value_[to] = rows.value[i];
        }
      }
      begin_.push_back(begin_.back() + longest);
    }
  }

  void run_images(const LayerCall& call, std::int64_t image, std::int64_t images,
                  std::int64_t first, std::int64_t last) const {
    const std::int64_t channel = first * kernels_.lanes;
    const float* in[kGatherImages];
    float* out[kGatherImages];
    for (std::int64_t n = 0; n < images; ++n) {
      in[n] = call.inputs[0] + (image + n) * shape_.in.c;
      out[n] = call.output + (image + n) * shape_.out.c + channel;
    }
    GatherArgs args{};
    args.in = in;
    args.out = out;
    args.begin = begin_.data() + first;
    args.offset = offset_.data();
    args.value = value_.data();
    args.row_groups = last - first;
    args.channels = shape_.out.c - channel;
    args.bias = bias_.data() + channel;
    args.has_relu = has_relu_;
    kernels_.gather[images](args);
  }

  const MicroKernels& kernels_;
  ConvShape shape_;
  bool has_relu_;
  std::int64_t row_groups_ = 0;
  std::vector<std::int64_t> begin_;
  std::vector<std::int32_t> offset_;
  std::vector<float> value_;
  std::vector<float> bias_;
  std::vector<std::int64_t> shares_;
};

}  // namespace

bool gather_linear_fits(const ConvWork& work) {
  const Extents& in = work.shape.in;
  const Extents& out = work.shape.out;
  return in.h * in.w == 1 && out.h * out.w == 1 && work.shape.kernel == Pair{1, 1} &&
         work.shape.groups == 1 && !work.shape.is_padded();
}

std::unique_ptr<CpuLayer> make_gather_linear(const ConvWork& work, const MicroKernels& kernels,
                                             int threads) {
  return std::make_unique<GatherLinear>(work, kernels, threads);
}

}  // namespace winnow
