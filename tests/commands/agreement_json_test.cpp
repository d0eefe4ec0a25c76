#include "runtime/commands/agreement_json.h"

#include <doctest/doctest.h>

namespace winnow {

TEST_CASE("answers of two models are counted by class and by pair") {
  // Of two cats one is called dog by the model; of three dogs the other model calls one cat, and
  // both call the last one bird.
  const std::vector<std::int32_t> labels = {0, 0, 1, 1, 1};
  const std::vector<std::int32_t> model = {0, 1, 1, 1, 2};
  const std::vector<std::int32_t> against = {0, 0, 0, 1, 2};
  const auto json = agreement_json({labels, model, against}, {"cat", "dog", "bird"});
  CHECK(json["correct"] == 3);
  CHECK(json["accuracy"] == 60.0);
  CHECK(json["agreeing"] == 3);
  CHECK(json["agreement"] == 60.0);
  REQUIRE(json["classes"].size() == 3);
  const auto counts = [&](std::size_t c) {
    const auto& one = json["classes"][c];
    return std::vector<int>{one["samples"], one["correct"], one["against_correct"],
                            one["agreeing"]};
  };
  CHECK(json["classes"][1]["class"] == "dog");
  CHECK(json["classes"][1]["index"] == 1);
  CHECK(counts(0) == std::vector<int>{2, 1, 2, 1});
  CHECK(counts(1) == std::vector<int>{3, 2, 1, 2});
  CHECK(counts(2) == std::vector<int>{0, 0, 0, 0});
  using Json = nlohmann::ordered_json;
  CHECK(json["answers"] == Json::array({{{"against", 0}, {"model", 0}, {"count", 1}},
                                        {{"against", 0}, {"model", 1}, {"count", 2}},
                                        {{"against", 1}, {"model", 1}, {"count", 1}},
                                        {{"against", 2}, {"model", 2}, {"count", 1}}}));
}

}  // namespace winnow
