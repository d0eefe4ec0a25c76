#include "prune/mixed_granularities.h"

#include <memory>
#include <nlohmann/json.hpp>

#include "prune/evolution/ranks/message.h"
#include "prune/training/trainability.h"
#include "runtime/base/number_text.h"
#include "runtime/base/suggest.h"

namespace winnow {

GranularityChoice choose_granularities(const RunConfig& config, const Graph& graph,
                                       const TorchTrainee& trainee) {
  std::vector<LayersOfGranularity> granularities;
  for (const MaskTimes& times : config.evolution.time->granularities) {
    granularities.push_back(
        {with_rows(prunable_layers(graph, times.vector), config.stage.row_balance),
         trainee.weight_curves(times.vector)});
  }
  return choose_granularities(config.evolution, granularities);
}

void take_granularities(const std::vector<std::int64_t>& vectors, RunConfig& config,
                        TorchTrainee& trainee) {
  if (vectors.empty()) return;
  trainee.set_granularities(vectors);
  config.evolution.time = std::make_shared<const TimeModel>(
      with_granularities(*config.evolution.time, vectors, trainee.layers()));
}

std::vector<std::int64_t> share_granularities(const std::vector<std::int64_t>& vectors,
                                              Peers& peers) {
  if (peers.size() == 1) return vectors;
  MessageWriter mine;
  mine.put_all(vectors);
  const std::string of_first = peers.gather(mine.bytes).front();
  MessageReader in(of_first, "granularities of rank 0");
  std::vector<std::int64_t> result;
  in.get_all(result);
  in.expect_end();
  return result;
}

std::string to_json(const GranularityChoice& choice, const std::vector<PrunableLayer>& layers) {
  using Json = nlohmann::ordered_json;
  Json granularities = Json::object(), sparsities = Json::object();
  for (std::size_t i = 0; i < layers.size(); ++i) {
    granularities[layers[i].name] = granularity_name(choice.vectors[i]);
    sparsities[layers[i].name] = choice.sparsities[i];
  }
  return Json{{"stage", "granularity"},
              {"granularities", granularities},
              {"sparsities", sparsities},
              {"predicted_ms", choice.predicted_ms}}
      .dump();
}

std::string describe(const GranularityChoice& choice, const std::vector<PrunableLayer>& layers) {
  std::string text;
  for (std::size_t i = 0; i < layers.size(); ++i) {
    text += "  " + one_line(layers[i].name) + ": " + granularity_name(choice.vectors[i]) +
            ", sparsity " + fixed(choice.sparsities[i], 4) + "\n";
  }
  return text;
}

}  // namespace winnow
