// What `run` says to people.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace winnow {

// Of what `run` found, as JSON: a line for each picture, "cat.png: cat 93.4 %, dog 5.1 %", or
// sentence, "a fine film: pos 98.2 %, neg 1.8 %", or one for a data set, and one that says what
// computed it: "cuda:0 (NVIDIA H200), f16: 12 layers by gathered, 2 by dense".
std::string run_result_text(const nlohmann::ordered_json& result);

}  // namespace winnow
