// `runtime doctor`: facts of this machine, checked where something else tells them too.
#include <filesystem>
#include <thread>

#include "runtime/base/processor.h"
#include "runtime/base/version.h"
#include "runtime/cli/program.h"
#include "tests/commands/desk.h"

namespace winnow {

TEST_CASE("doctor names version, processor, instruction set and libraries") {
  const TemporaryDirectory directory;
  const Outcome outcome =
      shell(program("runtime") + " doctor --json " + (directory / "doctor.json"));
  INFO(outcome.output);
  REQUIRE(outcome.status == 0);
  const auto json = nlohmann::json::parse(read_text_file(directory / "doctor.json"));
  CHECK(json["command"] == "doctor");
  CHECK(json["version"] == version_text());
  CHECK(json["commit"] == commit_text());
  CHECK(json["cores"] == std::thread::hardware_concurrency());
  CHECK(json["processor"] == cpu_model_name());
  REQUIRE(!json["instruction_sets"].empty());
  CHECK(json["instruction_sets"][0] == "baseline");
  const bool has_avx2 = json["instruction_sets"].size() > 1;
  CHECK((has_avx2 || !processor_has(Isa::avx2)));
  CHECK(json["instruction_sets"].back() == cells_of(outcome.output, "instruction set")[1]);
  CHECK(cells_of(outcome.output, "winnow")[1] == full_version_text());
}

TEST_CASE("doctor tells each library's version and file, or why it is not there") {
  const Outcome outcome = shell(program("runtime") + " doctor --json -");
  REQUIRE(outcome.status == 0);
  const auto json = nlohmann::json::parse(outcome.output);
  REQUIRE(!json["libraries"].empty());
  CHECK(json["libraries"][0]["name"] == "oneDNN");
  for (const nlohmann::json& library : json["libraries"]) {
    CAPTURE(library.dump());
    if (library["available"] == true) {
      CHECK(library["version"].get<std::string>().find('.') != std::string::npos);
      CHECK(std::filesystem::exists(library["path"].get<std::string>()));
    } else {
      CHECK(!library["missing"].get<std::string>().empty());
    }
  }
}

#ifdef WINNOW_OLD_CUDNN_DIR
TEST_CASE("doctor calls a library missing that the engine would refuse") {
  const Outcome outcome = shell("WINNOW_CUDNN_DIR=" WINNOW_OLD_CUDNN_DIR " " + program("runtime") +
                                " doctor --json - 2>/dev/null");
  REQUIRE(outcome.status == 0);
  const auto json = nlohmann::json::parse(outcome.output);
  const auto cudnn = std::ranges::find_if(
      json["libraries"], [](const auto& library) { return library["name"] == "cuDNN"; });
  REQUIRE(cudnn != json["libraries"].end());
  CHECK((*cudnn)["available"] == false);
  const std::string missing = (*cudnn)["missing"];
  CHECK(missing.ends_with("libcudnn.so.9: is cuDNN 80907, expected version 9"));
}
#endif

TEST_CASE("without a GPU doctor says what is missing") {
  const auto json =
      nlohmann::json::parse(shell(program("runtime") + " doctor --json - 2>/dev/null").output);
  if (json["gpu_available"] == true) {
    CHECK(json["gpu"].get<std::string>().find(", sm_") != std::string::npos);
    return;
  }
  const std::string reason = json["gpu"];
  CHECK(reason.find("insufficient") == std::string::npos);
  CHECK((reason == "built without CUDA" || reason == "no device" ||
         reason == "no NVIDIA driver was found (libcuda.so.1)" ||
         reason.starts_with("the driver cannot be used: ")));
}

}  // namespace winnow
