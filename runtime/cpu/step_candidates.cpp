#include "runtime/cpu/step_candidates.h"

#include <algorithm>

#include "runtime/cpu/cpu_network.h"
#include "runtime/cpu/pointwise_layer.h"

namespace winnow {
namespace {

class Collector {
 public:
  explicit Collector(const Program& program) : program_(program), written_(program.values.size()) {
    found_.steps.resize(program.steps.size());
    found_.layouts.assign(program.values.size(), {Layout{}});
    mark_written(program.input, 0);
  }

  void add_weighted(std::size_t index, const std::vector<LayerPointer>& layers) {
    const Step& step = program_.steps[index];
    for (const LayerPointer& layer : layers) {
      CpuStepPlan way{layer, {}, {format_of(step.inputs[0], layer->input_layout)}, 0};
      way.writes = format_of(step.output, layer->output_layout);
      found_.steps[index].push_back(std::move(way));
    }
  }

  // After all steps that write its inputs.
  void add_pointwise(std::size_t index) {
    const Step& step = program_.steps[index];
    const PointwiseStep pointwise = pointwise_step(program_, step, {});
    std::vector<Layout> tried;
    for (const std::size_t input : step.inputs) {
      for (const std::size_t format : written_[input]) {
        if (found_.layouts[input][format] == kDeferredLayout) continue;
        const Layout layout = pointwise_layout(pointwise, found_.layouts[input][format]);
        if (std::find(tried.begin(), tried.end(), layout) != tried.end()) continue;
        tried.push_back(layout);
        CpuStepPlan way{nullptr, layout, {}, format_of(step.output, layout)};
        for (const std::size_t value : step.inputs) way.reads.push_back(format_of(value, layout));
        found_.steps[index].push_back(std::move(way));
      }
    }
  }

  void add_fused(const FusedStep& fused) {
    const Step& conv = program_.steps[fused.conv];
    const Step& reader = program_.steps[fused.reader];
    const std::size_t deferred = format_of(conv.output, kDeferredLayout);
    const Layout& layout = fused.layer->output_layout;
    found_.steps[fused.conv].push_back(
        {fused.deferred, {}, {format_of(conv.inputs[0], layout)}, deferred});
    CpuStepPlan way{fused.layer, layout, {}, format_of(reader.output, layout)};
    for (const std::size_t value : reader.inputs) {
      way.reads.push_back(value == conv.output ? deferred : format_of(value, layout));
    }
    found_.steps[fused.reader].push_back(std::move(way));
  }

  void mark_outputs(std::size_t index) {
    const Step& step = program_.steps[index];
    for (const CpuStepPlan& way : found_.steps[index]) mark_written(step.output, way.writes);
  }

  ProgramCandidates finish() { return std::move(found_); }

 private:
  std::size_t format_of(std::size_t value, const Layout& wanted) {
    const Layout layout = simplest(wanted, extents_of(program_.values[value].shape));
    std::vector<Layout>& layouts = found_.layouts[value];
    const auto known = std::find(layouts.begin(), layouts.end(), layout);
    const auto format = static_cast<std::size_t>(known - layouts.begin());
    if (known == layouts.end()) layouts.push_back(layout);
    return format;
  }

  void mark_written(std::size_t value, std::size_t format) {
    std::vector<std::size_t>& written = written_[value];
    if (std::find(written.begin(), written.end(), format) == written.end()) {
      written.push_back(format);
    }
  }

  const Program& program_;
  ProgramCandidates found_;
  std::vector<std::vector<std::size_t>> written_;  // by value: formats
};

}  // namespace

ProgramCandidates program_candidates(const Program& program,
                                     const std::vector<std::vector<LayerPointer>>& layers,
                                     const std::vector<FusedStep>& fused) {
  Collector collector(program);
  for (std::size_t i = 0; i < program.steps.size(); ++i) {
    if (is_weighted(program.steps[i])) {
      collector.add_weighted(i, layers[i]);
    } else {
      collector.add_pointwise(i);
    }
    // The convolution's way too: nothing between the two asks how its output may be written.
    for (const FusedStep& way : fused) {
      if (way.reader == i) collector.add_fused(way);
    }
    collector.mark_outputs(i);
  }
  return collector.finish();
}

}  // namespace winnow
