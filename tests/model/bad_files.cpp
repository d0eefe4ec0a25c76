#include "tests/model/bad_files.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "runtime/model/model_file.h"
#include "tests/model/sample_models.h"
#include "tests/throws.h"

namespace winnow {

void check_refused(const DeployedModel& model, std::span<const BadFile> cases) {
  const std::vector<std::byte> golden = serialize_model_file(model);
  for (const BadFile& bad : cases) {
    CAPTURE(bad.rule);
    FileSurgery surgery(golden);
    bad.damage(surgery);
    const auto parse = [&] { parse_model_file(surgery.bytes(), "bad.wnw"); };
    CHECK(error_of(parse) == ErrorCode::bad_file);
    const std::string message = message_of(parse);
    CHECK_MESSAGE(message.starts_with("bad.wnw: "), message);
    CHECK_MESSAGE(message.find(bad.message) != std::string::npos, message);
  }
}

void check_refused(std::span<const BadFile> cases) {
  check_refused(golden_model(), cases);
}

}  // namespace winnow
