#include <atomic>
#include <chrono>
#include <cstdlib>
#include <thread>
#include <vector>

#include "prune/training/ranks/rank_group.h"
#include "runtime/base/error.h"

#ifdef WINNOW_HAS_GLOO
#define USE_C10D_GLOO
#include <torch/csrc/distributed/c10d/ProcessGroupGloo.hpp>
#endif

namespace winnow {

#ifdef WINNOW_HAS_GLOO
namespace {

using Gloo = c10d::ProcessGroupGloo;
using namespace std::chrono_literals;

// Who is alive is the store's to say (rank_store.h): a rank may be busy for long.
constexpr std::chrono::hours kTimeout(24);

// As PyTorch chooses it: GLOO_SOCKET_IFNAME names a network interface, else it is the one of this
// machine's name.
std::shared_ptr<gloo::transport::Device> network(bool is_one_machine) {
  const char* name = std::getenv("GLOO_SOCKET_IFNAME");
  if (name && *name) return Gloo::createDeviceForInterface(name);
  if (is_one_machine) return Gloo::createDeviceForHostname("127.0.0.1");
  return Gloo::createDefaultDevice();
}

class GlooGroup : public RankGroup {
 public:
  explicit GlooGroup(const GroupPlace& place) {
    const auto options = c10::make_intrusive<Gloo::Options>(kTimeout);
    options->devices = {network(place.is_one_machine)};
    options->threads = 1;
    group_ = c10::make_intrusive<Gloo>(place.store, place.rank, place.size, options);
  }

  // A sum that never ends would keep the group's thread, and with it this one, for a day.
  ~GlooGroup() override {
    if (is_aborted_) (void)group_.release();
  }

  void add_up(torch::Tensor& values) override {
    std::vector<torch::Tensor> all = {values};
    finish(*group_->allreduce(all));
  }

  void broadcast(torch::Tensor& values, int from) override {
    std::vector<torch::Tensor> all = {values};
    c10d::BroadcastOptions options;
    options.rootRank = from;
    finish(*group_->broadcast(all, options));
  }

  void abort() override { is_aborted_ = true; }

 private:
  void finish(c10d::Work& work) const {
    for (auto pause = 20us; !work.isCompleted(); pause = std::min(pause * 3 / 2, 500us)) {
      if (is_aborted_) throw std::runtime_error("a rank is lost");
      std::this_thread::sleep_for(pause);
    }
    work.wait();
  }

  c10::intrusive_ptr<Gloo> group_;
  std::atomic<bool> is_aborted_ = false;
};

}  // namespace

std::unique_ptr<RankGroup> make_gloo_group(const GroupPlace& place) {
  return std::make_unique<GlooGroup>(place);
}
#else
std::unique_ptr<RankGroup> make_gloo_group(const GroupPlace&) {
  fail(
      ErrorCode::device,
      "train.data_parallel: this LibTorch has no Gloo, by which CPUs would divide a batch; use one "
      "process, or GPUs");
}
#endif

}  // namespace winnow
