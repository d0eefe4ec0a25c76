#include "runtime/cpu/layout_plan.h"

namespace winnow {
namespace {

class Planner {
 public:
  explicit Planner(const Program& program) : program_(program), buffers_of_(program.values.size()) {
    for (const Value& value : program.values) extents_.push_back(extents_of(value.shape));
    plan_.network_input = add_buffer(program.input, {});
  }

  void add_step(std::size_t index, const LayoutRule& rule) {
    const Step& step = program_.steps[index];
    const std::size_t first = buffers_of_[step.inputs[0]].front();
    const StepLayouts layouts = rule(index, plan_.buffers[first].layout);
    std::vector<std::size_t> inputs;
    for (const std::size_t value : step.inputs) {
      inputs.push_back(buffer_in(value, layouts.input, index));
    }
    plan_.inputs.push_back(std::move(inputs));
    plan_.outputs.push_back(add_buffer(step.output, layouts.output));
  }

  LayoutPlan finish() {
    plan_.network_output = buffer_in(program_.output, {}, program_.steps.size());
    return std::move(plan_);
  }

 private:
  std::size_t add_buffer(std::size_t value, const Layout& layout) {
    plan_.buffers.push_back({value, simplest(layout, extents_[value])});
    buffers_of_[value].push_back(plan_.buffers.size() - 1);
    return plan_.buffers.size() - 1;
  }

  std::size_t buffer_in(std::size_t value, const Layout& wanted, std::size_t step) {
    const Layout layout = simplest(wanted, extents_[value]);
    for (const std::size_t buffer : buffers_of_[value]) {
      if (plan_.buffers[buffer].layout == layout) return buffer;
    }
    const std::size_t from = buffers_of_[value].front();
    const std::size_t to = add_buffer(value, layout);
    plan_.conversions.push_back({step, from, to});
    return to;
  }

  const Program& program_;
  std::vector<Extents> extents_;
  std::vector<std::vector<std::size_t>> buffers_of_;  // by value, the written one first
  LayoutPlan plan_;
};

}  // namespace

LayoutPlan plan_layouts(const Program& program, const LayoutRule& rule) {
  Planner planner(program);
  for (std::size_t i = 0; i < program.steps.size(); ++i) planner.add_step(i, rule);
  return planner.finish();
}

}  // namespace winnow
