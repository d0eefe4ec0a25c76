// `runtime challenge run` as one process or as one of several that a launcher has started.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "runtime/challenge/engine.h"
#include "runtime/challenge/network.h"
#include "runtime/challenge/ranks/rank_group.h"
#include "runtime/commands/challenge_report.h"
#include "runtime/commands/challenge_run_options.h"

namespace winnow {

// Calls `run` with the options of this process and its group, null if it is alone, and returns what
// that returns. Ranks other than 0 are quiet and write nothing; without --gpu and --gpus the
// ranks of a machine take its GPUs in turns. What `run` throws is told to the other ranks. Throws
// as RankGroup does; requests to stop are InterruptGuard's.
int run_as_rank(const ChallengeRunOptions& options,
                const std::function<int(const ChallengeRunOptions&, challenge::RankGroup*)>& run);

// Throws Error{usage} at all ranks if one has another engine, part of the data or number of runs
// than rank 0, or other images.
void require_same_work(challenge::RankGroup& group, const ChallengeRunOptions& options,
                       const ChallengeReport& report, const challenge::SparseImages& images);

// The engine of the process, or with a group one whose images are divided over the ranks. Throws as
// make_engine() does, and Error{usage} at all ranks if one has another network than rank 0.
std::unique_ptr<challenge::Engine> make_rank_engine(const std::string& name,
                                                    const challenge::Network& network,
                                                    const challenge::EngineOptions& options,
                                                    const std::string& gather,
                                                    challenge::RankGroup* group);

// Puts where the ranks are, and how much memory they took, into the report. `engine` is of
// make_rank_engine().
void report_ranks(challenge::RankGroup& group, const challenge::Engine& engine,
                  ChallengeReport& report);

}  // namespace winnow
