#include "prune/evolution/ranks/shared_state.h"

#include <utility>

#include "prune/evolution/ranks/message.h"

namespace winnow {

StartingPoint share_start(StartingPoint start, Peers& peers) {
  if (peers.size() == 1) return start;
  FlatState flat;
  MessageWriter mine;
  if (peers.rank() == 0) {
    flat = flatten(start.evolution);
    mine.put(!start.evolution.pool.empty());
    mine.put(start.current != nullptr);
    mine.put_all(flat.integers);
    mine.put_all(flat.numbers);
    mine.put(flat.snapshots.size());
  }
  const std::string of_first = peers.gather(mine.bytes).front();
  MessageReader in(of_first, "state of rank 0");
  bool has_pool = false, has_current = false;
  std::size_t snapshots = 0;
  in.get(has_pool);
  in.get(has_current);
  in.get_all(flat.integers);
  in.get_all(flat.numbers);
  in.get(snapshots);
  in.expect_end();
  flat.snapshots.resize(snapshots);
  for (auto& snapshot : flat.snapshots) snapshot = peers.share(std::move(snapshot), 0);
  if (has_current) start.current = peers.share(std::move(start.current), 0);
  start.evolution = has_pool ? unflatten(flat) : EvolutionState{};
  return start;
}

}  // namespace winnow
