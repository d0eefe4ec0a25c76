#include "prune/run/joined_run.h"

#include <optional>

#include "prune/evolution/ranks/shared_state.h"
#include "prune/methods/make_method.h"
#include "prune/mixed_granularities.h"
#include "prune/run/rank_teams.h"
#include "prune/run/run_training.h"
#include "prune/start_model.h"
#include "prune/teacher_model.h"
#include "prune/timing/time_rounds.h"
#include "prune/timing/time_table.h"
#include "runtime/base/error.h"
#include "runtime/base/first_difference.h"
#include "runtime/base/version.h"

namespace winnow {
namespace {

// The dense phase of a rank whose batches rank 0 divides, from where that is to its end.
void join_dense(const RunConfig& config, RankTeams& teams, TorchTrainee& trainee, Peers& peers) {
  const DensePoint start = share_dense({}, peers);
  if (!start.is_due) return;
  if (start.current) trainee.restore(*start.current);
  trainee.join(teams.dense());
  trainee.begin(dense_stage(config, trainee));
  std::int64_t batch = start.batch;
  for (std::int64_t epoch = start.epoch + 1; epoch <= config.train.epochs; ++epoch) {
    const std::int64_t end = epoch * trainee.batches_per_epoch();
    trainee.train_batches(batch, end - batch);
    batch = end;
    teams.require_equal(teams.dense(), trainee, "epoch " + std::to_string(epoch));
  }
}

}  // namespace

void require_same_run(const RunConfig& config, Peers& peers) {
  if (peers.size() == 1) return;
  const std::vector<std::string> all =
      peers.gather(full_version_text() + "\n" + comparable_config(config));
  for (std::size_t rank = 1; rank < all.size(); ++rank) {
    if (all[rank] == all[0]) continue;
    fail(ErrorCode::usage, "rank ", rank, " was started with another configuration than rank 0: ",
         first_difference(all[0], all[rank]));
  }
}

void join_run(const RunConfig& given_config, const PruneOptions& options) {
  StorePeers& peers = *options.peers;
  RunConfig config = with_times(given_config);
  RankTeams teams(config, peers, &peers.store());
  require_same_run(config, peers);
  if (options.on_begin) options.on_begin();
  const std::optional<Model> given = read_given_model(config);
  const std::optional<Model> teacher = read_teacher(config);
  const DataSet data = load_run_data(config, true, image_cache(config), given);
  require_fit_of_teacher(config, teacher, data);
  const Model initial = start_model(config, given, data);
  TorchTrainee trainee(initial, data, trainee_options(config, options));
  peers.carry(trainee, !config.train.is_data_parallel);
  if (teams.shares_dense()) join_dense(config, teams, trainee, peers);
  std::vector<std::int64_t> granularities;  // as they are taken: later rounds keep them
  do {
    const std::vector<std::int64_t> chosen = share_granularities({}, peers);
    if (chosen != granularities) take_granularities(chosen, config, trainee);
    granularities = chosen;
    share_prediction(config, peers);
    const StartingPoint start = share_start({}, peers);
    if (start.current) trainee.restore(*start.current);
    share_teacher(config, teacher, "", trainee, peers);
    trainee.join(teams.member());
    trainee.begin(pruning_stage(config));
    const auto method =
        make_method(config.method, config.evolution, trainee, start.evolution, teams.peers());
    while (!method->finished()) {
      const std::vector<IterationRecord> records = method->step();
      teams.require_equal(teams.member(), trainee, iteration_name(records.back().iteration));
    }
  } while (config.time_loop.rounds > 0 && share_decision(false, peers));
}

}  // namespace winnow
