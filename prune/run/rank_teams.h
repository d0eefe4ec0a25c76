// How the ranks of a run divide its work: the population among teams, each batch among a team.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "prune/config/run_config.h"
#include "prune/training/ranks/store_peers.h"
#include "prune/training/ranks/team_place.h"
#include "prune/training/torch_trainee.h"

namespace winnow {

// Neighbouring ranks as one peer: all of a team compute the same trial. Of a team's ranks the first
// one speaks.
class TeamPeers : public Peers {
 public:
  TeamPeers(Peers& ranks, std::int64_t per_team) : ranks_(ranks), per_team_(per_team) {}

  std::int64_t rank() const override { return ranks_.rank() / per_team_; }
  std::int64_t size() const override { return ranks_.size() / per_team_; }

  // Throws Error{internal} with the rank's number if it says another thing than its team's first.
  std::vector<std::string> gather(const std::string& mine) override;
  std::shared_ptr<const Snapshot> share(std::shared_ptr<const Snapshot> mine,
                                        std::int64_t from) override {
    return ranks_.share(std::move(mine), from * per_team_);
  }

 private:
  Peers& ranks_;
  std::int64_t per_team_;
};

// With train.data_parallel all ranks are a team in the dense phase and where one network is pruned;
// of the evolution's iterations as many are trained side by side as a generation has, each by its
// share of the ranks. Without, every rank is alone.
class RankTeams {
 public:
  // `store` is that of `ranks`, null for one process. Throws Error{usage} with the key's place if
  // the configuration leaves a rank without work, or a rank without two images of a batch.
  RankTeams(const RunConfig& config, Peers& ranks, RankStore* store);

  bool shares_dense() const { return dense_.size > 1; }
  const TeamPlace& dense() const { return dense_; }
  const TeamPlace& member() const { return member_; }
  Peers& peers() { return peers_; }  // for the method

  // Throws Error{internal} with the rank's number if a rank's network, optimizer or masks differ
  // from those of its team's first. Of the ranks of a team in the dense phase or in pruning; `when`
  // is for the message.
  void require_equal(const TeamPlace& team, const TorchTrainee& trainee, const std::string& when);

 private:
  Peers& ranks_;
  TeamPlace dense_, member_;
  TeamPeers peers_;
};

// Where the dense phase stands, which ranks with a common one begin at.
struct DensePoint {
  bool is_due = false;  // else it is over
  std::int64_t epoch = 0;
  std::int64_t batch = 0;
  std::shared_ptr<const Snapshot> current;  // null at the start
};

// Rank 0's, at every rank; what the others give is not read.
DensePoint share_dense(DensePoint mine, Peers& ranks);

}  // namespace winnow
