#include "runtime/report/time_budget.h"

#include <doctest/doctest.h>

#include "runtime/base/file.h"
#include "tests/temporary_directory.h"

namespace winnow {
namespace {

// Two rounds: the iterations of the first are gone.
constexpr char kMetrics[] =
    R"({"stage":"run","command":"prune","version":"0.1.0"}
{"stage":"time","round":0,"network":"rehearsal","predicted_ms":2,"measured_ms":2.5}
{"stage":"prune","iteration":1,"accuracy":0.99,"predicted_ms":9}
{"stage":"time","round":1,"network":"pruned","predicted_ms":2,"measured_ms":1.5}
{"stage":"prune","iteration":1,"accuracy":0.9,"predicted_ms":4}
{"stage":"prune","iteration":2,"accuracy":0.8,"predicted_ms":2}
{"stage":"prune","iteration":3,"accuracy":0.7,"predicted_ms":3}
{"stage":"prune","iteration":4,"accuracy":0.85,"predicted_ms":2}
{"stage":"time","round":2,"network":"pruned","predicted_ms":2,"measured_ms":2.1}
)";

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (std::size_t at = 0; (at = text.find(part, at)) != std::string::npos; ++at) ++found;
  return found;
}

}  // namespace

TEST_CASE("a run with a budget of time draws its frontier and says what was measured") {
  const TemporaryDirectory folder;
  write_file_atomically(folder / "metrics.jsonl", kMetrics);
  const RunFacts facts = read_run_facts(folder.path());
  CHECK(facts.iterations.size() == 4);
  const std::string text = time_budget(facts);
  CHECK(count(text, "<circle") == 4);
  CHECK(count(text, "<polyline") == 1);
  // Of two iterations of 2 ms the better one, and the one of 4 ms; not that of 3 ms.
  const std::size_t line = text.find("<polyline"), end = text.find("/>", line);
  CHECK(count(text.substr(line, end - line), ",") == 2);
  for (const char* cell : {"+25.0 %", "-25.0 %", "+5.0 %"}) {
    CAPTURE(cell);
    CHECK(text.find(cell) != std::string::npos);
  }
}

TEST_CASE("a run with another budget has no section of times") {
  RunFacts facts;
  facts.iterations.emplace_back().accuracy = 0.9;
  CHECK(time_budget(facts).empty());
}

}  // namespace winnow
