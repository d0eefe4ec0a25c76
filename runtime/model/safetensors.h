// Checkpoints as safetensors files: an 8-byte header length, a JSON header, the tensors' bytes.
#pragma once

#include <map>
#include <string>

#include "runtime/model/model.h"
#include "runtime/model/tensor.h"

namespace winnow {

struct SafetensorsFile {
  std::map<std::string, Tensor> tensors;
  std::map<std::string, std::string> metadata;
};

// Refuses what the format's reference reader refuses (header over 100 MB, offsets with gaps or
// overlaps, a span that does not match type and shape, duplicate keys, trailing bytes) with
// Error{bad_file}, naming file, tensor and place. Memory stays below the file's size.
SafetensorsFile read_safetensors(const std::string& path);

// Deterministic and atomic. As in the format's reference writer the widest element types come
// first, then names in order, so that every tensor is aligned to its element.
void write_safetensors(const std::string& path, const SafetensorsFile& file);

// A Model as safetensors: graph and state lie as JSON in the metadata ("winnow.graph",
// "winnow.state"), so the model's own metadata must not begin with "winnow."; a vocabulary is the
// tensor "winnow.vocabulary", its words in UTF-8 with a line feed behind each.
// Re-applies masks before writing, so that no checkpoint is ever not sparse. Throws Error{bad_file}
// if load_model would refuse the result.
void save_model(const std::string& path, const Model& model);

// Throws Error{bad_file}, also if the file is a safetensors file of another program.
Model load_model(const std::string& path);

}  // namespace winnow
