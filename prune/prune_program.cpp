#include "prune/prune_program.h"

#include <algorithm>
#include <filesystem>
#include <sstream>

#include "prune/layer_removal.h"
#include "prune/run/prune_run.h"
#include "prune/training/trainability.h"
#include "runtime/base/suggest.h"
#include "runtime/model/architectures.h"
#include "runtime/report/report.h"

namespace winnow {

namespace {

Graph whole_graph(const ModelConfig& model, const DataSet& data) {
  if (model.graph) return *model.graph;
  const std::int64_t width = data.vectors.words.empty() ? 300 : data.vectors.width;
  return build_architecture(model.architecture,
                            {.input = data.train.sample_shape(),
                             .classes = static_cast<std::int64_t>(data.train.classes.size()),
                             .dropout = model.dropout,
                             .stem = model.stem,
                             .tokens = data.train.token_count,
                             .embedding = model.embedding > 0 ? model.embedding : width});
}

}  // namespace

namespace {

void remove_named(const RunConfig& config, const std::vector<std::string>& names, Model& model) {
  constexpr char kKey[] = "model.remove_layers";
  try {
    remove_layers(model, names);
  } catch (const Error& error) {
    fail(error.code(), config.place(kKey), kKey, ": ", error.what());
  }
}

}  // namespace

void remove_layers_of(const RunConfig& config, Model& given) {
  std::vector<std::string> names = config.model.removed_layers;
  if (config.model.graph || !config.model.architecture.empty()) {  // which run_graph() compares
    std::erase_if(names, [&](const std::string& name) {
      return std::ranges::find(given.graph.nodes, name, &Node::name) == given.graph.nodes.end();
    });
  }
  remove_named(config, names, given);
}

Graph make_graph(const RunConfig& config, const DataSet& data) {
  Model model;
  model.graph = whole_graph(config.model, data);
  remove_named(config, config.model.removed_layers, model);
  return model.graph;
}

std::string comparable_config(const RunConfig& config) {
  const RunConfig defaults;
  RunConfig copy = config;
  copy.device = defaults.device;
  copy.threads = defaults.threads;
  copy.output = defaults.output;
  copy.checkpoint_seconds = defaults.checkpoint_seconds;
  copy.time_loop.programs = defaults.time_loop.programs;
  std::string text = write_run_config(copy);
  if (const auto& time = config.evolution.time) {
    text += "# checksum of prune.time_table: " + std::to_string(time->checksum) + "\n";
  }
  return text;
}

std::string image_cache(const RunConfig& config) {
  std::filesystem::path folder = std::filesystem::absolute(config.run_folder()).lexically_normal();
  if (!folder.has_filename()) folder = folder.parent_path();
  return (folder.parent_path() / ".image-cache").string();
}

namespace {

std::string layers_text(const Graph& graph) {
  const std::vector<Shape> shapes = infer_shapes(graph, 1);
  std::ostringstream text;
  std::int64_t weights = 0;
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    const Node& node = graph.nodes[i];
    text << "  " << one_line(node.name) << ": " << op_name(node.op) << " -> "
         << to_string(shapes[i]) << "\n";
    for (const Parameter& parameter : parameters_of(node))
      weights += element_count(parameter.shape);
  }
  text << "parameters: " << weights << "\n";
  return text.str();
}

// The layers whose channels go together, the first one's name being that of all.
std::string coupled_text(const std::vector<PrunableLayer>& layers) {
  std::string text;
  for (const PrunableLayer& layer : layers) {
    if (layer.members.size() < 2) continue;
    text += "channels in common: " + one_line(layer.members.front());
    for (std::size_t i = 1; i < layer.members.size(); ++i) {
      text += ", " + one_line(layer.members[i]);
    }
    text += "\n";
  }
  return text;
}

// What is chosen for each layer where granularities are mixed.
std::string granularity_text(const RunConfig& config, const std::string& chosen) {
  if (config.stage.vector != kMixed) return "";
  if (chosen.empty()) return "granularity of each layer: chosen by the dense network's weights\n";
  return "granularity of each layer:\n" + chosen;
}

std::string target_text(const RunConfig& config) {
  const EvolutionConfig& evolution = config.evolution;
  std::ostringstream text;
  if (evolution.target_kept > 0) {
    text << evolution.target_kept
         << (evolution.budget == Budget::macs ? " multiply-accumulates" : " weights") << " kept";
  } else if (evolution.budget != Budget::time) {
    text << "sparsity " << evolution.target_sparsity;
  } else if (evolution.target_ms > 0.0) {
    text << evolution.target_ms << " ms";
  } else {
    text << evolution.target_speedup << " times the dense network's speed";
  }
  if (config.time_loop.rounds > 0) {
    text << ", measured in at most " << config.time_loop.rounds << " rounds";
  }
  return text.str();
}

}  // namespace

std::string describe_run(const RunConfig& config, const PruneOptions& options) {
  RunFolder folder(config.run_folder(), options.use);
  const PruneRun run(config, options, folder, "");
  const DataSet& data = run.data();
  std::ostringstream text;
  text << "run folder: " << one_line(config.run_folder()) << "\ndevice: " << run.device()
       << "\ndata: " << config.data.format << " in " << one_line(data.directory) << ", "
       << data.train.count << " training, " << data.validation.count << " validation, "
       << data.test.count << (data.train.holds_tokens() ? " test sentences, " : " test images, ")
       << data.train.classes.size() << " classes\nnetwork: " << one_line(run.graph().name) << "\n"
       << layers_text(run.graph()) << coupled_text(run.layers())
       << (config.model.weights.empty() ? "" : "weights: " + one_line(config.model.weights) + "\n")
       << (config.stage.teacher.empty() ? "" : "teacher: " + one_line(config.stage.teacher) + "\n")
       << granularity_text(config, run.granularities()) << "dense baseline: " << config.train.epochs
       << " epochs of batches of " << config.train.batch_size
       << "\npruning: " << to_string(config.method.method) << ", " << config.evolution.iter_nr
       << " iterations of " << config.evolution.batch_nr << " batches to " << target_text(config)
       << "\n";
  return text.str();
}

PruneSummary run_prune(const RunConfig& config, const PruneOptions& options) {
  RunFolder folder(config.run_folder(), options.use);
  // The last step of a run that was killed behind its summary.
  if (folder.is_finished() && !std::filesystem::exists(folder.report())) {
    write_report(folder.path());
  }
  return PruneRun(config, options, folder, image_cache(config)).run();
}

}  // namespace winnow
