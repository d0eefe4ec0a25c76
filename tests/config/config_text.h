// Configurations given as text, for tests.
#pragma once

#include <fstream>
#include <string>
#include <vector>

#include "prune/config/run_config.h"
#include "tests/temporary_directory.h"
#include "tests/throws.h"

namespace winnow {

// What a file "a.yaml" with this text comes to.
inline RunConfig parse_config(const std::string& text, std::vector<std::string> overrides = {}) {
  const TemporaryDirectory folder;
  std::ofstream(folder / "a.yaml", std::ios::binary) << text;
  try {
    return read_run_config(folder / "a.yaml", overrides);
  } catch (const Error& error) {  // without the folder, which nobody can foretell
    std::string message = error.what();
    const std::string prefix = folder / "";
    for (auto at = message.find(prefix); at != std::string::npos; at = message.find(prefix)) {
      message.erase(at, prefix.size());
    }
    throw Error(error.code(), message);
  }
}

}  // namespace winnow
