// Which program this is.
#pragma once

#include <string>

namespace winnow {

std::string version_text();  // "0.1.0"

// The commit that was built: "b5d1f84", "b5d1f84+" with changes that were not committed; empty
// where the sources are in no git repository.
std::string commit_text();

std::string full_version_text();  // "0.1.0 (b5d1f84)", or as version_text()

}  // namespace winnow
