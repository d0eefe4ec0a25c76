#include "runtime/plan/timing_line.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <utility>

namespace winnow {
namespace {

using Json = nlohmann::ordered_json;

constexpr double kMostMs = 1e9;
constexpr double kMostMhz = 1e6;
constexpr std::int64_t kMostRuns = 1'000'000'000;
constexpr std::uint64_t kMostSlots = 1'000'000;

bool read_text(const Json& json, const char* name, std::string& text) {
  const auto found = json.find(name);
  if (found == json.end() || !found->is_string()) return false;
  text = found->get<std::string>();
  return !text.empty();
}

// False if a number is there and no number from 0 to `most`, or is not there and must be.
bool read_number(const Json& json, const char* name, double most, bool is_required, double& value) {
  const auto found = json.find(name);
  if (found == json.end()) return !is_required;
  if (!found->is_number()) return false;
  value = found->get<double>();
  return std::isfinite(value) && value >= 0 && value <= most;
}

bool read_runs(const Json& json, int& runs) {
  const auto found = json.find("runs");
  if (found == json.end() || !found->is_number_integer()) return false;
  if (found->is_number_unsigned() && found->get<std::uint64_t>() > kMostRuns) return false;
  const auto value = found->get<std::int64_t>();
  runs = static_cast<int>(std::clamp<std::int64_t>(value, 0, kMostRuns));
  return value >= 1 && value <= kMostRuns;
}

bool read_kernels(const Json& json, std::vector<ChosenKernel>& kernels) {
  if (!json.is_array()) return false;
  for (const Json& one : json) {
    if (!one.is_array() || one.size() != 2 || !one[1].is_string()) return false;
    if (!one[0].is_number_unsigned() || one[0].get<std::uint64_t>() > kMostSlots) return false;
    kernels.push_back({one[0].get<int>(), one[1].get<std::string>()});
  }
  return !kernels.empty();
}

bool read_timing(const Json& json, Timing& timing) {
  if (json.contains("kernels")) return read_kernels(json["kernels"], timing.kernels);
  if (json.contains("rejected")) return read_text(json, "rejected", timing.rejected);
  return read_number(json, "median_ms", kMostMs, true, timing.median_ms) &&
         read_number(json, "min_ms", kMostMs, true, timing.min_ms) &&
         read_runs(json, timing.runs) &&
         read_number(json, "cold_ms", kMostMs, false, timing.cold_ms) &&
         read_number(json, "clock_mhz", kMostMhz, false, timing.clock_mhz);
}

}  // namespace

std::string line_of(const TimingEntry& entry) {
  Json json = {
      {"device", entry.place.device}, {"software", entry.place.software}, {"key", entry.key}};
  const Timing& timing = entry.timing;
  if (!timing.kernels.empty()) {
    for (const ChosenKernel& one : timing.kernels) {
      json["kernels"].push_back(Json::array({one.slot, one.kernel}));
    }
  } else if (timing.rejected.empty()) {
    json["median_ms"] = timing.median_ms;
    json["min_ms"] = timing.min_ms;
    json["runs"] = timing.runs;
    if (timing.cold_ms > 0) json["cold_ms"] = timing.cold_ms;
    if (timing.clock_mhz > 0) json["clock_mhz"] = timing.clock_mhz;
  } else {
    json["rejected"] = timing.rejected;
  }
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::optional<TimingEntry> entry_of(std::string_view line) {
  if (line.size() > kMostTimingLineBytes) return std::nullopt;
  const Json json = Json::parse(line, nullptr, false);
  if (!json.is_object()) return std::nullopt;
  TimingEntry entry;
  const bool is_entry = read_text(json, "device", entry.place.device) &&
                        read_text(json, "software", entry.place.software) &&
                        read_text(json, "key", entry.key) && read_timing(json, entry.timing);
  return is_entry ? std::optional(std::move(entry)) : std::nullopt;
}

}  // namespace winnow
