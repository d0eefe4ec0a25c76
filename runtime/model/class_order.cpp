#include "runtime/model/class_order.h"

#include <algorithm>
#include <cstddef>

#include "runtime/base/error.h"
#include "runtime/base/suggest.h"

namespace winnow {
namespace {

bool are_numbers(const std::vector<std::string>& names) {
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (names[i] != std::to_string(i)) return false;
  }
  return true;
}

}  // namespace

std::string order_mismatch(const std::vector<std::string>& network, const std::string& file,
                           const std::vector<std::string>& data) {
  for (std::size_t i = 0; i < network.size(); ++i) {
    const auto there = std::find(data.begin(), data.end(), network[i]);
    if (there == data.end() || there - data.begin() == static_cast<std::ptrdiff_t>(i)) continue;
    return "class " + in_quotes(network[i]) + " has number " + std::to_string(i) + " in " +
           in_quotes(file) + ", " + std::to_string(there - data.begin()) + " in the data";
  }
  return "";
}

void require_classes(const std::string& subject, const std::vector<std::string>& data,
                     const std::string& file, const std::vector<std::string>& network,
                     std::int64_t outputs) {
  const std::string mismatch = order_mismatch(network, file, data);
  if (!mismatch.empty()) fail(ErrorCode::usage, subject, ": ", mismatch);
  const auto expected = static_cast<std::size_t>(outputs);
  if (data.size() == expected || (data.size() < expected && are_numbers(data))) return;
  fail(ErrorCode::usage, subject, ": the data has ", data.size(), " classes, the network in ",
       in_quotes(file), " tells ", outputs, " apart");
}

}  // namespace winnow
