#include "prune/evolution/ranks/generation.h"

#include <span>

#include "prune/evolution/ranks/message.h"
#include "runtime/base/checksum.h"
#include "runtime/base/error.h"

namespace winnow {
std::string to_bytes(const Trial& trial) {
  MessageWriter out;
  out.put(trial.offspring.size());
  for (const Offspring& plan : trial.offspring) {
    out.put(plan.origin);
    out.put(plan.loss);
    out.put_all(plan.sparsities);
  }
  out.put(trial.chosen);
  out.put(trial.loss);
  out.put(trial.accuracy);
  out.put(trial.is_finite);
  out.put_all(trial.sparsities);
  out.put_all(trial.kept_weights);
  out.put_all(trial.migrations);
  return out.bytes;
}

Trial trial_from(const std::string& bytes) {
  MessageReader in(bytes, "trial of another rank");
  Trial trial;
  std::size_t plans = 0;
  in.get(plans);
  for (std::size_t i = 0; i < plans; ++i) {
    Offspring& plan = trial.offspring.emplace_back();
    in.get(plan.origin);
    in.get(plan.loss);
    in.get_all(plan.sparsities);
  }
  in.get(trial.chosen);
  in.get(trial.loss);
  in.get(trial.accuracy);
  in.get(trial.is_finite);
  in.get_all(trial.sparsities);
  in.get_all(trial.kept_weights);
  in.get_all(trial.migrations);
  in.expect_end();
  return trial;
}

std::int64_t rank_of(std::size_t index, const Peers& peers) {
  return static_cast<std::int64_t>(index) % peers.size();
}

std::vector<Trial> try_out_together(const std::vector<Proposal>& proposals,
                                    const EvolutionConfig& config, const LayerBudget& budget,
                                    Trainee& trainee, Peers& peers) {
  std::vector<Trial> trials;
  const auto ranks = static_cast<std::size_t>(peers.size());
  // In rows of one proposal a rank, so that each tells of one at a time.
  for (std::size_t first = 0; first < proposals.size(); first += ranks) {
    const std::size_t mine = first + static_cast<std::size_t>(peers.rank());
    Trial trial;
    if (mine < proposals.size()) trial = try_out(proposals[mine], config, budget, trainee);
    if (ranks == 1) {
      trials.push_back(std::move(trial));
      continue;
    }
    const std::vector<std::string> all = peers.gather(to_bytes(trial));
    for (std::size_t i = first; i < std::min(first + ranks, proposals.size()); ++i) {
      trials.push_back(i == mine ? std::move(trial) : trial_from(all[i - first]));
    }
  }
  return trials;
}

void require_agreement(const EvolutionState& state, const Trainee& trainee, Peers& peers) {
  if (peers.size() == 1) return;
  const FlatState flat = flatten(state);
  MessageWriter facts;
  facts.put_all(flat.integers);
  facts.put_all(flat.numbers);
  for (const auto& snapshot : flat.snapshots) facts.put(trainee.fingerprint(*snapshot));
  const std::string mine = std::to_string(crc32c(std::as_bytes(std::span(facts.bytes))));
  const std::vector<std::string> all = peers.gather(mine);
  for (std::size_t rank = 0; rank < all.size(); ++rank) {
    if (all[rank] == all[0]) continue;
    fail(ErrorCode::internal, "after iteration ", state.iteration, " rank ", rank,
         " has another state or other masks than rank 0: are the GPUs of one kind?");
  }
}

}  // namespace winnow
