// A run as a table for the terminal and as one self-contained HTML page.
#pragma once

#include <string>

#include "runtime/report/run_facts.h"

namespace winnow {

// Accuracy dense, pruned, quantized and deployed; sparsity; bytes; time per image dense and sparse.
// What is not known is shown as "-". Control characters are escaped.
std::string summary_table(const RunFacts& facts);

// Charts of training, evolution, sparsity, bytes and times, a drawing of the network, tables of
// kernels and of agreement with the dense model, in light or dark as the reader's system is set;
// what is not known names the command that makes it. No scripts, no links to other places.
std::string report_page(const RunFacts& facts);

// Reads the folder, writes FOLDER/report.html (atomically) and returns its path.
std::string write_report(const std::string& folder);

}  // namespace winnow
