// Images divided over the ranks of a run, each of which runs an engine.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "runtime/challenge/engine.h"
#include "runtime/challenge/ranks/gather.h"
#include "runtime/challenge/ranks/rank_group.h"

namespace winnow::challenge {

// Ranks take turns at stripes of kStripeImages images. A run begins at all ranks together and
// lasts, at each, until the categories of all are there; its inference time is that of the rank
// where it took longest, its transfer time the longest. All ranks make the same calls in the same
// order; all are given all images and get all categories.
class RankEngine : public Engine {
 public:
  // The group must outlive it. Waits for the engines of all.
  RankEngine(RankGroup& group, std::unique_ptr<Engine> engine, std::unique_ptr<Gather> gather);

  const std::vector<std::string>& devices() const { return devices_; }  // by rank

  std::string device() const override;  // those of all, with their machines where these differ
  DeviceClocks clocks() const override { return engine_->clocks(); }
  std::string kernel() const override;
  void set_images(const SparseImages& images) override;
  Categories run(RunTimes& times) override;
  std::vector<std::uint32_t> live() const override { return live_; }  // of all together
  std::string discovery() const override { return engine_->discovery(); }
  double prepare_ms() const override { return prepare_ms_; }  // the longest

 private:
  void exchange(const RunTimes& own, double total_ms, RunTimes& times);
  void exchange_live();

  RankGroup& group_;
  std::unique_ptr<Engine> engine_;
  std::unique_ptr<Gather> gather_;
  std::vector<std::string> devices_;
  double prepare_ms_ = 0;
  std::uint32_t own_images_ = 0;
  std::uint32_t words_ = 0;  // of a rank's categories
  std::vector<std::uint32_t> live_;
};

}  // namespace winnow::challenge
