// What LibTorch throws, as one line each. Free of LibTorch's headers.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

namespace winnow {

// Runs `body`. Memory that LibTorch or this program could not get, and errors of a GPU, become
// Error{device}; anything else that LibTorch throws becomes Error{internal}. Each is one line
// without a stack trace, and says how much memory was asked for where that is known.
int without_torch_errors(const std::function<int()>& body);

// 3221225472 as "3.0 GiB".
std::string format_bytes(double bytes);

}  // namespace winnow
