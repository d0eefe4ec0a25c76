#include "runtime/plan/choice.h"

#include <doctest/doctest.h>
#include <sys/resource.h>

#include <cstdint>
#include <span>

#include "runtime/base/checksum.h"
#include "tests/throws.h"

namespace winnow {
namespace {

using Table = std::vector<std::vector<double>>;

// Two formats; converting either way takes `ms`.
Table two_formats(double ms) {
  return {{0, ms}, {ms, 0}};
}

// value 0 -> step 0 -> value 1 -> ... ; every step may run in format 0 or in format 1.
ChoiceProblem chain(const std::vector<std::pair<double, double>>& step_ms, double conversion_ms) {
  ChoiceProblem problem;
  problem.conversion_ms.assign(step_ms.size() + 1, two_formats(conversion_ms));
  for (std::size_t i = 0; i < step_ms.size(); ++i) {
    problem.steps.push_back({.inputs = {i},
                             .output = i + 1,
                             .options = {{.reads = {0}, .writes = 0, .ms = step_ms[i].first},
                                         {.reads = {1}, .writes = 1, .ms = step_ms[i].second}}});
  }
  problem.output = step_ms.size();
  return problem;
}

// Time of given options with the conversions that they need, by brute force over all options.
struct Exhaustive {
  const ChoiceProblem& problem;
  double best = kImpossible;

  void visit(std::size_t step, std::vector<unsigned> formats, double ms) {
    if (step == problem.steps.size()) {
      ms += provide(problem.output, problem.output_format, formats);
      best = std::min(best, ms);
      return;
    }
    const ChoiceStep& here = problem.steps[step];
    for (const StepOption& option : here.options) {
      std::vector<unsigned> after = formats;
      double total = ms + option.ms;
      for (std::size_t i = 0; i < here.inputs.size(); ++i) {
        total += provide(here.inputs[i], option.reads[i], after);
      }
      after[here.output] = 1u << option.writes;
      visit(step + 1, after, total);
    }
  }

  double provide(std::size_t value, std::size_t format, std::vector<unsigned>& formats) const {
    if (((formats[value] >> format) & 1u) != 0) return 0;
    double ms = kImpossible;
    for (std::size_t from = 0; from < problem.conversion_ms[value].size(); ++from) {
      if (((formats[value] >> from) & 1u) != 0) {
        ms = std::min(ms, problem.conversion_ms[value][from][format]);
      }
    }
    formats[value] |= 1u << format;
    return ms;
  }
};

// A small generator of our own: equal numbers with every standard library.
struct Random {
  std::uint64_t state;
  std::size_t below(std::size_t bound) {
    state = state * 6364136223846793005ull + 1442695040888963407ull;
    return static_cast<std::size_t>(state >> 33) % bound;
  }
  double ms() { return static_cast<double>(1 + below(64)) / 8.0; }  // exact sums
};

// A network whose steps read one or two earlier values.
ChoiceProblem random_network(Random& random) {
  ChoiceProblem problem;
  const std::size_t steps = 1 + random.below(5);
  for (std::size_t value = 0; value <= steps; ++value) {
    const std::size_t formats = 1 + random.below(3);
    Table table(formats, std::vector<double>(formats, 0));
    for (std::size_t from = 0; from < formats; ++from) {
      for (std::size_t to = 0; to < formats; ++to) table[from][to] = from == to ? 0 : random.ms();
    }
    problem.conversion_ms.push_back(table);
  }
  for (std::size_t i = 0; i < steps; ++i) {
    ChoiceStep step{.inputs = {i}, .output = i + 1, .options = {}};
    if (random.below(2) == 0) step.inputs.push_back(random.below(i + 1));
    const std::size_t options = 1 + random.below(3);
    for (std::size_t o = 0; o < options; ++o) {
      StepOption option{.reads = {}, .writes = 0, .ms = random.ms()};
      for (const std::size_t value : step.inputs) {
        option.reads.push_back(random.below(problem.conversion_ms[value].size()));
      }
      option.writes = random.below(problem.conversion_ms[i + 1].size());
      step.options.push_back(option);
    }
    problem.steps.push_back(step);
  }
  problem.output = steps;
  problem.input_format = random.below(problem.conversion_ms.front().size());
  problem.output_format = random.below(problem.conversion_ms.back().size());
  return problem;
}

// Many steps with live values enough that states are dropped, and times of which many are equal.
ChoiceProblem long_network(Random& random, std::size_t steps) {
  ChoiceProblem problem;
  const auto tie = [&] { return static_cast<double>(1 + random.below(3)); };
  for (std::size_t value = 0; value <= steps; ++value) {
    const std::size_t formats = 2 + random.below(3);
    Table table(formats, std::vector<double>(formats, 0));
    for (std::size_t from = 0; from < formats; ++from) {
      for (std::size_t to = 0; to < formats; ++to) table[from][to] = from == to ? 0 : tie();
    }
    problem.conversion_ms.push_back(table);
  }
  for (std::size_t i = 0; i < steps; ++i) {
    ChoiceStep step{.inputs = {random.below(i + 1)}, .output = i + 1, .options = {}};
    if (random.below(2) == 0) step.inputs.push_back(random.below(i + 1));
    for (std::size_t o = 0; o < 3; ++o) {
      StepOption option{.reads = {}, .writes = 0, .ms = tie()};
      for (const std::size_t value : step.inputs) {
        option.reads.push_back(random.below(problem.conversion_ms[value].size()));
      }
      option.writes = random.below(problem.conversion_ms[i + 1].size());
      step.options.push_back(option);
    }
    problem.steps.push_back(step);
  }
  problem.output = steps;
  return problem;
}

#ifndef WINNOW_SANITIZE
// `width` values made of the input, all of them alive until they are added up one by one.
ChoiceProblem wide_network(Random& random, std::size_t width) {
  ChoiceProblem problem;
  problem.conversion_ms.assign(2 * width, two_formats(1));
  for (std::size_t i = 0; i + 1 < 2 * width; ++i) {
    ChoiceStep step{.inputs = {0}, .output = i + 1, .options = {}};
    if (i >= width) step.inputs = {i - width + 1, i};
    for (std::size_t format = 0; format < 2; ++format) {
      step.options.push_back({.reads = std::vector<std::size_t>(step.inputs.size(), format),
                              .writes = format,
                              .ms = random.ms()});
    }
    problem.steps.push_back(step);
  }
  problem.output = 2 * width - 1;
  return problem;
}
#endif

// Changes with every option, every conversion and their order.
std::uint32_t checksum_of(const Choice& choice, std::uint32_t checksum) {
  checksum = crc32c(std::as_bytes(std::span(choice.option)), checksum);
  return crc32c(std::as_bytes(std::span(choice.conversions)), checksum);
}

}  // namespace

TEST_CASE("a step that leaves its work to the next one is chosen with that one or not at all") {
  // Format 1 of the value between: not computed yet. Nothing converts it.
  const Table plain = {{0}}, deferrable = {{0, kImpossible}, {kImpossible, 0}};
  const auto choice_at = [&](double together_ms) {
    ChoiceProblem problem{.conversion_ms = {plain, deferrable, plain}, .steps = {}, .output = 2};
    problem.steps.push_back(
        {.inputs = {0},
         .output = 1,
         .options = {{.reads = {0}, .writes = 1, .ms = 0}, {.reads = {0}, .writes = 0, .ms = 3}}});
    problem.steps.push_back({.inputs = {1},
                             .output = 2,
                             .options = {{.reads = {1}, .writes = 0, .ms = together_ms},
                                         {.reads = {0}, .writes = 0, .ms = 2}}});
    return choose_kernels(problem);
  };
  CHECK(choice_at(4).option == std::vector<std::size_t>{0, 0});
  CHECK(choice_at(4).ms == 4);
  CHECK(choice_at(6).option == std::vector<std::size_t>{1, 1});
  CHECK(choice_at(6).ms == 5);
}

TEST_CASE("choose_kernels takes the faster kernel where conversions are cheap") {
  const Choice choice = choose_kernels(chain({{1, 4}, {9, 2}, {1, 4}}, 0.5));
  CHECK(choice.option == std::vector<std::size_t>{0, 1, 0});
  CHECK(choice.ms == 1 + 0.5 + 2 + 0.5 + 1);
  const std::vector<Conversion> expected = {{1, 0, 1, 1}, {2, 1, 0, 2}};
  CHECK(choice.conversions == expected);
}

TEST_CASE("choose_kernels stays in one layout where conversions cost more than they gain") {
  const Choice choice = choose_kernels(chain({{1, 4}, {9, 2}, {1, 4}}, 5));
  CHECK(choice.option == std::vector<std::size_t>{0, 0, 0});
  CHECK(choice.ms == 11);
  CHECK(choice.conversions.empty());
}

TEST_CASE("choose_kernels converts a value once for two readers") {
  // value 0 (format 0) is read by both steps in format 1; the second also reads the first's output.
  ChoiceProblem problem;
  problem.conversion_ms = {two_formats(3), two_formats(3), two_formats(3)};
  problem.steps = {{{0}, 1, {{{1}, 1, 1}}}, {{0, 1}, 2, {{{1, 1}, 0, 1}}}};
  problem.output = 2;
  const Choice choice = choose_kernels(problem);
  CHECK(choice.conversions == std::vector<Conversion>{{0, 0, 1, 0}});
  CHECK(choice.ms == 5);
}

TEST_CASE("choose_kernels gives the output in the format asked for") {
  ChoiceProblem problem = chain({{1, 1}}, 2);
  problem.output_format = 1;
  const Choice choice = choose_kernels(problem);
  CHECK(choice.conversions.size() == 1);
  CHECK(choice.ms == 3);
}

TEST_CASE("choose_kernels finds the least time of all combinations") {
  Random random{2024};
  for (int round = 0; round < 300; ++round) {
    const ChoiceProblem problem = random_network(random);
    Exhaustive all{problem};
    std::vector<unsigned> formats(problem.conversion_ms.size(), 0);
    formats[problem.input] = 1u << problem.input_format;
    all.visit(0, formats, 0);
    CAPTURE(round);
    CHECK(choose_kernels(problem).ms == all.best);
  }
}

TEST_CASE("choose_kernels still answers when it may follow one state only") {
  Random random{7};
  for (int round = 0; round < 50; ++round) {
    const ChoiceProblem problem = random_network(random);
    CHECK(choose_kernels(problem, 1).ms >= choose_kernels(problem).ms);
  }
}

TEST_CASE("choose_kernels gives the same choices in every version, also where many are equal") {
  Random random{90};
  std::uint32_t checksum = 0;
  for (int round = 0; round < 40; ++round) {
    const ChoiceProblem problem = long_network(random, 1 + random.below(40));
    for (const std::size_t max_states : {1, 7, 300}) {
      checksum = checksum_of(choose_kernels(problem, max_states), checksum);
    }
  }
  CHECK(checksum == 2489380977u);
}

#ifndef WINNOW_SANITIZE
TEST_CASE("choose_kernels of a wide graph keeps the states of one step, not of all") {
  Random random{3};
  const ChoiceProblem problem = wide_network(random, 200);
  const auto peak_kilobytes = [] {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_maxrss;
  };
  const long before = peak_kilobytes();
  CHECK(choose_kernels(problem).option.size() == 399);
  // 399 steps with 4096 states of 400 values of 2 bytes would be 1.3 GB.
  CHECK(peak_kilobytes() - before < 300'000);
}
#endif

TEST_CASE("choose_kernels prefers the earlier option on a tie") {
  CHECK(choose_kernels(chain({{2, 2}, {2, 2}}, 0)).option == std::vector<std::size_t>{0, 0});
}

TEST_CASE("choose_kernels refuses what has no answer") {
  ChoiceProblem no_option = chain({{1, 1}}, 1);
  no_option.steps[0].options.clear();
  CHECK(error_of([&] { choose_kernels(no_option); }) == ErrorCode::device);

  ChoiceProblem no_way = chain({{1, 1}}, kImpossible);
  no_way.steps[0].options.erase(no_way.steps[0].options.begin());
  CHECK(error_of([&] { choose_kernels(no_way); }) == ErrorCode::device);

  ChoiceProblem no_output = chain({{1, 1}}, kImpossible);
  no_output.output_format = 1;
  CHECK(error_of([&] { choose_kernels(no_output); }) == ErrorCode::device);

  ChoiceProblem bad_format = chain({{1, 1}}, 1);
  bad_format.steps[0].options[0].writes = 2;
  CHECK(error_of([&] { choose_kernels(bad_format); }) == ErrorCode::usage);

  ChoiceProblem bad_value = chain({{1, 1}}, 1);
  bad_value.steps[0].inputs[0] = 9;
  CHECK(error_of([&] { choose_kernels(bad_value); }) == ErrorCode::usage);
}

TEST_CASE("choices that take more than twice the least are dropped, the others keep their order") {
  const auto left = [](const std::vector<double>& ms) {
    std::vector<Choice> choices;
    for (const double one : ms) choices.push_back({{}, {}, one});
    drop_hopeless(choices);
    std::vector<double> kept;
    for (const Choice& choice : choices) kept.push_back(choice.ms);
    return kept;
  };
  CHECK(left({3}) == std::vector<double>{3});
  CHECK(left({6, 3, 3.1}) == std::vector<double>{6, 3, 3.1});
  CHECK(left({6.1, 3, 3.1}) == std::vector<double>{3, 3.1});
  CHECK(left({}).empty());
}

TEST_CASE("fastest_network keeps dense, which comes first, on a tie") {
  const auto fastest = [](const std::vector<double>& ms) { return fastest_network(ms); };
  CHECK(fastest({1.0}) == 0);
  CHECK(fastest({1.0, 0.9}) == 1);
  CHECK(fastest({1.0, 1.0}) == 0);
  CHECK(fastest({1.0, 0.9, 0.9}) == 1);
  CHECK(fastest({1.0, 0.9, 0.8}) == 2);
}

TEST_CASE("only conversions from what is written to what is read are timed") {
  ChoiceProblem problem;
  problem.steps = {
      {.inputs = {0},
       .output = 1,
       .options = {{.reads = {0}, .writes = 1, .ms = 1}, {.reads = {1}, .writes = 2, .ms = 1}}},
      {.inputs = {1}, .output = 2, .options = {{.reads = {2}, .writes = 0, .ms = 1}}}};
  problem.output = 2;
  std::vector<std::vector<std::size_t>> asked;
  time_conversions(
      {2, 3, 1},
      [&](std::size_t value, std::size_t from, std::size_t to) {
        asked.push_back({value, from, to});
        return 5.0;
      },
      problem);
  CHECK(asked == std::vector<std::vector<std::size_t>>{{0, 0, 1}, {1, 1, 2}});
  CHECK(problem.conversion_ms[0] == Table{{0, 5}, {kImpossible, 0}});
  CHECK(problem.conversion_ms[1][1] == std::vector<double>{kImpossible, 0, 5});
  CHECK(problem.conversion_ms[2] == Table{{0}});
  CHECK(choose_kernels(problem).ms == 7);  // one conversion either way
}

}  // namespace winnow
