// A survey as JSON and as a table.
#include "runtime/base/number_text.h"
#include "runtime/bench/layer_survey.h"
#include "runtime/cli/table.h"

namespace winnow {
namespace {

using Json = nlohmann::ordered_json;

Json kernel_json(const SurveyKernel& kernel) {
  return {{"ms", kernel.ms}, {"family", kernel.family}, {"kernel", kernel.kernel}};
}

Json curve_json(const SurveyCurve& curve) {
  Json points = Json::array();
  for (const SurveyPoint& point : curve.points) {
    Json json = {{"density", point.density}};
    json.update(kernel_json(point.best));
    json["measured_ms"] = point.measured_ms;
    points.push_back(std::move(json));
  }
  return {{"vector", curve.vector}, {"points", points}};
}

}  // namespace

Json survey_json(const Survey& survey) {
  Json json = {{"batch", survey.batch}, {"layers", Json::array()}};
  for (const LayerSurvey& layer : survey.layers) {
    Json curves = Json::array();
    for (const SurveyCurve& curve : layer.curves) curves.push_back(curve_json(curve));
    json["layers"].push_back({{"name", layer.name},
                              {"op", layer.op},
                              {"input_shape", layer.input_shape},
                              {"output_shape", layer.output_shape},
                              {"weights", layer.weights},
                              {"dense", kernel_json(layer.dense)},
                              {"granularities", curves}});
  }
  return json;
}

std::string survey_table(const Survey& survey) {
  constexpr auto kRight = Table::Side::right;
  std::vector<Table::Column> columns = {{"layer"}, {"vector", kRight}};
  if (!survey.layers.empty() && !survey.layers.front().curves.empty()) {
    for (const SurveyPoint& point : survey.layers.front().curves.front().points) {
      columns.push_back({general(100 * point.density, 3) + " %", kRight});
    }
  }
  columns.push_back({"dense ms", kRight});
  Table table(columns);
  for (const LayerSurvey& layer : survey.layers) {
    for (const SurveyCurve& curve : layer.curves) {
      std::vector<std::string> cells = {layer.name, std::to_string(curve.vector)};
      for (const SurveyPoint& point : curve.points) cells.push_back(fixed(point.best.ms, 4));
      cells.push_back(fixed(layer.dense.ms, 4));
      table.add(std::move(cells));
    }
  }
  return "device " + survey.device + ", batch " + std::to_string(survey.batch) +
         ", ms by density\n" + table.text();
}

}  // namespace winnow
