#include "runtime/model/model_checks.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "runtime/base/error.h"
#include "runtime/base/suggest.h"
#include "runtime/model/model_state_json.h"
#include "runtime/model/vocabulary_section.h"

namespace winnow {
namespace {

std::vector<Shape> checked_shapes(const Graph& graph, const std::string& place) {
  try {
    return infer_shapes(graph, 1);
  } catch (const Error& error) {
    fail(ErrorCode::bad_file, place, ": ", error.what());
  }
}

void check_activations(const SharedState& state, const std::string& place) {
  const int bits = state.activation_bits;
  if (bits != 0 && (bits < 2 || bits > kMaxActivationBits)) {
    fail(ErrorCode::bad_file, place, ": activation bits are ", bits, ", expected 0 or 2 to ",
         kMaxActivationBits);
  }
  std::vector<std::string> names;
  for (const Node& node : state.graph.nodes) names.push_back(node.name);
  for (const auto& [name, frac] : state.activation_frac) {
    if (std::find(names.begin(), names.end(), name) == names.end()) {
      fail(ErrorCode::bad_file, place, ": activation bits for unknown node ", in_quotes(name),
           suggestion(name, names));
    }
    if (std::abs(frac) > kMaxFractionalBits) {
      fail(ErrorCode::bad_file, place, ": node ", in_quotes(name), " has ", frac,
           " fractional bits, expected ", -kMaxFractionalBits, " to ", kMaxFractionalBits);
    }
  }
}

void check_preprocessing(const Preprocessing& preprocessing, const Input& input,
                         const std::string& place) {
  const std::size_t channels =
      input.is_tokens || input.shape.empty() ? 0 : static_cast<std::size_t>(input.shape[0]);
  for (const auto* values : {&preprocessing.mean, &preprocessing.deviation}) {
    const char* what = values == &preprocessing.mean ? "mean" : "deviation";
    if (!values->empty() && values->size() != channels) {
      fail(ErrorCode::bad_file, place, ": ", what, " of ", values->size(),
           " channels, the input has ", channels);
    }
    const bool is_mean = values == &preprocessing.mean;
    const bool is_good = std::all_of(values->begin(), values->end(), [&](float value) {
      return std::isfinite(value) && (is_mean || value > 0);
    });
    if (!is_good) {
      fail(ErrorCode::bad_file, place, ": ", what, is_mean ? " is not finite" : " is not positive");
    }
  }
  for (std::size_t c = 0; c < preprocessing.deviation.size(); ++c) {
    const float divisor = preprocessing.deviation[c];
    const float shift = preprocessing.mean.empty() ? 0.0f : preprocessing.mean[c];
    if (std::isfinite(-shift / divisor) && std::isfinite((1 - shift) / divisor)) continue;
    fail(ErrorCode::bad_file, place, ": deviation ", divisor, " of channel ", c,
         " makes inputs infinite");
  }
}

// Pictures must become what the network takes.
void check_pictures(const PictureForm& form, const Input& input, const std::string& place) {
  if (!form.is_given()) return;
  const bool has_sides = !input.is_tokens && input.shape.size() == 3;
  const Sides sides = has_sides ? Sides{input.shape[1], input.shape[2]} : Sides{};
  const bool is_by_shorter = !form.crop.is_given() && form.resize.width == 0;
  const Sides made = form.crop.is_given() ? form.crop : form.resize;
  const bool fits =
      is_by_shorter ? std::min(sides.height, sides.width) == made.height : sides == made;
  if (fits) return;
  fail(ErrorCode::bad_file, place, ": pictures are brought to ", text_of(made),
       ", the network's input is ", to_string(input.shape));
}

// A vocabulary belongs to the embedding that reads the input.
void check_vocabulary(const std::vector<std::string>& words, const Graph& graph,
                      const std::string& place) {
  if (words.empty()) return;
  const std::string defect = find_vocabulary_defect(words);
  if (!defect.empty()) fail(ErrorCode::bad_file, place, ": vocabulary: ", defect);
  const std::int64_t rows = token_rows(graph);
  const auto tokens = static_cast<std::int64_t>(words.size()) + kReservedTokens;
  if (rows == tokens) return;
  fail(ErrorCode::bad_file, place, ": vocabulary of ", words.size(), " words: ",
       rows == 0 ? "the network takes no tokens"
                 : "the embedding has " + std::to_string(rows) + " rows, expected " +
                       std::to_string(tokens));
}

}  // namespace

void check_shared_state(const SharedState& state, const std::string& place) {
  const std::vector<Shape> shapes = checked_shapes(state.graph, place);
  check_activations(state, place);
  check_preprocessing(state.preprocessing, std::get<Input>(state.graph.nodes.front().op), place);
  check_pictures(state.preprocessing.pictures, std::get<Input>(state.graph.nodes.front().op),
                 place);
  check_vocabulary(state.preprocessing.vocabulary, state.graph, place);
  const auto outputs = static_cast<std::size_t>(shapes.back().back());
  if (!state.classes.empty() && state.classes.size() != outputs) {
    fail(ErrorCode::bad_file, place, ": ", state.classes.size(), " class names, the network has ",
         outputs, " outputs");
  }
}

}  // namespace winnow
