// The CNN for sentences.
#include <array>

#include "runtime/base/error.h"
#include "runtime/model/architectures.h"

namespace winnow {
namespace {

constexpr std::array<std::int64_t, 3> kWidths = {3, 4, 5};
constexpr std::int64_t kMaps = 100;

void require_sentences(const ArchitectureOptions& options) {
  if (options.tokens < 2 || options.input.size() != 1 || options.input[0] < 1) {
    fail(ErrorCode::usage, "textcnn: input ", to_string(options.input),
         ", expected sentences: [L] tokens (data.format: text)");
  }
  if (options.embedding < 1 || options.classes < 1) {
    fail(ErrorCode::usage, "textcnn: ", options.classes, " classes and an embedding of width ",
         options.embedding, ", expected at least 1");
  }
}

}  // namespace

Graph textcnn(const ArchitectureOptions& options) {
  require_sentences(options);
  Graph graph{"textcnn", {}};
  const auto add = [&](const std::string& name, Op op, std::vector<std::string> inputs) {
    graph.nodes.push_back({name, std::move(op), std::move(inputs)});
    return name;
  };
  add("input", Input{options.input, true}, {});
  add("embedding", Embedding{options.tokens, options.embedding}, {"input"});
  std::vector<std::string> features;
  for (const std::int64_t width : kWidths) {
    const std::string number = std::to_string(width);
    Conv conv;
    conv.rank = 1;
    conv.out_channels = kMaps;
    conv.kernel = {1, width};
    conv.padding = {0, width - 1};  // every word meets every tap; padding is a row of zeros
    add("conv" + number, conv, {"embedding"});
    add("relu" + number, Relu{}, {"conv" + number});
    features.push_back(add("pool" + number, GlobalPool{PoolKind::max}, {"relu" + number}));
  }
  std::string last = add("concat", Concat{}, features);
  if (options.dropout != 0) last = add("dropout", Dropout{options.dropout}, {last});
  add("fc", Linear{0, options.classes, true}, {last});
  fill_input_sizes(graph);
  return graph;
}

}  // namespace winnow
