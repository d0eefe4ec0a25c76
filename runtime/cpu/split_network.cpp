#include "runtime/cpu/split_network.h"

#include <algorithm>
#include <utility>

#include "runtime/cpu/fused_steps.h"
#include "runtime/plan/network_cut.h"

namespace winnow {
namespace {

bool writes_gaps(const NetworkParts& made, std::size_t step) {
  const std::size_t value = made.program.steps[step].output;
  return made.plan.layouts[value][made.plan.steps[step].writes] == Layout::gaps;
}

// Exchanges two formats of a value wherever the plan names them.
void swap_formats(NetworkParts& made, std::size_t value, std::size_t a, std::size_t b) {
  const auto exchange = [&](std::size_t& format) {
    format = format == a ? b : format == b ? a : format;
  };
  std::swap(made.plan.layouts[value][a], made.plan.layouts[value][b]);
  for (std::size_t i = 0; i < made.program.steps.size(); ++i) {
    const Step& step = made.program.steps[i];
    for (std::size_t j = 0; j < step.inputs.size(); ++j) {
      if (step.inputs[j] == value) exchange(made.plan.steps[i].reads[j]);
    }
    if (step.output == value) exchange(made.plan.steps[i].writes);
  }
  for (Conversion& conversion : made.plan.conversions) {
    if (conversion.value != value) continue;
    exchange(conversion.from);
    exchange(conversion.to);
  }
}

// Steps first .. last - 1. At `cut` values pass in nchw with gaps.
NetworkParts slice(NetworkParts made, std::size_t first, std::size_t last, std::size_t cut) {
  const std::size_t steps = made.program.steps.size();
  if (cut < steps) {
    const std::size_t value = made.program.steps[cut - 1].output;
    swap_formats(made, value, 0, made.plan.steps[cut - 1].writes);
    (last == cut ? made.program.output : made.program.input) = value;
  }
  const auto cut_out = [&](auto& list) {
    using List = std::decay_t<decltype(list)>;
    list = List(list.begin() + static_cast<std::ptrdiff_t>(first),
                list.begin() + static_cast<std::ptrdiff_t>(last));
  };
  cut_out(made.program.steps);
  cut_out(made.plan.steps);
  cut_out(made.tables);
  std::erase_if(made.plan.conversions, [&](const Conversion& conversion) {
    const bool is_after = last == steps ? false : conversion.before_step >= last;
    return conversion.before_step < first || is_after;
  });
  for (Conversion& conversion : made.plan.conversions) conversion.before_step -= first;
  return made;
}

std::unique_ptr<CpuNetwork> make_network(const NetworkParts& made) {
  return std::make_unique<CpuNetwork>(made.program, made.plan, made.tables);
}

}  // namespace

std::vector<std::size_t> possible_cuts(const NetworkParts& single, const NetworkParts& whole) {
  std::vector<std::size_t> cuts;
  for (std::size_t cut = 1; cut < single.program.steps.size(); ++cut) {
    if (is_narrow(single.program, cut) && writes_gaps(single, cut - 1) &&
        writes_gaps(whole, cut - 1)) {
      cuts.push_back(cut);
    }
  }
  return cuts;
}

SplitNetwork::SplitNetwork(const NetworkParts& single, const NetworkParts& whole, std::size_t cut,
                           int threads)
    : images_(whole.program.batch), cut_(cut) {
  const std::size_t steps = whole.program.steps.size();
  const NetworkParts first = slice(single, 0, cut, cut);
  for (int i = 0; i < threads; ++i) {
    workers_.push_back({make_network(first), std::make_unique<ThreadPool>(1)});
  }
  input_.resize(static_cast<std::size_t>(images_) * workers_[0].network->input().size());
  if (cut == steps) {
    output_.resize(static_cast<std::size_t>(images_) * workers_[0].network->output().size());
    return;
  }
  const NetworkParts rest = slice(whole, cut, steps, cut);
  rest_ = make_network(rest);
  const Shape& shape = rest.program.values[rest.program.input].shape;
  const Planes planes = planes_of(Layout::gaps, extents_of(shape));
  origin_ = planes.origin;
  result_floats_ = planes.planes / images_ * planes.stride;
}

std::span<float> SplitNetwork::output() {
  return rest_ ? rest_->output() : std::span<float>(output_);
}

void SplitNetwork::set_image(CpuNetwork& network, std::int64_t image) const {
  const std::span<float> to = network.input();
  std::copy_n(input_.begin() + image * static_cast<std::ptrdiff_t>(to.size()), to.size(),
              to.begin());
}

// An image's planes with the gap before its first one lie in the rest's input as in its own output.
void SplitNetwork::take_result(CpuNetwork& network, std::int64_t image) {
  if (!rest_) {
    const std::span<const float> from = network.output();
    std::ranges::copy(from, output_.begin() + image * static_cast<std::ptrdiff_t>(from.size()));
    return;
  }
  const std::span<const float> from = network.whole_output();
  float* to = rest_->whole_input().data() + origin_ + image * result_floats_;
  std::copy_n(from.data() + origin_, result_floats_, to);
  if (image == 0) std::copy_n(from.data(), origin_, to - origin_);
}

void SplitNetwork::run(ThreadPool& pool) {
  pool.run([&](int share) {
    if (share >= threads()) return;
    Worker& worker = workers_[share];
    for (std::int64_t image = first_image(share); image < first_image(share + 1); ++image) {
      set_image(*worker.network, image);
      worker.network->run(*worker.pool);
      take_result(*worker.network, image);
    }
  });
  if (rest_) rest_->run(pool);
}

void SplitNetwork::run_step(std::size_t step, ThreadPool& pool) {
  if (step >= cut_) return rest_->run_step(step - cut_, pool);
  pool.run([&](int share) {
    if (share >= threads()) return;
    Worker& worker = workers_[share];
    for (std::int64_t image = first_image(share); image < first_image(share + 1); ++image) {
      worker.network->run_step(step, *worker.pool);
    }
  });
}

std::vector<std::vector<float>> SplitNetwork::step_outputs(ThreadPool& pool) {
  std::vector<std::vector<float>> outputs(cut_);
  Worker& worker = workers_[0];
  for (std::int64_t image = 0; image < images_; ++image) {
    set_image(*worker.network, image);
    const std::vector<std::vector<float>> own = worker.network->step_outputs(*worker.pool);
    for (std::size_t step = 0; step < cut_; ++step) {
      outputs[step].insert(outputs[step].end(), own[step].begin(), own[step].end());
    }
    take_result(*worker.network, image);
  }
  if (!rest_) return outputs;
  for (std::vector<float>& output : rest_->step_outputs(pool)) outputs.push_back(std::move(output));
  return outputs;
}

}  // namespace winnow
