// Random damage to model files that leaves their checksums right, for fuzzing the reader.
#pragma once

#include <cstddef>
#include <vector>

#include "runtime/base/random.h"

namespace winnow {

// One to four changes: bytes, fields of the header, the table or a record, sections that grow,
// shrink, swap or vanish. `file` must be one that read_sections accepts; the result may not be.
std::vector<std::byte> mutated(std::vector<std::byte> file, Random& random);

}  // namespace winnow
