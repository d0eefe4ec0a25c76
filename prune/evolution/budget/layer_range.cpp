#include "prune/evolution/budget/layer_range.h"

#include <string>

#include "prune/evolution/trainee/layer_names.h"
#include "runtime/base/error.h"
#include "runtime/base/suggest.h"

namespace winnow {
namespace {

void check_layer(const PrunableLayer& layer) {
  const bool fits =
      layer.blocks > 0 && layer.weights_per_block > 0 && layer.weights >= layer.blocks &&
      (layer.weights - 1) / layer.blocks < layer.weights_per_block && layer.macs_per_weight > 0;
  const std::int64_t rows = layer.balanced_rows;
  if (fits && (rows < 1 || layer.blocks % rows != 0)) {
    fail(ErrorCode::usage, "layer ", in_quotes(layer.name), ": ", layer.blocks, " blocks in ", rows,
         " balanced rows, expected a multiple");
  }
  if (fits) return;
  fail(ErrorCode::usage, "layer ", in_quotes(layer.name), ": ", layer.weights, " weights in ",
       layer.blocks, " blocks of at most ", layer.weights_per_block, ", ", layer.macs_per_weight,
       " multiply-accumulates per weight: these do not fit together");
}

// Bounds that name a layer replace those of a pattern that matches it.
void set_limits(const EvolutionConfig& config, bool is_by_name,
                const std::vector<PrunableLayer>& layers, std::vector<LayerRange>& ranges) {
  constexpr char kKey[] = "layer_limits";
  std::vector<std::string> limited_by(layers.size());
  for (const LayerLimits& limits : config.layer_limits) {
    for (const std::size_t i : layers_named(limits.layer, kKey, layers)) {
      if ((layers[i].name == limits.layer) != is_by_name) continue;
      if (!limited_by[i].empty() && limited_by[i] == limits.layer) {
        fail(ErrorCode::usage, kKey, ": ", in_quotes(limits.layer), " twice");
      }
      if (!limited_by[i].empty()) {
        fail(ErrorCode::usage, kKey, ": layer ", in_quotes(layers[i].name), " is matched by ",
             in_quotes(limited_by[i]), " and by ", in_quotes(limits.layer));
      }
      limited_by[i] = limits.layer;
      ranges[i] = {limits.min_sparsity, limits.max_sparsity, false};
    }
  }
}

// Masks given at the start may not prune more than the bounds allow: weights would come back.
void require_room(const std::vector<PrunableLayer>& layers, const std::vector<LayerRange>& ranges) {
  constexpr double kRounding = 1e-9;
  for (std::size_t i = 0; i < layers.size(); ++i) {
    if (layers[i].initial_sparsity <= ranges[i].max + kRounding) continue;
    fail(ErrorCode::usage, "masks: layer ", in_quotes(layers[i].name), " begins with sparsity ",
         layers[i].initial_sparsity, ", but its limit is ", ranges[i].max,
         " (max_layer_sparsity, layer_limits)");
  }
}

}  // namespace

// An excluded layer keeps as many blocks as it begins with, balanced rows as they are rounded.
std::vector<LayerRange> layer_ranges(const EvolutionConfig& config,
                                     const std::vector<PrunableLayer>& layers) {
  for (const PrunableLayer& layer : layers) check_layer(layer);
  std::vector<LayerRange> ranges(layers.size(), {0.0, config.max_layer_sparsity, false});
  set_limits(config, false, layers, ranges);
  set_limits(config, true, layers, ranges);
  for (const std::string& text : config.exclude) {
    for (const std::size_t i : layers_named(text, "exclude", layers)) {
      ranges[i] = {layers[i].initial_sparsity, layers[i].initial_sparsity, true};
    }
  }
  require_room(layers, ranges);
  return ranges;
}

}  // namespace winnow
