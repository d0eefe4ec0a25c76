// The formats that values may have.
#include <algorithm>
#include <variant>

#include "runtime/gpu/dense/dense_conv.h"
#include "runtime/gpu/session/network_plan.h"

namespace winnow {
namespace {

// Fewer images leave most lanes of chwn8 or chwn32 empty.
constexpr std::int64_t kFewestPackedImages = 4;
constexpr std::int64_t kFewestLinearImages = 16;

struct Halo {
  int h = 0;
  int w = 0;
};

// The largest padding of the convolutions that read each value.
std::vector<Halo> halos(const Program& program) {
  std::vector<Halo> halo(program.values.size());
  for (const Step& step : program.steps) {
    if (const auto* conv = std::get_if<Conv>(&step.op)) {
      Halo& needed = halo[step.inputs[0]];
      needed.h = std::max(needed.h, static_cast<int>(conv->padding[0]));
      needed.w = std::max(needed.w, static_cast<int>(conv->padding[1]));
    }
  }
  return halo;
}

void add_new(std::vector<ActivationFormat>& formats, const ActivationFormat& format) {
  if (format_index(formats, format) == formats.size()) formats.push_back(format);
}

bool may_run(const SessionOptions& options, const std::string& sparse_family) {
  if (!options.family.empty()) return options.family == sparse_family;
  return options.choice != KernelChoice::dense;
}

// What linear layers of many images read and write.
void add_linear_formats(const Program& program, const DeployedModel& model,
                        const SessionOptions& options,
                        std::vector<std::vector<ActivationFormat>>& formats) {
  const ActivationFormat packed{.layout = Layout::chwn32, .precision = options.precision};
  if (program.batch < kFewestLinearImages || !may_run(options, "linear_gather")) return;
  for (const Step& step : program.steps) {
    if (!is_sparse_linear(program, model, step)) continue;
    add_new(formats[step.inputs[0]], packed);
    add_new(formats[step.output], packed);
  }
}

void add_deferred(const Program& program, const SessionOptions& options,
                  const std::vector<LinearStack>& stacks,
                  std::vector<std::vector<ActivationFormat>>& formats) {
  if (!may_run(options, "linear_stack")) return;
  for (const LinearStack& stack : stacks) {
    for (const std::size_t step : stack.steps) {
      if (step != stack.steps.back()) formats[program.steps[step].output].push_back(kDeferred);
    }
  }
}

void add_gathered(const GatheredValues& gathered,
                  std::vector<std::vector<ActivationFormat>>& formats) {
  for (std::size_t v = 0; v < formats.size(); ++v) {
    if (gathered.may_lie[v]) add_new(formats[v], gathered_format(gathered, v));
    if (gathered.may_defer[v]) add_new(formats[v], kDeferred);
  }
}

// As the planner asks families: by the mask, dense kernels run no sparse weights.
bool may_run_dense(const DeployedModel& model, const SessionOptions& options, const Step& step) {
  if (!options.family.empty()) return options.family == "dense";
  const bool is_by_mask = options.choice == KernelChoice::sparse || options.is_survey;
  return !is_by_mask || weights_of(model, step).sparse() == nullptr;
}

// Convolutions that cuDNN may compute with the addition that reads them.
void add_dense_sums(const Program& program, const DeployedModel& model,
                    const SessionOptions& options, const std::vector<StepFusions>& fusions,
                    std::vector<std::vector<ActivationFormat>>& formats) {
  for (std::size_t i = 0; i < program.steps.size(); ++i) {
    const Step& step = program.steps[i];
    if (fusions[i].into == kNoStep || !std::holds_alternative<Conv>(step.op)) continue;
    if (!std::holds_alternative<Add>(program.steps[fusions[i].into].op)) continue;
    if (!may_run_dense(model, options, step)) continue;
    for (const ConvFormats& lying : conv_formats(options, std::get<Conv>(step.op))) {
      add_new(formats[step.output], deferred_from(lying.in));
    }
  }
}

}  // namespace

std::vector<std::vector<ActivationFormat>> value_formats(const Program& program,
                                                         const DeployedModel& model,
                                                         const SessionOptions& options,
                                                         const std::vector<LinearStack>& stacks,
                                                         const GatheredValues& gathered,
                                                         const std::vector<StepFusions>& fusions) {
  const bool has_direct = may_run(options, "direct") || may_run(options, "direct_ell");
  const std::vector<Halo> halo = halos(program);
  std::vector<std::vector<ActivationFormat>> formats(program.values.size());
  for (std::size_t v = 0; v < formats.size(); ++v) {
    const bool has_positions = program.values[v].shape.size() > 2;
    if (v == program.input || v == program.output) formats[v].push_back(row_major(Precision::f32));
    add_new(formats[v], row_major(options.precision));
    if (!has_positions) continue;
    ActivationFormat format{.layout = Layout::nchw,
                            .precision = options.precision,
                            .halo_h = halo[v].h,
                            .halo_w = halo[v].w};
    if (has_direct) {
      add_new(formats[v], format);
      format.layout = Layout::chwn8;
      if (program.batch >= kFewestPackedImages) add_new(formats[v], format);
    }
    format = {.layout = Layout::nhwc, .precision = options.precision};
    add_new(formats[v], format);
    if (!has_padded_channels(options)) continue;
    format.channel_padding = static_cast<int>(-program.values[v].shape[1] & 7);
    add_new(formats[v], format);
  }
  add_linear_formats(program, model, options, formats);
  add_deferred(program, options, stacks, formats);
  add_gathered(gathered, formats);
  add_dense_sums(program, model, options, fusions, formats);
  return formats;
}

}  // namespace winnow
