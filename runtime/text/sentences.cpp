#include "runtime/text/sentences.h"

#include <algorithm>
#include <filesystem>
#include <functional>
#include <map>
#include <string_view>
#include <utility>

#include "runtime/base/error.h"
#include "runtime/base/file.h"
#include "runtime/base/suggest.h"
#include "runtime/base/utf8.h"
#include "runtime/text/tokenizer.h"

namespace winnow {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostBytes = std::size_t{1} << 30;  // of a file

// Sentences whose classes have no numbers yet.
struct NamedSentences {
  std::vector<std::string> sentences;
  std::vector<std::string> names;  // of the sentences' classes
};

std::string line_place(const std::string& path, std::size_t line) {
  return path + ":" + std::to_string(line) + ": ";
}

void require_text(std::string_view line, const std::string& place) {
  for (const char c : line) {
    if (static_cast<unsigned char>(c) >= 0x20 || c == '\t') continue;
    fail(ErrorCode::bad_file, place, "found the control character ", in_quotes({&c, 1}),
         ", expected text (UTF-8, Latin-1 or another extension of ASCII)");
  }
}

void require_words(std::string_view sentence, const std::string& place) {
  if (!words_of(sentence).empty()) return;
  fail(ErrorCode::bad_file, place, "found ", in_quotes(sentence), ", expected a sentence");
}

// Calls `use` with each line and where it stands. The last line may have no end.
void for_each_line(const std::string& path,
                   const std::function<void(std::string_view, const std::string&)>& use) {
  const std::string text = read_text_file(path, kMostBytes);
  std::string_view rest = text;
  for (std::size_t number = 1; !rest.empty(); ++number) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    std::string_view line = rest.substr(0, end);
    if (line.ends_with('\r')) line.remove_suffix(1);
    const std::string place = line_place(path, number);
    require_text(line, place);
    use(line, place);
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
}

void read_class_file(const std::string& path, const std::string& name, NamedSentences& to) {
  const std::size_t before = to.sentences.size();
  for_each_line(path, [&](std::string_view line, const std::string& place) {
    require_words(line, place);
    to.sentences.emplace_back(line);
    to.names.push_back(name);
  });
  if (to.sentences.size() == before) fail(ErrorCode::bad_file, path, ": has no sentences");
}

NamedSentences read_labelled(const std::string& path) {
  NamedSentences read;
  for_each_line(path, [&](std::string_view line, const std::string& place) {
    const std::size_t tab = line.find('\t');
    if (tab == std::string_view::npos) {
      fail(ErrorCode::bad_file, place, "found no tab in ", in_quotes(line),
           ", expected LABEL<TAB>SENTENCE");
    }
    const std::string_view label = line.substr(0, tab), sentence = line.substr(tab + 1);
    if (label.empty() || !is_utf8(label)) {
      fail(ErrorCode::bad_file, place, "found the label ", in_quotes(label),
           ", expected a name in UTF-8");
    }
    require_words(sentence, place);
    read.sentences.emplace_back(sentence);
    read.names.emplace_back(label);
  });
  if (read.sentences.empty()) fail(ErrorCode::bad_file, path, ": has no sentences");
  return read;
}

bool is_whole_number(std::string_view name) {
  return name.size() <= 9 &&
         std::all_of(name.begin(), name.end(), [](char c) { return c >= '0' && c <= '9'; });
}

std::vector<std::string> classes_of(const std::vector<std::string>& names) {
  std::vector<std::string> classes = names;
  std::sort(classes.begin(), classes.end());
  classes.erase(std::unique(classes.begin(), classes.end()), classes.end());
  if (std::all_of(classes.begin(), classes.end(), is_whole_number)) {
    std::stable_sort(classes.begin(), classes.end(),
                     [](const auto& a, const auto& b) { return std::stoi(a) < std::stoi(b); });
  }
  return classes;
}

SentenceSet numbered(NamedSentences&& named, const std::vector<std::string>& classes) {
  std::map<std::string, std::int32_t> numbers;
  for (const std::string& name : classes) {
    numbers.emplace(name, static_cast<std::int32_t>(numbers.size()));
  }
  SentenceSet set{std::move(named.sentences), {}, classes};
  for (const std::string& name : named.names) set.labels.push_back(numbers.at(name));
  return set;
}

SentenceSet training_set(NamedSentences&& named, const std::string& path) {
  const std::vector<std::string> classes = classes_of(named.names);
  if (classes.size() < 2) {
    fail(ErrorCode::bad_file, path, ": found the class ", in_quotes(classes.front()),
         " alone, expected at least 2 classes");
  }
  return numbered(std::move(named), classes);
}

SentenceFiles read_folder_of_splits(const std::string& path) {
  SentenceFiles files;
  const std::string train = path + "/train.tsv", test = path + "/test.tsv";
  files.paths = {train, test};
  files.train = training_set(read_labelled(train), train);
  NamedSentences tested = read_labelled(test);
  for (const std::string& name : tested.names) {
    const auto& known = files.train.classes;
    if (std::find(known.begin(), known.end(), name) != known.end()) continue;
    fail(ErrorCode::bad_file, test, ": the class ", in_quotes(name), " is not in ", train,
         suggestion(name, known));
  }
  files.test = numbered(std::move(tested), files.train.classes);
  return files;
}

// Files NAME.CLASS by class.
std::map<std::string, std::string> class_files(const std::string& path) {
  const fs::path given(path);
  const fs::path folder = given.has_parent_path() ? given.parent_path() : fs::path(".");
  const std::string prefix = given.filename().string() + ".";
  std::map<std::string, std::string> files;
  std::error_code error;
  if (!given.has_filename() || !fs::is_directory(folder, error)) return files;
  for (const auto& entry : fs::directory_iterator(folder)) {
    const std::string name = entry.path().filename().string();
    if (!name.starts_with(prefix) || !entry.is_regular_file()) continue;
    files.emplace(name.substr(prefix.size()), path + "." + name.substr(prefix.size()));
  }
  return files;
}

SentenceFiles read_class_files(const std::string& path) {
  SentenceFiles files;
  NamedSentences named;
  for (const auto& [name, file] : class_files(path)) {
    if (name.empty() || !is_utf8(name)) {
      fail(ErrorCode::bad_file, file, ": found the class ", in_quotes(name),
           ", expected a name in UTF-8 behind the point");
    }
    read_class_file(file, name, named);
    files.paths.push_back(file);
  }
  if (files.paths.empty()) {
    fail(ErrorCode::usage, "no sentences at ", in_quotes(path),
         ", expected a folder with train.tsv and test.tsv, a file of lines LABEL<TAB>SENTENCE, or "
         "the name NAME of files NAME.CLASS");
  }
  files.train = training_set(std::move(named), path);
  return files;
}

}  // namespace

SentenceFiles read_sentences(const std::string& path) {
  std::error_code error;
  if (fs::is_directory(path, error)) return read_folder_of_splits(path);
  if (fs::is_regular_file(path, error)) {
    SentenceFiles files;
    files.paths = {path};
    files.train = training_set(read_labelled(path), path);
    return files;
  }
  return read_class_files(path);
}

bool holds_sentences(const std::string& path) {
  std::error_code error;
  return fs::exists(path, error) || !class_files(path).empty();
}

void renumber_classes(SentenceSet& set, const std::vector<std::string>& classes,
                      const std::string& place) {
  std::vector<std::int32_t> numbers;
  for (const std::string& name : set.classes) {
    const auto found = std::find(classes.begin(), classes.end(), name);
    if (found == classes.end()) {
      fail(ErrorCode::usage, place, ": the class ", in_quotes(name), " is unknown to the model",
           suggestion(name, classes));
    }
    numbers.push_back(static_cast<std::int32_t>(found - classes.begin()));
  }
  for (std::int32_t& label : set.labels) label = numbers[static_cast<std::size_t>(label)];
  set.classes = classes;
}

}  // namespace winnow
