#include "prune/run/rank_teams.h"

#include "prune/evolution/ranks/message.h"
#include "runtime/base/error.h"

namespace winnow {
namespace {

std::int64_t ranks_per_member(const RunConfig& config, std::int64_t ranks) {
  if (!config.train.is_data_parallel) return 1;
  if (config.method.method != Method::evolutionary) return ranks;
  return ranks > config.evolution.generation ? ranks / config.evolution.generation : 1;
}

void require_images(const RunConfig& config, std::int64_t ranks) {
  if (!config.train.is_data_parallel || config.train.batch_size >= 2 * ranks) return;
  fail(ErrorCode::usage, config.place("train.batch_size"), "train.batch_size: found ",
       config.train.batch_size, " images, which ", ranks, " processes divide, expected at least ",
       2 * ranks, ": batch norm has no variance of one");
}

void require_work(const RunConfig& config, std::int64_t ranks) {
  require_images(config, ranks);
  const bool is_divided = config.train.is_data_parallel;
  if (config.method.method != Method::evolutionary) {
    if (is_divided) return;
    fail(ErrorCode::usage, config.place("prune.method"), "prune.method: found ",
         to_string(config.method.method), ", which trains one network, in ", ranks,
         " processes; expected evolutionary, train.data_parallel: true, or one process");
  }
  const std::int64_t generation = config.evolution.generation;
  if (generation >= ranks) return;
  if (!is_divided) {
    fail(ErrorCode::usage, config.place("prune.generation"), "prune.generation: found ", generation,
         ", expected at least ", ranks,
         ", one iteration for each process (or train.data_parallel: true)");
  }
  if (ranks % generation == 0) return;
  fail(ErrorCode::usage, config.place("prune.generation"), "prune.generation: found ", generation,
       ", among which ", ranks, " processes cannot be divided, expected a divisor of ", ranks);
}

TeamPlace team_of(RankStore* store, const std::string& name, std::int64_t rank, std::int64_t size) {
  if (store == nullptr || size == 1) return {};
  const std::string number = std::to_string(rank / size);
  return {.store = store, .name = name + number, .rank = rank % size, .size = size};
}

}  // namespace

std::vector<std::string> TeamPeers::gather(const std::string& mine) {
  const std::vector<std::string> all = ranks_.gather(mine);
  std::vector<std::string> first;
  for (std::size_t rank = 0; rank < all.size(); ++rank) {
    if (rank % static_cast<std::size_t>(per_team_) == 0) first.push_back(all[rank]);
    if (all[rank] == first.back()) continue;
    fail(ErrorCode::internal, "rank ", rank, " has come to another result than rank ",
         static_cast<std::int64_t>(rank) / per_team_ * per_team_,
         ", with which it trains: are the GPUs of one kind?");
  }
  return first;
}

RankTeams::RankTeams(const RunConfig& config, Peers& ranks, RankStore* store)
    : ranks_(ranks), peers_(ranks, ranks_per_member(config, ranks.size())) {
  if (ranks.size() == 1) return;
  require_work(config, ranks.size());
  if (!config.train.is_data_parallel) return;
  dense_ = team_of(store, "all", ranks.rank(), ranks.size());
  const std::int64_t per_member = ranks_per_member(config, ranks.size());
  member_ =
      per_member == ranks.size() ? dense_ : team_of(store, "member", ranks.rank(), per_member);
}

void RankTeams::require_equal(const TeamPlace& team, const TorchTrainee& trainee,
                              const std::string& when) {
  if (team.size == 1) return;
  const std::vector<std::string> all = ranks_.gather(std::to_string(trainee.checksum()));
  for (std::size_t rank = 0; rank < all.size(); ++rank) {
    const std::size_t first = rank - rank % static_cast<std::size_t>(team.size);
    if (all[rank] == all[first]) continue;
    fail(ErrorCode::internal, "after ", when, " rank ", rank, " has other weights than rank ",
         first, ", with which it trains: are the GPUs of one kind?");
  }
}

DensePoint share_dense(DensePoint mine, Peers& ranks) {
  MessageWriter out;
  if (ranks.rank() == 0) {
    out.put(mine.is_due);
    out.put(mine.epoch);
    out.put(mine.batch);
    out.put(mine.current != nullptr);
  }
  const std::string of_first = ranks.gather(out.bytes).front();
  MessageReader in(of_first, "dense phase of rank 0");
  bool has_current = false;
  in.get(mine.is_due);
  in.get(mine.epoch);
  in.get(mine.batch);
  in.get(has_current);
  in.expect_end();
  if (has_current) mine.current = ranks.share(std::move(mine.current), 0);
  return mine;
}

}  // namespace winnow
