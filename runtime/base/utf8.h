// Whether bytes are text.
#pragma once

#include <string_view>

namespace winnow {

// True if `text` is valid UTF-8: no stray or missing bytes, no surrogates, no longer form than
// needed, nothing beyond U+10FFFF. What is not cannot be stored in JSON.
bool is_utf8(std::string_view text);

// True if `text` has a control character of Unicode (a line break, a tab, a zero byte, U+0085, ...)
// or one of its separators of lines and paragraphs, U+2028 and U+2029.
bool has_control_characters(std::string_view text);

}  // namespace winnow
