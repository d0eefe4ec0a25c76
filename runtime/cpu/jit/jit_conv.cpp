#include "runtime/cpu/jit/jit_conv.h"

#include <algorithm>
#include <limits>
#include <optional>

#include "runtime/base/divided_up.h"
#include "runtime/cpu/jit/band_pool.h"
#include "runtime/cpu/jit/conv_code.h"
#include "runtime/cpu/jit/shifted_planes.h"
#include "runtime/cpu/position_tiles.h"
#include "runtime/cpu/tiles.h"

namespace winnow {
namespace {

// Measured: inputs that fill a fair part of a second-level cache, code of a group that fits the
// first one for instructions, and positions enough to make it worth fetching.
constexpr std::int64_t kBlockBytes = 384 * 1024;
constexpr std::int64_t kCodeBytes = 28 * 1024;
// Less than half of a first-level cache for data: a window of the kernel over a chunk's channels,
// most of which the next vector reads too.
constexpr std::int64_t kWindowBytes = 14 * 1024;
constexpr std::int64_t kFloatBytes = sizeof(float);
constexpr std::int64_t kWeightBytes = 15;  // of code and data for a weight
constexpr std::int64_t kFewVectors = 12;
constexpr std::int64_t kImagesOfItem = 4;
constexpr std::int64_t kItemsPerThread = 4;
constexpr std::int64_t kEvenSets = 4;  // of images, for a thread: one more or less is no matter
constexpr std::int64_t kFetches = 4;   // the next group's code is fetched in as many portions
constexpr std::int64_t kSmallWork = 20000;  // multiply-adds: as long as waking a thread

// Whether a tap's inputs lie at the outputs' places, moved by a row and a column at most.
bool reads_in_place(const ConvShape& shape) {
  for (int axis = 0; axis < 2; ++axis) {
    const std::int64_t reach = (shape.kernel[axis] - 1) * shape.dilation[axis];
    if (shape.stride[axis] != 1 || shape.padding[axis] > 1) return false;
    if (reach != 2 * shape.padding[axis]) return false;
  }
  return true;
}

// Whether instructions can name all places of an image of `image` floats and of outputs a `stride`
// apart.
bool fits_instructions(const ConvShape& shape, std::int64_t image, std::int64_t stride) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int32_t>::max() / 4;  // bytes in 31 bits
  // An offset has two bits of mask.
  return shape.in.c > 0 && shape.out.c > 0 && image < kMost / 4 && stride < kMost / 32 && has_jit();
}

// What a thread takes at a time: neighbouring vectors of positions of some images, and groups of
// channels.
struct Item {
  std::int64_t first_image = 0, images = 1;
  PoolBand band;  // without a pooling only vectors
  std::int64_t first_group = 0, last_group = 0;
};

class JitConv final : public CpuLayer {
 public:
  JitConv(const ConvWork& work, const JitOptions& options)
      : has_addend_(options.has_addend),
        shape_(work.shape),
        spread_(options.is_interleaved ? kJitLanes : 1) {
    const Layout layout = options.is_interleaved ? Layout::chwn16_gaps : Layout::gaps;
    input_layout = options.reads_plain ? Layout::nchw : layout;
    output_layout = layout;
    in_ = planes_of(input_layout, shape_.in);
    const Extents& conv = shape_.out;
    out_ = planes_of(output_layout,
                     options.pool ? Extents{conv.n, conv.c, conv.h / 2, conv.w / 2} : conv);
    if (options.reads_plain || !reads_in_place(shape_)) shifted_.emplace(shape_);
    image_count_ = divided_up(shape_.in.n, spread_);
    vectors_ = divided_up(shape_.out.h * shape_.out.w * spread_, kJitLanes);
    make_code(work, options);
    make_lanes();
    make_items(options.threads);
    family = "jit";
    kernel = "jit " + to_string(input_layout) + (shifted_ ? " copied x" : " x") +
             std::to_string(vector_) +
             (has_addend_ ? " add avx512"
              : pool_     ? " pool avx512"
                          : " avx512");
    addends = has_addend_ ? 1 : 0;
  }

  std::int64_t scratch_floats() const override {
    if (pool_) return shares() * shape_.out.c * pool_->stride();
    if (!shifted_) return 0;
    return copies_items_ ? shares() * item_copy_floats() : shifted_->floats(shape_.in.n);
  }

  void run(const LayerCall& call, ThreadPool& pool) override {
    clear_first_gap(out_, call.output);
    if (shifted_ && !copies_items_) {
      pool.run_ranges(shape_.in.n * shape_.in.c, shifted_->channel_floats(),
                      [&](std::int64_t begin, std::int64_t end) {
                        float* to = call.scratch + ShiftedPlanes::kOrigin +
                                    begin * shifted_->channel_floats();
                        shifted_->pack(in_, call.inputs[0], to, begin, end);
                      });
    }
    const auto run_share = [&](int share) {
      for (std::int64_t i = shares_[share]; i < shares_[share + 1]; ++i) {
        run_item(items_[i], {call, input_of(items_[i], call, share), share});
      }
    };
    shares() == 1 ? run_share(0) : pool.run(run_share);
  }

 private:
  // What an item reads: the place of image 0, which need not be there.
  struct ItemCall {
    const LayerCall& call;
    const float* input;
    int share;
  };

  std::int64_t shares() const { return static_cast<std::int64_t>(shares_.size()) - 1; }

  std::int64_t image_floats() const {
    return shifted_ ? shifted_->image_floats() : shape_.in.c * in_.stride;
  }
  std::int64_t item_copy_floats() const { return shifted_->floats(images_); }

  // Copies an item's images, unless those before it have.
  const float* input_of(const Item& item, const LayerCall& call, int share) const {
    if (!shifted_) return call.inputs[0] + in_.origin - padding_floats();
    float* to = call.scratch + ShiftedPlanes::kOrigin;
    if (!copies_items_) return to - padding_floats();
    to += share * item_copy_floats();
    if (item.band.first_vector == 0) {
      const std::int64_t first = item.first_image * shape_.in.c;
      shifted_->pack(in_, call.inputs[0], to, first, first + item.images * shape_.in.c);
    }
    return to - padding_floats() - item.first_image * image_floats();
  }

  void make_code(const ConvWork& work, const JitOptions& options) {
    const int wanted = work.blocks.vector % 16 == 0 ? 16 : work.blocks.vector % 8 == 0 ? 8 : 1;
    const BlockCsr blocks = fitting_blocks(work.blocks, shape_, wanted);
    vector_ = blocks.vector;
    const std::int64_t row = (shape_.kernel[0] - 1) * shape_.dilation[0] * shape_.out.w * spread_;
    const auto channel_bytes = [&](std::int64_t vectors) {
      const std::int64_t seen = 4 * (vectors * kJitLanes + row);
      return shifted_ ? std::min(seen * shape_.kernel[1], 4 * shifted_->channel_floats()) : seen;
    };
    const std::int64_t channels = shape_.in.c;
    block_ = vectors_;
    while (block_ > 2 * kFewVectors && channels * channel_bytes(block_) > kBlockBytes) {
      block_ = divided_up(block_, 2);
    }
    // Several small images share what they fetch of the code.
    const bool shares_code = image_count_ > 1 && vectors_ <= kFewVectors;
    const std::int64_t most = shares_code ? kBlockBytes / kImagesOfItem : 2 * kBlockBytes;
    std::int64_t chunk = channels;
    if (channels * channel_bytes(block_) > most) {
      chunk = std::max<std::int64_t>(1, std::min(most, kBlockBytes) / channel_bytes(block_));
    }
    const auto weights = static_cast<std::int64_t>(blocks.value.size());
    const std::int64_t group_bytes = weights * kWeightBytes * kJitChannels / shape_.out.c;
    if (group_bytes > 2 * kCodeBytes) {
      chunk = std::min(chunk, std::max<std::int64_t>(1, channels * kCodeBytes / group_bytes));
    }
    if (!shifted_ && shape_.kernel[1] > 1 && block_ > kFewVectors) {
      // A row's taps reach into the cache lines before and behind a vector.
      const std::int64_t window = shape_.kernel[0] * 3 * kJitLanes * kFloatBytes;
      chunk = std::min(chunk, kWindowBytes / window);
    }
    chunk = divided_up(channels, divided_up(channels, chunk));
    if (shape_.groups > 1) chunk = channels;
    images_ = options.pool ? 1
                           : std::clamp<std::int64_t>(kBlockBytes / (chunk * channel_bytes(block_)),
                                                      1, shares_code ? kImagesOfItem : 1);
    const OffsetRule rule = [&](std::int64_t c, std::int64_t r, std::int64_t s) {
      if (shifted_) {
        return jit_offset(shifted_->offset(c, r, s) + padding_floats(),
                          mask_of(shifted_->moved(s)));
      }
      const std::int64_t down = r * shape_.dilation[0], right = s * shape_.dilation[1];
      const std::int64_t place = c * in_.stride + (down * shape_.in.w + right) * spread_;
      return jit_offset(place, mask_of(right - shape_.padding[1]));
    };
    if (options.pool) pool_.emplace(shape_.out, block_);
    const BlockLists lists =
        make_block_lists(blocks, shape_, rule, {all_taps(shape_), chunk == channels ? 0 : chunk});
    code_ = std::make_unique<ConvCode>(
        lists, work.bias,
        JitShape{shape_.out.c, pool_ ? pool_->stride() : out_.stride, padding_floats() % kJitLanes,
                 work.has_relu, has_addend_});
  }

  // 1 keeps a row's first outputs from reading before the row, 2 the last ones from behind it.
  static int mask_of(std::int64_t moved) { return moved < 0 ? 1 : moved > 0 ? 2 : 0; }

  void make_lanes() {
    lanes_.resize(static_cast<std::size_t>(vectors_));
    for (std::int64_t i = 0; i < shape_.out.h * shape_.out.w * spread_; ++i) {
      JitLanes& lanes = lanes_[i / kJitLanes];
      const auto bit = static_cast<std::uint16_t>(1u << (i % kJitLanes));
      const std::int64_t x = i / spread_ % shape_.out.w;
      lanes.out |= bit;
      if (x != 0) lanes.in[1] |= bit;
      if (x != shape_.out.w - 1) lanes.in[2] |= bit;
    }
  }

  PoolBand band_of(std::int64_t block, std::int64_t blocks) const {
    PoolBand band;
    band.first_vector = vectors_ * block / blocks;
    band.vectors = vectors_ * (block + 1) / blocks - band.first_vector;
    return band;
  }

  void make_items(int threads) {
    const std::int64_t blocks = pool_ ? pool_->bands() : divided_up(vectors_, block_);
    const std::int64_t groups = code_->groups();
    const std::int64_t sets = divided_up(image_count_, images_);
    // A thread that copies what it reads finds it in its caches.
    copies_items_ =
        shifted_ && sets >= threads && (sets % threads == 0 || sets >= kEvenSets * threads);
    const std::int64_t wanted = threads == 1 || copies_items_ ? 1 : kItemsPerThread * threads;
    const std::int64_t parts =
        std::clamp<std::int64_t>(divided_up(wanted, sets * blocks), 1, groups);
    std::vector<std::int64_t> costs;
    std::int64_t total = 0;
    for (std::int64_t i = 0; i < sets * blocks * parts; ++i) {
      const std::int64_t set = i / (blocks * parts), block = i / parts % blocks, part = i % parts;
      Item item;
      item.first_image = image_count_ * set / sets;
      item.images = image_count_ * (set + 1) / sets - item.first_image;
      item.band = pool_ ? pool_->band(block) : band_of(block, blocks);
      item.first_group = groups * part / parts;
      item.last_group = groups * (part + 1) / parts;
      items_.push_back(item);
      std::int64_t entries = 0;
      for (std::int64_t g = item.first_group; g < item.last_group; ++g) {
        entries += code_->entries(g) + 2 * (code_->first_channel(g + 1) - code_->first_channel(g));
      }
      costs.push_back(entries * item.band.vectors * item.images);
      total += costs.back();
    }
    const int shares = total < kSmallWork ? 1 : threads;
    shares_ = balanced_shares(costs, shares);
    for (int i = 0; copies_items_ && i <= shares; ++i) shares_[i] = sets * i / shares * blocks;
  }

  void run_item(const Item& item, const ItemCall& call) const {
    for (std::int64_t chunk = 0; chunk < code_->chunks(); ++chunk) {
      for (std::int64_t g = item.first_group; g < item.last_group; ++g) {
        run_group(item, call, chunk, g);
      }
    }
    if (pool_) pool_item(item, call);
    const bool is_last = pool_ ? item.band.first + item.band.count == out_.h
                               : item.band.first_vector + item.band.vectors == vectors_;
    if (!is_last) return;
    for (std::int64_t i = item.first_image; i < item.first_image + item.images; ++i) {
      clear_gaps(out_, call.call.output, i * shape_.out.c + code_->first_channel(item.first_group),
                 i * shape_.out.c + code_->first_channel(item.last_group));
    }
  }

  // In portions, each of which fetches one of the next group's code.
  void run_group(const Item& item, const ItemCall& call, std::int64_t chunk,
                 std::int64_t group) const {
    const bool is_last = group + 1 == item.last_group;
    const std::int64_t next_chunk = is_last ? chunk + 1 : chunk;
    const std::int64_t next_group = is_last ? item.first_group : group + 1;
    const std::int64_t cuts = std::min(item.band.vectors, divided_up(kFetches, item.images));
    const std::int64_t portions = cuts * item.images;
    for (std::int64_t portion = 0; portion < portions; ++portion) {
      if (next_chunk < code_->chunks()) {
        code_->prefetch(next_chunk, next_group, portion, portions);
      }
      const std::int64_t first = item.band.vectors * (portion % cuts) / cuts;
      const std::int64_t last = item.band.vectors * (portion % cuts + 1) / cuts;
      run_vectors(call, {chunk, group, item.first_image + portion / cuts, item.band.first_vector},
                  item.band.first_vector + first, last - first);
    }
  }

  struct Place {
    std::int64_t chunk, group, image;
    std::int64_t first_vector;  // of the item
  };

  // How far before a position's own place its first input may lie.
  std::int64_t padding_floats() const {
    return shifted_ ? 1 : (shape_.padding[0] * shape_.in.w + shape_.padding[1]) * spread_;
  }

  void run_vectors(const ItemCall& item, const Place& place, std::int64_t first,
                   std::int64_t count) const {
    const LayerCall& call = item.call;
    const float* in = item.input + place.image * image_floats();
    const std::int64_t plane = place.image * shape_.out.c + code_->first_channel(place.group);
    const std::int64_t at = out_.origin + plane * out_.stride + first * kJitLanes;
    float* out = pool_ ? band_memory(item) + code_->first_channel(place.group) * pool_->stride() +
                             (first - place.first_vector) * kJitLanes
                       : call.output + at;
    code_->run(place.chunk, place.group,
               {in + first * kJitLanes, out, has_addend_ ? call.inputs[1] + at : nullptr,
                lanes_.data() + first, count});
  }

  // All channels of a band before it is pooled.
  float* band_memory(const ItemCall& item) const {
    return item.call.scratch + item.share * shape_.out.c * pool_->stride();
  }

  void pool_item(const Item& item, const ItemCall& call) const {
    const float* from = band_memory(call);
    float* to = call.call.output + out_.origin + item.first_image * shape_.out.c * out_.stride;
    const std::int64_t last = code_->first_channel(item.last_group);
    for (std::int64_t c = code_->first_channel(item.first_group); c < last; ++c) {
      pool_->run(item.band, from + c * pool_->stride(), to + c * out_.stride);
    }
  }

  bool has_addend_;
  ConvShape shape_;
  std::int64_t spread_;           // lanes of a position: 1, or as many images
  std::int64_t image_count_ = 0;  // images, or groups of those in the lanes
  Planes in_, out_;
  std::optional<ShiftedPlanes> shifted_;  // else the input is read in place
  std::optional<BandPool> pool_;          // of what the code writes
  std::unique_ptr<ConvCode> code_;
  std::vector<JitLanes> lanes_;  // of each vector of positions
  std::vector<Item> items_;
  std::vector<std::int64_t> shares_;  // into items_
  std::int64_t vectors_ = 0;          // of a plane
  std::int64_t block_ = 0;            // most vectors of an item
  std::int64_t images_ = 1;           // most images of an item
  bool copies_items_ = false;         // each thread copies the images of its items
  int vector_ = 1;
};

}  // namespace

bool jit_conv_fits(const ConvWork& work) {
  constexpr std::int64_t kFewPositions = kJitLanes / 2;
  const ConvShape& shape = work.shape;
  if (shape.out.h * shape.out.w < kFewPositions) return false;
  const std::int64_t image = reads_in_place(shape)
                                 ? shape.in.c * planes_of(Layout::gaps, shape.in).stride
                                 : ShiftedPlanes(shape).image_floats();
  return fits_instructions(shape, image, planes_of(Layout::gaps, shape.out).stride);
}

bool jit_conv_interleaves(const ConvWork& work) {
  const ConvShape& shape = work.shape;
  if (!reads_in_place(shape) || shape.out.h * shape.out.w == 1) return false;
  const std::int64_t in = planes_of(Layout::chwn16_gaps, shape.in).stride;
  return fits_instructions(shape, shape.in.c * in,
                           planes_of(Layout::chwn16_gaps, shape.out).stride);
}

bool jit_conv_pools(const ConvWork& work, const Pool& pool) {
  return jit_conv_fits(work) && reads_in_place(work.shape) && BandPool::fits(pool, work.shape.out);
}

std::unique_ptr<CpuLayer> make_jit_conv(const ConvWork& work, const JitOptions& options) {
  return std::make_unique<JitConv>(work, options);
}

}  // namespace winnow
