// The error of an import that found several things that it cannot take.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "runtime/base/error.h"

namespace winnow {

// Why a file is refused, one line a reason. As an Error{bad_file} it is their number and the first.
class ImportRefused : public Error {
 public:
  ImportRefused(const std::string& what, std::vector<std::string> reasons)
      : Error(ErrorCode::bad_file,
              what + ": " + std::to_string(reasons.size()) +
                  (reasons.size() == 1 ? " reason: " : " reasons, the first: ") + reasons.at(0)),
        reasons_(std::move(reasons)) {}

  const std::vector<std::string>& reasons() const { return reasons_; }

 private:
  std::vector<std::string> reasons_;
};

}  // namespace winnow
