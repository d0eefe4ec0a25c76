#include <CLI/CLI.hpp>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <thread>

#include "runtime/base/library_facts.h"
#include "runtime/base/output_path.h"
#include "runtime/base/processor.h"
#include "runtime/base/version.h"
#include "runtime/cli/program.h"
#include "runtime/cli/table.h"
#include "runtime/commands/commands.h"
#include "runtime/cpu/cpu_features.h"
#include "runtime/cpu/dense_layer.h"
#include "runtime/gpu/session/gpu_session.h"
#include "runtime/images/image_set.h"

namespace winnow {
namespace {

using Json = nlohmann::ordered_json;

struct Facts {
  unsigned cores = std::thread::hardware_concurrency();
  std::vector<std::string> instruction_sets;  // the widest, which is used, last
  std::string gpu_missing = gpu_unavailable_reason();
  std::string gpu = gpu_missing.empty() ? gpu_description(0) : "";
  std::vector<LibraryFacts> libraries;
};

Facts collect() {
  Facts facts;
  for (const Isa isa : available_isas()) facts.instruction_sets.emplace_back(to_string(isa));
  facts.libraries = {onednn_facts()};
  for (LibraryFacts& library : gpu_libraries()) facts.libraries.push_back(std::move(library));
  return facts;
}

std::string text_of(const LibraryFacts& library) {
  if (library.version.empty()) return "not available: " + library.missing;
  return library.version + (library.path.empty() ? "" : ", " + library.path);
}

std::string facts_table(const Facts& facts) {
  Table table({{""}, {""}});
  table.add({"winnow", full_version_text()});
  table.add({"cpu", cpu_model_name() + ", " + std::to_string(facts.cores) + " cores"});
  table.add({"instruction set", facts.instruction_sets.back()});
  table.add({"gpu", facts.gpu.empty() ? "not available: " + facts.gpu_missing : facts.gpu});
  for (const LibraryFacts& library : facts.libraries) table.add({library.name, text_of(library)});
  table.add({"pictures", picture_support()});
  return table.text();
}

std::string facts_json(const Facts& facts) {
  Json json = {{"command", "doctor"},
               {"version", version_text()},
               {"commit", commit_text()},
               {"processor", cpu_model_name()},
               {"cores", facts.cores},
               {"instruction_sets", facts.instruction_sets},
               {"gpu_available", facts.gpu_missing.empty()},
               {"gpu", facts.gpu.empty() ? facts.gpu_missing : facts.gpu},
               {"libraries", Json::array()},
               {"pictures", picture_support()}};
  for (const LibraryFacts& library : facts.libraries) {
    json["libraries"].push_back({{"name", library.name},
                                 {"available", !library.version.empty()},
                                 {"version", library.version},
                                 {"path", library.path},
                                 {"missing", library.missing}});
  }
  return json.dump(2);
}

int doctor(const std::string& json) {
  require_distinct_outputs({.inputs = {}, .outputs = {}, .own = {}, .json = json});
  const Facts facts = collect();
  if (json != "-") std::printf("%s", facts_table(facts).c_str());
  if (!json.empty()) write_json_output(json, facts_json(facts));
  return 0;
}

}  // namespace

Command add_doctor_command(CLI::App& app) {
  auto json = std::make_shared<std::string>();
  app.add_option("--json", *json, "Write the facts as JSON to this file ('-': stdout)");
  return [json] { return doctor(*json); };
}

}  // namespace winnow
