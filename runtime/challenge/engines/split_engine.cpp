#include "runtime/challenge/engines/split_engine.h"

#include <algorithm>
#include <chrono>
#include <functional>

namespace winnow::challenge {

SplitEngine::SplitEngine(int shares, const Maker& make)
    : pool_(shares), engines_(static_cast<std::size_t>(shares)) {
  pool_.run([&](int share) { engines_[static_cast<std::size_t>(share)] = make(share); });
}

std::string SplitEngine::device() const {
  std::string all;
  for (const auto& engine : engines_) all += (all.empty() ? "" : ", ") + engine->device();
  return all;
}

std::string SplitEngine::kernel() const {
  return engines_.front()->kernel() + "; images split over " + std::to_string(engines_.size()) +
         " devices";
}

void SplitEngine::set_images(const SparseImages& images) {
  pool_.run([&](int share) {
    const auto i = static_cast<std::size_t>(share);
    engines_[i]->set_images(stripes(images, kStripeImages, static_cast<std::uint32_t>(share),
                                    static_cast<std::uint32_t>(engines_.size())));
  });
}

Categories SplitEngine::run(RunTimes& times) {
  std::vector<Categories> found(engines_.size());
  std::vector<RunTimes> share_times(engines_.size());
  const auto begin = std::chrono::steady_clock::now();
  pool_.run([&](int share) {
    const auto i = static_cast<std::size_t>(share);
    found[i] = engines_[i]->run(share_times[i]);
  });
  Categories all;
  for (std::size_t i = 0; i < found.size(); ++i) {
    for (const std::uint32_t image : found[i]) {
      const auto stripe = static_cast<std::uint32_t>(image / kStripeImages * found.size() + i);
      all.push_back(stripe * kStripeImages + image % kStripeImages);
    }
  }
  std::ranges::sort(all);
  times.inference_ms =
      std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count();
  times.transfer_ms = std::ranges::max(share_times, {}, &RunTimes::transfer_ms).transfer_ms;
  return all;
}

std::vector<std::uint32_t> SplitEngine::live() const {
  std::vector<std::uint32_t> sum = engines_.front()->live();
  for (std::size_t i = 1; i < engines_.size(); ++i) {
    const std::vector<std::uint32_t> more = engines_[i]->live();
    if (more.size() != sum.size()) return {};
    std::ranges::transform(sum, more, sum.begin(), std::plus<>());
  }
  return sum;
}

double SplitEngine::prepare_ms() const {
  double longest = 0;
  for (const auto& engine : engines_) longest = std::max(longest, engine->prepare_ms());
  return longest;
}

}  // namespace winnow::challenge
