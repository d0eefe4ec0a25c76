// The project's one error type. Library code throws it; only main() catches it.
#pragma once

#include <sstream>
#include <stdexcept>
#include <string>

namespace winnow {

// What went wrong. The value is the exit status of a program that ends with it.
enum class ErrorCode {
  internal = 1,       // our bug
  usage = 2,          // a flag, a configuration or an argument of a public function
  bad_file = 3,       // a file is missing, unreadable, cut short or contradicts its format
  device = 4,         // GPU, driver or a library of theirs
  quality = 5,        // a gate asked for by the user was missed (accuracy, categories)
  interrupted = 130,  // stopped by a signal, checkpoint saved
};

class Error : public std::runtime_error {
 public:
  Error(ErrorCode code, const std::string& message) : std::runtime_error(message), code_(code) {}

  ErrorCode code() const noexcept { return code_; }

 private:
  ErrorCode code_;
};

// Throws Error{code} with all `parts` streamed into its message, which says who, what was found
// and what was expected:
//   fail(ErrorCode::bad_file, path, ": byte 8: header is 900 bytes long, the file has 512");
template <typename... Parts>
[[noreturn]] void fail(ErrorCode code, const Parts&... parts) {
  std::ostringstream message;
  (message << ... << parts);
  throw Error(code, message.str());
}

}  // namespace winnow
