// The operations without weights to choose from: one kernel each, in every layout.
#include <algorithm>
#include <functional>
#include <variant>

#include "runtime/base/error.h"
#include "runtime/base/joined_kernel.h"
#include "runtime/device/buffer.h"
#include "runtime/gpu/layer/family_list.h"
#include "runtime/gpu/layer/typed_weights.h"
#include "runtime/gpu/pointwise/convert.h"
#include "runtime/gpu/pointwise/elementwise.h"
#include "runtime/gpu/pointwise/embedding.h"
#include "runtime/gpu/pointwise/pool.h"
#include "runtime/gpu/pointwise/softmax.h"

namespace winnow {
namespace {

using Launch =
    std::function<void(std::span<const ActivationView>, const ActivationView&, cudaStream_t)>;

class FunctionLayer : public PreparedLayer {
 public:
  explicit FunctionLayer(Launch launch) : launch_(std::move(launch)) {}

  void launch(std::span<const ActivationView> in, const ActivationView& out, const Workspace&,
              cudaStream_t stream) const override {
    launch_(in, out, stream);
  }

 private:
  Launch launch_;
};

// Indices of the formats of one layout and the session's precision that have memory, whatever their
// halo.
std::vector<std::size_t> formats_in(const std::vector<ActivationFormat>& formats,
                                    const Layout& layout, Precision precision) {
  std::vector<std::size_t> found;
  for (std::size_t i = 0; i < formats.size(); ++i) {
    const bool is_like = formats[i].layout == layout && formats[i].precision == precision;
    if (is_like && !formats[i].is_deferred) found.push_back(i);
  }
  return found;
}

// All ways to take one of each; only the last of each where there would be more than kMostMixes.
std::vector<std::vector<std::size_t>> mixes(const std::vector<std::vector<std::size_t>>& choices) {
  constexpr std::size_t kMostMixes = 16;
  std::size_t count = 1;
  for (const auto& choice : choices) count = std::min(count * choice.size(), kMostMixes + 1);
  std::vector<std::vector<std::size_t>> all = {{}};
  for (const auto& choice : choices) {
    std::vector<std::vector<std::size_t>> longer;
    for (const auto& begun : all) {
      for (const std::size_t next : choice) {
        if (count > kMostMixes && next != choice.back()) continue;
        longer.push_back(begun);
        longer.back().push_back(next);
      }
    }
    all = std::move(longer);
  }
  return all;
}

// All inputs and the output in one layout and the session's precision, any halos.
std::vector<Candidate> in_every_layout(const LayerProblem& problem, const std::string& family,
                                       const Launch& launch) {
  const auto layer = std::make_shared<const FunctionLayer>(launch);
  const Precision precision = problem.options.precision;
  std::vector<Candidate> found;
  for (std::size_t writes = 0; writes < problem.output_formats.size(); ++writes) {
    const ActivationFormat& out = problem.output_formats[writes];
    if (out.precision != precision || out.is_deferred) continue;
    std::vector<std::vector<std::size_t>> choices;
    for (const auto& formats : problem.input_formats) {
      choices.push_back(formats_in(formats, out.layout, precision));
    }
    const std::string kernel = family + " " + to_string(out.layout) + " " + to_string(precision);
    for (std::vector<std::size_t>& reads : mixes(choices)) {
      found.push_back({.family = family,
                       .kernel = kernel,
                       .reads = std::move(reads),
                       .writes = writes,
                       .layer = layer,
                       .timing_key = kernel});
    }
  }
  return found;
}

// A family that runs the ops for which `make` returns a launch.
template <typename... Ops>
class PointwiseFamily : public Family {
 public:
  using Make = std::vector<Candidate> (*)(const LayerProblem&, const std::string&);

  PointwiseFamily(std::string name, Make make) : name_(std::move(name)), make_(make) {}

  std::string name() const override { return name_; }
  bool is_sparse() const override { return false; }
  std::string why_not(const LayerProblem& problem, GpuContext&) const override {
    if ((std::holds_alternative<Ops>(problem.step.op) || ...)) return "";
    return "runs other operations";
  }
  std::vector<Candidate> candidates(const LayerProblem& problem, GpuContext&) const override {
    return make_(problem, name_);
  }

 private:
  std::string name_;
  Make make_;
};

// One candidate that reads and writes row-major memory.
std::vector<Candidate> row_major(const LayerProblem& problem, const std::string& family,
                                 std::shared_ptr<const PreparedLayer> layer) {
  const ActivationFormat format = row_major(problem.options.precision);
  return {{.family = family,
           .kernel = family + " " + to_string(format),
           .reads = {format_index(problem.input_formats[0], format)},
           .writes = format_index(problem.output_formats, format),
           .layer = std::move(layer),
           .timing_key = family}};
}

std::vector<Candidate> pool_candidates(const LayerProblem& problem, const std::string& family) {
  if (const auto* op = std::get_if<Pool>(&problem.step.op)) {
    return in_every_layout(problem, family,
                           [op = *op](std::span<const ActivationView> in, const ActivationView& out,
                                      cudaStream_t stream) { pool(op, in[0], out, stream); });
  }
  // The result has one position per channel; it is written row-major from any layout.
  const auto& op = std::get<GlobalPool>(problem.step.op);
  const auto layer = std::make_shared<const FunctionLayer>(
      [op](std::span<const ActivationView> in, const ActivationView& out, cudaStream_t stream) {
        global_pool(op, in[0], out, stream);
      });
  std::vector<Candidate> found;
  for (std::size_t reads = 0; reads < problem.input_formats[0].size(); ++reads) {
    const ActivationFormat& format = problem.input_formats[0][reads];
    if (format.precision != problem.options.precision) continue;
    const std::string kernel = family + " global " + to_string(format);
    found.push_back({.family = family,
                     .kernel = kernel,
                     .reads = {reads},
                     .writes = format_index(problem.output_formats, row_major(format.precision)),
                     .layer = layer,
                     .timing_key = kernel});
  }
  return found;
}

std::vector<Candidate> add_candidates(const LayerProblem& problem, const std::string& family) {
  const auto* relu = std::get_if<Relu>(&problem.step.op);
  ActivationLimits limits;
  if (relu != nullptr || problem.step.has_relu) limits.least = 0;
  if (relu != nullptr && relu->max_value) limits.most = static_cast<float>(*relu->max_value);
  return in_every_layout(problem, family,
                         [limits](std::span<const ActivationView> in, const ActivationView& out,
                                  cudaStream_t stream) { add(in, limits, out, stream); });
}

void concat(std::span<const ActivationView> in, const ActivationView& out, cudaStream_t stream) {
  std::int64_t first = 0;
  for (const ActivationView& view : in) {
    convert_slice({view, 0, view.size.c}, {out, first, view.size.c}, stream);
    first += view.size.c;
  }
}

std::vector<Candidate> concat_candidates(const LayerProblem& problem, const std::string& family) {
  return in_every_layout(problem, family, concat);
}

// Row-major memory is flat already. A map of nchw32c8n may be read as it is by the linear layer
// that follows.
std::vector<Candidate> flatten_candidates(const LayerProblem& problem, const std::string& family) {
  std::vector<Candidate> found = row_major(problem, family, nullptr);
  const std::size_t deferred = format_index(problem.output_formats, kDeferred);
  if (deferred == problem.output_formats.size()) return found;
  const Precision precision = problem.options.precision;
  for (const std::size_t reads :
       formats_in(problem.input_formats[0], Layout::nchw32c8n, precision)) {
    const Step& reader = problem.program.steps[problem.fusions.into];
    found.push_back({.family = family,
                     .kernel = in_launch_of(family, reader.name),
                     .reads = {reads},
                     .writes = deferred,
                     .layer = nullptr,
                     .timing_key = family + " deferred"});
  }
  return found;
}

std::vector<Candidate> softmax_candidates(const LayerProblem& problem, const std::string& family) {
  const Shape& shape = problem.program.values[problem.step.output].shape;
  const std::int64_t width = shape.back();
  const Rows rows{.count = width > 0 ? element_count(shape) / width : 0, .width = width};
  const Precision precision = problem.options.precision;
  return row_major(problem, family,
                   std::make_shared<const FunctionLayer>(
                       [rows, precision](std::span<const ActivationView> in,
                                         const ActivationView& out, cudaStream_t stream) {
                         softmax(in[0].data, out.data, precision, rows, stream);
                       }));
}

// Token numbers are read as the session got them: fp32, row-major.
std::vector<Candidate> embedding_candidates(const LayerProblem& problem,
                                            const std::string& family) {
  const auto& op = std::get<Embedding>(problem.step.op);
  const auto table =
      std::make_shared<const DeviceBuffer<float>>(upload(dense_floats(problem.weights().weight)));
  const auto layer = std::make_shared<const FunctionLayer>(
      [table, rows = op.rows](std::span<const ActivationView> in, const ActivationView& out,
                              cudaStream_t stream) {
        embedding({table->get(), rows}, static_cast<const float*>(in[0].data), out, stream);
      });
  std::vector<Candidate> found;
  for (std::size_t writes = 0; writes < problem.output_formats.size(); ++writes) {
    const ActivationFormat& out = problem.output_formats[writes];
    if (out.precision != problem.options.precision) continue;
    const std::string kernel = family + " " + to_string(out);
    found.push_back({.family = family,
                     .kernel = kernel,
                     .reads = {format_index(problem.input_formats[0], row_major(Precision::f32))},
                     .writes = writes,
                     .layer = layer,
                     .timing_key = kernel});
  }
  return found;
}

}  // namespace

const Family& pool_family() {
  static const PointwiseFamily<Pool, GlobalPool> family("pool", pool_candidates);
  return family;
}

const Family& add_family() {
  static const PointwiseFamily<Add, Relu> family("add", add_candidates);
  return family;
}

const Family& concat_family() {
  static const PointwiseFamily<Concat> family("concat", concat_candidates);
  return family;
}

const Family& flatten_family() {
  static const PointwiseFamily<Flatten> family("flatten", flatten_candidates);
  return family;
}

const Family& embedding_family() {
  static const PointwiseFamily<Embedding> family("embedding", embedding_candidates);
  return family;
}

const Family& softmax_family() {
  static const PointwiseFamily<Softmax> family("softmax", softmax_candidates);
  return family;
}

}  // namespace winnow
