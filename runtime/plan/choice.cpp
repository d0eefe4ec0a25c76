#include "runtime/plan/choice.h"

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "runtime/base/error.h"

namespace winnow {
namespace {

using FormatSet = std::uint16_t;       // bit f: the value exists in format f
using State = std::vector<FormatSet>;  // per value; 0 for values not alive

constexpr std::size_t kNone = static_cast<std::size_t>(-1);

FormatSet only(std::size_t format) {
  return static_cast<FormatSet>(1u << format);
}
bool has(FormatSet set, std::size_t format) {
  return (set & only(format)) != 0;
}

// Where a path comes from: all that is kept of those before the last step, because states of wide
// graphs are large.
struct Link {
  std::uint32_t parent = 0;  // index among the paths of the step before
  std::uint32_t option = 0;  // of the step
};

// A way to reach a state after some step.
struct Path {
  State state;
  double ms = 0;
  Link link;
};

void require(bool is_true, const char* what) {
  if (!is_true) fail(ErrorCode::usage, "choice of kernels: ", what);
}

void check_step(const ChoiceProblem& problem, const ChoiceStep& step, std::size_t index) {
  const auto formats = [&](std::size_t value) { return problem.conversion_ms[value].size(); };
  for (const std::size_t value : step.inputs) {
    require(value < problem.conversion_ms.size(), "an input is out of range");
  }
  require(step.output < problem.conversion_ms.size(), "an output is out of range");
  if (step.options.empty()) fail(ErrorCode::device, "step ", index, ": no kernel can run it");
  for (const StepOption& option : step.options) {
    require(option.reads.size() == step.inputs.size(), "an option reads another number of inputs");
    require(option.writes < formats(step.output), "a written format is out of range");
    for (std::size_t i = 0; i < option.reads.size(); ++i) {
      require(option.reads[i] < formats(step.inputs[i]), "a read format is out of range");
    }
  }
}

void check(const ChoiceProblem& problem) {
  const std::size_t values = problem.conversion_ms.size();
  require(problem.input < values && problem.output < values, "input or output is out of range");
  for (const auto& table : problem.conversion_ms) {
    require(!table.empty() && table.size() <= kMaxFormats, "a value has no or too many formats");
    for (const auto& row : table) require(row.size() == table.size(), "a table is not square");
  }
  require(problem.input_format < problem.conversion_ms[problem.input].size() &&
              problem.output_format < problem.conversion_ms[problem.output].size(),
          "the input's or output's format is out of range");
  for (std::size_t i = 0; i < problem.steps.size(); ++i) {
    check_step(problem, problem.steps[i], i);
  }
}

// By step: the values that no later step reads. The network's output is read after all steps.
std::vector<std::vector<std::size_t>> dying_values(const ChoiceProblem& problem) {
  std::vector<std::size_t> last(problem.conversion_ms.size(), kNone);
  for (std::size_t i = 0; i < problem.steps.size(); ++i) {
    last[problem.steps[i].output] = i;
    for (const std::size_t value : problem.steps[i].inputs) last[value] = i;
  }
  last[problem.output] = kNone;
  std::vector<std::vector<std::size_t>> dying(problem.steps.size());
  for (std::size_t value = 0; value < last.size(); ++value) {
    if (last[value] != kNone) dying[last[value]].push_back(value);
  }
  return dying;
}

// Makes `value` exist in `format`, by the cheapest conversion from a format that it has, which is
// appended to `conversions`. Returns false if there is none.
bool provide(const ChoiceProblem& problem, std::size_t value, std::size_t format, std::size_t step,
             Path& path, std::vector<Conversion>& conversions) {
  const FormatSet set = path.state[value];
  if (has(set, format)) return true;
  const auto& table = problem.conversion_ms[value];
  std::size_t best = kNone;
  for (std::size_t from = 0; from < table.size(); ++from) {
    if (!has(set, from) || table[from][format] == kImpossible) continue;
    if (best == kNone || table[from][format] < table[best][format]) best = from;
  }
  if (best == kNone) return false;
  path.ms += table[best][format];
  conversions.push_back({value, best, format, step});
  path.state[value] = static_cast<FormatSet>(set | only(format));
  return true;
}

// As memcmp: any fixed order will do, and states of wide graphs are long.
int compare(const State& a, const State& b) {
  return std::memcmp(a.data(), b.data(), a.size() * sizeof(FormatSet));
}

// Keeps the cheapest path of every state, at most `limit`, in an order that depends on numbers
// only.
void keep_best(std::vector<Path>& paths, std::size_t limit) {
  std::stable_sort(paths.begin(), paths.end(), [](const Path& a, const Path& b) {
    const int order = compare(a.state, b.state);
    return order != 0 ? order < 0 : a.ms < b.ms;
  });
  const auto same_state = [](const Path& a, const Path& b) { return a.state == b.state; };
  paths.erase(std::unique(paths.begin(), paths.end(), same_state), paths.end());
  if (paths.size() <= limit) return;
  std::stable_sort(paths.begin(), paths.end(),
                   [](const Path& a, const Path& b) { return a.ms < b.ms; });
  paths.resize(limit);
}

// Adds step `index`, run as `option` says, to `path`. Returns false if it cannot run so.
bool extend(const ChoiceProblem& problem, std::size_t index, const StepOption& option,
            const std::vector<std::size_t>& dying, Path& path,
            std::vector<Conversion>& conversions) {
  const ChoiceStep& step = problem.steps[index];
  path.ms += option.ms;
  for (std::size_t i = 0; i < step.inputs.size(); ++i) {
    if (!provide(problem, step.inputs[i], option.reads[i], index, path, conversions)) return false;
  }
  path.state[step.output] = only(option.writes);
  for (const std::size_t value : dying) path.state[value] = 0;
  return true;
}

std::vector<Path> advance(const ChoiceProblem& problem, std::size_t index,
                          const std::vector<std::size_t>& dying, const std::vector<Path>& before) {
  const std::vector<StepOption>& options = problem.steps[index].options;
  std::vector<Path> after;
  std::vector<Conversion> conversions;  // of one path; replay() makes those of the chosen one again
  for (std::size_t parent = 0; parent < before.size(); ++parent) {
    for (std::size_t o = 0; o < options.size(); ++o) {
      if (options[o].ms == kImpossible) continue;
      Path path{before[parent].state,
                before[parent].ms,
                {static_cast<std::uint32_t>(parent), static_cast<std::uint32_t>(o)}};
      conversions.clear();
      if (!extend(problem, index, options[o], dying, path, conversions)) continue;
      after.push_back(std::move(path));
    }
  }
  return after;
}

// Index of the cheapest path after which the output can be had as asked; kNone if there is none.
std::size_t cheapest_end(const ChoiceProblem& problem, const std::vector<Path>& paths) {
  std::size_t best = kNone;
  double best_ms = kImpossible;
  std::vector<Conversion> conversions;
  for (std::size_t i = 0; i < paths.size(); ++i) {
    Path end = paths[i];
    const bool is_possible = provide(problem, problem.output, problem.output_format,
                                     problem.steps.size(), end, conversions);
    if (!is_possible || !(end.ms < best_ms)) continue;
    best = i;
    best_ms = end.ms;
  }
  return best;
}

// The options on the way to path `last` after all steps.
std::vector<std::size_t> trace(const std::vector<std::vector<Link>>& links, std::size_t last) {
  std::vector<std::size_t> options(links.size());
  for (std::size_t step = links.size(); step-- > 0;) {
    options[step] = links[step][last].option;
    last = links[step][last].parent;
  }
  return options;
}

Path start_of(const ChoiceProblem& problem) {
  Path start{State(problem.conversion_ms.size(), 0), 0, {}};
  start.state[problem.input] = only(problem.input_format);
  return start;
}

// The choice of these options, which can run.
Choice replay(const ChoiceProblem& problem, const std::vector<std::vector<std::size_t>>& dying,
              std::vector<std::size_t> options) {
  Choice choice;
  Path path = start_of(problem);
  for (std::size_t step = 0; step < options.size(); ++step) {
    const StepOption& option = problem.steps[step].options[options[step]];
    extend(problem, step, option, dying[step], path, choice.conversions);
  }
  provide(problem, problem.output, problem.output_format, options.size(), path, choice.conversions);
  choice.option = std::move(options);
  choice.ms = path.ms;
  return choice;
}

}  // namespace

Choice choose_kernels(const ChoiceProblem& problem, std::size_t max_states) {
  check(problem);
  const std::vector<std::vector<std::size_t>> dying = dying_values(problem);
  std::vector<Path> paths = {start_of(problem)};
  std::vector<std::vector<Link>> links;  // by step
  for (std::size_t step = 0; step < problem.steps.size(); ++step) {
    paths = advance(problem, step, dying[step], paths);
    if (paths.empty()) {
      fail(ErrorCode::device, "step ", step, ": no kernel reads a format that its input can have");
    }
    keep_best(paths, std::max<std::size_t>(max_states, 1));
    links.emplace_back();
    for (const Path& path : paths) links.back().push_back(path.link);
  }
  const std::size_t best = cheapest_end(problem, paths);
  if (best == kNone) {
    fail(ErrorCode::device, "choice of kernels: the output cannot be had in the format asked for");
  }
  return replay(problem, dying, trace(links, best));
}

void drop_hopeless(std::vector<Choice>& choices) {
  constexpr double kHopeless = 2;
  double least = kImpossible;
  for (const Choice& choice : choices) least = std::min(least, choice.ms);
  std::erase_if(choices, [&](const Choice& choice) { return choice.ms > kHopeless * least; });
}

std::size_t fastest_network(std::span<const double> ms) {
  return static_cast<std::size_t>(std::ranges::min_element(ms) - ms.begin());
}

void time_conversions(const std::vector<std::size_t>& formats, const ConversionTimer& time,
                      ChoiceProblem& problem) {
  std::vector<FormatSet> written(formats.size(), 0), read(formats.size(), 0);
  written[problem.input] = only(problem.input_format);
  read[problem.output] = only(problem.output_format);
  for (const ChoiceStep& step : problem.steps) {
    for (const StepOption& option : step.options) {
      written[step.output] |= only(option.writes);
      for (std::size_t i = 0; i < step.inputs.size(); ++i) {
        read[step.inputs[i]] |= only(option.reads[i]);
      }
    }
  }
  problem.conversion_ms.resize(formats.size());
  for (std::size_t value = 0; value < formats.size(); ++value) {
    const std::size_t count = formats[value];
    auto& table = problem.conversion_ms[value];
    table.assign(count, std::vector<double>(count, kImpossible));
    for (std::size_t from = 0; from < count; ++from) {
      for (std::size_t to = 0; to < count; ++to) {
        if (from == to) table[from][to] = 0;
        const bool is_wanted = from != to && has(written[value], from) && has(read[value], to);
        if (is_wanted) table[from][to] = time(value, from, to);
      }
    }
  }
}

}  // namespace winnow
