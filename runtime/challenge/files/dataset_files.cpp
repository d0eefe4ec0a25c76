#include <algorithm>
#include <charconv>
#include <filesystem>
#include <set>
#include <string_view>
#include <system_error>

#include "runtime/base/error.h"
#include "runtime/challenge/files/dataset.h"

namespace winnow::challenge {
namespace {

constexpr const char* kTextEndings[] = {"", ".gz"};  // behind ".tsv"

std::string layer_prefix(std::uint32_t neurons) {
  return std::string("n") + std::to_string(neurons) + "-l";
}

bool is_file(const std::string& path) {
  std::error_code ignored;
  return std::filesystem::is_regular_file(path, ignored);
}

std::vector<std::string> names_in(const std::string& folder) {
  std::vector<std::string> names;
  std::error_code error;
  for (std::filesystem::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    names.push_back(entry->path().filename().string());
  }
  return names;
}

// The number between prefix and suffix, as we write it: digits, from 1, no zero in front.
std::optional<std::uint32_t> number_in(std::string_view name, std::string_view prefix,
                                       std::string_view suffix) {
  if (!name.starts_with(prefix)) return std::nullopt;
  name.remove_prefix(prefix.size());
  std::uint32_t number = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), number);
  const auto digits = static_cast<std::size_t>(end - name.data());
  if (error != std::errc{} || name.front() == '0' || name.substr(digits) != suffix) {
    return std::nullopt;
  }
  return number;
}

// The number N in a file nN-lK.tsv or .tsv.gz.
std::optional<std::uint32_t> neurons_in_layer_name(std::string_view name) {
  const std::size_t dash = name.find('-');
  if (dash == std::string_view::npos) return std::nullopt;
  for (const char* ending : kTextEndings) {
    if (number_in(name.substr(dash), "-l", std::string(".tsv") + ending)) {
      return number_in(name.substr(0, dash), "n", "");
    }
  }
  return std::nullopt;
}

std::set<std::uint32_t> sizes_in(const std::string& folder) {
  std::set<std::uint32_t> sizes;
  for (const std::string& name : names_in(folder)) {
    std::optional<std::uint32_t> neurons = number_in(name, "neuron", ".wsn");
    if (!neurons && !is_file(folder + "/" + name)) neurons = number_in(name, "neuron", "");
    if (!neurons) neurons = neurons_in_layer_name(name);
    if (neurons) sizes.insert(*neurons);
  }
  return sizes;
}

std::uint32_t only_size(const std::string& folder) {
  const std::set<std::uint32_t> sizes = sizes_in(folder);
  if (sizes.size() == 1) return *sizes.begin();
  if (sizes.empty()) {
    fail(ErrorCode::bad_file, folder, ": no network: looked for neuronN.wsn, neuronN/nN-l1.tsv",
         " and nN-l1.tsv (also .tsv.gz), N the number of neurons");
  }
  std::string list;
  for (const std::uint32_t size : sizes) {
    list += (list.empty() ? "" : ", ") + std::to_string(size);
  }
  fail(ErrorCode::usage, folder, ": found networks of ", list,
       " neurons, expected one; say which by its number of neurons");
}

// Where TSV files of so many neurons may lie.
std::vector<std::string> places(const std::string& folder, std::uint32_t neurons) {
  return {folder + "/" + layer_folder_name(neurons), folder};
}

// The path of a TSV file in one of the folders, or "".
std::string find_text(const std::vector<std::string>& folders, const std::string& name) {
  for (const std::string& folder : folders) {
    for (const char* ending : kTextEndings) {
      std::string path = folder + "/" + name + ending;
      if (is_file(path)) return path;
    }
  }
  return "";
}

std::uint32_t last_layer(const std::vector<std::string>& folders, std::uint32_t neurons) {
  const std::string prefix = layer_prefix(neurons);
  std::uint32_t last = 0;
  for (const std::string& folder : folders) {
    for (const std::string& name : names_in(folder)) {
      for (const char* ending : kTextEndings) {
        const auto number = number_in(name, prefix, std::string(".tsv") + ending);
        last = std::max(last, number.value_or(0));
      }
    }
  }
  return last;
}

// The first layers of a network would pass for a network of fewer layers.
void require_finished(const std::string& folder) {
  const std::string mark = folder + "/" + unfinished_file_name();
  if (!is_file(mark)) return;
  fail(ErrorCode::bad_file, mark,
       ": the layers beside it were not all written; remove the folder and write it again");
}

std::vector<std::string> find_layers(const std::string& folder, std::uint32_t neurons,
                                     std::uint32_t layers) {
  const std::vector<std::string> folders = places(folder, neurons);
  for (const std::string& place : folders) require_finished(place);
  const std::uint32_t last = std::max(layers > 0 ? layers : last_layer(folders, neurons), 1u);
  std::vector<std::string> files;
  for (std::uint32_t number = 1; number <= last; ++number) {
    const std::string name = layer_file_name(neurons, number);
    files.push_back(find_text(folders, name));
    if (!files.back().empty()) continue;
    const bool is_first = number == 1;
    fail(ErrorCode::bad_file, folder, is_first ? ": no network" : ": no layer ",
         is_first ? "" : std::to_string(number) + " of " + std::to_string(last), ": looked for ",
         is_first ? network_file_name(neurons) + ", " : "", name, " and ", name, ".gz in ", folder,
         " and ", folders.front());
  }
  return files;
}

}  // namespace

std::string network_file_name(std::uint32_t neurons) {
  return layer_folder_name(neurons) + ".wsn";
}

std::string layer_file_name(std::uint32_t neurons, std::uint32_t number) {
  return layer_prefix(neurons) + std::to_string(number) + ".tsv";
}

std::string layer_folder_name(std::uint32_t neurons) {
  return "neuron" + std::to_string(neurons);
}

std::string unfinished_file_name() {
  return "unfinished";
}

std::string images_file_name(std::uint32_t neurons, bool is_binary) {
  return "sparse-images-" + std::to_string(neurons) + (is_binary ? ".wsi" : ".tsv");
}

std::string categories_file_name(std::uint32_t neurons, std::uint32_t layers) {
  return layer_folder_name(neurons) + "-l" + std::to_string(layers) + "-categories.tsv";
}

DatasetFiles find_dataset(const std::string& folder, std::uint32_t neurons, std::uint32_t layers) {
  std::error_code ignored;
  if (!std::filesystem::is_directory(folder, ignored)) {
    fail(ErrorCode::bad_file, folder, ": no such folder");
  }
  DatasetFiles files;
  files.folder = folder;
  files.neurons = neurons > 0 ? neurons : only_size(folder);
  const std::string binary = folder + "/" + network_file_name(files.neurons);
  if (is_file(binary)) {
    files.network = binary;
    files.layers = layers;
  } else {
    files.layer_files = find_layers(folder, files.neurons, layers);
    files.layers = static_cast<std::uint32_t>(files.layer_files.size());
  }
  const std::string images = folder + "/" + images_file_name(files.neurons, true);
  files.images =
      is_file(images) ? images : find_text({folder}, images_file_name(files.neurons, false));
  return files;
}

std::string find_truth(const DatasetFiles& files, std::uint32_t layers) {
  return find_text({files.folder, files.folder + "/" + layer_folder_name(files.neurons)},
                   categories_file_name(files.neurons, layers));
}

}  // namespace winnow::challenge
