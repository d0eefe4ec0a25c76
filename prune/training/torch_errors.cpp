#include "prune/training/torch_errors.h"

#include <c10/util/Exception.h>

#include <cstdio>
#include <new>
#include <regex>

#include "runtime/base/error.h"

namespace winnow {
namespace {

constexpr char kRemedy[] =
    "; smaller batches (train.batch_size, --batch), a smaller network or fewer images need less";

std::string first_line(const std::string& text) {
  return text.substr(0, text.find('\n'));
}

// The allocators say "tried to allocate 20.00 GiB." (GPU) or "tried to allocate 123 bytes." (CPU).
std::string amount_in(const std::string& text) {
  static const std::regex pattern("[Tt]ried to allocate ([0-9.]+) (bytes|[KMGT]iB)");
  std::smatch match;
  if (!std::regex_search(text, match, pattern)) return "what is needed";
  const std::string number = match[1], unit = match[2];
  return (unit == "bytes" ? format_bytes(std::stod(number)) : number + " " + unit) + " more";
}

[[noreturn]] void out_of_memory(const std::string& where, const std::string& amount) {
  fail(ErrorCode::device, "out of memory: ", where, " has no room for ", amount, kRemedy);
}

[[noreturn]] void translate(const c10::Error& error) {
  const std::string text = error.what_without_backtrace();
  if (text.find("DefaultCPUAllocator") != std::string::npos) out_of_memory("RAM", amount_in(text));
  const std::string line = first_line(text);
  if (line.find("CUDA error") != std::string::npos) fail(ErrorCode::device, line);
  fail(ErrorCode::internal, "internal error: LibTorch: ", line);
}

}  // namespace

int without_torch_errors(const std::function<int()>& body) {
  try {
    return body();
  } catch (const c10::OutOfMemoryError& error) {
    out_of_memory("the GPU", amount_in(error.what_without_backtrace()));
  } catch (const c10::Error& error) {
    translate(error);
  } catch (const std::bad_alloc&) {
    out_of_memory("RAM", "what is needed");
  }
}

std::string format_bytes(double bytes) {
  const char* const units[] = {"bytes", "KiB", "MiB", "GiB", "TiB"};
  int unit = 0;
  for (; bytes >= 1024 && unit < 4; ++unit) bytes /= 1024;
  char text[64];
  std::snprintf(text, sizeof text, unit == 0 ? "%.0f %s" : "%.1f %s", bytes, units[unit]);
  return text;
}

}  // namespace winnow
