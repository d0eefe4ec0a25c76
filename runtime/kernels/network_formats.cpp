// The formats that values may have, and names for timing tables.
#include <algorithm>
#include <variant>

#include "runtime/base/checksum.h"
#include "runtime/kernels/family_list.h"
#include "runtime/kernels/network_plan.h"

namespace winnow {
namespace {

// Fewer images leave most lanes of nchw8 or nchw32 empty.
constexpr std::int64_t kFewestPackedImages = 4;
constexpr std::int64_t kFewestGatheredImages = 16;

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

std::uint32_t checksum_of(const Weight& weight) {
  if (const auto* dense = std::get_if<DenseWeight>(&weight)) return crc32c(dense->values.data);
  const auto& sparse = std::get<CsrWeight>(weight);
  return crc32c(sparse.values.data, crc32c(std::as_bytes(std::span(sparse.column))));
}

// What of an op its time depends on and its shapes do not tell.
std::string op_key(const Op& op) {
  std::string key = op_name(op);
  const auto append = [&](const char* name, const Pair& pair) {
    key.append(" ").append(name).append(std::to_string(pair[0]));
    key.append("x").append(std::to_string(pair[1]));
  };
  if (const auto* conv = std::get_if<Conv>(&op)) {
    append("k", conv->kernel);
    append("s", conv->stride);
    append("p", conv->padding);
    append("d", conv->dilation);
    key.append(" g").append(std::to_string(conv->groups));
  } else if (const auto* pool = std::get_if<Pool>(&op)) {
    append("k", pool->kernel);
    append("s", pool->stride);
    append("p", pool->padding);
  }
  return key;
}

bool may_run(const SessionOptions& options, const std::string& sparse_family) {
  if (!options.family.empty()) return options.family == sparse_family;
  return options.choice != KernelChoice::dense;
}

// What linear layers of many images read and write.
void add_linear_formats(const Program& program, const DeployedModel& model,
                        const SessionOptions& options,
                        std::vector<std::vector<ActivationFormat>>& formats) {
  const ActivationFormat packed{.layout = Layout::nchw32, .precision = options.precision};
  if (program.batch < kFewestGatheredImages || !may_run(options, "linear_gather")) return;
  for (const Step& step : program.steps) {
    if (!is_sparse_linear(program, model, step)) continue;
    add_new(formats[step.inputs[0]], packed);
    add_new(formats[step.output], packed);
  }
}

void add_deferred(const Program& program, const SessionOptions& options,
                  const std::vector<LinearRun>& runs,
                  std::vector<std::vector<ActivationFormat>>& formats) {
  if (!may_run(options, "linear_stack")) return;
  for (const LinearRun& run : runs) {
    for (const std::size_t step : run.steps) {
      if (step != run.steps.back()) formats[program.steps[step].output].push_back(kDeferred);
    }
  }
}

}  // namespace

std::vector<std::vector<ActivationFormat>> value_formats(const Program& program,
                                                         const DeployedModel& model,
                                                         const SessionOptions& options,
                                                         const std::vector<LinearRun>& runs) {
  const bool has_direct = may_run(options, "direct");
  const std::vector<Halo> halo = halos(program);
  std::vector<std::vector<ActivationFormat>> formats(program.values.size());
  for (std::size_t v = 0; v < formats.size(); ++v) {
    const bool has_positions = program.values[v].shape.size() > 2;
    if (v == program.input || v == program.output) formats[v].push_back(plain(Precision::f32));
    add_new(formats[v], plain(options.precision));
    if (!has_positions) continue;
    ActivationFormat format{.layout = Layout::nchw,
                            .precision = options.precision,
                            .halo_h = halo[v].h,
                            .halo_w = halo[v].w};
    if (has_direct) {
      add_new(formats[v], format);
      format.layout = Layout::nchw8;
      if (program.batch >= kFewestPackedImages) add_new(formats[v], format);
    }
    format = {.layout = Layout::nhwc, .precision = options.precision};
    add_new(formats[v], format);
    if (!has_padded_channels(options)) continue;
    format.channel_padding = static_cast<int>(-program.values[v].shape[1] & 7);
    add_new(formats[v], format);
  }
  add_linear_formats(program, model, options, formats);
  add_deferred(program, options, runs, formats);
  return formats;
}

std::uint32_t weight_checksum(const DeployedModel& model, const std::string& name) {
  return checksum_of(model.weights.at(name + ".weight"));
}

std::string timing_key(const LayerProblem& problem) {
  std::string key = op_key(problem.step.op);
  for (const std::size_t input : problem.step.inputs) {
    key.append(" ").append(to_string(problem.program.values[input].shape));
  }
  key.append(" -> ").append(to_string(problem.program.values[problem.step.output].shape));
  if (problem.step.has_relu) key += " relu";
  if (problem.model.weights.contains(problem.step.name + ".weight")) {
    key.append(" crc ").append(std::to_string(weight_checksum(problem.model, problem.step.name)));
  }
  return key;
}

}  // namespace winnow
