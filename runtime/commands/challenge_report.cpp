#include "runtime/commands/challenge_report.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "runtime/base/number_text.h"
#include "runtime/base/suggest.h"
#include "runtime/base/version.h"
#include "runtime/cli/program.h"
#include "runtime/cli/table.h"

namespace winnow {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kListedImages = 100;  // in JSON; the table names fewer

Statistics statistics_of_runs(const ChallengeReport& report,
                              double (*value)(const challenge::RunTimes&)) {
  std::vector<double> samples;
  std::ranges::transform(report.runs, std::back_inserter(samples), value);
  return statistics_of(samples);
}

Statistics inference_of(const ChallengeReport& report) {
  return statistics_of_runs(report, [](const auto& times) { return times.inference_ms; });
}

Statistics transfer_of(const ChallengeReport& report) {
  return statistics_of_runs(report, [](const auto& times) { return times.transfer_ms; });
}

std::string time_text(const Statistics& ms, std::size_t runs) {
  std::string median = fixed(ms.median, 3) + " ms";
  if (runs == 1) return median;
  return median + ", the median of " + std::to_string(runs) + " (" + fixed(ms.minimum, 3) + " to " +
         fixed(ms.maximum, 3) + ")";
}

std::string rate_text(const ChallengeReport& report) {
  return general(report.tera_edges_per_second(), 4) + " TeraEdges/s" +
         (report.includes_transfer ? ", transfer included" : "");
}

std::string memory_text(const ChallengeReport& report) {
  return "at most " + fixed(static_cast<double>(report.peak_gpu_bytes) / (1 << 30), 3) + " GB";
}

std::string truth_text(const ChallengeReport& report) {
  if (!report.comparison) return "none to compare with";
  return describe(*report.comparison) + " (" + report.truth + ")";
}

// What each process takes for its own images.
Statistics statistics_of_rank(const ChallengeReport& report, std::size_t rank) {
  std::vector<double> samples;
  for (const challenge::RunTimes& times : report.runs) samples.push_back(times.rank_ms.at(rank));
  return statistics_of(samples);
}

std::string processes_text(const ChallengeReport& report) {
  std::string machines;
  for (const RankReport& rank : report.ranks) {
    const std::string name = one_line(rank.machine);
    if ((", " + machines + ", ").find(", " + name + ", ") != std::string::npos) continue;
    machines += (machines.empty() ? "" : ", ") + name;
  }
  return std::to_string(report.ranks.size()) + " on " + machines +
         "; inference lasts from their common start to the categories of all";
}

std::string each_text(const ChallengeReport& report) {
  std::string text;
  for (std::size_t rank = 0; rank < report.ranks.size(); ++rank) {
    text += (text.empty() ? "" : ", ") + fixed(statistics_of_rank(report, rank).median, 3);
  }
  return text + " ms for its own images";
}

std::string range_text(std::uint32_t first, std::uint32_t last) {
  return std::to_string(last - first) + " (" + std::to_string(first) + " to " +
         std::to_string(last) + ")";
}

Json statistics_json(const Statistics& s) {
  return {{"min", s.minimum}, {"mean", s.mean}, {"median", s.median}, {"max", s.maximum}};
}

// Counted from 1, as in files.
Json images_json(const challenge::Categories& images) {
  Json list = Json::array();
  for (const std::uint32_t image : images) {
    if (list.size() == kListedImages) break;
    list.push_back(std::uint64_t{image} + 1);
  }
  return list;
}

Json truth_json(const ChallengeReport& report) {
  if (!report.comparison) return nullptr;
  const challenge::CategoryComparison& comparison = *report.comparison;
  return {{"file", report.truth},
          {"equal", comparison.is_equal()},
          {"found", comparison.found},
          {"expected", comparison.expected},
          {"missing", comparison.missing.size()},
          {"surplus", comparison.surplus.size()},
          {"first_missing", images_json(comparison.missing)},
          {"first_surplus", images_json(comparison.surplus)}};
}

Json options_json(const challenge::EngineOptions& options) {
  return {{"threads", options.threads},
          {"blocks", options.blocks},
          {"gpus", options.gpus.empty() ? std::vector<int>{options.gpu} : options.gpus},
          {"images_at_once", options.images_at_once},
          {"streams", options.streams},
          {"weight_bytes", options.weight_bytes},
          {"half", options.use_half},
          {"full_precision_layers", options.full_precision_layers}};
}

Json clocks_json(const challenge::DeviceClocks& clocks) {
  if (clocks.sm_mhz == 0) return nullptr;
  return {{"sm", clocks.sm_mhz}, {"memory", clocks.memory_mhz}};
}

Json runs_json(const ChallengeReport& report) {
  Json runs = Json::array();
  for (const challenge::RunTimes& times : report.runs) {
    runs.push_back({{"inference_ms", times.inference_ms}, {"transfer_ms", times.transfer_ms}});
    if (!times.rank_ms.empty()) runs.back()["rank_ms"] = times.rank_ms;
  }
  return runs;
}

Json ranks_json(const ChallengeReport& report) {
  Json ranks = Json::array();
  for (std::size_t rank = 0; rank < report.ranks.size(); ++rank) {
    ranks.push_back({{"rank", rank},
                     {"machine", report.ranks[rank].machine},
                     {"device", report.ranks[rank].device},
                     {"peak_gpu_bytes", report.ranks[rank].peak_gpu_bytes},
                     {"inference_ms", statistics_json(statistics_of_rank(report, rank))}});
  }
  return ranks;
}

// How many times as long the baseline takes.
double speed_up(const ChallengeReport& report, const ChallengeReport& baseline) {
  const double ms = report.counted_ms().median;
  return ms > 0 ? baseline.counted_ms().median / ms : 0;
}

Json baseline_json(const ChallengeReport& report, const ChallengeReport* baseline) {
  if (baseline == nullptr) return nullptr;
  return {{"engine", baseline->engine},
          {"device", baseline->device},
          {"kernel", baseline->kernel},
          {"runs", runs_json(*baseline)},
          {"inference_ms", statistics_json(inference_of(*baseline))},
          {"tera_edges_per_second", baseline->tera_edges_per_second()},
          {"peak_gpu_bytes", baseline->peak_gpu_bytes},
          {"survivors", baseline->survivors},
          {"categories_sha256", baseline->categories_sha256},
          {"equal_categories", baseline->comparison->is_equal()},
          {"speed_up", speed_up(report, *baseline)}};
}

}  // namespace

double ChallengeReport::edges() const {
  return static_cast<double>(images()) * static_cast<double>(connections);
}

Statistics ChallengeReport::counted_ms() const {
  if (!includes_transfer) return inference_of(*this);
  return statistics_of_runs(
      *this, [](const auto& times) { return times.inference_ms + times.transfer_ms; });
}

double ChallengeReport::tera_edges_per_second() const {
  const double ms = counted_ms().median;
  return ms > 0 ? edges() / ms / 1e9 : 0;
}

std::string report_table(const ChallengeReport& report, const ChallengeReport* baseline) {
  const Statistics transfer = transfer_of(report);
  std::vector<std::vector<std::string>> rows = {
      {"network", report.network},
      {"layers", range_text(report.first_layer, report.last_layer)},
      {"connections", std::to_string(report.connections)},
      {"images", range_text(report.first_image, report.last_image)},
      {"engine", report.engine},
      {"device", report.device},
      {"kernel", report.kernel},
      {"found at load time", report.discovery.empty() ? "nothing" : report.discovery},
      {"preparation",
       fixed(report.prepare_ms, 1) + " ms of " + fixed(report.load_ms, 1) + " ms to load"},
      {"survivors", std::to_string(report.survivors)},
      {"truth", truth_text(report)},
      {"inference", time_text(inference_of(report), report.runs.size())},
      {"transfer", transfer.maximum > 0 ? time_text(transfer, report.runs.size()) : "none"},
      {"rate", rate_text(report)}};
  if (report.peak_gpu_bytes > 0) rows.push_back({"GPU memory", memory_text(report)});
  if (!report.ranks.empty()) {
    rows.insert(rows.end(), {{"processes", processes_text(report)}, {"each", each_text(report)}});
  }
  if (baseline != nullptr) {
    rows.insert(rows.end(),
                {{"baseline", baseline->engine + ": " + describe(*baseline->comparison)},
                 {"its kernel", baseline->kernel},
                 {"its inference", time_text(inference_of(*baseline), baseline->runs.size())},
                 {"its rate", rate_text(*baseline)},
                 {"speed-up over it", general(speed_up(report, *baseline), 3)}});
    if (baseline->peak_gpu_bytes > 0) rows.push_back({"its GPU memory", memory_text(*baseline)});
  }
  Table table({{""}, {""}});
  for (auto& row : rows) table.add(std::move(row));
  return table.text();
}

std::string report_json(const ChallengeReport& report, const ChallengeReport* baseline) {
  const Json json = {{"command", "challenge run"},
                     {"version", version_text()},
                     {"network", report.network},
                     {"neurons", report.neurons},
                     {"first_layer", report.first_layer},
                     {"last_layer", report.last_layer},
                     {"connections", report.connections},
                     {"first_image", report.first_image},
                     {"last_image", report.last_image},
                     {"images", report.images()},
                     {"edges", report.edges()},
                     {"engine", report.engine},
                     {"options", options_json(report.options)},
                     {"device", report.device},
                     {"highest_clocks_mhz", clocks_json(report.clocks)},
                     {"kernel", report.kernel},
                     {"discovery", report.discovery},
                     {"prepare_ms", report.prepare_ms},
                     {"load_ms", report.load_ms},
                     {"warm_up", report.warm_up},
                     {"repeats", report.runs.size()},
                     {"runs", runs_json(report)},
                     {"inference_ms", statistics_json(inference_of(report))},
                     {"transfer_ms", statistics_json(transfer_of(report))},
                     {"includes_transfer", report.includes_transfer},
                     {"tera_edges_per_second", report.tera_edges_per_second()},
                     {"peak_gpu_bytes", report.peak_gpu_bytes},
                     {"survivors", report.survivors},
                     {"categories_sha256", report.categories_sha256},
                     {"live", report.live},
                     {"ranks", ranks_json(report)},
                     {"truth", truth_json(report)},
                     {"baseline", baseline_json(report, baseline)}};
  return json.dump(2);
}

}  // namespace winnow
