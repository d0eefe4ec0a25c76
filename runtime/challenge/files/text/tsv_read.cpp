#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "runtime/base/error.h"
#include "runtime/challenge/files/file_limits.h"
#include "runtime/challenge/files/text/sparse_entries.h"
#include "runtime/challenge/files/text/text_file.h"
#include "runtime/challenge/files/text/tsv.h"
#include "runtime/challenge/files/text/tsv_fields.h"

namespace winnow::challenge {
namespace {

struct Entry {
  std::uint32_t row = 0;     // output or image, from 0
  std::uint32_t column = 0;  // input or neuron, from 0
  float value = 0;
};

// What a file of entries may hold.
class LayerLines {
 public:
  LayerLines(std::uint32_t inputs, std::uint32_t outputs) : inputs_(inputs), outputs_(outputs) {}

  bool parse(std::string_view line, Entry& entry) {
    Fields fields(line);
    return fields.index(inputs_, entry.column) && fields.tab() &&
           fields.index(outputs_, entry.row) && fields.tab() &&
           weights_.read(fields.rest(), entry.value);
  }

  std::string expected() const {
    return "'input<TAB>output<TAB>weight' with an input from 1 to " + std::to_string(inputs_) +
           ", an output from 1 to " + std::to_string(outputs_) + " and a finite weight";
  }

 private:
  std::uint32_t inputs_;
  std::uint32_t outputs_;
  FloatReader weights_;
};

class ImageLines {
 public:
  explicit ImageLines(std::uint32_t neurons) : neurons_(neurons) {}

  bool parse(std::string_view line, Entry& entry) {
    Fields fields(line);
    return fields.index(kMostImages, entry.row) && fields.tab() &&
           fields.index(neurons_, entry.column) && fields.tab() &&
           values_.read(fields.rest(), entry.value) && (entry.value == 1 || entry.value == 0);
  }

  std::string expected() const {
    return "'image<TAB>neuron<TAB>1' with an image from 1 to " + std::to_string(kMostImages) +
           " and a neuron from 1 to " + std::to_string(neurons_);
  }

 private:
  std::uint32_t neurons_;
  FloatReader values_;
};

// Calls action(entry) for every line. `Lines` is one of the classes above.
template <typename Lines, typename Action>
void for_each_entry(const std::string& path, TextReader& text, Lines lines, Action action) {
  for_each_line(path, text, [&](std::string_view line, std::uint64_t number) {
    Entry entry;
    if (!lines.parse(line, entry)) {
      fail(ErrorCode::bad_file, path, ":", number, ": ", found_line(line), ", expected ",
           lines.expected());
    }
    action(entry);
  });
}

// Reads the file again to say where the place is named for the second time.
template <typename Lines>
[[noreturn]] void refuse_twice(const std::string& path, Lines lines, std::uint32_t row,
                               std::uint32_t column) {
  std::uint64_t first = 0;
  TextReader text(path);
  for_each_line(path, text, [&](std::string_view line, std::uint64_t number) {
    Entry entry;
    if (!lines.parse(line, entry) || entry.row != row || entry.column != column) return;
    if (first != 0) {
      fail(ErrorCode::bad_file, path, ":", number, ": ", found_line(line),
           ", expected no second line for what line ", first, " says");
    }
    first = number;
  });
  fail(ErrorCode::bad_file, path, ": changed while it was read");
}

// Takes out entries of value 0, if there are values.
void drop_zeros(SparseRows& rows) {
  if (rows.value.empty()) return;
  std::uint64_t kept = 0, at = 0;
  for (std::size_t r = 0; r + 1 < rows.begin.size(); ++r) {
    for (const std::uint64_t end = rows.begin[r + 1]; at < end; ++at) {
      if (rows.value[at] != 0) rows.column[kept++] = rows.column[at];
    }
    rows.begin[r + 1] = kept;
  }
  rows.column.resize(kept);
}

void reserve(SparseEntries& entries, std::size_t count) {
  entries.row.reserve(count);
  entries.column.reserve(count);
}

void require_size(const std::string& path, const char* what, std::uint32_t count) {
  if (count > 0 && count <= kMostNeurons) return;
  fail(ErrorCode::usage, path, ": ", count, " ", what, ", expected 1 to ", kMostNeurons);
}

}  // namespace

SparseLayer read_layer_tsv(const std::string& path, std::uint32_t inputs, std::uint32_t outputs,
                           float bias) {
  require_size(path, "inputs", inputs);
  require_size(path, "outputs", outputs);
  if (!std::isfinite(bias)) fail(ErrorCode::usage, path, ": the bias is not finite");
  const LayerLines lines(inputs, outputs);
  TextReader text(path);
  SparseEntries entries;
  reserve(entries, text.estimated_lines());
  entries.value.reserve(text.estimated_lines());
  for_each_entry(path, text, lines, [&](const Entry& entry) {
    entries.row.push_back(entry.row);
    entries.column.push_back(entry.column);
    entries.value.push_back(entry.value);
  });
  if (entries.row.size() > std::numeric_limits<std::uint32_t>::max()) {
    fail(ErrorCode::bad_file, path, ": ", entries.row.size(), " connections, expected below 2^32");
  }
  SparseRows rows = into_rows(std::move(entries), outputs, [&](auto output, auto input) {
    refuse_twice(path, lines, output, input);
  });
  return {.inputs = inputs,
          .row_begin = {rows.begin.begin(), rows.begin.end()},
          .input = std::move(rows.column),
          .value = std::move(rows.value),
          .bias = std::vector<float>(outputs, bias)};
}

SparseImages read_images_tsv(const std::string& path, std::uint32_t neurons) {
  require_size(path, "neurons", neurons);
  const ImageLines lines(neurons);
  TextReader text(path);
  SparseEntries entries;
  reserve(entries, text.estimated_lines());
  std::uint32_t images = 0;
  for_each_entry(path, text, lines, [&](const Entry& entry) {
    images = std::max(images, entry.row + 1);
    // Values are kept from the first 0 on, which few files have; all before are 1.
    if (entry.value == 0) entries.value.resize(entries.row.size(), 1.0f);
    if (entry.value == 0 || !entries.value.empty()) entries.value.push_back(entry.value);
    entries.row.push_back(entry.row);
    entries.column.push_back(entry.column);
  });
  if (images == 0)
    fail(ErrorCode::bad_file, path, ":1: found no line, expected ", lines.expected());
  SparseRows rows = into_rows(std::move(entries), images, [&](auto image, auto neuron) {
    refuse_twice(path, lines, image, neuron);
  });
  drop_zeros(rows);
  return {.neurons = neurons, .row_begin = std::move(rows.begin), .neuron = std::move(rows.column)};
}

Categories read_categories_tsv(const std::string& path) {
  struct Line {
    std::uint32_t category;
    std::uint64_t number;
  };
  std::vector<Line> lines;
  TextReader text(path);
  for_each_line(path, text, [&](std::string_view line, std::uint64_t number) {
    Fields fields(line);
    std::uint32_t category = 0;
    if (!fields.index(kMostImages, category) || !fields.is_done()) {
      fail(ErrorCode::bad_file, path, ":", number, ": ", found_line(line),
           ", expected an image number from 1 to ", kMostImages);
    }
    lines.push_back({category, number});
  });
  std::ranges::stable_sort(lines, {}, &Line::category);
  Categories categories;
  for (const Line& line : lines) {
    if (!categories.empty() && categories.back() == line.category) {
      fail(ErrorCode::bad_file, path, ":", line.number, ": found '", line.category + 1,
           "' again, expected each image once");
    }
    categories.push_back(line.category);
  }
  return categories;
}

}  // namespace winnow::challenge
