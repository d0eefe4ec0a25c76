#include <cstdio>
#include <nlohmann/json.hpp>

#include "runtime/cli/program.h"
#include "runtime/commands/commands.h"
#include "runtime/model/model_file.h"

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

void print_nodes(const DeployedModel& model) {
  const std::vector<Shape> shapes = infer_shapes(model.graph, 1);
  std::printf("%-14s %-16s %-20s %s\n", "node", "op", "output (batch 1)", "inputs");
  for (std::size_t i = 0; i < model.graph.nodes.size(); ++i) {
    const Node& node = model.graph.nodes[i];
    std::string inputs;
    for (const std::string& name : node.inputs) inputs += (inputs.empty() ? "" : ", ") + name;
    std::printf("%-14s %-16s %-20s %s\n", node.name.c_str(), op_name(node.op).c_str(),
                to_string(shapes[i]).c_str(), inputs.c_str());
  }
}

void print_weights(const DeployedModel& model, const std::vector<StoredSize>& sizes) {
  std::printf("\n%-18s %-14s %-16s %9s %8s %12s %12s %12s %7s\n", "weight", "form", "values",
              "density %", "pads %", "index bytes", "value bytes", "dense fp32", "ratio");
  for (const StoredSize& size : sizes) {
    const WeightFacts facts = facts_of(model.weights.at(size.name));
    const std::string values = facts.encoding + (facts.channel_scales > 0 ? " scaled" : "");
    const auto stored = static_cast<double>(size.index_bytes + size.value_bytes);
    std::printf("%-18s %-14s %-16s %9.2f %8.2f %12lld %12lld %12lld %6.1fx\n", size.name.c_str(),
                facts.form.c_str(), values.c_str(), 100 * facts.density, 100 * facts.padding,
                static_cast<long long>(size.index_bytes), static_cast<long long>(size.value_bytes),
                static_cast<long long>(size.dense_f32_bytes),
                stored > 0 ? static_cast<double>(size.dense_f32_bytes) / stored : 0);
  }
}

std::string inspection_json(const DeployedModel& model, const std::vector<StoredSize>& sizes) {
  Json result = {{"graph", model.graph.name},
                 {"classes", model.classes},
                 {"metadata", model.metadata},
                 {"weights", Json::array()}};
  for (const StoredSize& size : sizes) {
    result["weights"].push_back(weight_json(size, facts_of(model.weights.at(size.name))));
  }
  return result.dump(2);
}

int inspect(const std::string& path, const std::string& json) {
  const DeployedModel model = read_model_file(path);
  const std::vector<StoredSize> sizes = stored_sizes(model);
  if (json != "-") {
    std::printf("%s: %s, %zu classes\n\n", path.c_str(), model.graph.name.c_str(),
                model.classes.size());
    print_nodes(model);
    print_weights(model, sizes);
    for (const auto& [key, value] : model.metadata) {
      std::printf("%s%s: %s\n", &value == &model.metadata.begin()->second ? "\n" : "", key.c_str(),
                  value.c_str());
    }
  }
  write_json_output(json, inspection_json(model, sizes));
  return 0;
}

}  // namespace

Command add_inspect_command(CLI::App& app) {
  struct Options {
    std::string path;
    std::string json;
  };
  auto options = std::make_shared<Options>();
  app.add_option("model", options->path, "Model file (.wnw)")->required();
  app.add_option("--json", options->json, "Write the facts as JSON to this file ('-': stdout)");
  return [options] { return inspect(options->path, options->json); };
}

}  // namespace winnow
