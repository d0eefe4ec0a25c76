#include "runtime/cpu/pointwise_layer.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>

#include "runtime/base/divided_up.h"
#include "runtime/base/error.h"
#include "runtime/cpu/pool_planes.h"

namespace winnow {
namespace {

using Work = std::function<void(const LayerCall& call, ThreadPool& pool)>;

class PointwiseLayer final : public CpuLayer {
 public:
  explicit PointwiseLayer(Work work) : work_(std::move(work)) {}
  void run(const LayerCall& call, ThreadPool& pool) override { work_(call, pool); }

 private:
  Work work_;
};

inline float activated(float x, bool has_relu) {
  return has_relu && x < 0 ? 0.0f : x;
}

Work add_work(std::int64_t count, bool has_relu) {
  return [=](const LayerCall& call, ThreadPool& pool) {
    pool.run_ranges(count, 1, [&](std::int64_t begin, std::int64_t end) {
      const float* a = call.inputs[0];
      for (std::size_t i = 1; i < std::max<std::size_t>(call.inputs.size(), 2); ++i) {
        const float* b = i < call.inputs.size() ? call.inputs[i] : nullptr;
        const bool is_last = has_relu && i + 1 >= call.inputs.size();
        float* out = call.output;
        for (std::int64_t j = begin; j < end; ++j)
          out[j] = activated(b ? a[j] + b[j] : a[j], is_last);
        a = out;
      }
    });
  };
}

Work relu_work(const Relu& op, std::int64_t count) {
  const auto most =
      static_cast<float>(op.max_value.value_or(std::numeric_limits<double>::infinity()));
  return [=](const LayerCall& call, ThreadPool& pool) {
    pool.run_ranges(count, 1, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) {
        const float x = activated(call.inputs[0][i], true);
        call.output[i] = x > most ? most : x;
      }
    });
  };
}

// How often the channels repeat in memory: the product of the dimensions before them.
std::int64_t channel_runs(const Layout& layout, const Extents& x) {
  if (layout.order == Order::chwn) return divided_up(x.n, layout.block);
  return layout.order == Order::nhwc ? x.n * x.h * x.w : x.n;
}

// Every run of channels of the output is one of each input, side by side.
Work concat_work(const PointwiseStep& step, const Layout& layout) {
  const std::int64_t runs = channel_runs(layout, step.inputs[0]);
  std::vector<std::int64_t> lengths;  // of a run of each input, in floats
  for (const Extents& extent : step.inputs) {
    const Planes planes = planes_of(layout, extent);
    lengths.push_back(runs == 0 ? 0 : planes.planes * planes.stride / runs);
  }
  const Planes out = planes_of(layout, step.output);
  const std::int64_t total = std::accumulate(lengths.begin(), lengths.end(), std::int64_t{0});
  return [=](const LayerCall& call, ThreadPool& pool) {
    clear_first_gap(out, call.output);
    pool.run_ranges(runs, total, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t run = begin; run < end; ++run) {
        float* to = call.output + out.origin + run * total;
        for (std::size_t i = 0; i < lengths.size(); ++i) {
          const float* from = call.inputs[i] + out.origin + run * lengths[i];
          to = std::copy(from, from + lengths[i], to);
        }
      }
    });
  };
}

Work flatten_work(const Planes& planes) {
  return [=](const LayerCall& call, ThreadPool& pool) {
    pool.run_ranges(planes.planes, planes.stride, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t plane = begin; plane < end; ++plane) {
        const float* from = call.inputs[0] + planes.origin + plane * planes.stride;
        std::copy(from, from + planes.plane_floats(), call.output + plane * planes.plane_floats());
      }
    });
  };
}

Work softmax_work(std::int64_t rows, std::int64_t size) {
  return [=](const LayerCall& call, ThreadPool& pool) {
    pool.run_ranges(rows, 8 * size, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t row = begin; row < end; ++row) {
        const float* x = call.inputs[0] + row * size;
        float* y = call.output + row * size;
        const float largest = *std::max_element(x, x + size);
        float sum = 0;
        for (std::int64_t i = 0; i < size; ++i) sum += y[i] = std::exp(x[i] - largest);
        for (std::int64_t i = 0; i < size; ++i) y[i] /= sum;
      }
    });
  };
}

// Tokens come as floats; out of range is the caller's mistake, as in the reference.
Work embedding_work(const Embedding& op, const PointwiseStep& step) {
  const std::vector<float> table(step.table.begin(), step.table.end());
  const std::int64_t length = step.inputs[0].c;
  return [=, images = step.inputs[0].n](const LayerCall& call, ThreadPool& pool) {
    pool.run_ranges(images * length, op.width, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) {
        const float token = call.inputs[0][i];
        if (!(token >= 0 && token < static_cast<float>(op.rows))) {
          fail(ErrorCode::usage, "embedding: sample ", i / length, ", position ", i % length,
               ": token ", token, ", expected 0 to ", op.rows - 1);
        }
        const float* from = table.data() + static_cast<std::int64_t>(token) * op.width;
        float* to = call.output + i / length * op.width * length + i % length;
        for (std::int64_t c = 0; c < op.width; ++c) to[c * length] = from[c];
      }
    });
  };
}

struct Planned {
  std::string family;
  Work work;
};

// One overload for each op.
struct Planner {
  const PointwiseStep& step;
  const Layout& layout;

  Planes in() const { return planes_of(layout, step.inputs[0]); }
  Planes out() const { return planes_of(simplest(layout, step.output), step.output); }

  Planned operator()(const Relu& op) const { return {"relu", relu_work(op, in().count())}; }
  Planned operator()(const Add&) const { return {"add", add_work(in().count(), step.has_relu)}; }
  Planned operator()(const Concat&) const { return {"concat", concat_work(step, layout)}; }
  Planned operator()(const Flatten&) const { return {"flatten", flatten_work(in())}; }
  Planned operator()(const Pool& op) const {
    const Planes to = layout.has_gaps ? out() : planes_of(layout, step.output);
    return {"pool", [op, from = in(), to](const LayerCall& call, ThreadPool& pool) {
              pool_planes({op, from, to}, call.inputs[0], call.output, pool);
            }};
  }
  Planned operator()(const GlobalPool& op) const {
    Pool whole{op.kind, 2, {in().h, in().w}, {1, 1}, {0, 0}};
    Planes to = in();
    to.h = to.w = 1;
    to.stride = to.lanes;
    to.origin = 0;
    return {"pool", [whole, from = in(), to](const LayerCall& call, ThreadPool& pool) {
              pool_planes({whole, from, to}, call.inputs[0], call.output, pool);
            }};
  }
  Planned operator()(const Softmax&) const {
    const std::int64_t size = step.last_dimension;
    return {"softmax",
            softmax_work(step.inputs[0].count() / std::max<std::int64_t>(size, 1), size)};
  }
  Planned operator()(const Embedding& op) const { return {"embedding", embedding_work(op, step)}; }
  template <typename Other>
  Planned operator()(const Other& op) const {
    fail(ErrorCode::bad_file, op_name(Op{op}), " is no step of a deployed model");
  }
};

bool lanes_divide(const Layout& layout, const std::vector<Extents>& inputs) {
  return std::all_of(inputs.begin(), inputs.end(),
                     [&](const Extents& x) { return x.c % layout.block == 0; });
}

}  // namespace

Layout pointwise_layout(const PointwiseStep& step, const Layout& offered) {
  if (std::holds_alternative<Softmax>(step.op) || std::holds_alternative<Embedding>(step.op)) {
    return {};
  }
  if (std::holds_alternative<Flatten>(step.op) && offered.order != Order::chwn) return {};
  if (std::holds_alternative<Concat>(step.op) && offered.order == Order::nchwc &&
      !lanes_divide(offered, step.inputs)) {
    return {};
  }
  return offered;
}

std::unique_ptr<CpuLayer> make_pointwise_layer(const PointwiseStep& step, const Layout& layout) {
  Planned planned = std::visit(Planner{step, layout}, step.op);
  auto layer = std::make_unique<PointwiseLayer>(std::move(planned.work));
  layer->family = planned.family;
  layer->kernel = planned.family + " " + to_string(layout);
  layer->addends =
      std::holds_alternative<Add>(step.op) ? static_cast<int>(step.inputs.size()) - 1 : 0;
  layer->input_layout = layout;
  layer->output_layout = simplest(layout, step.output);
  return layer;
}

}  // namespace winnow
