// Tables of damaged model files.
#pragma once

#include <span>

#include "tests/model/file_surgery.h"

namespace winnow {

struct BadFile {
  const char* rule;
  const char* message;  // a part of it
  void (*damage)(FileSurgery&);
};

// Damages the golden file in every way; each must be refused with its message.
void check_refused(std::span<const BadFile> cases);

}  // namespace winnow
