#include "runtime/report/card.h"

#include <algorithm>
#include <utility>

#include "runtime/base/suggest.h"
#include "runtime/report/fact_text.h"

namespace winnow {
namespace {

using Rows = std::vector<std::vector<std::string>>;

// Text that Markdown shows as it is.
std::string shown(const std::string& text) {
  constexpr std::string_view kSpecial = "\\`*_{}[]<>|#&~";
  std::string result;
  for (const char c : one_line(text)) {
    if (kSpecial.find(c) != std::string_view::npos) result += '\\';
    result += c;
  }
  return result.empty() ? "-" : result;
}

// Cells are shown() already; the first row is the heading.
std::string table(const Rows& rows) {
  std::string text;
  for (const std::vector<std::string>& row : rows) {
    text += "|";
    for (const std::string& cell : row) text += " " + cell + " |";
    text += "\n";
    if (&row != &rows.front()) continue;
    text += "|";
    for (std::size_t i = 0; i < row.size(); ++i) text += "---|";
    text += "\n";
  }
  return text + "\n";
}

// A block of code, fenced by more backticks than it has in a row.
std::string code(const std::string& language, std::string text) {
  std::string fence = "```";
  while (text.find(fence) != std::string::npos) fence += '`';
  if (!text.ends_with('\n')) text += '\n';
  return fence + language + "\n" + text + fence + "\n\n";
}

std::string shell_word(const std::string& text) {
  constexpr std::string_view kPlain =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_./:=+-,%@";
  if (!text.empty() && text.find_first_not_of(kPlain) == std::string::npos) return text;
  std::string quoted(1, '\'');
  for (const char c : one_line(text)) {
    if (c == '\'') quoted += "'\\'";
    quoted += c;
  }
  return quoted + '\'';
}

class Card {
 public:
  explicit Card(const RunFacts& facts) : facts_(facts) {}

  std::string text() {
    std::string text = "# " + shown(facts_.name) + "\n\n";
    text += overview();
    text += accuracy();
    text += size();
    text += speed();
    text += layers();
    text += making();
    return text + missing();  // last: the others note what they lack
  }

 private:
  const StageFacts* stage(const std::string& name) const {
    for (const StageFacts& stage : facts_.stages) {
      if (stage.stage == name) return &stage;
    }
    return nullptr;
  }

  // Empty if the stage or its value is not known.
  std::string value(const std::string& name, const std::string& key) const {
    const StageFacts* found = stage(name);
    if (!found || !found->values.contains(key)) return "";
    return found->values.at(key);
  }

  // Notes what is missing where `is_known` is false.
  void need(bool is_known, const std::string& what) {
    if (!is_known) missing_.push_back(what);
  }

  std::string overview() {
    need(!facts_.network.empty() && !facts_.data.empty(),
         "which network was trained on which data: no prune.json");
    need(!facts_.scheme.empty(), "quantization: no quantize.json, so weights may be fp32");
    const std::string masks = value("prune", "granularity");
    const std::string scheme =
        facts_.scheme.empty() ? "" : facts_.scheme + " (weights/activations)";
    return table({{"", ""},
                  {"network", shown(facts_.network)},
                  {"trained and tested on", shown(facts_.data)},
                  {"weight sparsity", percent(facts_.sparsity)},
                  {"granularity of masks", shown(masks)},
                  {"quantization", shown(scheme)},
                  {"model file", shown(facts_.model_file)}});
  }

  std::string accuracy() {
    need(facts_.dense_accuracy && facts_.pruned_accuracy,
         "accuracy before and after pruning: no prune.json");
    need(facts_.quantized_accuracy.has_value(),
         "accuracy after quantization: quantize did not "
         "measure it");
    need(facts_.deployed_accuracy.has_value(),
         "accuracy of the deployed model: no run.json of runtime run --data");
    const std::string samples = value("run", "samples");
    std::string deployed = "deployed";
    if (!facts_.deployed_device.empty()) deployed += ", on " + facts_.deployed_device;
    if (!samples.empty()) deployed += ", " + samples + " images";
    return "## Accuracy\n\nOn test images, which pruning neither trains with nor chooses by.\n\n" +
           table({{"network", "accuracy"},
                  {"dense", percent(facts_.dense_accuracy)},
                  {"pruned", percent(facts_.pruned_accuracy)},
                  {"quantized", percent(facts_.quantized_accuracy)},
                  {shown(deployed), percent(facts_.deployed_accuracy)}});
  }

  std::string size() {
    need(facts_.file_bytes.has_value(), "size of the model file: no export.json");
    return "## Size\n\n" +
           table({{"", ""},
                  {"all parameters, dense fp32", bytes(facts_.dense_f32_bytes)},
                  {"model file",
                   bytes(facts_.file_bytes) + ratio(facts_.dense_f32_bytes, facts_.file_bytes)}});
  }

  std::string speed() {
    need(!facts_.batches.empty(), "speed: no bench.json of runtime bench");
    if (facts_.batches.empty()) return "";
    Rows rows = {{"device", "precision", "batch", "dense", "sparse", "chosen", "dense / chosen"}};
    for (const BatchFacts& batch : facts_.batches) {
      const bool has_ratio = batch.dense_ms && batch.chosen_ms > 0;
      rows.push_back({shown(batch.device), shown(batch.precision), std::to_string(batch.batch),
                      per_image(batch.dense_ms, batch.batch),
                      per_image(batch.sparse_ms, batch.batch),
                      per_image(batch.chosen_ms, batch.batch),
                      has_ratio ? decimal(*batch.dense_ms / batch.chosen_ms, 2) : "-"});
    }
    return "## Speed\n\nMedian time per image: all layers dense, all sparse, and each layer as is "
           "fastest.\n\n" +
           table(rows);
  }

  std::string layers() const {
    if (facts_.layers.empty()) return "";
    Rows rows = {{"layer", "weights", "sparsity", "dense fp32", "stored"}};
    for (const LayerFacts& layer : facts_.layers) {
      const bool is_counted = layer.weights > 0;
      rows.push_back({shown(layer.name), is_counted ? std::to_string(layer.weights) : "-",
                      is_counted ? percent(layer.sparsity) : "-", bytes(layer.dense_f32_bytes),
                      bytes(layer.stored_bytes)});
    }
    return "## Layers\n\n" + table(rows);
  }

  std::string making() {
    need(!value("prune", "seed").empty(), "seed of the training: no prune.json");
    need(!facts_.config_text.empty(), "configuration of the training: no config.yaml");
    Rows rows = {{"stage", "version", "device"}};
    for (const StageFacts& stage : facts_.stages) {
      rows.push_back(
          {stage.stage, shown(value(stage.stage, "version")), shown(value(stage.stage, "device"))});
    }
    const std::string torch = value("prune", "libtorch");
    std::string text = "## How it was made\n\n" + table(rows) + "Seed " +
                       shown(value("prune", "seed")) + ", LibTorch " + shown(torch) + ".\n\n";
    const std::string commands = this->commands();
    if (!commands.empty()) {
      text += "Commands, from the summaries; options that they do not tell are left out:\n\n" +
              code("sh", commands);
    }
    if (!facts_.config_text.empty()) text += "config.yaml:\n\n" + code("yaml", facts_.config_text);
    return text;
  }

  // " OPTION VALUE", or nothing if the value is not known.
  std::string option(const std::string& name, const std::string& stage,
                     const std::string& key) const {
    const std::string found = value(stage, key);
    return found.empty() ? "" : " " + name + " " + shell_word(found);
  }

  std::string commands() {
    std::string text;
    if (stage("prune") && !facts_.config_text.empty()) text += "prune --config config.yaml\n";
    if (!value("quantize", "in").empty()) {
      text += "quantize" + option("--in", "quantize", "in") + option("-o", "quantize", "out") +
              option("--scheme", "quantize", "requested_scheme") +
              option("--activation-range", "quantize", "activation_range") +
              option("--calibration", "quantize", "calibration") + "\n";
    }
    need(!stage("export") || !value("export", "in").empty(),
         "the checkpoint that export read: export.json does not tell it");
    if (!value("export", "in").empty()) {
      text += "export" + option("--in", "export", "in") + option("-o", "export", "file") +
              option("--values", "export", "values") + "\n";
    }
    if (!value("run", "model").empty() && !value("run", "data").empty()) {
      text += "runtime run " + shell_word(value("run", "model")) + option("--data", "run", "data") +
              option("--precision", "run", "precision") + option("--batch", "run", "batch") + "\n";
    }
    if (!facts_.batches.empty() && !facts_.model_file.empty()) {
      text += "runtime bench " + shell_word(facts_.model_file) + " --batch " + batches() +
              option("--precision", "bench", "precision") + "\n";
    }
    return text;
  }

  std::string batches() const {
    std::string text;
    for (const BatchFacts& batch : facts_.batches) {
      if (!text.empty()) text += ',';
      text += std::to_string(batch.batch);
    }
    return text;
  }

  std::string missing() const {
    std::string text = "## Missing\n\n";
    for (const std::string& what : missing_) text += "- " + what + "\n";
    return text +
           "- no run knows them: what the network is meant for, what it must not be used for, the "
           "licences of data and weights\n";
  }

  const RunFacts& facts_;
  std::vector<std::string> missing_;
};

}  // namespace

std::string model_card(const RunFacts& facts) {
  return Card(facts).text();
}

}  // namespace winnow
