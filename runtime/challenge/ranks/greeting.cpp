#include "runtime/challenge/ranks/greeting.h"

#include <algorithm>
#include <charconv>
#include <vector>

#include "runtime/challenge/ranks/packed.h"

namespace winnow::challenge {
namespace {

std::optional<std::int64_t> number_of(const std::string& text) {
  std::int64_t number = 0;
  const char* end = text.data() + text.size();
  const auto [last, problem] = std::from_chars(text.data(), end, number);
  if (problem != std::errc() || last != end) return std::nullopt;
  return number;
}

std::vector<std::string> words_of(const RankPlace& place) {
  return {"winnow challenge 1", std::to_string(place.port), place.start};
}

}  // namespace

std::string packed_greeting(const RankPlace& place) {
  std::vector<std::string> texts = words_of(place);
  texts.insert(texts.end(),
               {std::to_string(place.rank), std::to_string(place.size), machine_name()});
  return packed_texts(texts);
}

std::optional<Greeting> unpacked_greeting(const std::string& bytes, const RankPlace& place) {
  std::vector<std::string> texts;
  try {
    texts = unpacked_texts(bytes);
  } catch (const Error&) {
    return std::nullopt;
  }
  const std::vector<std::string> words = words_of(place);
  if (texts.size() != words.size() + 3) return std::nullopt;
  if (!std::equal(words.begin(), words.end(), texts.begin())) return std::nullopt;
  const auto rank = number_of(texts[words.size()]), size = number_of(texts[words.size() + 1]);
  if (!rank || !size || *rank < 0 || *rank >= *size) return std::nullopt;
  return Greeting{*rank, *size, texts.back()};
}

}  // namespace winnow::challenge
