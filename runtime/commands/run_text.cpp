#include "runtime/commands/run_text.h"

#include <utility>
#include <vector>

#include "runtime/base/number_text.h"
#include "runtime/base/suggest.h"

namespace winnow {
namespace {

using Json = nlohmann::ordered_json;

// "cat", or "class 3" where the model has no names.
std::string class_text(const Json& one) {
  const auto name = one["class"].get<std::string>();
  const bool is_number = name == std::to_string(one["index"].get<std::int64_t>());
  return is_number ? "class " + name : one_line(name);
}

// "cat 93.4 %, dog 5.1 %"
std::string top_text(const Json& top) {
  std::string text;
  for (const Json& one : top) {
    text += (text.empty() ? "" : ", ") + class_text(one) + " " +
            fixed(100 * one["probability"].get<double>(), 1) + " %";
  }
  return text;
}

std::string picture_text(const Json& image) {
  return one_line(image["file"].get<std::string>()) + ": " + top_text(image["top"]) + "\n";
}

std::string sentence_text(const Json& sentence) {
  const auto unknown = sentence["unknown"].get<std::int64_t>();
  const std::string note = unknown == 0 ? ""
                                        : " (" + std::to_string(unknown) + " of " +
                                              sentence["words"].dump() + " words unknown)";
  return one_line(sentence["sentence"].get<std::string>()) + ": " + top_text(sentence["top"]) +
         note + "\n";
}

std::string against_text(const Json& against, std::int64_t samples) {
  return one_line(against["model"].get<std::string>()) + ": " +
         std::to_string(against["correct"].get<std::int64_t>()) + " of " + std::to_string(samples) +
         " correct: " + fixed(against["accuracy"].get<double>(), 2) + " %; both say the same of " +
         std::to_string(against["agreeing"].get<std::int64_t>()) + ": " +
         fixed(against["agreement"].get<double>(), 2) + " %\n";
}

std::string data_text(const Json& result) {
  return std::to_string(result["correct"].get<std::int64_t>()) + " of " +
         std::to_string(result["samples"].get<std::int64_t>()) +
         " correct: " + fixed(result["accuracy"].get<double>(), 2) + " %, " +
         fixed(result["samples_per_second"].get<double>(), 0) + " samples/s\n" +
         (result.contains("against")
              ? against_text(result["against"], result["samples"].get<std::int64_t>())
              : "");
}

// Families in the order in which layers use them first.
std::string families_text(const Json& kernels) {
  std::vector<std::pair<std::string, int>> families;
  for (const Json& kernel : kernels) {
    const auto family = kernel["family"].get<std::string>();
    auto found = families.begin();
    while (found != families.end() && found->first != family) ++found;
    if (found == families.end()) found = families.insert(found, {family, 0});
    ++found->second;
  }
  std::string text;
  for (const auto& [family, layers] : families) {
    const std::string count = std::to_string(layers);
    text +=
        text.empty() ? count + (layers == 1 ? " step by " : " steps by ") : ", " + count + " by ";
    text += family;
  }
  return text;
}

}  // namespace

std::string run_result_text(const Json& result) {
  std::string text;
  if (result.contains("images")) {
    for (const Json& image : result["images"]) text += picture_text(image);
  } else if (result.contains("sentences")) {
    for (const Json& sentence : result["sentences"]) text += sentence_text(sentence);
  } else {
    text += data_text(result);
  }
  return text + result["device"].get<std::string>() + ", " +
         result["precision"].get<std::string>() + ": " + families_text(result["kernels"]) + "\n";
}

}  // namespace winnow
