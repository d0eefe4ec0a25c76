// Ranks as threads of one process.
#pragma once

#include <barrier>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "prune/evolution/ranks/peers.h"

namespace winnow {

// What ranks write for each other.
struct Meeting {
  explicit Meeting(std::int64_t size)
      : said(static_cast<std::size_t>(size)), barrier(static_cast<std::ptrdiff_t>(size)) {}

  std::vector<std::string> said;  // by rank
  std::shared_ptr<const Snapshot> shown;
  std::barrier<> barrier;
};

class ThreadPeers : public Peers {
 public:
  ThreadPeers(Meeting& meeting, std::int64_t rank) : meeting_(meeting), rank_(rank) {}

  std::int64_t rank() const override { return rank_; }
  std::int64_t size() const override { return static_cast<std::int64_t>(meeting_.said.size()); }

  std::vector<std::string> gather(const std::string& mine) override {
    meeting_.said[static_cast<std::size_t>(rank_)] = mine;
    meeting_.barrier.arrive_and_wait();
    std::vector<std::string> all = meeting_.said;
    meeting_.barrier.arrive_and_wait();
    return all;
  }

  std::shared_ptr<const Snapshot> share(std::shared_ptr<const Snapshot> mine,
                                        std::int64_t from) override {
    if (rank_ == from) meeting_.shown = std::move(mine);
    meeting_.barrier.arrive_and_wait();
    std::shared_ptr<const Snapshot> shown = meeting_.shown;
    meeting_.barrier.arrive_and_wait();
    return shown;
  }

 private:
  Meeting& meeting_;
  std::int64_t rank_;
};

// Runs `work` once for each rank, all at the same time.
inline void run_ranks(std::int64_t size, const std::function<void(Peers&)>& work) {
  Meeting meeting(size);
  std::vector<std::jthread> threads;
  for (std::int64_t rank = 0; rank < size; ++rank) {
    threads.emplace_back([&meeting, &work, rank] {
      ThreadPeers peers(meeting, rank);
      work(peers);
    });
  }
}

}  // namespace winnow
