#include <cstdio>
#include <nlohmann/json.hpp>
#include <thread>

#include "runtime/cli/program.h"
#include "runtime/commands/commands.h"
#include "runtime/gpu/session/gpu_session.h"
#include "runtime/images/image_set.h"

namespace winnow {
namespace {

int doctor(const std::string& json) {
  const bool has_gpu = gpu_is_available();
  const std::string gpu = has_gpu ? gpu_description(0) : gpu_unavailable_reason();
  const unsigned cores = std::thread::hardware_concurrency();
  if (json != "-") {
    std::printf("winnow %s\ncpu: %u cores\ngpu: %s%s\npictures: %s\n", version_text().c_str(),
                cores, has_gpu ? "" : "not available: ", gpu.c_str(), picture_support().c_str());
  }
  const nlohmann::ordered_json facts = {{"version", version_text()},
                                        {"cores", cores},
                                        {"gpu_available", has_gpu},
                                        {"gpu", gpu},
                                        {"pictures", picture_support()}};
  write_json_output(json, facts.dump(2));
  return 0;
}

}  // namespace

Command add_doctor_command(CLI::App& app) {
  auto json = std::make_shared<std::string>();
  app.add_option("--json", *json, "Write the facts as JSON to this file ('-': stdout)");
  return [json] { return doctor(*json); };
}

}  // namespace winnow
