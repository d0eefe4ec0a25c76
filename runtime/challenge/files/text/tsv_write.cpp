#include <bit>
#include <charconv>
#include <string_view>

#include "runtime/base/error.h"
#include "runtime/challenge/files/file_limits.h"
#include "runtime/challenge/files/text/text_file.h"
#include "runtime/challenge/files/text/tsv.h"

namespace winnow::challenge {
namespace {

constexpr std::size_t kLongestLine = 64;  // two numbers of 10 digits and a weight of at most 16
constexpr std::size_t kLongestWeight = 24;

// Number `index` counted from 1.
char* put_index(char* at, std::uint32_t index) {
  return std::to_chars(at, at + kLongestLine, std::uint64_t{index} + 1).ptr;
}

char* put_text(char* at, std::string_view text) {
  return at + text.copy(at, text.size());
}

// Floats as text from which the same float is read. Remembers the last one.
class FloatText {
 public:
  std::string_view of(float value) {
    if (size_ == 0 || std::bit_cast<std::uint32_t>(value) != bits_) format(value);
    return {text_, size_};
  }

 private:
  void format(float value) {
    constexpr int kDigits = 6;  // behind the point, as in the published files
    bits_ = std::bit_cast<std::uint32_t>(value);
    char* end =
        std::to_chars(text_, text_ + kLongestWeight, value, std::chars_format::scientific, kDigits)
            .ptr;
    float read = 0;
    std::from_chars(text_, end, read);
    if (std::bit_cast<std::uint32_t>(read) != bits_) {
      end = std::to_chars(text_, text_ + kLongestWeight, value, std::chars_format::scientific).ptr;
    }
    size_ = static_cast<std::size_t>(end - text_);
  }

  char text_[kLongestWeight] = {};
  std::size_t size_ = 0;
  std::uint32_t bits_ = 0;
};

void put_entry(TextWriter& file, std::uint32_t first, std::uint32_t second,
               std::string_view value) {
  char* at = file.room(kLongestLine);
  at = put_index(at, first);
  *at++ = '\t';
  at = put_index(at, second);
  *at++ = '\t';
  at = put_text(at, value);
  *at++ = '\n';
  file.advance_to(at);
}

}  // namespace

void write_layer_tsv(const std::string& path, const SparseLayer& layer) {
  check_layer(layer, path);
  TextWriter file(path);
  FloatText weight;
  for (std::uint32_t output = 0; output < layer.outputs(); ++output) {
    for (std::uint32_t k = layer.row_begin[output]; k < layer.row_begin[output + 1]; ++k) {
      put_entry(file, layer.input[k], output, weight.of(layer.value[k]));
    }
  }
  file.commit();
}

void write_images_tsv(const std::string& path, const SparseImages& images) {
  check_images(images, path);
  const std::uint32_t count = images.images();
  if (count == 0 || count > kMostImages) {
    fail(ErrorCode::usage, path, ": ", count, " images, expected 1 to ", kMostImages);
  }
  TextWriter file(path);
  for (std::uint32_t image = 0; image < count; ++image) {
    for (std::uint64_t k = images.row_begin[image]; k < images.row_begin[image + 1]; ++k) {
      put_entry(file, image, images.neuron[k], "1");
    }
  }
  const bool is_last_empty = images.row_begin[count - 1] == images.ones();
  if (is_last_empty) put_entry(file, count - 1, 0, "0");
  file.commit();
}

void write_categories_tsv(const std::string& path, const Categories& categories) {
  TextWriter file(path);
  for (std::size_t k = 0; k < categories.size(); ++k) {
    if (categories[k] >= kMostImages || (k > 0 && categories[k] <= categories[k - 1])) {
      fail(ErrorCode::usage, path, ": category ", categories[k], " is out of order or not below ",
           kMostImages);
    }
    char* at = put_index(file.room(kLongestLine), categories[k]);
    *at++ = '\n';
    file.advance_to(at);
  }
  file.commit();
}

}  // namespace winnow::challenge
