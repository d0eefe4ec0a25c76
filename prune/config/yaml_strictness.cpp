#include "prune/config/yaml_strictness.h"

#include <yaml-cpp/eventhandler.h>

#include <algorithm>
#include <sstream>

#include "runtime/base/suggest.h"
#include "runtime/base/utf8.h"

namespace winnow {
namespace {

// Sees everything that the parser finds, before it becomes nodes, which know no tags.
class StrictEvents : public YAML::EventHandler {
 public:
  StrictEvents(const std::string& text, const YamlPlaces& places) : text_(text), places_(places) {}

  void OnDocumentStart(const YAML::Mark& mark) override {
    if (++documents_ > 1) refuse(mark, "a second document begins, expected one");
  }
  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t,
                const std::string& value) override {
    check_tag(mark, tag == "!" && !has_lone_tag(mark) ? "?" : tag);
    if (has_control_characters(value)) {
      refuse(mark, in_quotes(value) + ": a text with a control character");
    }
    if (!is_utf8(value)) refuse(mark, in_quotes(value) + ": a text that is not UTF-8");
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t,
                       YAML::EmitterStyle::value) override {
    check_tag(mark, tag);
  }
  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t,
                  YAML::EmitterStyle::value) override {
    check_tag(mark, tag);
  }
  void OnNull(const YAML::Mark&, YAML::anchor_t) override {}
  void OnAlias(const YAML::Mark&, YAML::anchor_t) override {}
  void OnDocumentEnd() override {}
  void OnSequenceEnd() override {}
  void OnMapEnd() override {}

 private:
  [[noreturn]] void refuse(const YAML::Mark& mark, const std::string& what) const {
    fail(ErrorCode::usage, places_.at(mark), ": ", what);
  }

  // "!" is a tag, which the parser gives to quoted texts too. An anchor may stand before it.
  bool has_lone_tag(const YAML::Mark& mark) const {
    auto at = std::min(static_cast<std::size_t>(std::max(mark.pos, 0)), text_.size());
    if (text_.starts_with("\xef\xbb\xbf")) at += 3;  // the parser does not count it
    if (at < text_.size() && text_[at] == '&') {
      at = text_.find_first_not_of(" \t\r\n", text_.find_first_of(" \t\r\n", at));
    }
    return at < text_.size() && text_[at] == '!';
  }

  // The parser gives "?" to nodes without a tag.
  void check_tag(const YAML::Mark& mark, const std::string& tag) const {
    if (tag.empty() || tag == "?") return;
    refuse(mark, "the tag " + in_quotes(tag) + " is not allowed");
  }

  const std::string& text_;
  const YamlPlaces& places_;
  int documents_ = 0;
};

}  // namespace

void require_strict_yaml(const std::string& text, const YamlPlaces& places) {
  std::istringstream stream(text);
  YAML::Parser parser(stream);
  StrictEvents events(text, places);
  while (parser.HandleNextDocument(events)) {
  }
}

}  // namespace winnow
