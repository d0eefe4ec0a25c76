#include "runtime/model/class_order.h"

#include <doctest/doctest.h>

#include "tests/throws.h"

namespace winnow {
namespace {

using Names = std::vector<std::string>;

TEST_CASE("a name that network and data both have must have one number") {
  const Names network = {"ant", "bee", "cat"};
  CHECK(order_mismatch(network, "m.wnw", network).empty());
  CHECK(order_mismatch(network, "m.wnw", {"ant", "bee", "dog"}).empty());
  CHECK(order_mismatch(network, "m.wnw", {"n01440764", "n01443537", "n01484850"}).empty());
  CHECK(order_mismatch({}, "m.wnw", network).empty());
  CHECK(order_mismatch(network, "m.wnw", {"bee", "cat", "dog"}) ==
        "class 'bee' has number 1 in 'm.wnw', 0 in the data");
}

TEST_CASE("labels of another number of classes than the network's outputs are refused") {
  const auto refusal = [](const Names& data, const Names& network, std::int64_t outputs) {
    const auto require = [&] { require_classes("folder:p", data, "m.wnw", network, outputs); };
    CHECK(error_of(require) == ErrorCode::usage);
    return message_of(require);
  };
  CHECK_NOTHROW(require_classes("folder:p", {"a", "b"}, "m.wnw", {}, 2));
  CHECK_NOTHROW(require_classes("idx:p", {"0", "1"}, "m.wnw", {}, 3));  // labels up to 1 only
  CHECK(refusal({"a", "b"}, {}, 3) ==
        "folder:p: the data has 2 classes, the network in 'm.wnw' tells 3 apart");
  CHECK(refusal({"0", "1", "2"}, {}, 2) ==
        "folder:p: the data has 3 classes, the network in 'm.wnw' tells 2 apart");
  CHECK(refusal({"b", "c"}, {"a", "b", "c"}, 3) ==
        "folder:p: class 'b' has number 1 in 'm.wnw', 0 in the data");
}

}  // namespace
}  // namespace winnow
