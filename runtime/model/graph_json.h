// Graphs as JSON text, in the metadata of checkpoints and in model files (docs/model-file.md).
#pragma once

#include <string>
#include <string_view>

#include "runtime/model/graph.h"

namespace winnow {

// Deterministic: equal graphs give equal text.
std::string graph_to_json(const Graph& graph);

// `place` begins every message ("vgg16.wnw: graph"). Unknown ops and keys, wrong types and values
// out of range are refused with Error{bad_file}; the result has passed infer_shapes.
Graph graph_from_json(std::string_view text, std::string_view place);

}  // namespace winnow
