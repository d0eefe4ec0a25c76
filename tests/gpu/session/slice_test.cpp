// Cutting a planned network in two: no GPU needed.
#include <doctest/doctest.h>

#include "runtime/gpu/session/sub_batch_network.h"
#include "tests/model/graphs.h"

namespace winnow {
namespace {

constexpr ActivationFormat kPlain = row_major(Precision::f16);
constexpr ActivationFormat kPacked = {.layout = Layout::chwn8, .precision = Precision::f16};
constexpr ActivationFormat kBlocked = {.layout = Layout::nchw32c8n, .precision = Precision::f16};

// Three convolutions and a pooling, values in, v0, v1, v2, out. Each value exists plain, packed and
// blocked (0, 1, 2); the convolutions write `written`.
PlannedProgram planned_chain(std::int64_t batch, std::vector<std::size_t> written) {
  PlannedProgram planned;
  planned.program = build_program(graph_of({4, 6, 6}, {{"conv1", conv(4, 4, 3, 1), {}},
                                                       {"conv2", conv(4, 4, 3, 1), {}},
                                                       {"conv3", conv(4, 4, 3, 1), {}},
                                                       {"pool", GlobalPool{}, {}}}),
                                  batch);
  planned.plan.formats.assign(planned.program.values.size(), {kPlain, kPacked, kBlocked});
  std::size_t reads = 0;
  written.push_back(0);
  for (const std::size_t writes : written) {
    planned.plan.steps.push_back({.family = "family",
                                  .kernel = "kernel",
                                  .reads = {reads},
                                  .writes = writes,
                                  .layer = nullptr,
                                  .timing_key = ""});
    reads = writes;
  }
  return planned;
}

using Cuts = std::vector<std::size_t>;

}  // namespace

TEST_CASE("networks may be cut where both plans write a value in one format, in whole pieces") {
  const PlannedProgram whole = planned_chain(32, {0, 1, 2});
  CHECK(possible_cuts(planned_chain(8, {0, 1, 2}), whole) == Cuts{1, 2, 3});
  CHECK(possible_cuts(planned_chain(8, {1, 1, 0}), whole) == Cuts{2});
  // Four images are no whole pack of eight.
  CHECK(possible_cuts(planned_chain(4, {0, 1, 2}), whole) == Cuts{1});
  PlannedProgram deferred = planned_chain(32, {0, 1, 2});
  PlannedProgram part = planned_chain(8, {0, 1, 2});
  for (PlannedProgram* planned : {&deferred, &part}) {
    planned->plan.formats[planned->program.steps[1].output][1] = kDeferred;
  }
  CHECK(possible_cuts(part, deferred) == Cuts{1, 3});
}

TEST_CASE("a cut network passes its value in the format that the step before the cut writes") {
  PlannedProgram planned = planned_chain(16, {0, 2, 2});
  const std::size_t value = planned.program.steps[1].output;  // written blocked
  const std::size_t output = planned.program.output;
  // conv3 reads it packed, so that it is converted behind the cut; the output too at the end.
  planned.plan.steps[2].reads = {1};
  planned.plan.conversions = {
      {planned.program.input, 0, 1, 0}, {value, 2, 1, 2}, {output, 0, 1, 4}};

  const PlannedProgram first = slice(planned, 0, 2, 2);
  REQUIRE(first.program.steps.size() == 2);
  CHECK(first.program.steps[1].name == "conv2");
  CHECK(first.program.output == value);
  CHECK(first.program.input == planned.program.input);
  CHECK(first.plan.formats[value][0] == kBlocked);
  CHECK(first.plan.formats[value][2] == kPlain);
  CHECK(first.plan.steps[1].writes == 0);
  CHECK(first.plan.conversions == std::vector<Conversion>{{planned.program.input, 0, 1, 0}});

  const PlannedProgram rest = slice(planned, 2, 4, 2);
  REQUIRE(rest.program.steps.size() == 2);
  CHECK(rest.program.steps[0].name == "conv3");
  CHECK(rest.program.input == value);
  CHECK(rest.program.output == output);
  CHECK(rest.plan.formats[value][0] == kBlocked);
  CHECK(rest.plan.steps[0].reads == Cuts{1});
  CHECK(rest.plan.conversions == std::vector<Conversion>{{value, 0, 1, 0}, {output, 0, 1, 2}});
}

TEST_CASE("a network that is not cut stays as it is") {
  const PlannedProgram planned = planned_chain(16, {0, 2, 1});
  const PlannedProgram all = slice(planned, 0, 4, 4);
  CHECK(all.program.steps.size() == 4);
  CHECK(all.program.output == planned.program.output);
  for (std::size_t i = 0; i < 4; ++i) {
    CHECK(all.plan.steps[i].reads == planned.plan.steps[i].reads);
    CHECK(all.plan.steps[i].writes == planned.plan.steps[i].writes);
  }
}

}  // namespace winnow
