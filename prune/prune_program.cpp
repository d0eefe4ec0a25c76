#include "prune/prune_program.h"

#include <filesystem>
#include <sstream>

#include "prune/prune_run.h"
#include "prune/run_checks.h"
#include "prune/training/device_name.h"
#include "runtime/base/error.h"
#include "runtime/model/architectures.h"

namespace winnow {

Graph make_graph(const ModelConfig& model, const ImageSet& images) {
  if (model.graph) return *model.graph;
  return build_architecture(model.architecture,
                            {.input = {images.channels, images.height, images.width},
                             .classes = static_cast<std::int64_t>(images.classes.size()),
                             .dropout = model.dropout});
}

std::string comparable_config(const RunConfig& config) {
  const RunConfig defaults;
  RunConfig copy = config;
  copy.device = defaults.device;
  copy.threads = defaults.threads;
  copy.output = defaults.output;
  copy.checkpoint_seconds = defaults.checkpoint_seconds;
  return write_run_config(copy);
}

std::string describe_run(const RunConfig& config, FolderUse use) {
  check_run_folder(config.run_folder(), use);
  const std::string device = device_name(config.device);
  const DataSet data = load_data_set(config.data, static_cast<std::uint64_t>(config.seed));
  const Graph graph = make_graph(config.model, data.train);
  check_run(config, data, graph);
  const std::vector<Shape> shapes = infer_shapes(graph, 1);
  std::ostringstream text;
  text << "run folder: " << config.run_folder() << "\ndevice: " << device
       << "\ndata: " << config.data.format << " in " << data.directory << ", " << data.train.count
       << " training, " << data.validation.count << " validation, " << data.test.count
       << " test images, " << data.train.classes.size() << " classes\nnetwork: " << graph.name
       << "\n";
  std::int64_t weights = 0;
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    const Node& node = graph.nodes[i];
    text << "  " << node.name << ": " << op_name(node.op) << " -> " << to_string(shapes[i]) << "\n";
    for (const Parameter& parameter : parameters_of(node))
      weights += element_count(parameter.shape);
  }
  text << "parameters: " << weights << "\ndense baseline: " << config.train.epochs
       << " epochs of batches of " << config.train.batch_size
       << "\nevolution: " << config.evolution.iter_nr << " iterations of "
       << config.evolution.batch_nr << " batches to sparsity " << config.evolution.target_sparsity
       << "\n";
  return text.str();
}

PruneSummary run_prune(const RunConfig& config, const PruneOptions& options) {
  RunFolder folder(config.run_folder(), options.use);
  if (folder.is_finished()) {
    fail(ErrorCode::usage, folder.path(), ": the run is finished; see ", folder.summary());
  }
  device_name(config.device);  // refuses one that is not there before minutes of reading
  return PruneRun(config, options, folder).run();
}

}  // namespace winnow
