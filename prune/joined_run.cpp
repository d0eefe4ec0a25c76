#include "prune/joined_run.h"

#include <optional>
#include <sstream>

#include "prune/evolution/shared_state.h"
#include "prune/methods/make_method.h"
#include "prune/mixed_granularities.h"
#include "prune/run_training.h"
#include "prune/start_model.h"
#include "prune/timing/time_rounds.h"
#include "prune/timing/time_table.h"
#include "runtime/base/error.h"
#include "runtime/base/version.h"

namespace winnow {
namespace {

void require_work(const RunConfig& config, std::int64_t ranks) {
  if (config.method.method != Method::evolutionary) {
    fail(ErrorCode::usage, config.place("prune.method"), "prune.method: found ",
         to_string(config.method.method), ", which trains one network, in ", ranks,
         " processes; expected evolutionary, or one process");
  }
  if (config.evolution.generation >= ranks) return;
  fail(ErrorCode::usage, config.place("prune.generation"), "prune.generation: found ",
       config.evolution.generation, ", expected at least ", ranks,
       ", one iteration for each process");
}

}  // namespace

std::string first_difference(const std::string& there, const std::string& here) {
  std::istringstream a(there), b(here);
  std::string line_a, line_b;
  while (std::getline(a, line_a) && std::getline(b, line_b)) {
    if (line_a != line_b) return "'" + line_a + "' there, '" + line_b + "' now";
  }
  return "their lengths";
}

void require_same_run(const RunConfig& config, Peers& peers) {
  if (peers.size() == 1) return;
  require_work(config, peers.size());
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
  require_same_run(config, peers);
  if (options.on_begin) options.on_begin();
  const std::optional<Model> given = read_given_model(config);
  const DataSet data = load_run_data(config, true, image_cache(config), given);
  const Model initial =
      given ? *given : scratch_model(config, make_graph(config.model, data), data);
  TorchTrainee trainee(initial, data, trainee_options(config, options));
  peers.carry(trainee);
  do {
    take_granularities(share_granularities({}, peers), config, trainee);
    share_prediction(config, peers);
    const StartingPoint start = share_start({}, peers);
    if (start.current) trainee.restore(*start.current);
    share_teacher(config, "", trainee, peers);
    trainee.begin(pruning_stage(config));
    const auto method =
        make_method(config.method, config.evolution, trainee, start.evolution, peers);
    while (!method->finished()) method->step();
  } while (config.time_loop.rounds > 0 && share_decision(false, peers));
}

}  // namespace winnow
