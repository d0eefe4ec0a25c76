#include "runtime/challenge/compare.h"

#include <algorithm>
#include <iterator>

#include "runtime/base/sha256.h"

namespace winnow::challenge {
namespace {

std::string list_of(const Categories& images, const char* kind, std::size_t listed) {
  if (images.empty()) return "";
  std::string text = "; " + std::to_string(images.size()) + " " + kind + ":";
  for (std::size_t i = 0; i < std::min(listed, images.size()); ++i) {
    text += (i == 0 ? " " : ", ") + std::to_string(std::uint64_t{images[i]} + 1);
  }
  return text + (images.size() > listed ? ", ..." : "");
}

}  // namespace

CategoryComparison compare_categories(const Categories& found, const Categories& truth) {
  CategoryComparison comparison{
      .found = found.size(), .expected = truth.size(), .missing = {}, .surplus = {}};
  std::ranges::set_difference(truth, found, std::back_inserter(comparison.missing));
  std::ranges::set_difference(found, truth, std::back_inserter(comparison.surplus));
  return comparison;
}

std::string describe(const CategoryComparison& comparison, std::size_t listed) {
  if (comparison.is_equal()) return "equal, " + std::to_string(comparison.found) + " images";
  return std::to_string(comparison.found) + " images found, " +
         std::to_string(comparison.expected) + " expected" +
         list_of(comparison.missing, "missing", listed) +
         list_of(comparison.surplus, "surplus", listed);
}

std::string categories_sha256(const Categories& categories) {
  std::string text;
  for (const std::uint32_t image : categories) {
    text += std::to_string(std::uint64_t{image} + 1) + "\n";
  }
  return sha256(text);
}

Categories categories_within(const Categories& categories, std::uint32_t first,
                             std::uint32_t last) {
  Categories within;
  std::ranges::copy_if(categories, std::back_inserter(within),
                       [&](std::uint32_t image) { return first <= image && image < last; });
  return within;
}

}  // namespace winnow::challenge
