// The ranks of a run, by a store (rank_store.h).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "prune/evolution/ranks/peers.h"
#include "prune/training/ranks/rank_store.h"
#include "prune/training/torch_trainee.h"

namespace winnow {

// Snapshots go from GPU to GPU where each rank has one of its own, else through host memory and the
// store. The store must outlive it.
class StorePeers : public Peers {
 public:
  explicit StorePeers(RankStore& store) : store_(store) {}

  // Whose snapshots share() carries; it must outlive all of these calls. Not `directly` where the
  // trainee joins teams (TorchTrainee::join): one group of ranks at a time can be waited for.
  void carry(TorchTrainee& trainee, bool directly) {
    if (trainee_ == &trainee) return;
    trainee_ = &trainee;
    may_be_direct_ = directly;
    is_direct_.reset();
  }

  // How snapshots go, "" before the first: ", networks from GPU to GPU by NCCL".
  std::string way() const;

  bool is_broken() const { return store_.is_broken(); }
  RankStore& store() { return store_; }

  std::int64_t rank() const override { return store_.place().rank; }
  std::int64_t size() const override { return store_.place().size; }
  std::vector<std::string> gather(const std::string& mine) override;
  std::shared_ptr<const Snapshot> share(std::shared_ptr<const Snapshot> mine,
                                        std::int64_t from) override;

 private:
  bool is_direct();
  std::string own_gpu();
  void send(const std::string& key, const std::string& bytes);
  std::string receive(const std::string& key);

  RankStore& store_;
  TorchTrainee* trainee_ = nullptr;
  bool may_be_direct_ = false;
  std::optional<bool> is_direct_;  // unknown until the first snapshot
  std::string reason_;             // why not, where this rank's GPU is not known
  std::int64_t gathered_ = 0;
  std::int64_t shared_ = 0;
  std::int64_t populations_ = 0;  // trainees whose ranks have met
};

}  // namespace winnow
