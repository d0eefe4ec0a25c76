#include <CLI/CLI.hpp>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "runtime/base/number_text.h"
#include "runtime/base/output_path.h"
#include "runtime/base/suggest.h"
#include "runtime/base/version.h"
#include "runtime/cli/program.h"
#include "runtime/cli/progress.h"
#include "runtime/cli/table.h"
#include "runtime/commands/commands.h"
#include "runtime/model/model_file.h"
#include "runtime/plan/describe.h"

namespace winnow {
namespace {

using Json = nlohmann::ordered_json;

struct WeightFacts {
  std::string form;  // "csr vector 16", "dense"
  std::string encoding;
  std::size_t channel_scales = 0;
  Shape shape;
  double density = 1;
  double padding = 0;  // pads per stored block
};

WeightFacts facts_of(const DenseWeight& weight) {
  return {"dense",
          std::string(to_string(weight.values.encoding)),
          weight.values.channel_scale.size(),
          weight.shape,
          1,
          0};
}

WeightFacts facts_of(const CsrWeight& weight) {
  double kept = 0;
  for (const std::uint32_t k : weight.kept) kept += k;
  const auto stored = static_cast<double>(weight.rows * weight.row_length);
  return {"csr vector " + std::to_string(weight.vector),
          std::string(to_string(weight.values.encoding)),
          weight.values.channel_scale.size(),
          {weight.channels, weight.cols},
          static_cast<double>(nonzero_count(weight)) /
              static_cast<double>(std::max<std::int64_t>(1, weight.channels * weight.cols)),
          stored > 0 ? 1 - kept / stored : 0};
}

WeightFacts facts_of(const Weight& weight) {
  return std::visit([](const auto& w) { return facts_of(w); }, weight);
}

Json weight_json(const StoredSize& size, const WeightFacts& facts) {
  return {{"name", size.name},
          {"form", facts.form},
          {"encoding", facts.encoding},
          {"channel_scales", facts.channel_scales},
          {"shape", facts.shape},
          {"density", facts.density},
          {"padding", facts.padding},
          {"index_bytes", size.index_bytes},
          {"value_bytes", size.value_bytes},
          {"dense_f32_bytes", size.dense_f32_bytes}};
}

std::string node_table(const DeployedModel& model) {
  const std::vector<Shape> shapes = infer_shapes(model.graph, 1);
  Table table({{"node"}, {"op"}, {"output (batch 1)"}, {"inputs"}});
  for (std::size_t i = 0; i < model.graph.nodes.size(); ++i) {
    const Node& node = model.graph.nodes[i];
    std::string inputs;
    for (const std::string& name : node.inputs) inputs += (inputs.empty() ? "" : ", ") + name;
    table.add({node.name, op_name(node.op), to_string(shapes[i]), inputs});
  }
  return table.text();
}

std::string weight_table(const DeployedModel& model, const std::vector<StoredSize>& sizes) {
  constexpr auto kRight = Table::Side::right;
  Table table({{"weight"},
               {"form"},
               {"values"},
               {"density %", kRight},
               {"pads %", kRight},
               {"index bytes", kRight},
               {"value bytes", kRight},
               {"dense fp32", kRight},
               {"ratio", kRight}});
  for (const StoredSize& size : sizes) {
    const WeightFacts facts = facts_of(model.weights.at(size.name));
    const auto stored = static_cast<double>(size.index_bytes + size.value_bytes);
    table.add(
        {size.name, facts.form, facts.encoding + (facts.channel_scales > 0 ? " scaled" : ""),
         fixed(100 * facts.density, 2), fixed(100 * facts.padding, 2),
         std::to_string(size.index_bytes), std::to_string(size.value_bytes),
         std::to_string(size.dense_f32_bytes),
         stored > 0 ? fixed(static_cast<double>(size.dense_f32_bytes) / stored, 1) + "x" : "-"});
  }
  return table.text();
}

std::string metadata_table(const DeployedModel& model) {
  Table table({{"metadata"}, {""}});
  for (const auto& [key, value] : model.metadata) table.add({key, value});
  return model.metadata.empty() ? "" : "\n" + table.text();
}

// Sizes are those of one sample, without the dimension of the batch.
Json nodes_json(const DeployedModel& model) {
  const std::vector<Shape> shapes = infer_shapes(model.graph, 1);
  Json nodes = Json::array();
  for (std::size_t i = 0; i < model.graph.nodes.size(); ++i) {
    const Node& node = model.graph.nodes[i];
    nodes.push_back({{"name", node.name},
                     {"op", op_name(node.op)},
                     {"inputs", node.inputs},
                     {"output_shape", Shape(shapes[i].begin() + 1, shapes[i].end())},
                     {"dense_macs", dense_macs(model.graph, shapes, i)}});
    const auto weight = model.weights.find(weight_name(node));
    if (weight != model.weights.end()) {
      nodes.back()["weight_sparsity"] = weight_sparsity(weight->second);
    }
  }
  return nodes;
}

std::string inspection_json(const DeployedModel& model, const std::vector<StoredSize>& sizes) {
  Json result = {{"command", "inspect"},
                 {"version", version_text()},
                 {"graph", model.graph.name},
                 {"classes", model.classes},
                 {"vocabulary", model.preprocessing.vocabulary.size()},
                 {"metadata", model.metadata},
                 {"nodes", nodes_json(model)},
                 {"weights", Json::array()}};
  for (const StoredSize& size : sizes) {
    result["weights"].push_back(weight_json(size, facts_of(model.weights.at(size.name))));
  }
  return result.dump(2);
}

struct InspectOptions {
  std::string path;
  std::uint64_t max_model_bytes = kDefaultModelBytes;
  bool is_quiet = false;
  std::string json;
};

int inspect(const InspectOptions& options) {
  const auto& [path, max_model_bytes, is_quiet, json] = options;
  require_distinct_outputs({.inputs = {path}, .outputs = {}, .own = {}, .json = json});
  const DeployedModel model =
      read_model_file(path, {max_model_bytes}, progress_callback("inspect: read weight", is_quiet));
  const std::vector<StoredSize> sizes = stored_sizes(model);
  if (json != "-") {
    std::printf("%s: %s, %zu classes\n\n%s\n%s%s", one_line(path).c_str(),
                one_line(model.graph.name).c_str(), model.classes.size(), node_table(model).c_str(),
                weight_table(model, sizes).c_str(), metadata_table(model).c_str());
  }
  write_json_output(json, inspection_json(model, sizes));
  return 0;
}

}  // namespace

Command add_inspect_command(CLI::App& app) {
  auto options = std::make_shared<InspectOptions>();
  app.add_option("model", options->path, "Model file (.wnw)")->required();
  add_limit_option(app, options->max_model_bytes);
  app.add_flag("--quiet", options->is_quiet, "No progress on stderr");
  app.add_option("--json", options->json, "Write the facts as JSON to this file ('-': stdout)");
  return [options] { return inspect(*options); };
}

}  // namespace winnow
