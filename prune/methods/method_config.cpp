#include "prune/methods/method_config.h"

#include "runtime/base/error.h"

namespace winnow {

std::string_view to_string(Method method) {
  switch (method) {
    case Method::evolutionary:
      return "evolutionary";
    case Method::magnitude:
      return "magnitude";
    case Method::lottery:
      return "lottery";
    case Method::fssl:
      return "fssl";
  }
  return "";
}

std::int64_t schedules(const MethodConfig& config) {
  return config.method == Method::lottery ? config.rounds : 1;
}

void check_config(const MethodConfig& config, const EvolutionConfig& evolution) {
  if (config.time_strength > 0 && evolution.budget == Budget::parameters) {
    fail(ErrorCode::usage, "time_strength: found ", config.time_strength,
         ", expected 0 with budget parameters, which predicts no time");
  }
  if (config.method != Method::lottery) return;
  if (config.rounds < 2 || evolution.iter_nr % config.rounds != 0) {
    fail(ErrorCode::usage, "rounds: found ", config.rounds,
         ", expected at least 2 and a divisor of iter_nr (", evolution.iter_nr, ")");
  }
  const std::int64_t round = evolution.iter_nr / config.rounds;
  if (config.rewind_to < 0 || config.rewind_to > round) {
    fail(ErrorCode::usage, "rewind_to: found ", config.rewind_to, ", expected 0 to ", round,
         ", the iterations of a round");
  }
}

}  // namespace winnow
