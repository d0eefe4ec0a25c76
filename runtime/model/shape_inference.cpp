// infer_shapes and fill_input_sizes of graph.h: the rules by which shapes meet.
#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <utility>

#include "runtime/base/error.h"
#include "runtime/base/suggest.h"
#include "runtime/model/graph.h"
#include "runtime/model/op_schema.h"
#include "runtime/model/output_shape.h"

namespace winnow {
namespace {

constexpr std::size_t kLongestName = 128;

struct InputCount {
  std::size_t least;
  std::size_t most;
};

InputCount input_count(const Op& op) {
  if (std::holds_alternative<Input>(op)) return {0, 0};
  const bool is_join = std::holds_alternative<Add>(op) || std::holds_alternative<Concat>(op);
  return is_join ? InputCount{2, SIZE_MAX} : InputCount{1, 1};
}

// Sets the input size of `op` if it is 0.
struct SizeFiller {
  std::int64_t size;

  void operator()(Conv& op) const { fill(op.in_channels); }
  void operator()(Linear& op) const { fill(op.in_features); }
  void operator()(BatchNorm& op) const { fill(op.channels); }
  template <typename Other>
  void operator()(Other&) const {}

  void fill(std::int64_t& value) const {
    if (value == 0) value = size;
  }
};

// Walks the nodes in order and knows every value so far.
class Inference {
 public:
  Inference(const Graph& graph, std::int64_t batch) : graph_(graph), batch_(batch) {
    const std::string name = graph.name.empty() ? "graph" : graph.name;
    if (batch < 1) fail(ErrorCode::usage, name, ": batch size is ", batch, ", expected at least 1");
    if (graph.nodes.size() < 2) fail(ErrorCode::usage, name, ": has no layers");
  }

  // The values that `node` reads. Registers them as read.
  std::vector<Source> inputs_of(const Node& node) {
    const NodePlace place(graph_, node);
    require_name(place, node);
    const InputCount count = input_count(node.op);
    if (node.inputs.size() < count.least || node.inputs.size() > count.most) {
      place.refuse(op_name(node.op), " has ", node.inputs.size(), " inputs, expected ",
                   count.most == count.least ? "" : "at least ", count.least);
    }
    std::vector<Source> inputs;
    for (const std::string& name : node.inputs) inputs.push_back(input(place, node, name));
    return inputs;
  }

  void add(const Node& node, const std::vector<Source>& inputs) {
    const NodePlace place(graph_, node);
    const std::string defect = find_defect(node.op);
    if (!defect.empty()) place.refuse(defect);
    const auto* input = std::get_if<Input>(&node.op);
    const bool is_first = shapes_.empty();
    if (is_first && !input) place.refuse("the first node must be an input");
    Shape shape = input && is_first ? batched(place, *input) : output_shape(node.op, inputs, place);
    place.require_size(shape, "output");
    require_macs(place, node.op, shape);
    index_of_[node.name] = shapes_.size();
    shapes_.push_back(std::move(shape));
    is_read_.push_back(false);
  }

  // Call after the last node.
  std::vector<Shape> finish() const {
    for (std::size_t i = 0; i + 1 < is_read_.size(); ++i) {
      if (!is_read_[i]) NodePlace(graph_, graph_.nodes[i]).refuse("no other node reads its value");
    }
    return shapes_;
  }

 private:
  Source input(const NodePlace& place, const Node& node, const std::string& name) {
    const auto found = index_of_.find(name);
    if (found == index_of_.end()) refuse_input(place, name);
    is_read_[found->second] = true;
    const auto* tokens = std::get_if<Input>(&graph_.nodes[found->second].op);
    const bool is_tokens = tokens && tokens->is_tokens;
    if (is_tokens && !std::holds_alternative<Embedding>(node.op)) {
      place.refuse(op_name(node.op), " cannot read the token numbers of ", in_quotes(name));
    }
    return {name, shapes_[found->second], is_tokens};
  }

  [[noreturn]] void refuse_input(const NodePlace& place, const std::string& name) const {
    const auto is_it = [&name](const Node& node) { return node.name == name; };
    if (std::any_of(graph_.nodes.begin(), graph_.nodes.end(), is_it)) {
      place.refuse("reads ", in_quotes(name), ", which does not come before it");
    }
    std::vector<std::string> known;
    for (std::size_t i = 0; i < shapes_.size(); ++i) known.push_back(graph_.nodes[i].name);
    place.refuse("its input ", in_quotes(name), " does not exist", suggestion(name, known));
  }

  void require_name(const NodePlace& place, const Node& node) const {
    const auto is_good = [](char c) {
      return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
             c == '_' || c == '-' || c == '.' || c == '/';
    };
    const bool is_name = !node.name.empty() && node.name.size() <= kLongestName &&
                         std::all_of(node.name.begin(), node.name.end(), is_good);
    if (!is_name) place.refuse("a name has 1 to ", kLongestName, " of A-Z a-z 0-9 _ - . /");
    if (index_of_.contains(node.name)) place.refuse("another node has the same name");
  }

  Shape batched(const NodePlace& place, const Input& input) const {
    if (input.is_tokens && input.shape.size() != 1) {
      place.refuse("token numbers have the shape [L], found ", to_string(input.shape));
    }
    Shape shape = {batch_};
    shape.insert(shape.end(), input.shape.begin(), input.shape.end());
    return shape;
  }

  // A batch's multiply-accumulates must fit 64 bits.
  static void require_macs(const NodePlace& place, const Op& op, const Shape& output) {
    Shape factors = output;
    if (const auto* conv = std::get_if<Conv>(&op)) {
      factors.insert(factors.end(),
                     {conv->in_channels / conv->groups, conv->kernel[0], conv->kernel[1]});
    }
    if (const auto* linear = std::get_if<Linear>(&op)) factors.push_back(linear->in_features);
    std::int64_t product = 1;
    for (const std::int64_t factor : factors) {
      if (__builtin_mul_overflow(product, factor, &product)) place.refuse("the layer is too large");
    }
  }

  const Graph& graph_;
  std::int64_t batch_;
  std::map<std::string, std::size_t, std::less<>> index_of_;
  std::vector<Shape> shapes_;
  std::vector<bool> is_read_;
};

}  // namespace

std::vector<Shape> infer_shapes(const Graph& graph, std::int64_t batch) {
  Inference inference(graph, batch);
  for (const Node& node : graph.nodes) inference.add(node, inference.inputs_of(node));
  return inference.finish();
}

void fill_input_sizes(Graph& graph) {
  Inference inference(graph, 1);
  for (Node& node : graph.nodes) {
    const std::vector<Source> inputs = inference.inputs_of(node);
    if (!inputs.empty() && inputs[0].shape.size() >= 2) {
      std::visit(SizeFiller{inputs[0].shape[1]}, node.op);
    }
    inference.add(node, inputs);
  }
  inference.finish();
}

}  // namespace winnow
