// Algorithm 2 of paper 003 for a whole network: which kernel runs each step, given measured times.
//
// Kernels read and write values in formats (layout, element type, halo). Where a step wants another
// format than its producer wrote, a conversion is inserted and its time counted, so a kernel that
// is fastest alone loses if its layout costs more than it gains. A pure function of numbers:
// formats are indices, times come from the caller.
#pragma once

#include <cstddef>
#include <functional>
#include <limits>
#include <span>
#include <vector>

namespace winnow {

inline constexpr double kImpossible = std::numeric_limits<double>::infinity();
inline constexpr std::size_t kMaxFormats = 16;  // per value

// One way to run a step.
struct StepOption {
  std::vector<std::size_t> reads;  // format of each input
  std::size_t writes = 0;          // format of the output
  double ms = 0;
};

struct ChoiceStep {
  std::vector<std::size_t> inputs;  // values
  std::size_t output = 0;           // value
  std::vector<StepOption> options;
};

struct ChoiceProblem {
  // conversion_ms[value][from][to]: time to convert, 0 for from == to, kImpossible if there is no
  // such conversion. Its size is the number of formats of the value.
  std::vector<std::vector<std::vector<double>>> conversion_ms;
  std::vector<ChoiceStep> steps;  // in execution order
  std::size_t input = 0;          // value that is there before the first step
  std::size_t input_format = 0;
  std::size_t output = 0;  // value that is wanted after the last step
  std::size_t output_format = 0;
};

struct Conversion {
  std::size_t value = 0;
  std::size_t from = 0;
  std::size_t to = 0;
  std::size_t before_step = 0;  // number of steps: after the last one

  friend bool operator==(const Conversion&, const Conversion&) = default;
};

struct Choice {
  std::vector<std::size_t> option;      // one per step
  std::vector<Conversion> conversions;  // in execution order
  double ms = 0;                        // sum of all times
};

// The choice of least total time.
//
// Walks the steps with one state per set of formats in which the live values exist. Exact while no
// more than `max_states` states are alive, which holds for chains and residual blocks; beyond that
// the cheapest are followed. Ties go to the earlier option: equal problems give equal choices.
//
// Throws Error{usage} if indices are out of range or a value has more than kMaxFormats formats, and
// Error{device} if a step has no option or no conversion leads to one.
Choice choose_kernels(const ChoiceProblem& problem, std::size_t max_states = 4096);

// Milliseconds to convert a value from one of its formats to another.
using ConversionTimer = std::function<double(std::size_t value, std::size_t from, std::size_t to)>;

// Fills problem.conversion_ms, whose tables may be empty. `formats` is the number of formats of
// each value. Asks `time` only for conversions that may be needed: from a format that some option
// of `problem.steps` writes to one that some option reads. All others are kImpossible.
void time_conversions(const std::vector<std::size_t>& formats, const ConversionTimer& time,
                      ChoiceProblem& problem);

// Leaves out choices whose sum of times is more than twice the least one's. What single times do
// not tell of a network as a whole, such as what layers leave in the caches, is less than that.
void drop_hopeless(std::vector<Choice>& choices);

// Which of several networks to run, by their times as a whole: the fastest, of equal ones the
// earliest. The all-dense network comes first, so that nothing runs that is no faster than dense.
// Requires at least one.
std::size_t fastest_network(std::span<const double> ms);

}  // namespace winnow
