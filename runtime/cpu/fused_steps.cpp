#include "runtime/cpu/fused_steps.h"

#include <algorithm>

#include "runtime/base/error.h"
#include "runtime/base/joined_kernel.h"

namespace winnow {
namespace {

class DeferredLayer final : public CpuLayer {
 public:
  void run(const LayerCall&, ThreadPool&) override {
    fail(ErrorCode::internal, "a deferred layer was run");
  }
};

bool is_read_once(const Program& program, std::size_t value) {
  std::ptrdiff_t readers = value == program.output ? 1 : 0;
  for (const Step& step : program.steps) readers += std::ranges::count(step.inputs, value);
  return readers == 1;
}

}  // namespace

std::vector<FusedStep> fusible_steps(const Program& program) {
  std::vector<FusedStep> found;
  for (std::size_t reader = 0; reader < program.steps.size(); ++reader) {
    const Step& step = program.steps[reader];
    const bool is_add = std::holds_alternative<Add>(step.op) && step.inputs.size() == 2;
    if (!is_add && !std::holds_alternative<Pool>(step.op)) continue;
    for (std::size_t input = 0; input < step.inputs.size(); ++input) {
      const std::size_t value = step.inputs[input];
      const auto conv =
          std::ranges::find_if(program.steps, [&](const Step& s) { return s.output == value; });
      if (conv == program.steps.end() || !std::holds_alternative<Conv>(conv->op)) continue;
      if ((is_add && conv->has_relu) || !is_read_once(program, value)) continue;
      found.push_back(
          {static_cast<std::size_t>(conv - program.steps.begin()), reader, input, {}, {}});
    }
  }
  return found;
}

LayerPointer make_deferred_layer(const std::string& family, const Step& reader) {
  auto layer = std::make_shared<DeferredLayer>();
  layer->family = family;
  layer->kernel = in_run_of(family, reader.name);
  layer->input_layout = Layout::gaps;
  layer->output_layout = kDeferredLayout;
  layer->is_deferred = true;
  return layer;
}

}  // namespace winnow
