// The shape that one op gives for the shapes that it reads. For shape_inference.cpp.
#pragma once

#include <string>
#include <vector>

#include "runtime/base/error.h"
#include "runtime/base/suggest.h"
#include "runtime/model/graph.h"

namespace winnow {

// One value on its way through the graph.
struct Source {
  std::string name;  // of the node that gives it
  Shape shape;       // batch dimension included
  bool is_tokens = false;
};

// Begins every refusal with where it happened: "vgg16: node 'conv2': ...".
class NodePlace {
 public:
  NodePlace(const Graph& graph, const Node& node) : graph_(graph), node_(node) {}

  template <typename... Parts>
  [[noreturn]] void refuse(const Parts&... parts) const {
    fail(ErrorCode::usage, graph_.name.empty() ? "graph" : graph_.name, ": node ",
         in_quotes(node_.name), ": ", parts...);
  }

  // Refuses a tensor too large for any machine.
  void require_size(const Shape& shape, const char* what) const;

 private:
  const Graph& graph_;
  const Node& node_;
};

// Requires settings in range (find_defect of op_schema.h) and as many inputs as the op takes, each
// with a batch dimension and at least one more. Throws Error{usage} through `place`.
Shape output_shape(const Op& op, const std::vector<Source>& inputs, const NodePlace& place);

}  // namespace winnow
