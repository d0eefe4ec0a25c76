#include "prune/training/ranks/team.h"

#include <torch/csrc/distributed/c10d/PrefixStore.hpp>

#include "prune/training/ranks/rank_store.h"
#include "prune/training/ranks/store_connection.h"
#include "runtime/base/error.h"
#include "runtime/base/suggest.h"

namespace winnow {
namespace {

// A GPU's queue is some batches long; the CPU's answer is there at once.
constexpr std::int64_t kGpuInterval = 8;

// The store of the run keeps its connection for itself: c10d waits in it.
GroupPlace group_place(const TeamPlace& place) {
  const RankPlace& run = place.store->place();
  return {.store = c10::make_intrusive<c10d::PrefixStore>(place.name, connect_store(run, false)),
          .is_one_machine = run.host == "127.0.0.1",
          .rank = static_cast<int>(place.rank),
          .size = static_cast<int>(place.size)};
}

}  // namespace

Team::Team(const TeamPlace& place, const torch::Device& device)
    : place_(place), interval_(device.is_cuda() ? kGpuInterval : 1) {
  const GroupPlace at = group_place(place);
  place_.store->count(place_.name + "/here");
  place_.store->wait_for_count(place_.name + "/here", place_.size);
  group_ = device.is_cuda() ? make_nccl_group(at, device) : make_gloo_group(at);
  place_.store->when_lost([this] { group_->abort(); });
}

Team::~Team() {
  place_.store->when_lost({});
}

void Team::require_all() {
  place_.store->require_all();
}

void Team::add_up(torch::Tensor& values) {
  try {
    group_->add_up(values);
  } catch (const std::exception& error) {
    refuse("sum over ", error);
  }
}

void Team::broadcast(torch::Tensor& values, std::int64_t from) {
  try {
    group_->broadcast(values, static_cast<int>(from));
  } catch (const std::exception& error) {
    refuse("broadcast to ", error);
  }
}

void Team::wait_for(const torch::Tensor& values) {
  try {
    (void)values.flatten()[0].cpu();
  } catch (const std::exception& error) {
    refuse("broadcast to ", error);
  }
  require_all();
}

// With the rank that is lost, if one is.
void Team::refuse(const char* what, const std::exception& error) const {
  place_.store->await_loss();
  fail(ErrorCode::device, what, place_.size, " ranks: ", one_line(error.what()));
}

// Who is there has said what he wants before.
bool Team::any(bool mine) {
  const auto key = [this](const char* what, std::int64_t number) {
    return place_.name + what + std::to_string(number);
  };
  const std::int64_t number = asked_++;
  if (mine) place_.store->count(key("/yes", number));
  place_.store->count(key("/asked", number));
  place_.store->wait_for_count(key("/asked", number), place_.size);
  const bool is_yes = place_.store->counted(key("/yes", number)) > 0;
  // Whoever takes part in a question has read the answer to the one before it.
  if (place_.rank == 0 && number >= 2) {
    place_.store->drop(key("/yes", number - 2));
    place_.store->drop(key("/asked", number - 2));
  }
  return is_yes;
}

}  // namespace winnow
