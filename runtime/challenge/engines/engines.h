// All engines by name.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "runtime/challenge/engine.h"

namespace winnow::challenge {

// Those of this project, also where this build or machine cannot run them.
std::vector<std::string> engine_names();

// The name of the engine that used to be called `name`, or `name` itself: `grouped` was `shared`.
std::string current_engine_name(const std::string& name);

// Of an engine that is known.
bool runs_on_gpu(const std::string& name);

// Throws Error{usage} for a name that is not known, with a did-you-mean, for options.gpus with an
// engine that runs on none, for `grouped` without options.use_half, and for options.streams that
// are out of range, not 1 with an engine that is not one of kStreamEngines (gpu_engines.h), or not
// 1 together with options.weight_bytes.
void check_engine(const std::string& name, const EngineOptions& options);

// Makes `network` ready; it may go afterwards. With options.gpus its images are split over them
// (split_engine.h). Throws as check_engine() does, and what the engine throws.
std::unique_ptr<Engine> make_engine(const std::string& name, const Network& network,
                                    const EngineOptions& options);

}  // namespace winnow::challenge
