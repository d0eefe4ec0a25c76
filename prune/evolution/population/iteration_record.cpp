#include "prune/evolution/population/iteration_record.h"

namespace winnow {

std::string_view to_string(Phase phase) {
  switch (phase) {
    case Phase::rise:
      return "rise";
    case Phase::settle:
      return "settle";
    case Phase::tune:
      return "tune";
  }
  return "";
}

std::string_view to_string(Action action) {
  switch (action) {
    case Action::written:
      return "written";
    case Action::dropped:
      return "dropped";
    case Action::mutation:
      return "mutation";
    case Action::crossover:
      return "crossover";
    case Action::rewound:
      return "rewound";
  }
  return "";
}

}  // namespace winnow
