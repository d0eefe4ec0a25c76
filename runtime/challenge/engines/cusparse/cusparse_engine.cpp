#include "runtime/challenge/engines/cusparse/cusparse_engine.h"

#include <algorithm>

namespace winnow::challenge {

CusparseEngine::CusparseEngine(const Network& network, const EngineOptions& options,
                               bool counts_live)
    : GpuEngine(network, options), counts_live_(counts_live) {}

void CusparseEngine::hold_images(const SparseImages& images) {
  images_ = DeviceImages();  // frees first
  images_ = upload_images(images);
  first_ones_ = images.row_begin;
}

void CusparseEngine::count_live(std::uint32_t layer, std::size_t images) {
  if (counts_live_) live_[layer] += static_cast<std::uint32_t>(images);
}

Categories CusparseEngine::infer() {
  live_.assign(counts_live_ ? layers() + 1 : 0, 0);
  Categories categories;
  for (std::uint32_t first = 0; first < images(); first += batch_) {
    const Categories found = infer_batch(first, first + std::min(batch_, images() - first));
    categories.insert(categories.end(), found.begin(), found.end());
  }
  return categories;
}

}  // namespace winnow::challenge
