#include <doctest/doctest.h>

#include "runtime/model/model_file.h"
#include "tests/model/file_mutation.h"
#include "tests/model/sample_models.h"
#include "tests/throws.h"

namespace winnow {
namespace {

// A reader either refuses a file or gives a model that passes its own checks and can be written.
TEST_CASE("randomly damaged files with right checksums are refused or give sound models") {
  int accepted = 0;
  constexpr int kRounds = 6000;
  for (int round = 0; round < kRounds; ++round) {
    CAPTURE(round);
    Random random(static_cast<std::uint64_t>(round));
    const DeployedModel model = round % 6 == 0   ? golden_model()
                                : round % 6 == 3 ? golden_scaled_model()
                                : round % 6 == 5 ? text_model()
                                                 : random_deployed_model(random.below(60));
    const std::vector<std::byte> bytes = mutated(serialize_model_file(model), random);
    DeployedModel read;
    const auto code = error_of([&] { read = parse_model_file(bytes, "x", {1 << 24}); });
    if (code) {
      REQUIRE(*code == ErrorCode::bad_file);
    } else {
      ++accepted;
      const std::vector<std::byte> again = serialize_model_file(read);
      REQUIRE(serialize_model_file(parse_model_file(again, "again")) == again);
    }
  }
  // Both ways are taken: a changed weight is no damage, a changed size is.
  CHECK(accepted > kRounds / 50);
  CHECK(accepted < kRounds * 9 / 10);
}

}  // namespace
}  // namespace winnow
