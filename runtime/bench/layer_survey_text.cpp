// A survey as JSON and as a table.
#include <algorithm>
#include <cmath>

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
  Json json = {{"vector", curve.vector}, {"points", points}};
  if (curve.dense_among_sparse_ms > 0) {
    json["dense_among_sparse_ms"] = curve.dense_among_sparse_ms;
  }
  return json;
}

Json masked_json(const MaskedNetwork& masked) {
  return {{"density", masked.density},
          {"ms", masked.ms},
          {"constant_ms", masked.fit.constant_ms},
          {"scale", masked.fit.scale}};
}

Json channel_json(const ChannelPoint& point) {
  return {{"outputs", point.outputs},
          {"inputs", point.inputs},
          {"ms", point.ms},
          {"measured_ms", point.kernel.ms},
          {"family", point.kernel.family},
          {"kernel", point.kernel.kernel}};
}

bool has_dense_among_sparse(const Survey& survey) {
  return std::ranges::any_of(survey.layers, [](const LayerSurvey& layer) {
    return std::ranges::any_of(
        layer.curves, [](const SurveyCurve& curve) { return curve.dense_among_sparse_ms > 0; });
  });
}

// The layers with equal shares of outputs and inputs, as far as these can go.
std::string channel_table(const Survey& survey) {
  constexpr auto kRight = Table::Side::right;
  std::vector<Table::Column> columns = {{"layer"}};
  for (const double share : survey.shares)
    columns.push_back({general(100 * share, 4) + " %", kRight});
  columns.push_back({"dense ms", kRight});
  Table table(columns);
  for (const LayerSurvey& layer : survey.layers) {
    const ChannelPoint& whole = layer.channels.back();
    std::vector<std::string> cells = {layer.name};
    for (const double share : survey.shares) {
      const auto at_share = [&](const ChannelPoint& point) {
        const auto is_next = [&](std::int64_t some, std::int64_t all) {
          return static_cast<double>(some) >= std::round(share * static_cast<double>(all));
        };
        return is_next(point.outputs, whole.outputs) && is_next(point.inputs, whole.inputs);
      };
      cells.push_back(fixed(std::ranges::find_if(layer.channels, at_share)->ms, 4));
    }
    cells.push_back(fixed(whole.ms, 4));
    table.add(std::move(cells));
  }
  return "ms by share of output and input channels, as far as they can go\n" + table.text();
}

// "whole network: dense 0.3100 ms, at 10 % vector 1 0.1500 ms, vector 8 0.1100 ms"
std::string network_text(const Survey& survey) {
  std::string text = "whole network: dense " + fixed(survey.dense_ms, 4) + " ms";
  for (const MaskedNetwork& masked : survey.masked) {
    text += (&masked == &survey.masked.front() ? ", at " + general(100 * masked.density, 3) + " %"
                                               : ",") +
            std::string(" vector ") + std::to_string(masked.vector) + " " + fixed(masked.ms, 4) +
            " ms";
  }
  if (survey.mixed) text += ", mixed " + fixed(survey.mixed->ms, 4) + " ms";
  if (survey.narrow) {
    text += ", with " + general(100 * survey.narrow->share, 4) + " % of the channels " +
            fixed(survey.narrow->ms, 4) + " ms";
  }
  return text + "\n";
}

}  // namespace

Json survey_json(const Survey& survey) {
  Json json = {{"batch", survey.batch},
               {"network", {{"dense_ms", survey.dense_ms}, {"granularities", Json::array()}}},
               {"layers", Json::array()}};
  for (const MaskedNetwork& masked : survey.masked) {
    Json one = {{"vector", masked.vector}};
    one.update(masked_json(masked));
    json["network"]["granularities"].push_back(std::move(one));
  }
  if (survey.mixed) json["network"]["mixed"] = masked_json(*survey.mixed);
  if (survey.narrow) {
    json["network"]["channels"] = {{"share", survey.narrow->share},
                                   {"ms", survey.narrow->ms},
                                   {"constant_ms", survey.narrow->fit.constant_ms},
                                   {"scale", survey.narrow->fit.scale}};
  }
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
    if (layer.channels.empty()) continue;
    Json& channels = json["layers"].back()["channels"];
    for (const ChannelPoint& point : layer.channels) channels.push_back(channel_json(point));
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
  const bool has_among = has_dense_among_sparse(survey);
  if (has_among) columns.push_back({"dense among sparse ms", kRight});
  Table table(columns);
  for (const LayerSurvey& layer : survey.layers) {
    for (const SurveyCurve& curve : layer.curves) {
      std::vector<std::string> cells = {layer.name, std::to_string(curve.vector)};
      for (const SurveyPoint& point : curve.points) cells.push_back(fixed(point.best.ms, 4));
      cells.push_back(fixed(layer.dense.ms, 4));
      if (has_among) cells.push_back(fixed(curve.dense_among_sparse_ms, 4));
      table.add(std::move(cells));
    }
  }
  return "device " + survey.device + ", batch " + std::to_string(survey.batch) +
         ", ms by density\n" + table.text() + (survey.shares.empty() ? "" : channel_table(survey)) +
         network_text(survey);
}

}  // namespace winnow
