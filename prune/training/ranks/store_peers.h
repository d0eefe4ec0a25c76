// The ranks of a run, by a store (rank_store.h).
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "prune/evolution/ranks/peers.h"
#include "prune/training/ranks/rank_store.h"
#include "prune/training/torch_trainee.h"

namespace winnow {

// Snapshots travel through host memory. The store must outlive it.
class StorePeers : public Peers {
 public:
  explicit StorePeers(RankStore& store) : store_(store) {}

  // Whose snapshots share() carries; it must outlive all of these calls.
  void carry(const TorchTrainee& trainee) { trainee_ = &trainee; }

  bool is_broken() const { return store_.is_broken(); }
  RankStore& store() { return store_; }

  std::int64_t rank() const override { return store_.place().rank; }
  std::int64_t size() const override { return store_.place().size; }
  std::vector<std::string> gather(const std::string& mine) override;
  std::shared_ptr<const Snapshot> share(std::shared_ptr<const Snapshot> mine,
                                        std::int64_t from) override;

 private:
  void send(const std::string& key, const std::string& bytes);
  std::string receive(const std::string& key);

  RankStore& store_;
  const TorchTrainee* trainee_ = nullptr;
  std::int64_t gathered_ = 0;
  std::int64_t shared_ = 0;
};

}  // namespace winnow
