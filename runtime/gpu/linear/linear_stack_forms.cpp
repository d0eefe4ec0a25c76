#include "runtime/gpu/linear/linear_stack_forms.h"

#include <algorithm>

namespace winnow {
namespace {

constexpr int kMostClusterBlocks = 8;  // portable
constexpr std::int64_t kSlice = 32;    // outputs of a warp at a time

// To launch a cluster takes about 1 us longer (measured), more than it saves with fewer outputs.
constexpr std::int64_t kFewestClusterOutputs = 512;

std::int64_t tiles_of(std::int64_t images, const ResidentForm& form) {
  return (images + form.images - 1) / form.images;
}

// While there is an SM for each block, and something to do for four of its warps.
bool is_worth_sharing(int blocks, const StackWidths& widths, std::int64_t tiles,
                      const StackDevice& device) {
  return tiles * blocks <= device.sms && widths.fewest_inner >= fewest_outputs(blocks) &&
         widths.most_outputs >= std::max(kFewestClusterOutputs, blocks * 4 * kSlice);
}

// The largest clusters, two of them: of those that are just few enough, not all run at a time.
void add_clusters(const ResidentForm& form, const StackWidths& widths, std::int64_t tiles,
                  const StackDevice& device, std::vector<LinearStackForm>& found) {
  for (int blocks = 2; blocks <= kMostClusterBlocks; blocks *= 2) {
    if (!is_worth_sharing(blocks, widths, tiles, device)) break;
    found.push_back({form, blocks});
    if (found.size() > 2) found.erase(found.begin());
  }
}

}  // namespace

std::string to_string(const LinearStackForm& form) {
  std::string text = form.rows.is_half ? "f16" : "f32";
  text += " tile=" + std::to_string(form.rows.images);
  return form.blocks == 1 ? text : text + " blocks=" + std::to_string(form.blocks);
}

std::int64_t fewest_outputs(int blocks) {
  return (blocks - 1) * kSlice + 1;
}

std::vector<LinearStackForm> linear_stack_forms(Precision precision, const StackWidths& widths,
                                                std::int64_t images, const StackDevice& device) {
  std::vector<LinearStackForm> found;
  const std::int64_t features = std::max(widths.most_inputs, widths.most_outputs);
  const auto rows = static_cast<std::uint32_t>((features + kSlice - 1) / kSlice * kSlice);
  bool has_enough_tiles = false;
  for (const int tile : {4, 8, 16}) {
    // fp16 from 8 images on: rows have 16 bytes at least.
    const ResidentForm form{precision == Precision::f16 && tile >= 8, tile};
    if (!form.fits(rows, device.shared_bytes)) continue;
    const std::int64_t tiles = tiles_of(images, form);
    if (!has_enough_tiles) found.push_back({form, 1});
    has_enough_tiles = has_enough_tiles || tiles <= device.sms;
    if (tile == kClusterImages && device.has_clusters) {
      add_clusters(form, widths, tiles, device, found);
    }
  }
  return found;
}

std::int64_t most_stack_features(std::size_t shared_bytes) {
  const std::size_t room = shared_bytes > kStaticShared ? shared_bytes - kStaticShared : 0;
  const std::size_t row = ResidentForm{false, kClusterImages}.shared_bytes(1);
  return static_cast<std::int64_t>(room / row) / kSlice * kSlice;
}

}  // namespace winnow
