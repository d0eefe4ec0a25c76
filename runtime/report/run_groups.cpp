#include "runtime/report/run_groups.h"

#include <algorithm>
#include <filesystem>
#include <numeric>
#include <optional>
#include <set>
#include <sstream>
#include <string_view>

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
  std::vector<RunGroup> groups;
  std::vector<std::string> settings;
  std::vector<std::vector<std::string>> members;
  std::set<std::string> seen;
  for (const std::string& folder : folders) {
    if (!seen.insert(std::filesystem::path(folder + "/").lexically_normal().string()).second) {
      fail(ErrorCode::usage, "found ", in_quotes(folder), " twice, expected each run once");
    }
    RunFacts facts = read_run_facts(folder);
    const std::string shared = shared_settings(facts.config_text);
    auto found = std::ranges::find(settings, shared);
    if (shared.empty() || found == settings.end()) {
      found = settings.insert(settings.end(), shared);
      groups.emplace_back();
      members.emplace_back();
    }
    const auto place = static_cast<std::size_t>(found - settings.begin());
    groups[place].runs.push_back(std::move(facts));
    members[place].push_back(folder);
  }
  for (std::size_t i = 0; i < groups.size(); ++i) groups[i].name = group_name(members[i]);
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
