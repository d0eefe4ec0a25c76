#include "runtime/base/device_name.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <string>
#include <vector>

#include "runtime/base/error.h"
#include "runtime/base/suggest.h"

namespace winnow {
namespace {

constexpr std::string_view kGpu = "cuda";

std::optional<Device> known_device(std::string_view text) {
  if (text == "auto") return Device{};
  if (text == "cpu") return Device{Device::Kind::cpu, 0};
  if (!text.starts_with(kGpu)) return std::nullopt;
  text.remove_prefix(kGpu.size());
  if (text.empty()) return Device{Device::Kind::cuda, 0};
  if (text.front() != ':') return std::nullopt;
  int index = -1;
  const auto [end, status] = std::from_chars(text.data() + 1, text.data() + text.size(), index);
  const bool is_number = status == std::errc{} && end == text.data() + text.size() && index >= 0;
  return is_number ? std::optional(Device{Device::Kind::cuda, index}) : std::nullopt;
}

std::string lower_case(std::string_view text) {
  std::string lower(text);
  std::ranges::transform(lower, lower.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  return lower;
}

// By its letters "gpu" is nearest to "cpu", which is the opposite of what was meant.
std::string advice(std::string_view text) {
  std::string name = lower_case(text);
  if (name.starts_with("gpu")) name.replace(0, 3, kGpu);
  if (known_device(name)) return "; did you mean '" + name + "'?";
  const std::vector<std::string> known = {"auto", "cpu", "cuda", "cuda:N"};
  return suggestion(name, known);
}

}  // namespace

Device device_from(std::string_view text) {
  if (const std::optional<Device> device = known_device(text)) return *device;
  fail(ErrorCode::usage, "device ", in_quotes(text), " is not known", advice(text));
}

}  // namespace winnow
