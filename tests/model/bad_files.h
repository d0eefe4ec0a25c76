// Tables of damaged model files.
#pragma once

#include <span>

#include "runtime/model/model.h"
#include "tests/model/file_surgery.h"

namespace winnow {

struct BadFile {
  const char* rule;
  const char* message;  // a part of it
  void (*damage)(FileSurgery&);
};

// Damages the file of a model in every way; each must be refused with its message.
void check_refused(const DeployedModel& model, std::span<const BadFile> cases);

// The same for golden_model().
void check_refused(std::span<const BadFile> cases);

}  // namespace winnow
