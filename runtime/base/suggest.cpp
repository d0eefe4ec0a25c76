#include "runtime/base/suggest.h"

#include <algorithm>
#include <cstddef>
#include <vector>

namespace winnow {
namespace {

constexpr std::size_t kLongestCompared = 128;  // keeps the quadratic comparison cheap
constexpr std::size_t kLongestQuoted = 64;

// Optimal string alignment: Levenshtein's distance plus the swap of two neighbours.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before_last(b.size() + 1), last(b.size() + 1), row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) last[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replace = last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({replace, last[j] + 1, row[j - 1] + 1});
      const bool is_swap = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (is_swap) row[j] = std::min(row[j], before_last[j - 2] + 1);
    }
    std::swap(before_last, last);
    std::swap(last, row);
  }
  return last[b.size()];
}

std::string escaped(unsigned char byte) {
  constexpr char kDigits[] = "0123456789abcdef";
  return {'\\', 'x', kDigits[byte >> 4], kDigits[byte & 15]};
}

}  // namespace

std::string nearest_name(std::string_view name, std::span<const std::string> candidates) {
  if (name.size() > kLongestCompared) return "";
  std::size_t best = std::max<std::size_t>(2, name.size() / 3) + 1;
  std::string nearest;
  for (const std::string& candidate : candidates) {
    if (candidate.size() > kLongestCompared) continue;
    const std::size_t distance = edit_distance(name, candidate);
    if (distance >= best) continue;
    best = distance;
    nearest = candidate;
  }
  return nearest;
}

std::string suggestion(std::string_view name, std::span<const std::string> candidates) {
  const std::string nearest = nearest_name(name, candidates);
  if (!nearest.empty()) return "; did you mean '" + nearest + "'?";
  if (candidates.empty()) return "";
  std::string text = "; known: ";
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    if (i > 0) text += ", ";
    text += candidates[i];
  }
  return text;
}

std::string in_quotes(std::string_view name) {
  std::string text = "'";
  for (const char c : name.substr(0, kLongestQuoted)) {
    const auto byte = static_cast<unsigned char>(c);
    text += byte >= 0x20 && byte < 0x7f ? std::string(1, c) : escaped(byte);
  }
  return text + (name.size() > kLongestQuoted ? "...'" : "'");
}

std::string one_line(std::string_view text) {
  std::string line;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    // U+0080 to U+009f are control characters too; UTF-8 begins them with this byte.
    const bool begins_control =
        byte == 0xc2 && i + 1 < text.size() && static_cast<unsigned char>(text[i + 1]) < 0xa0;
    if (byte < 0x20 || byte == 0x7f || begins_control) {
      line += escaped(byte);
      if (begins_control) line += escaped(static_cast<unsigned char>(text[++i]));
    } else {
      line += text[i];
    }
  }
  return line;
}

}  // namespace winnow
