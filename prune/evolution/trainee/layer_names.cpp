#include "prune/evolution/trainee/layer_names.h"

#include <algorithm>
#include <regex>

#include "runtime/base/error.h"
#include "runtime/base/suggest.h"

namespace winnow {
namespace {

std::string expression_of(const std::string& pattern) {
  return pattern.substr(1, pattern.size() - 2);
}

std::regex compiled(const char* key, const std::string& pattern) {
  try {
    return std::regex(expression_of(pattern), std::regex::ECMAScript);
  } catch (const std::regex_error& error) {
    fail(ErrorCode::usage, key, ": found ", in_quotes(pattern),
         ", expected a regular expression between the slashes: ", error.what());
  }
}

}  // namespace

bool is_layer_pattern(const std::string& text) {
  return text.size() > 2 && text.front() == '/' && text.back() == '/';
}

void check_layer_pattern(const char* key, const std::string& text) {
  if (is_layer_pattern(text)) compiled(key, text);
}

std::vector<std::size_t> layers_named(const std::string& text, const char* key,
                                      const std::vector<PrunableLayer>& layers) {
  std::vector<std::string> names;
  for (const PrunableLayer& layer : layers) {
    names.push_back(layer.name);
    names.insert(names.end(), layer.members.begin(), layer.members.end());
  }
  const auto found_by = [&](const auto& is_meant) {
    std::vector<std::size_t> found;
    for (std::size_t i = 0; i < layers.size(); ++i) {
      const std::vector<std::string>& members = layers[i].members;
      if (is_meant(layers[i].name) || std::any_of(members.begin(), members.end(), is_meant)) {
        found.push_back(i);
      }
    }
    return found;
  };
  std::vector<std::size_t> found = found_by([&](const std::string& name) { return name == text; });
  if (!found.empty()) return found;
  if (!is_layer_pattern(text)) {
    fail(ErrorCode::usage, key, ": no prunable layer ", in_quotes(text), suggestion(text, names));
  }
  const std::regex pattern = compiled(key, text);
  found = found_by([&](const std::string& name) { return std::regex_match(name, pattern); });
  if (found.empty()) {
    fail(ErrorCode::usage, key, ": ", in_quotes(text),
         " matches the whole name of no prunable layer", suggestion(expression_of(text), names));
  }
  return found;
}

}  // namespace winnow
