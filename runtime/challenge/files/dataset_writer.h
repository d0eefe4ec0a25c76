// Writes the challenge's data into a folder, in one of the forms that dataset.h finds there.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "runtime/challenge/engine.h"
#include "runtime/challenge/files/dataset.h"

namespace winnow::challenge {

enum class FileForm { tsv, packed_tsv, binary };

// Those of FileForm by name: "tsv", "tsv.gz", "binary". Throws Error{usage} for other names, with
// a did-you-mean.
FileForm form_from(const std::string& name);

struct WrittenNetwork {
  std::uint64_t connections = 0;

  // What a reader of the text files has to be told, because they do not hold it.
  std::optional<float> bias_to_give;
};

// Every file appears as a whole or not at all. All functions throw Error{bad_file} if a file cannot
// be written and Error{usage} for malformed arguments.
class DatasetWriter {
 public:
  // Makes the folder if it is not there.
  DatasetWriter(std::string folder, FileForm form);

  FileForm form() const { return form_; }

  // The file, or for text the folder of layer files.
  std::string network_path(std::uint32_t neurons) const;
  std::string images_path(std::uint32_t neurons) const;

  // Layers are asked for on all cores, no more of them at once than there are cores. Throws
  // Error{usage} if a network whose biases differ or whose layers are not square is to become text;
  // some of its files may then be there, and beside them a mark that keeps readers off.
  WrittenNetwork write(const Network& network, const ReadProgress& progress = nullptr) const;

  void write(const SparseImages& images) const;

  // Of a network with so many neurons, after so many layers. There is no binary form.
  void write(const Categories& categories, std::uint32_t neurons, std::uint32_t layers) const;

 private:
  std::string text_path(const std::string& name) const;
  WrittenNetwork write_text(const Network& network, const ReadProgress& progress) const;
  WrittenNetwork write_binary(const Network& network, const ReadProgress& progress) const;

  std::string folder_;
  FileForm form_;
};

}  // namespace winnow::challenge
