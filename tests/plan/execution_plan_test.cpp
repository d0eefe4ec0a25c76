#include "runtime/plan/execution_plan.h"

#include <doctest/doctest.h>

#include <vector>

namespace winnow {
namespace {

// input -> a -> b -> c, where c reads a too
Program diamond() {
  Program program;
  for (const char* name : {"input", "a", "b", "c"}) program.values.push_back({name, {2, 4, 3, 3}});
  program.steps = {
      {"a", Relu{}, {0}, 1, false}, {"b", Relu{}, {1}, 2, false}, {"c", Add{}, {2, 1}, 3, false}};
  program.output = 3;
  return program;
}

bool never(std::size_t, std::size_t, std::size_t) {
  return false;
}

TEST_CASE("a value that is read in another format is converted once, and back at the end") {
  const std::vector<ChosenStep> steps = {{{0}, 0}, {{1}, 1}, {{1, 1}, 1}};
  const std::vector<Conversion> conversions = {{1, 0, 1, 1}, {3, 1, 0, 3}};
  const ExecutionPlan plan = make_execution_plan(diamond(), steps, conversions, never);
  REQUIRE(plan.operations.size() == 5);
  const PlannedOperation& there = plan.operations[1];
  CHECK(there.is_conversion);
  CHECK(there.step == 1);
  CHECK(there.in == std::vector<std::size_t>{plan.step_outputs[0]});
  CHECK(plan.operations[3].in == std::vector<std::size_t>{plan.step_outputs[1], there.out});
  const PlannedOperation& back = plan.operations[4];
  CHECK(back.is_conversion);
  CHECK(back.step == 2);  // what comes after the last step counts to it
  CHECK(back.out == plan.output);
  CHECK(plan.buffers[plan.output].format == 0);
}

TEST_CASE("buffers live from their first writer to their last reader, the output beyond") {
  const std::vector<ChosenStep> steps = {{{0}, 0}, {{0}, 0}, {{0, 0}, 0}};
  const ExecutionPlan plan = make_execution_plan(diamond(), steps, {}, never);
  const auto life = [&](std::size_t buffer) {
    return std::pair(plan.buffers[buffer].first_operation, plan.buffers[buffer].last_operation);
  };
  CHECK(life(plan.input) == std::pair<std::size_t, std::size_t>(0, 0));
  CHECK(life(plan.step_outputs[0]) == std::pair<std::size_t, std::size_t>(0, 2));
  CHECK(life(plan.step_outputs[1]) == std::pair<std::size_t, std::size_t>(1, 2));
  CHECK(life(plan.output) == std::pair<std::size_t, std::size_t>(2, 3));
}

TEST_CASE("formats of one memory and steps without a kernel need no operation") {
  const std::vector<ChosenStep> steps = {{{0}, 0}, {{1}, 1, false}, {{0, 0}, 0}};
  const std::vector<Conversion> conversions = {{1, 0, 1, 1}, {2, 1, 0, 2}};
  const ExecutionPlan plan = make_execution_plan(
      diamond(), steps, conversions, [](std::size_t, std::size_t, std::size_t) { return true; });
  REQUIRE(plan.operations.size() == 2);
  const std::size_t memory = memory_of(plan, plan.operations[1].in[0]);
  CHECK(memory == plan.step_outputs[0]);
  CHECK(plan.buffers[memory].last_operation == 1);
}

TEST_CASE("what a deferred value is computed from lives until the step that computes it") {
  // input -> a, deferred -> b, which works on something else before c adds both
  Program program = diamond();
  program.steps[1].inputs = {0};
  const std::vector<ChosenStep> steps = {{{1}, 2, false}, {{1}, 1}, {{1, 2}, 1}};
  const std::vector<Conversion> conversions = {{0, 0, 1, 0}, {3, 1, 0, 3}};
  const ExecutionPlan plan = make_execution_plan(program, steps, conversions, never);
  REQUIRE(plan.operations.size() == 4);  // conversion, b, c with a, conversion
  const std::size_t source = plan.operations[0].out;
  CHECK(memory_of(plan, plan.operations[2].in[1]) == source);
  CHECK(plan.buffers[source].last_operation == 2);
}

}  // namespace
}  // namespace winnow
