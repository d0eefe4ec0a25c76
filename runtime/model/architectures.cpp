#include "runtime/model/architectures.h"

#include <array>
#include <utility>

#include "runtime/base/error.h"
#include "runtime/base/suggest.h"
#include "runtime/model/branched_network.h"

namespace winnow {
namespace {

// Appends nodes one behind the other; sizes of inputs are filled in at the end.
class Chain {
 public:
  Chain(std::string name, const ArchitectureOptions& options) : options_(options) {
    graph_.name = std::move(name);
    graph_.nodes.push_back({"input", Input{options.input, false}, {}});
  }

  void add(const std::string& name, Op op) {
    const std::string before = graph_.nodes.back().name;
    graph_.nodes.push_back({name, std::move(op), {before}});
  }

  // Convolution, batch norm and relu; the norm's shift stands for the bias.
  void add_conv(const std::string& suffix, std::int64_t channels, std::int64_t kernel,
                std::int64_t padding) {
    Conv conv;
    conv.out_channels = channels;
    conv.kernel = {kernel, kernel};
    conv.padding = {padding, padding};
    conv.has_bias = false;
    add("conv" + suffix, conv);
    add("bn" + suffix, BatchNorm{});
    add("relu" + suffix, Relu{});
  }

  // A linear layer; `suffix` is that of the relu behind it, none if empty.
  void add_linear(const std::string& name, std::int64_t features, const std::string& relu) {
    const bool is_first = linear_count_++ == 0;
    if (!is_first && options_.dropout != 0) {
      add("dropout" + std::to_string(linear_count_ - 1), Dropout{options_.dropout});
    }
    add(name, Linear{0, features, true});
    if (!relu.empty()) add(relu, Relu{});
  }

  Graph finish() {
    fill_input_sizes(graph_);
    return std::move(graph_);
  }

 private:
  ArchitectureOptions options_;
  Graph graph_;
  int linear_count_ = 0;
};

struct Architecture {
  const char* name;
  Graph (*build)(const ArchitectureOptions&);
};

constexpr std::array<Architecture, 7> kArchitectures = {{{"lenet5", lenet5},
                                                         {"vgg16", vgg16},
                                                         {"resnet18", resnet18},
                                                         {"resnet50", resnet50},
                                                         {"densenet121", densenet121},
                                                         {"densenet161", densenet161},
                                                         {"textcnn", textcnn}}};

}  // namespace

void require_images(const char* name, const ArchitectureOptions& options, std::int64_t smallest) {
  const Shape& input = options.input;
  const bool fits =
      input.size() == 3 && input[0] >= 1 && input[1] >= smallest && input[2] >= smallest;
  if (!fits) {
    fail(ErrorCode::usage, name, ": input ", to_string(input), ", expected [C, H, W] with H and W ",
         "of at least ", smallest);
  }
  if (options.classes < 1) {
    fail(ErrorCode::usage, name, ": ", options.classes, " classes, expected at least 1");
  }
}

Graph lenet5(const ArchitectureOptions& options) {
  // Below 28 pixels the second pooling leaves too little of the image.
  require_images("lenet5", options, 28);
  Chain chain("lenet5", options);
  chain.add_conv("1", 6, 5, 2);
  chain.add("pool1", Pool{});
  chain.add_conv("2", 16, 5, 0);
  chain.add("pool2", Pool{});
  chain.add("flatten", Flatten{});
  chain.add_linear("fc1", 120, "relu3");
  chain.add_linear("fc2", 84, "relu4");
  chain.add_linear("fc3", options.classes, "");
  return chain.finish();
}

Graph vgg16(const ArchitectureOptions& options) {
  constexpr std::int64_t kSmallest = 32;     // five poolings halve it to 1
  constexpr std::int64_t kLargeImages = 64;  // from here on the classifier of the paper
  constexpr std::array<std::pair<std::int64_t, int>, 5> kStages = {
      {{64, 2}, {128, 2}, {256, 3}, {512, 3}, {512, 3}}};  // channels, convolutions
  require_images("vgg16", options, kSmallest);
  Chain chain("vgg16", options);
  for (std::size_t stage = 0; stage < kStages.size(); ++stage) {
    const std::string number = std::to_string(stage + 1);
    for (int i = 1; i <= kStages[stage].second; ++i) {
      chain.add_conv(number + "_" + std::to_string(i), kStages[stage].first, 3, 1);
    }
    chain.add("pool" + number, Pool{});
  }
  chain.add("flatten", Flatten{});
  if (options.input[1] < kLargeImages && options.input[2] < kLargeImages) {
    chain.add_linear("fc", options.classes, "");  // 512 features, the poolings leave one position
    return chain.finish();
  }
  chain.add_linear("fc6", 4096, "relu6");
  chain.add_linear("fc7", 4096, "relu7");
  chain.add_linear("fc8", options.classes, "");
  return chain.finish();
}

Graph build_architecture(std::string_view name, const ArchitectureOptions& options) {
  for (const Architecture& architecture : kArchitectures) {
    if (architecture.name == name) return architecture.build(options);
  }
  fail(ErrorCode::usage, "architecture ", in_quotes(name), " is unknown",
       suggestion(name, architecture_names()));
}

bool has_stem(std::string_view name) {
  return name.starts_with("resnet") || name.starts_with("densenet");
}

std::vector<std::string> architecture_names() {
  std::vector<std::string> names;
  for (const Architecture& architecture : kArchitectures) names.emplace_back(architecture.name);
  return names;
}

}  // namespace winnow
