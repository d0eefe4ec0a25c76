#include "import/import_summary.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "runtime/base/number_text.h"
#include "runtime/base/version.h"
#include "runtime/cli/program.h"
#include "runtime/cli/table.h"
#include "runtime/model/weight_parts.h"

namespace winnow {
namespace {

struct LayerSummary {
  std::string name;
  std::string op;
  Shape shape;
  std::int64_t zeros = 0;
  bool is_masked = false;
};

std::vector<LayerSummary> layers_of(const Model& model) {
  std::vector<LayerSummary> layers;
  for (const Node& node : model.graph.nodes) {
    if (!has_prunable_weight(node)) continue;
    const Tensor& weight = model.tensors.at(weight_name(node));
    const auto values = weight.values<float>();
    layers.push_back({node.name, op_name(node.op), weight.shape(),
                      std::count(values.begin(), values.end(), 0.0F),
                      model.mask_vector.contains(node.name)});
  }
  return layers;
}

}  // namespace

std::string summary_table(const Model& model) {
  using Side = Table::Side;
  Table table({{"layer"}, {"op"}, {"weights", Side::right}, {"zeros", Side::right}, {"mask"}});
  for (const LayerSummary& layer : layers_of(model)) {
    table.add({layer.name, layer.op, to_string(layer.shape), std::to_string(layer.zeros),
               layer.is_masked ? "yes" : "no"});
  }
  return table.text();
}

std::string summary_json(const Model& model, const std::vector<std::string>& unmatched,
                         const std::string& source, const std::string& file) {
  using Json = nlohmann::ordered_json;
  Json json = {{"command", "import"},
               {"version", version_text()},
               {"source", source},
               {"file", file},
               {"network", model.graph.name},
               {"nodes", model.graph.nodes.size()},
               {"sparsity", sparsity(model)},
               {"unmatched", unmatched},
               {"layers", Json::array()}};
  for (const LayerSummary& layer : layers_of(model)) {
    json["layers"].push_back({{"name", layer.name},
                              {"op", layer.op},
                              {"shape", layer.shape},
                              {"zeros", layer.zeros},
                              {"masked", layer.is_masked}});
  }
  return json.dump(2);
}

}  // namespace winnow
