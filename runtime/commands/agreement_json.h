// Two models' answers to the same labelled samples, as JSON.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <vector>

namespace winnow {

struct Answers {
  std::span<const std::int32_t> labels;   // [n]
  std::span<const std::int32_t> model;    // [n] the most probable class of each sample
  std::span<const std::int32_t> against;  // [n] what the other model says
};

// Of n > 0 samples:
//   "correct", "accuracy"    of the other model; the accuracy in percent
//   "agreeing", "agreement"  samples of which both say the same class, and their percentage
//   "classes"                for each class "class" (its name), "index", "samples", "correct" (of
//   the
//                            model), "against_correct", "agreeing"
//   "answers"                {"against", "model", "count"}: how often the other model said one
//   class
//                            where the model said one, by class; pairs that never came are left out
// `classes` names as many classes as labels and answers may have, or more.
nlohmann::ordered_json agreement_json(const Answers& answers,
                                      const std::vector<std::string>& classes);

}  // namespace winnow
