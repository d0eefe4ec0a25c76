#include <variant>

#include "runtime/base/error.h"
#include "runtime/reference/reference_session.h"

namespace winnow {
namespace reference {
namespace {

// Runs the op it is called with; one overload for each kind of step.
struct Runner {
  std::span<const Array* const> inputs;
  std::span<const float> weight;
  std::span<const float> bias;

  Array operator()(const Conv& op) const { return conv(op, *inputs[0], weight, bias); }
  Array operator()(const Linear& op) const { return linear(op, *inputs[0], weight, bias); }
  Array operator()(const Relu& op) const { return relu(*inputs[0], op); }
  Array operator()(const Pool& op) const { return pool(op, *inputs[0]); }
  Array operator()(const GlobalPool& op) const { return global_pool(op, *inputs[0]); }
  Array operator()(const Add&) const { return add(inputs); }
  Array operator()(const Concat&) const { return concat(inputs); }
  Array operator()(const Flatten&) const { return flatten(*inputs[0]); }
  Array operator()(const Embedding& op) const { return embedding(op, *inputs[0], weight); }
  Array operator()(const Softmax&) const { return softmax(*inputs[0]); }
  Array operator()(const Input&) const { return refuse("an input"); }
  Array operator()(const BatchNorm&) const { return refuse("a batch norm"); }
  Array operator()(const Dropout&) const { return refuse("a dropout"); }

  static Array refuse(const char* what) {
    fail(ErrorCode::bad_file, what, " is no step of a deployed model");
  }
};

}  // namespace

Array run_step(const Step& step, std::span<const Array* const> inputs,
               std::span<const float> weight, std::span<const float> bias) {
  if (inputs.empty()) fail(ErrorCode::usage, step.name, ": no inputs");
  Array result = std::visit(Runner{inputs, weight, bias}, step.op);
  return step.has_relu ? relu(result) : result;
}

}  // namespace reference

}  // namespace winnow
