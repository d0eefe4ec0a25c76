// The deployed model beside the dense one on the test images.
#pragma once

#include <string>

#include "runtime/report/run_facts.h"

namespace winnow {

// Both accuracies, how often both say the same, a row for each class, and what the deployed model
// says where the dense one says a class: all of it for up to 20 classes, else the most frequent
// changes.
// "" if they were not compared.
std::string agreement_tables(const RunFacts& facts);

}  // namespace winnow
