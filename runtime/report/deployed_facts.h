// What `runtime` measured of the deployed model, from its JSON.
#pragma once

#include <string>

#include "runtime/report/json_values.h"
#include "runtime/report/run_facts.h"

namespace winnow {

// run.json; `path` is named in messages. Throws Error{bad_file} for counts that are none and
// classes that are not listed.
void add_run(RunFacts& facts, const nlohmann::json& json, const std::string& path);

// bench.json.
void add_bench(RunFacts& facts, const nlohmann::json& json, const std::string& path);

// inspect.json. Throws Error{bad_file} for inputs that are no earlier nodes.
void add_inspect(RunFacts& facts, const nlohmann::json& json, const std::string& path);

}  // namespace winnow
