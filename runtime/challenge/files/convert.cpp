#include "runtime/challenge/files/convert.h"

#include <filesystem>
#include <string>
#include <system_error>

#include "runtime/base/error.h"
#include "runtime/challenge/files/text/tsv.h"

namespace winnow::challenge {
namespace {

void refuse(const std::string& path) {
  std::error_code ignored;
  if (!std::filesystem::exists(path, ignored)) return;
  fail(ErrorCode::usage, path, ": is there already, and readers would take it for a part of what ",
       "is written; remove it or take another folder");
}

// Readers prefer binary files to text, plain files to packed ones, and take all layers in a row.
void refuse_what_readers_would_mix(const DatasetFiles& files, std::uint32_t layers,
                                   const std::string& folder, FileForm form) {
  std::error_code ignored;
  if (form == FileForm::binary || std::filesystem::equivalent(files.folder, folder, ignored)) {
    return;
  }
  const std::uint32_t neurons = files.neurons;
  const std::string inner = folder + "/" + layer_folder_name(neurons) + "/";
  const bool is_packed = form == FileForm::packed_tsv;
  refuse(folder + "/" + network_file_name(neurons));
  for (const std::string& place : {inner, folder + "/"}) {
    refuse(place + layer_file_name(neurons, layers + 1));
    refuse(place + layer_file_name(neurons, layers + 1) + ".gz");
  }
  for (std::uint32_t l = 1; is_packed && l <= layers; ++l) {
    refuse(inner + layer_file_name(neurons, l));
  }
  if (!files.images.empty()) {
    refuse(folder + "/" + images_file_name(neurons, true));
    if (is_packed) refuse(folder + "/" + images_file_name(neurons, false));
  }
  if (is_packed && !find_truth(files, layers).empty()) {
    refuse(folder + "/" + categories_file_name(neurons, layers));
  }
}

}  // namespace

Conversion convert_dataset(const DatasetFiles& files, std::optional<float> bias, FileForm form,
                           const std::string& folder, const ReadProgress& progress) {
  const auto network = open_network(files, bias);
  refuse_what_readers_would_mix(files, network->layers(), folder, form);
  const DatasetWriter writer(folder, form);
  Conversion result;
  result.layers = network->layers();
  const WrittenNetwork written = writer.write(*network, progress);
  result.connections = written.connections;
  result.bias_to_give = written.bias_to_give;
  if (!files.images.empty()) {
    const SparseImages images = read_images(files);
    writer.write(images);
    result.images = images.images();
  }
  if (const std::string truth = find_truth(files, network->layers()); !truth.empty()) {
    writer.write(read_categories_tsv(truth), files.neurons, network->layers());
    result.has_truth = true;
  }
  return result;
}

}  // namespace winnow::challenge
