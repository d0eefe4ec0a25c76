#include "runtime/images/image_set.h"

#include "runtime/base/error.h"
#include "runtime/base/suggest.h"
#include "runtime/images/cifar.h"
#include "runtime/images/folder.h"
#include "runtime/images/idx.h"

namespace winnow {

ImageFormat image_format_from(std::string_view name) {
  if (name == "cifar10") return ImageFormat::cifar10;
  if (name == "cifar100") return ImageFormat::cifar100;
  if (name == "idx") return ImageFormat::idx;
  if (name == "folder") return ImageFormat::folder;
  if (name == "text") return ImageFormat::text;
  const std::string known[] = {"cifar10", "cifar100", "idx", "folder", "text"};
  fail(ErrorCode::usage, "unknown data format ", in_quotes(name), suggestion(name, known));
}

DataPlace data_place_from(const std::string& text) {
  const std::size_t colon = text.find(':');
  if (colon == std::string::npos || colon + 1 == text.size()) {
    fail(ErrorCode::usage, "found ", in_quotes(text),
         ", expected FORMAT:DIRECTORY, for example cifar10:data/cifar10");
  }
  return {image_format_from(std::string_view(text).substr(0, colon)), text.substr(colon + 1)};
}

ImageSet read_image_set(ImageFormat format, const std::string& directory, Split split,
                        const FolderOptions& options) {
  switch (format) {
    case ImageFormat::cifar10:
      return read_cifar10(directory, split);
    case ImageFormat::cifar100:
      return read_cifar100(directory, split);
    case ImageFormat::idx:
      return read_idx(directory, split);
    case ImageFormat::folder:
      return read_folder(list_folder(directory, split), options);
    case ImageFormat::text:
      fail(ErrorCode::usage, in_quotes(directory), ": found sentences, expected images");
  }
  fail(ErrorCode::internal, "read_image_set: unknown format");
}

}  // namespace winnow
