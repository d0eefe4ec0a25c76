#include "runtime/plan/timing_table.h"

#include <doctest/doctest.h>

#include <array>
#include <memory>
#include <set>

#include "tests/temporary_directory.h"

namespace winnow {
namespace {

TEST_CASE("a time is measured once for each key") {
  TimingTable table;
  int measurements = 0;
  const auto measure = [&] { return timing_of({static_cast<double>(++measurements)}); };
  CHECK(table.get("a", measure).median_ms == 1);
  CHECK(table.get("b", measure).median_ms == 2);
  CHECK(table.get("a", measure).median_ms == 1);
  CHECK(table.counts().measured == 2);
  CHECK(table.counts().cached == 0);
}

TEST_CASE("a table takes from the cache what that knows, and gives it the rest") {
  const TemporaryDirectory directory;
  const TimingPlace place = {"device", "software"};
  const auto never = []() -> Timing {
    FAIL("measured");
    return {};
  };
  const auto cache = [&] { return std::make_shared<TimingCache>(directory.path()); };
  {
    TimingTable table({cache()}, place);
    table.get("a", [] { return timing_of({2}); });
    table.get_together({"b", "c"}, [] { return std::vector{timing_of({3}), timing_of({4})}; });
    table.keep_choice("d", {{1, "x"}});
  }
  TimingTable table({cache()}, place);
  CHECK(table.get("a", never).median_ms == 2);
  CHECK(table.get_together({"b", "c"}, [] { return std::vector<Timing>(); })[1].median_ms == 4);
  REQUIRE(table.find_choice("d") != nullptr);
  CHECK(*table.find_choice("d") == std::vector<ChosenKernel>{{1, "x"}});
  CHECK(table.counts().measured == 0);
  CHECK(table.counts().cached == 4);
  // One of several that is not known: all are measured, since they are to be compared.
  CHECK(
      table.get_together({"b", "e"},
                         [] {
                           return std::vector{timing_of({5}), timing_of({6})};
                         })[0]
          .median_ms == 5);
  CHECK(table.counts().measured == 2);

  TimingStore again{cache()};
  again.is_renewed = true;
  TimingTable renewed(again, place);
  CHECK(renewed.get("a", [] { return timing_of({9}); }).median_ms == 9);
  CHECK(renewed.find_choice("d") == nullptr);
  TimingTable other({cache()}, {"device", "other software"});
  CHECK(other.find("a") == nullptr);
  CHECK(TimingTable({cache()}, place).get("a", never).median_ms == 9);
}

TEST_CASE("times with cold caches are measured where they are wanted and missing") {
  const TemporaryDirectory directory;
  const auto cache = std::make_shared<TimingCache>(directory.path());
  const TimingPlace place = {"device", "software"};
  cache->keep(place, "a", timing_of({1}));
  TimingStore store{cache};
  store.wants_cold = true;
  TimingTable table(store, place);
  CHECK(table.find("a") != nullptr);  // a network or a conversion has none
  TimingTable cold(store, place);
  Timing with_cold = timing_of({2});
  with_cold.cold_ms = 3;
  CHECK(cold.get(
                "a", [&] { return with_cold; }, true)
            .cold_ms == 3);
  CHECK(TimingTable(store, place).find("a", true)->cold_ms == 3);
}

TEST_CASE("short keys are of one length and tell texts apart") {
  CHECK(short_key("").size() == 16);
  CHECK(short_key("ab") != short_key("ba"));
  CHECK(short_key("a") != short_key(std::string("a\0", 2)));
  CHECK(short_key("a") == short_key("a"));
}

TEST_CASE("a step's key tells op, sizes, relu and weights") {
  DeployedModel model;
  model.weights.emplace("fc.weight", DenseWeight{{1, 2}, encode_f32(std::array{1.f, 2.f})});
  Program program;
  program.values = {{"input", {3, 2}}, {"fc", {3, 1}}};
  Step step{"fc", Linear{.in_features = 2, .out_features = 1}, {0}, 1, false, "fc.weight", ""};
  const std::string key = step_key(model, program, step);
  CHECK(key.starts_with("linear [3, 2] -> [3, 1] crc "));
  step.has_relu = true;
  CHECK(step_key(model, program, step) != key);
  step.has_relu = false;
  model.weights.at("fc.weight") = DenseWeight{{1, 2}, encode_f32(std::array{1.f, 3.f})};
  CHECK(step_key(model, program, step) != key);
}

TEST_CASE("a pooling's key tells windows, and is what it was where they are plain") {
  Program program;
  program.values = {{"input", {1, 2, 5, 5}}, {"pool", {1, 2, 2, 2}}};
  Pool op;
  const auto key = [&] { return step_key({}, program, Step{"pool", op, {0}, 1, false, "", ""}); };
  std::set<std::string> keys = {key()};
  CHECK(key() == "max_pool k2x2 s2x2 p0x0 [1, 2, 5, 5] -> [1, 2, 2, 2]");
  op.rounds_up = true;
  keys.insert(key());
  op.padding_end = Pair{0, 1};
  keys.insert(key());
  op.counts_padding = false;
  keys.insert(key());
  CHECK(keys.size() == 4);
}

}  // namespace
}  // namespace winnow
