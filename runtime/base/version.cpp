#include "runtime/base/version.h"

#include <winnow_commit.h>  // made by .ci/cmake/Commit.cmake

namespace winnow {

std::string version_text() {
  return WINNOW_VERSION;
}

std::string commit_text() {
  return WINNOW_COMMIT;
}

std::string full_version_text() {
  const std::string commit = commit_text();
  return commit.empty() ? version_text() : version_text() + " (" + commit + ")";
}

}  // namespace winnow
