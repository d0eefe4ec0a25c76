#include "runtime/base/file_kind.h"

#include <doctest/doctest.h>

#include <string>
#include <string_view>

namespace winnow {
namespace {

using namespace std::string_view_literals;

std::string kind(std::string_view text) {
  return file_kind(std::as_bytes(std::span(text)));
}

}  // namespace

TEST_CASE("files of other programs are named") {
  CHECK(kind("PK\x03\x04\x14\0\0\0"sv) == "a ZIP archive, as PyTorch's .pt and NumPy's .npz");
  CHECK(kind("\x80\x02}q\0."sv) == "a Python pickle, as PyTorch's old .pt");
  CHECK(kind("\x80\x04\x95"sv) == "a Python pickle");
  CHECK(kind("\x08\x07\x12\x07pytorch"sv) == "an ONNX model");
  CHECK(kind("\x08\x0a\x3a\x10"sv) == "an ONNX model");
  CHECK(kind("\x89HDF\r\n\x1a\n\0\0"sv) == "an HDF5 file, as Keras's .h5");
  CHECK(kind("\x1f\x8b\x08\0"sv) == "a gzip-packed file");
  CHECK(kind("\x89PNG\r\n\x1a\n\0"sv) == "a PNG picture");
  CHECK(kind("\xff\xd8\xff\xe0\0\x10"sv) == "a JPEG picture");
  CHECK(kind("\x1c\0\0\0TFL3"sv) == "a TensorFlow Lite model");
  CHECK(kind("GGUF\3\0\0\0"sv) == "a GGUF file");
  CHECK(kind("\x93NUMPY\1\0"sv) == "a NumPy array (.npy)");
}

TEST_CASE("our own files, texts and nothing are told apart") {
  CHECK(kind("\x89WNW\r\n\x1a\n\1\0"sv) == "a Winnow model file (.wnw)");
  CHECK(kind("\x02\0\0\0\0\0\0\0{}"sv) == "a safetensors file");
  CHECK(kind("name: vgg16\n\tx"sv) == "a text file");
  CHECK(kind("gr\u00fcn"sv) == "a text file");
  const std::string cut = std::string(511, 'a') + "\u00fc";  // its second byte is the 513th
  CHECK(kind(cut) == "a text file");
  CHECK(kind(""sv) == "an empty file");
}

TEST_CASE("what is none of these has no name") {
  CHECK(kind("\x01\x02\x03\x04"sv) == "");
  CHECK(kind("\x02\0\0\0\0\0\0\x01{}"sv) == "");  // a length that no file has
  CHECK(kind("\x08"sv) == "");
  CHECK(kind(std::string(56, '\xc8')) == "");
  CHECK(kind("gr\xfcn"sv) == "");
  CHECK(kind(std::string(600, '\x80')) == "");
  CHECK(but_file_kind(std::as_bytes(std::span("\x01\x02"sv))) == "");
  CHECK(but_file_kind(std::as_bytes(std::span("abc"sv))) == ", but a text file");
}

}  // namespace winnow
