#include "runtime/base/number_text.h"

#include <doctest/doctest.h>

namespace winnow {

TEST_CASE("numbers take the digits asked for, however large they are") {
  CHECK(fixed(0.125, 4) == "0.1250");
  CHECK(fixed(1e300, 0).size() == 301);
  CHECK(scientific(0.00125, 2) == "1.25e-03");
  CHECK(general(12.5, 4) == "12.5");
  CHECK(general(1234567, 2) == "1.2e+06");
}

}  // namespace winnow
