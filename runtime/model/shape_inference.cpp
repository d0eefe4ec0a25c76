// infer_shapes and fill_input_sizes of graph.h: the rules by which shapes meet.
#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "runtime/base/error.h"
#include "runtime/base/suggest.h"
#include "runtime/model/graph.h"
#include "runtime/model/op_schema.h"

namespace winnow {
namespace {

// More than any machine holds; sizes in bytes of a few such values still fit 64 bits.
constexpr std::int64_t kMostElements = std::int64_t{1} << 40;
constexpr std::size_t kLongestName = 128;

// One value on its way through the graph.
struct Source {
  std::string name;  // of the node that gives it
  Shape shape;
  bool is_tokens = false;
};

// Ends every refusal with where it happened: "vgg16: node 'conv2': ...".
class Place {
 public:
  Place(const Graph& graph, const Node& node) : graph_(graph), node_(node) {}

  template <typename... Parts>
  [[noreturn]] void refuse(const Parts&... parts) const {
    fail(ErrorCode::usage, graph_.name.empty() ? "graph" : graph_.name, ": node ",
         in_quotes(node_.name), ": ", parts...);
  }

  // Refuses a value too large for any machine.
  void require_size(const Shape& shape, const char* what) const {
    std::int64_t count = 1;
    for (const std::int64_t size : shape) {
      const bool overflows = __builtin_mul_overflow(count, size, &count);
      if (overflows || count > kMostElements) refuse(what, " ", to_string(shape), " is too large");
    }
  }

 private:
  const Graph& graph_;
  const Node& node_;
};

std::string given(const Source& source) {
  return in_quotes(source.name) + " gives " + to_string(source.shape);
}

// Positions of a window that slides over `size` elements; below 1 if it does not fit.
std::int64_t window_positions(std::int64_t size, std::int64_t extent, std::int64_t stride,
                              std::int64_t padding) {
  const std::int64_t room = size + 2 * padding - extent;
  return room < 0 ? 0 : room / stride + 1;
}

// The op's extents at one spatial dimension.
struct Window {
  std::int64_t kernel;
  std::int64_t stride;
  std::int64_t padding;
  std::int64_t dilation;
};

// The output shape of one node, given its inputs. Settings are in range.
class OutputShape {
 public:
  OutputShape(const Place& place, const std::vector<Source>& inputs)
      : place_(place), inputs_(inputs) {}

  Shape operator()(const Input&) const { place_.refuse("an input must be the first node"); }

  Shape operator()(const Conv& op) const {
    require_positions(op.rank);
    require_channels(op.in_channels, "input channels");
    const std::int64_t groups = op.groups;
    if (op.in_channels % groups != 0 || op.out_channels % groups != 0) {
      place_.refuse(groups, " groups do not divide ", op.in_channels, " input and ",
                    op.out_channels, " output channels");
    }
    place_.require_size({op.out_channels, op.in_channels / groups, op.kernel[0], op.kernel[1]},
                        "weight");
    return slide(op.rank, op.out_channels, [&op](std::size_t d) {
      return Window{op.kernel[d], op.stride[d], op.padding[d], op.dilation[d]};
    });
  }

  Shape operator()(const Linear& op) const {
    require_rank(2, "[N, F]; put a flatten before it");
    require_channels(op.in_features, "input features");
    place_.require_size({op.out_features, op.in_features}, "weight");
    return {shape()[0], op.out_features};
  }

  Shape operator()(const BatchNorm& op) const {
    require_channels(op.channels, "channels");
    return shape();
  }

  Shape operator()(const Relu&) const { return shape(); }
  Shape operator()(const Dropout&) const { return shape(); }
  Shape operator()(const Softmax&) const { return shape(); }

  Shape operator()(const Pool& op) const {
    for (std::size_t d = 0; d < 2; ++d) {
      if (2 * op.padding[d] <= op.kernel[d]) continue;
      place_.refuse("padding ", op.padding[d], " is more than half of the kernel's ", op.kernel[d]);
    }
    require_positions(op.rank);
    return slide(op.rank, shape()[1], [&op](std::size_t d) {
      return Window{op.kernel[d], op.stride[d], op.padding[d], 1};
    });
  }

  Shape operator()(const GlobalPool&) const {
    if (shape().size() < 3) place_.refuse("expects positions to pool over, ", given(inputs_[0]));
    return {shape()[0], shape()[1]};
  }

  Shape operator()(const Add&) const {
    for (const Source& other : inputs_) {
      if (other.shape == shape()) continue;
      place_.refuse("expects equal shapes, ", given(inputs_[0]), ", ", given(other));
    }
    return shape();
  }

  Shape operator()(const Concat&) const {
    Shape joined = shape();
    joined[1] = 0;
    for (const Source& other : inputs_) {
      Shape rest = other.shape;
      const std::int64_t channels = std::exchange(rest.at(1), joined[1]);
      if (rest != joined) {
        place_.refuse("expects shapes that differ in channels only, ", given(inputs_[0]), ", ",
                      given(other));
      }
      joined[1] += channels;  // each is at most kMostElements, so is their number
    }
    return joined;
  }

  Shape operator()(const Flatten&) const {
    return {shape()[0], element_count(Shape(shape().begin() + 1, shape().end()))};
  }

  Shape operator()(const Embedding& op) const {
    if (!inputs_[0].is_tokens) {
      place_.refuse("expects token numbers, ", in_quotes(inputs_[0].name), " gives real numbers");
    }
    place_.require_size({op.rows, op.width}, "weight");
    return {shape()[0], op.width, shape()[1]};
  }

 private:
  const Shape& shape() const { return inputs_[0].shape; }

  void require_rank(std::size_t rank, const char* form) const {
    if (shape().size() != rank) place_.refuse("expects ", form, "; ", given(inputs_[0]));
  }

  void require_positions(int rank) const {
    require_rank(static_cast<std::size_t>(rank) + 2, rank == 2 ? "[N, C, H, W]" : "[N, C, L]");
  }

  void require_channels(std::int64_t expected, const char* what) const {
    if (shape()[1] == expected) return;
    place_.refuse("expects ", expected, " ", what, ", ", in_quotes(inputs_[0].name), " gives ",
                  shape()[1]);
  }

  // [N, channels, ...] with one size per spatial dimension. `window_at(d)`: d 0 vertical, 1 not.
  template <typename WindowAt>
  Shape slide(int rank, std::int64_t channels, WindowAt window_at) const {
    Shape output = {shape()[0], channels};
    Shape padded = {shape()[0], shape()[1]};
    for (std::size_t i = 2; i < shape().size(); ++i) {
      const Window window = window_at(rank == 2 ? i - 2 : 1);
      const std::int64_t extent = (window.kernel - 1) * window.dilation + 1;
      output.push_back(window_positions(shape()[i], extent, window.stride, window.padding));
      padded.push_back(shape()[i] + 2 * window.padding);
      if (output.back() >= 1) continue;
      place_.refuse("its window of ", extent, " does not fit into ", padded.back(),
                    " positions, padding included; ", given(inputs_[0]));
    }
    place_.require_size(padded, "padded input");
    return output;
  }

  const Place& place_;
  const std::vector<Source>& inputs_;
};

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
    const Place place(graph_, node);
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
    const Place place(graph_, node);
    const std::string defect = find_defect(node.op);
    if (!defect.empty()) place.refuse(defect);
    const auto* input = std::get_if<Input>(&node.op);
    const bool is_first = shapes_.empty();
    if (is_first && !input) place.refuse("the first node must be an input");
    Shape shape = input && is_first ? batched(place, *input)
                                    : std::visit(OutputShape(place, inputs), node.op);
    place.require_size(shape, "output");
    require_macs(place, node.op, shape);
    index_of_[node.name] = shapes_.size();
    shapes_.push_back(std::move(shape));
    is_read_.push_back(false);
  }

  // Call after the last node.
  std::vector<Shape> finish() const {
    for (std::size_t i = 0; i + 1 < is_read_.size(); ++i) {
      if (!is_read_[i]) Place(graph_, graph_.nodes[i]).refuse("no other node reads its value");
    }
    return shapes_;
  }

 private:
  Source input(const Place& place, const Node& node, const std::string& name) {
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

  [[noreturn]] void refuse_input(const Place& place, const std::string& name) const {
    const auto is_it = [&name](const Node& node) { return node.name == name; };
    if (std::any_of(graph_.nodes.begin(), graph_.nodes.end(), is_it)) {
      place.refuse("reads ", in_quotes(name), ", which does not come before it");
    }
    std::vector<std::string> known;
    for (std::size_t i = 0; i < shapes_.size(); ++i) known.push_back(graph_.nodes[i].name);
    place.refuse("its input ", in_quotes(name), " does not exist", suggestion(name, known));
  }

  void require_name(const Place& place, const Node& node) const {
    const auto is_good = [](char c) {
      return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
             c == '_' || c == '-' || c == '.' || c == '/';
    };
    const bool is_name = !node.name.empty() && node.name.size() <= kLongestName &&
                         std::all_of(node.name.begin(), node.name.end(), is_good);
    if (!is_name) place.refuse("a name has 1 to ", kLongestName, " of A-Z a-z 0-9 _ - . /");
    if (index_of_.contains(node.name)) place.refuse("another node has the same name");
  }

  Shape batched(const Place& place, const Input& input) const {
    if (input.is_tokens && input.shape.size() != 1) {
      place.refuse("token numbers have the shape [L], found ", to_string(input.shape));
    }
    Shape shape = {batch_};
    shape.insert(shape.end(), input.shape.begin(), input.shape.end());
    return shape;
  }

  // A batch's multiply-accumulates must fit 64 bits.
  static void require_macs(const Place& place, const Op& op, const Shape& output) {
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
