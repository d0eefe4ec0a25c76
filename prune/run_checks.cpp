#include "prune/run_checks.h"

#include "prune/evolution/layer_budget.h"
#include "prune/training/torch_errors.h"
#include "prune/training/trainability.h"
#include "runtime/base/error.h"
#include "runtime/base/processor.h"

namespace winnow {

namespace {

// Weights alone: training takes several times as much, which only the device can tell.
void require_memory(const Graph& graph) {
  double bytes = 0;
  for (const Node& node : graph.nodes) {
    for (const Parameter& parameter : parameters_of(node)) {
      bytes += 4.0 * static_cast<double>(element_count(parameter.shape));
    }
  }
  const auto memory = static_cast<double>(physical_memory());
  if (bytes <= memory) return;
  fail(ErrorCode::device, graph.name, ": out of memory: ", format_bytes(bytes),
       " of weights, this machine has ", format_bytes(memory));
}

}  // namespace

void check_run(const RunConfig& config, const DataSet& data, const Graph& graph) {
  require_fit(graph, data);
  require_memory(graph);
  check_augment_config(config.augment, data.train.height, data.train.width);
  if (data.validation.count == 0) {
    fail(ErrorCode::usage,
         "data.validation: found 0, but the evolution selects by the accuracy on these images");
  }
  try {
    const LayerBudget budget(config.evolution, prunable_layers(graph, config.stage.vector));
  } catch (const Error& error) {
    fail(error.code(), "prune.", error.what());
  }
}

}  // namespace winnow
