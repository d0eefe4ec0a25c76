// What gpu_engines.cpp chooses among. Each reads the network and needs `options.gpu` to be current.
#pragma once

#include <memory>

#include "runtime/challenge/engine.h"

namespace winnow::challenge {

std::unique_ptr<Engine> make_fused_engine(const Network& network, const EngineOptions& options);
std::unique_ptr<Engine> make_grouped_engine(const Network& network, const EngineOptions& options);
std::unique_ptr<Engine> make_tiled_engine(const Network& network, const EngineOptions& options);
std::unique_ptr<Engine> make_cusparse_engine(const Network& network, const EngineOptions& options);
std::unique_ptr<Engine> make_cusparse_buffer_engine(const Network& network,
                                                    const EngineOptions& options);
std::unique_ptr<Engine> make_cusparse_filter_engine(const Network& network,
                                                    const EngineOptions& options);
std::unique_ptr<Engine> make_cusparse_spmm_engine(const Network& network,
                                                  const EngineOptions& options);

}  // namespace winnow::challenge
