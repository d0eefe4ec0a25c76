#include "runtime/challenge/ranks/rank_engine.h"

#include <algorithm>
#include <chrono>
#include <functional>
#include <set>

#include "runtime/challenge/ranks/packed.h"
#include "runtime/challenge/ranks/stripe_bits.h"

namespace winnow::challenge {
namespace {

struct RankTimes {
  double total_ms = 0;      // from the common start to the categories of all
  double inference_ms = 0;  // of this rank's images alone
  double transfer_ms = 0;
};

}  // namespace

RankEngine::RankEngine(RankGroup& group, std::unique_ptr<Engine> engine,
                       std::unique_ptr<Gather> gather)
    : group_(group), engine_(std::move(engine)), gather_(std::move(gather)) {
  devices_ = group_.gather(engine_->device());
  for (const std::string& bytes : group_.gather(packed(engine_->prepare_ms()))) {
    prepare_ms_ = std::max(prepare_ms_, unpacked<double>(bytes).at(0));
  }
}

std::string RankEngine::device() const {
  const std::vector<std::string>& machines = group_.machines();
  const bool is_one = std::set(machines.begin(), machines.end()).size() == 1;
  std::string all;
  for (std::size_t rank = 0; rank < devices_.size(); ++rank) {
    all += (all.empty() ? "" : ", ") + devices_[rank];
    if (!is_one) all += " on " + machines[rank];
  }
  return all;
}

std::string RankEngine::kernel() const {
  return engine_->kernel() + "; images divided over " + std::to_string(group_.size()) +
         " processes, categories gathered by " + gather_->name();
}

// A rank without images runs nothing: not every engine takes none.
void RankEngine::set_images(const SparseImages& images) {
  const auto rank = static_cast<std::uint32_t>(group_.rank());
  const auto ranks = static_cast<std::uint32_t>(group_.size());
  const SparseImages own = stripes(images, kStripeImages, rank, ranks);
  own_images_ = own.images();
  words_ = std::max(1u, most_stripes(images.images(), ranks));
  if (own_images_ > 0) engine_->set_images(own);
  gather_->all(packed(stripe_bits({}, words_)));  // the first one makes connections
}

Categories RankEngine::run(RunTimes& times) {
  group_.gather("");  // the common start
  const auto begin = std::chrono::steady_clock::now();
  RunTimes own;
  const Categories found = own_images_ > 0 ? engine_->run(own) : Categories();
  std::vector<std::vector<std::uint64_t>> bits;
  for (const std::string& bytes : gather_->all(packed(stripe_bits(found, words_)))) {
    bits.push_back(unpacked<std::uint64_t>(bytes));
  }
  Categories all = merged_categories(bits);
  const std::chrono::duration<double, std::milli> total = std::chrono::steady_clock::now() - begin;
  exchange(own, total.count(), times);
  exchange_live();
  return all;
}

void RankEngine::exchange(const RunTimes& own, double total_ms, RunTimes& times) {
  times = {};
  for (const std::string& bytes :
       group_.gather(packed(RankTimes{total_ms, own.inference_ms, own.transfer_ms}))) {
    const RankTimes rank = unpacked<RankTimes>(bytes).at(0);
    times.inference_ms = std::max(times.inference_ms, rank.total_ms);
    times.transfer_ms = std::max(times.transfer_ms, rank.transfer_ms);
    times.rank_ms.push_back(rank.inference_ms);
  }
}

// Nothing if an engine does not count.
void RankEngine::exchange_live() {
  const std::vector<std::uint32_t> own =
      own_images_ > 0 ? engine_->live() : std::vector<std::uint32_t>();
  const std::vector<std::string> all = group_.gather(packed(own));
  live_ = unpacked<std::uint32_t>(all.front());  // rank 0 has images if there are any
  for (std::size_t rank = 1; rank < all.size(); ++rank) {
    const std::vector<std::uint32_t> more = unpacked<std::uint32_t>(all[rank]);
    if (more.size() != live_.size()) continue;  // without images
    std::ranges::transform(live_, more, live_.begin(), std::plus<>());
  }
}

}  // namespace winnow::challenge
