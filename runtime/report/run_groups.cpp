#include "runtime/report/run_groups.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <sstream>
#include <string_view>
#include <utility>

#include "runtime/base/error.h"
#include "runtime/base/suggest.h"
#include "runtime/cli/table.h"
#include "runtime/report/fact_text.h"

namespace winnow {
namespace {

constexpr std::string_view kOfOneRun[] = {
    "name:", "seed:", "output:", "fold:", "weights:", "teacher:"};

bool is_of_one_run(std::string_view line) {
  line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
  return std::ranges::any_of(kOfOneRun,
                             [&](std::string_view key) { return line.starts_with(key); });
}

// What the runs of a group share of their configuration.
std::string shared_settings(const std::string& config) {
  std::istringstream lines(config);
  std::string shared;
  for (std::string line; std::getline(lines, line);) {
    if (!is_of_one_run(line)) shared += line + "\n";
  }
  return shared;
}

std::string folder_name(const std::string& folder) {
  const auto path = std::filesystem::path(folder).lexically_normal();
  return (path.has_filename() ? path : path.parent_path()).filename().string();
}

std::string common_start(const std::string& a, const std::string& b) {
  return {a.begin(), std::ranges::mismatch(a, b).in1};
}

// "mr-fold" and "mr-seed" are "mr".
std::string without_number(std::string name) {
  const auto drop = [&](std::string_view characters) {
    name.resize(name.find_last_not_of(characters) + 1);
  };
  drop("0123456789");
  for (const std::string_view word : {"seed", "fold"}) {
    if (name.ends_with(word)) name.resize(name.size() - word.size());
  }
  drop("-_.");
  return name;
}

std::string group_name(std::span<const std::string> folders) {
  const std::string first = folder_name(folders.front());
  if (folders.size() == 1) return first;
  std::string start = first;
  for (const std::string& folder : folders) start = common_start(start, folder_name(folder));
  const std::string name = without_number(start);
  return name.empty() ? first + " and others" : name;
}

void require_each_once(std::span<const std::string> folders) {
  std::set<std::string> seen;
  for (const std::string& folder : folders) {
    const std::string path = std::filesystem::path(folder + "/").lexically_normal().string();
    if (seen.insert(path).second) continue;
    fail(ErrorCode::usage, "found ", in_quotes(folder), " twice, expected each run once");
  }
}

using Value = std::optional<double> RunFacts::*;

std::string mean_and_range(const RunGroup& group, Value value) {
  std::vector<double> values;
  for (const RunFacts& run : group.runs) {
    if (run.*value) values.push_back(100 * *(run.*value));
  }
  if (values.size() < group.runs.size()) return "-";
  const double sum = std::accumulate(values.begin(), values.end(), 0.0);
  const auto [least, greatest] = std::ranges::minmax(values);
  const std::string mean = decimal(sum / static_cast<double>(values.size()), 2);
  if (values.size() == 1) return mean;
  return mean + " (" + decimal(least, 2) + " to " + decimal(greatest, 2) + ")";
}

}  // namespace

std::vector<RunGroup> group_runs(std::span<const std::string> folders) {
  require_each_once(folders);
  std::vector<RunGroup> groups;
  std::map<std::string, std::size_t> places;  // of groups, by what their runs share
  for (const std::string& folder : folders) {
    RunFacts facts = read_run_facts(folder);
    const std::string shared = shared_settings(facts.config_text);
    const auto [found, is_new] =
        places.try_emplace(shared.empty() ? folder : shared, groups.size());
    if (is_new) groups.emplace_back();
    RunGroup& group = groups[found->second];
    group.folders.push_back(folder);
    group.runs.push_back(std::move(facts));
  }
  for (RunGroup& group : groups) group.name = group_name(group.folders);
  return groups;
}

std::string groups_table(std::span<const RunGroup> groups) {
  Table table({{"runs"}, {"number"}, {"dense %"}, {"pruned %"}, {"sparsity %"}});
  for (const RunGroup& group : groups) {
    table.add({group.name, std::to_string(group.runs.size()),
               mean_and_range(group, &RunFacts::dense_accuracy),
               mean_and_range(group, &RunFacts::pruned_accuracy),
               mean_and_range(group, &RunFacts::sparsity)});
  }
  return table.text();
}

}  // namespace winnow
