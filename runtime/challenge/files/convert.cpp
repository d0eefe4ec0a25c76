#include "runtime/challenge/files/convert.h"

#include "runtime/challenge/files/text/tsv.h"

namespace winnow::challenge {

Conversion convert_dataset(const DatasetFiles& files, std::optional<float> bias, FileForm form,
                           const std::string& folder, const ReadProgress& progress) {
  const auto network = open_network(files, bias);
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
