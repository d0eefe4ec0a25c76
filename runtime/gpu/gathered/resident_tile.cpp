#include "runtime/gpu/gathered/resident_tile.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <sstream>

#include "runtime/base/divided_up.h"

namespace winnow {
namespace {

constexpr std::int64_t kMostRows = 1 << 14;  // that a code tells apart

constexpr int kMostBlocks = 65535;  // along y and z of a launch

constexpr int kMostOfKind = 2;  // tiles that differ in divisions alone
// Input pixels between the first and the last that one output pixel reads, both counted.
std::int64_t reach(const Conv& conv, int axis) {
  return conv.dilation[axis] * (conv.kernel[axis] - 1) + 1;
}

// Sizes in 64 bits, so that what is too large is found before it is an int.
struct Lines {
  std::int64_t zero_rows = 0, pitch = 0, first = 0, further = 0, all = 0, copied = 0;
  std::int64_t beyond = 0;  // pixels that a last warp reads beyond its line
};

Lines strip_lines(const ResidentTile& tile, const Conv& conv, const Extents& in,
                  const Extents& out) {
  const std::int64_t parts = divided_up(out.w, tile.form.width);
  Lines lines;
  lines.pitch = (out.w - 1) * conv.stride[1] + reach(conv, 1);
  lines.copied = std::clamp<std::int64_t>(lines.pitch - conv.padding[1], 0, in.w);
  lines.first = (tile.form.height - 1) * conv.stride[0] + reach(conv, 0);
  lines.further = tile.form.height * conv.stride[0];
  lines.all = lines.first + (tile.passes - 1) * lines.further;
  lines.beyond = (parts * tile.form.width - out.w) * conv.stride[1];
  return lines;
}

Lines map_lines(const ResidentTile& tile, const Conv& conv, const Extents& in) {
  Lines lines;
  const std::int64_t read = ((tile.form.width - 1) * conv.stride[1]) * kStageChannels;
  if (!tile.form.is_point()) {
    lines.zero_rows = std::max(read + kBankClasses, conv.padding[1] * kStageChannels);
  }
  lines.pitch = lines.copied = in.w;
  lines.first = lines.all = in.h;
  return lines;
}

Lines lines_of(const ResidentTile& tile, const Conv& conv, const Extents& in, const Extents& out) {
  return tile.form.is_map ? map_lines(tile, conv, in) : strip_lines(tile, conv, in, out);
}

std::int64_t blocks_of_rank(const ResidentTile& tile, const Extents& in) {
  return divided_up(divided_up(in.c, kStageChannels), tile.cluster);
}

std::int64_t input_rows(const ResidentTile& tile, const Lines& lines, const Extents& in) {
  const std::int64_t images = tile.form.is_map ? tile.form.images : 1;
  const std::int64_t pixels = images * blocks_of_rank(tile, in) * lines.all * lines.pitch;
  return lines.zero_rows + (pixels + lines.beyond) * kStageChannels;
}

std::int64_t parts_of(const ResidentTile& tile, const Extents& out) {
  return tile.form.is_map ? 1 : divided_up(out.w, tile.form.width);
}

// Every warp keeps its sums for others to add.
std::int64_t reduction_rows(const ResidentTile& tile, const Extents& out) {
  if (tile.split * tile.cluster == 1) return 0;
  return tile.groups * parts_of(tile, out) * tile.split * tile.form.pixels() * kStageChannels;
}

bool is_power_of_two(int value) {
  return value > 0 && std::has_single_bit(static_cast<unsigned>(value));
}

// Whether all taps of a kernel read within the map for all columns of pixels but the outermost.
bool reads_inside(const ResidentConvForm& form, const Conv& conv, const Extents& in,
                  const Extents& out) {
  const std::int64_t first = conv.stride[1] - conv.padding[1];  // of column 1
  const std::int64_t last =
      (form.width - 2) * conv.stride[1] - conv.padding[1] + reach(conv, 1) - 1;
  return form.width <= 2 || (out.w >= form.width - 1 && first >= 0 && last < in.w);
}

bool fits_stride(const ResidentConvForm& form, const Conv& conv, const Extents& in,
                 const Extents& out) {
  if (conv.stride[1] != form.stride) return false;
  return !form.is_map || reads_inside(form, conv, in, out);
}

// Whether the same form is there for this stride alone, which is faster.
bool has_form_for_stride(ResidentConvForm form, const Conv& conv, const Extents& in,
                         const Extents& out) {
  form.stride = static_cast<int>(conv.stride[1]);
  const bool exists = std::ranges::find(kResidentForms, form) != std::end(kResidentForms);
  return exists && fits_stride(form, conv, in, out);
}

bool fits_form(const ResidentTile& tile, const Conv& conv, const Extents& in, const Extents& out) {
  const ResidentConvForm& form = tile.form;
  if (form.stride != 0 && !fits_stride(form, conv, in, out)) return false;
  if (form.stride == 0 && has_form_for_stride(form, conv, in, out)) return false;
  if (form.is_point() && !is_point(conv, in)) return false;
  if (form.is_map) return out.h <= form.height && out.w <= form.width && in.h > 0 && in.w > 0;
  return form.height == 1 || out.h > 1;
}

bool fits_warps(const ResidentTile& tile, const Extents& in, const Extents& out,
                const ResidentLimits& limits) {
  const bool is_shared = tile.split * tile.cluster > 1;
  if (tile.groups < 1 || !is_power_of_two(tile.split) || !is_power_of_two(tile.cluster)) {
    return false;
  }
  if (tile.groups * parts_of(tile, out) * tile.split > tile.form.warps) return false;
  if (tile.split * tile.cluster > kResidentShares) return false;
  if (tile.passes < 1 || tile.passes > kResidentPasses) return false;
  if (tile.passes > 1 && (is_shared || tile.form.is_map)) return false;
  if (tile.cluster > 8 || (tile.cluster > 1 && !limits.has_clusters)) return false;
  const std::int64_t blocks = divided_up(in.c, kStageChannels);
  return (tile.cluster - 1) * blocks_of_rank(tile, in) < blocks;  // none is without channels
}

int pair_step(const ResidentConvForm& form, const ResidentGeometry& g) {
  if (form.is_point()) return g.rank_blocks * g.block_rows();
  return form.height == 1 ? form.width / 2 * g.column_step : g.stride_y * g.line_rows();
}

void set_divisors(ResidentGeometry& g) {
  g.by_parts = divisor_of(g.parts);
  g.by_stage_blocks = divisor_of(g.stage_blocks);
  g.by_lines = divisor_of(g.lines);
  g.by_first_lines = divisor_of(g.first_lines);
  g.by_pass_lines = divisor_of(std::max(g.pass_lines, 1));
  g.split_bits = std::countr_zero(static_cast<unsigned>(g.split));
  g.cluster_bits = std::countr_zero(static_cast<unsigned>(g.cluster));
}

}  // namespace

ResidentGeometry resident_geometry(const ResidentTile& tile, const Conv& conv, const Extents& in,
                                   const Extents& out) {
  const auto number = [](std::int64_t value) { return static_cast<int>(value); };
  const Lines lines = lines_of(tile, conv, in, out);
  ResidentGeometry g;
  g.image_blocks = number(divided_up(in.n, kGatheredImages));
  g.input_blocks = number(divided_up(in.c, kStageChannels));
  g.output_blocks = number(divided_up(out.c, kStageChannels));
  g.in_height = number(in.h);
  g.in_width = number(in.w);
  g.height = number(out.h);
  g.width = number(out.w);
  g.stride_y = number(conv.stride[0]);
  g.stride_x = number(conv.stride[1]);
  g.padding_y = number(conv.padding[0]);
  g.padding_x = number(conv.padding[1]);
  g.dilation_y = number(conv.dilation[0]);
  g.dilation_x = number(conv.dilation[1]);
  g.all_groups = number(divided_up(conv.out_channels, kGroupChannels));
  g.groups = tile.groups;
  g.split = tile.split;
  g.cluster = tile.cluster;
  g.passes = tile.passes;
  g.parts = number(parts_of(tile, out));
  g.strips = tile.form.is_map ? 1 : number(divided_up(out.h, tile.passes * tile.form.height));
  g.group_blocks = number(divided_up(g.all_groups, tile.groups));
  g.image_tiles = number(divided_up(g.image_blocks, tile.form.is_map ? tile.form.images : 1));
  g.zero_rows = number(lines.zero_rows);
  g.pitch = number(lines.pitch);
  g.lines = number(lines.all);
  g.first_lines = number(lines.first);
  g.pass_lines = number(lines.further);
  g.copied_pixels = number(lines.copied);
  g.rank_blocks = number(blocks_of_rank(tile, in));
  g.stage_blocks = number(divided_up(g.rank_blocks, kResidentStages));
  g.stages = number(divided_up(g.rank_blocks, g.stage_blocks));
  g.column_step = g.stride_x * kStageChannels;
  g.pair_step = pair_step(tile.form, g);
  g.shared_rows = number(std::max(input_rows(tile, lines, in), reduction_rows(tile, out)));
  set_divisors(g);
  return g;
}

bool is_point(const Conv& conv, const Extents& in) {
  return conv.kernel == Pair{1, 1} && conv.stride == Pair{1, 1} && conv.padding == Pair{0, 0} &&
         in.h == 1 && in.w == 1;
}

int thread_blocks(const ResidentGeometry& g) {
  return g.cluster * g.group_blocks * g.strips * g.image_tiles;
}

bool is_valid(const ResidentTile& tile, const Conv& conv, const Extents& in, const Extents& out,
              const ResidentLimits& limits) {
  if (!fits_form(tile, conv, in, out) || !fits_warps(tile, in, out, limits)) return false;
  const std::int64_t rows = input_rows(tile, lines_of(tile, conv, in, out), in);
  if (rows > kMostRows || reduction_rows(tile, out) > kMostRows) return false;
  const ResidentGeometry g = resident_geometry(tile, conv, in, out);
  return g.shared_bytes() <= limits.shared_bytes && g.strips <= kMostBlocks &&
         g.image_tiles <= kMostBlocks;
}

bool can_pool(const ResidentTile& tile, const Extents& out) {
  return tile.form.height > 1 && out.h > 1 && out.w > 1;
}

std::vector<ResidentTile> valid_resident_tiles(const ResidentWork& work,
                                               const ResidentLimits& limits) {
  const Conv& conv = work.conv;
  const Extents &in = work.in, &out = work.out;
  std::vector<ResidentTile> tiles;
  const std::int64_t all_groups = divided_up(conv.out_channels, kGroupChannels);
  for (const ResidentConvForm& form : kResidentForms) {
    for (const int cluster : {1, 2, 4, 8}) {
      for (const int split : {1, 2, 4, 8, 16}) {
        for (int passes = 1; passes <= kResidentPasses; ++passes) {
          ResidentTile tile{form, 1, split, cluster, passes};
          const std::int64_t warps = parts_of(tile, out) * split;
          const std::int64_t room = form.warps / warps;
          if (room == 0 || passes > divided_up(out.h, form.height)) continue;
          for (std::int64_t groups = 1; groups <= room; groups *= 2) {
            tile.groups = static_cast<int>(std::min(groups, all_groups));
            if (is_valid(tile, conv, in, out, limits) && (!work.pools || can_pool(tile, out))) {
              tiles.push_back(tile);
            }
            if (groups >= all_groups) break;
          }
        }
      }
    }
  }
  return tiles;
}

namespace {

// Thread blocks that an SM has room for: by shared memory, registers and warps.
std::int64_t blocks_at_once(const ResidentTile& tile, const ResidentGeometry& g,
                            const ResidentLimits& limits) {
  constexpr std::int64_t kReserved = 1024, kRegisters = 65536, kWarps = 64;
  const std::int64_t of_thread = tile.form.warps == 16 ? (tile.form.is_map ? 104 : 128) : 176;
  return std::max<std::int64_t>(
      1, std::min({(limits.shared_bytes + kReserved) / (g.shared_bytes() + kReserved),
                   kRegisters / (of_thread * g.warps() * 32), kWarps / g.warps()}));
}

// What a thread block needs of an SM, in clocks: the time of its slowest warp alone, of products
// for each of its quarters, and of copies.
struct BlockClocks {
  double alone = 0, product = 0, copies = 0;
};

// Rates and latencies are fitted to some 2400 tiles of layers of 2 to 16 pixels at batch 8 and 128,
// measured on an H200.
BlockClocks block_clocks(const ResidentWork& work, const ResidentTile& tile,
                         const ResidentGeometry& g) {
  constexpr double kProduct = 23, kBatchLatency = 160, kInputBytes = 80, kWeightBytes = 90;
  constexpr double kSumBytes = 40;
  const double group_batches =
      static_cast<double>(work.kept_columns) / (kBatchColumns * g.cluster) * g.passes;
  const double batches = group_batches / g.split, products = tile.form.pairs() * kProduct;
  const double weights =
      group_batches * g.groups * g.parts * static_cast<double>(resident_record_bytes(tile.form));
  const auto bytes = [](std::int64_t rows) { return static_cast<double>(rows) * kRowBytes; };
  const Lines lines = lines_of(tile, work.conv, work.in, work.out);
  return {batches * (kBatchLatency + products), batches * products,
          bytes(input_rows(tile, lines, work.in)) / kInputBytes + weights / kWeightBytes +
              bytes(reduction_rows(tile, work.out)) / kSumBytes};
}

}  // namespace

double resident_clocks(const ResidentWork& work, const ResidentTile& tile,
                       const ResidentLimits& limits) {
  constexpr double kFixed = 2700, kClusterFixed = 3600, kSharing = 340;
  const ResidentGeometry g = resident_geometry(tile, work.conv, work.in, work.out);
  const BlockClocks block = block_clocks(work, tile, g);
  const double fixed =
      kFixed + (g.cluster > 1 ? kClusterFixed : 0) + kSharing * (g.split_bits + g.cluster_bits);
  const std::int64_t at_once = blocks_at_once(tile, g, limits);
  double clocks = 0;
  std::int64_t left = divided_up(thread_blocks(g), limits.sms);
  for (; left > 0; left -= at_once) {
    const auto blocks = static_cast<double>(std::min(left, at_once));
    const double quarter = std::ceil(blocks * g.warps() / 4);
    clocks += fixed + std::max(block.alone, quarter * block.product) + blocks * block.copies;
  }
  return clocks;
}

std::vector<ResidentTile> resident_tiles(const ResidentWork& work, const ResidentLimits& limits,
                                         std::size_t most) {
  std::vector<std::pair<double, ResidentTile>> ranked;
  for (const ResidentTile& tile : valid_resident_tiles(work, limits)) {
    ranked.emplace_back(resident_clocks(work, tile, limits), tile);
  }
  std::ranges::stable_sort(ranked, {}, [](const auto& entry) { return entry.first; });
  std::vector<ResidentTile> tiles;
  const auto count = [&](auto is_like) { return std::ranges::count_if(tiles, is_like); };
  for (const auto& [_, tile] : ranked) {
    const bool has_cluster = tile.cluster > 1;
    const auto of_kind = count([&](const ResidentTile& t) {
      return t.form == tile.form && (t.cluster > 1) == has_cluster;
    });
    const auto alike = count([&](const ResidentTile& t) { return (t.cluster > 1) == has_cluster; });
    const bool is_further = of_kind < kMostOfKind;
    const bool has_room = !has_cluster || 2 * alike < static_cast<std::int64_t>(most);
    if (tiles.size() < most && is_further && has_room) tiles.push_back(tile);
  }
  return tiles;
}

std::string to_string(const ResidentTile& tile) {
  const ResidentConvForm& form = tile.form;
  std::ostringstream text;
  const char* kind = form.is_point() ? "point=" : form.is_map ? "map=" : "strip=";
  text << "resident " << kind << form.height << "x" << form.width;
  if (form.images > 1) text << "x" << form.images;
  text << " warps=" << form.warps;
  if (form.stride != 1) text << " stride=" << form.stride;
  text << " groups=" << tile.groups << " split=" << tile.split << " cluster=" << tile.cluster
       << " passes=" << tile.passes;
  return text.str();
}

}  // namespace winnow
