#include "runtime/model/strict_json.h"

#include <set>
#include <string>
#include <vector>

#include "runtime/base/error.h"
#include "runtime/base/suggest.h"

namespace winnow {
namespace {

using Json = nlohmann::json;

// Follows the parser and refuses what a finished document no longer shows.
class Guard {
 public:
  Guard(std::string_view place, std::size_t depth) : place_(place), depth_limit_(depth) {}

  bool operator()(int, Json::parse_event_t event, const Json& parsed) {
    switch (event) {
      case Json::parse_event_t::object_start:
      case Json::parse_event_t::array_start:
        keys_.emplace_back();
        if (keys_.size() <= depth_limit_) break;
        fail(ErrorCode::bad_file, place_, ": JSON is nested deeper than ", depth_limit_);
      case Json::parse_event_t::object_end:
      case Json::parse_event_t::array_end:
        keys_.pop_back();
        break;
      case Json::parse_event_t::key:
        add_key(parsed.get_ref<const std::string&>());
        break;
      case Json::parse_event_t::value:
        break;
    }
    return true;
  }

 private:
  void add_key(const std::string& key) {
    if (keys_.back().insert(key).second) return;
    fail(ErrorCode::bad_file, place_, ": key ", in_quotes(key), " occurs twice");
  }

  std::string_view place_;
  std::size_t depth_limit_;
  std::vector<std::set<std::string>> keys_;  // of every open object; empty for arrays
};

}  // namespace

nlohmann::json parse_strict_json(std::string_view text, std::string_view place,
                                 const JsonLimits& limits) {
  if (text.size() > limits.bytes) {
    fail(ErrorCode::bad_file, place, ": JSON text is ", text.size(), " bytes long, at most ",
         limits.bytes, " expected");
  }
  // The parser would pass over it, and other readers of the file would not.
  if (text.starts_with("\xef\xbb\xbf")) {
    fail(ErrorCode::bad_file, place, ": byte 0: a byte order mark, expected JSON");
  }
  Guard guard(place, limits.depth);
  try {
    return Json::parse(text.begin(), text.end(), std::ref(guard));
  } catch (const Json::parse_error& error) {
    fail(ErrorCode::bad_file, place, ": byte ", error.byte, ": no valid JSON");
  } catch (const Json::exception&) {
    fail(ErrorCode::bad_file, place, ": JSON has a number out of range");
  }
}

}  // namespace winnow
