// Damage to the JSON sections of a model file, one case per rule of docs/model-file.md.
#include <doctest/doctest.h>

#include <string>

#include "runtime/model/model_file.h"
#include "tests/model/bad_files.h"
#include "tests/model/sample_models.h"

namespace winnow {
namespace {

constexpr std::size_t kGraph = 0, kMeta = 1;  // sections of the golden file

const char* const kMetaText =
    R"({"activation_bits":8,"activation_frac":{},"classes":[],"metadata":{},)"
    R"("preprocessing":{"deviation":[],"mean":[]}})";

// The meta section with one text replaced by another.
std::string meta_with(const std::string& old_text, const std::string& new_text) {
  std::string text = kMetaText;
  return text.replace(text.find(old_text), old_text.size(), new_text);
}

// The meta section with fields of `preprocessing.pictures`.
std::string with_pictures(const std::string& fields) {
  return meta_with("\"mean\"", "\"pictures\":{" + fields + "},\"mean\"");
}

TEST_CASE("damaged JSON is refused") {
  static constexpr BadFile kCases[] = {
      {"no JSON", "section 0 (graph): byte", [](auto& f) { f.replace(kGraph, "{\"name\":"); }},
      {"empty", "section 1 (meta): byte", [](auto& f) { f.replace(kMeta, " "); }},
      {"too long", "at most 1048576",
       [](auto& f) { f.replace(kMeta, std::string((1 << 20) + 1, ' ')); }},
      {"nested too deep", "nested deeper than 16",
       [](auto& f) { f.replace(kMeta, std::string(17, '[') + std::string(17, ']')); }},
      {"key twice", "occurs twice",
       [](auto& f) {
         f.replace(kMeta, meta_with("\"classes\":[]", "\"classes\":[],\"classes\":[]"));
       }},
      {"not an object", "expected a JSON object", [](auto& f) { f.replace(kMeta, "[]"); }},
      {"unknown field", "unknown field 'clases'; did you mean 'classes'?",
       [](auto& f) { f.replace(kMeta, meta_with("{\"act", "{\"clases\":[],\"act")); }},
      {"missing field", "field 'classes' is missing",
       [](auto& f) { f.replace(kMeta, meta_with("\"classes\":[],", "")); }},
      {"number of another type", "field 'activation_bits' is 8.5",
       [](auto& f) { f.replace(kMeta, meta_with(":8", ":8.5")); }},
      {"number out of range", "expected an integer from 0 to 16",
       [](auto& f) { f.replace(kMeta, meta_with(":8", ":17")); }},
      {"number beyond 2^63", "is 18446744073709551615",
       [](auto& f) { f.replace(kMeta, meta_with(":8", ":18446744073709551615")); }},
      {"one activation bit", "activation bits are 1",
       [](auto& f) { f.replace(kMeta, meta_with(":8", ":1")); }},
      {"list of another type", "field 'classes' holds number",
       [](auto& f) { f.replace(kMeta, meta_with("\"classes\":[]", "\"classes\":[1]")); }},
      {"text of another type", "field 'metadata.seed' is number",
       [](auto& f) {
         f.replace(kMeta, meta_with("\"metadata\":{}", "\"metadata\":{\"seed\":1}"));
       }},
      {"bits of an unknown node", "unknown node 'cony'",
       [](auto& f) { f.replace(kMeta, meta_with("_frac\":{}", "_frac\":{\"cony\":1}")); }},
      {"float beyond its range", "expected 32-bit floats",
       [](auto& f) { f.replace(kMeta, meta_with("\"mean\":[]", "\"mean\":[1e39]")); }},
      {"pictures of another type", "field 'pictures' is string",
       [](auto& f) { f.replace(kMeta, meta_with("\"mean\"", "\"pictures\":\"\",\"mean\"")); }},
      {"pictures without a crop", "pictures: field 'crop' is missing",
       [](auto& f) { f.replace(kMeta, with_pictures(R"("resize":"4","interpolation":"box")")); }},
      {"pictures with another field", "pictures: found 4 fields, expected 3",
       [](auto& f) {
         f.replace(kMeta, with_pictures(R"("resize":"","crop":"","interpolation":"box","a":"")"));
       }},
      {"pictures by no known interpolation", "did you mean 'bicubic'?",
       [](auto& f) {
         f.replace(kMeta, with_pictures(R"("resize":"","crop":"","interpolation":"bicubik")"));
       }},
      {"pictures of no size", "pictures: resize: found '4y4', expected the shorter side or",
       [](auto& f) {
         f.replace(kMeta, with_pictures(R"("resize":"4y4","crop":"","interpolation":"box")"));
       }},
      {"pictures of another size", "pictures are brought to 999x999, the network's input is",
       [](auto& f) {
         f.replace(kMeta, with_pictures(R"("resize":"","crop":"999","interpolation":"box")"));
       }},
      {"mean of other channels", "mean of 2 channels, the input has 1",
       [](auto& f) { f.replace(kMeta, meta_with("\"mean\":[]", "\"mean\":[1,2]")); }},
      {"deviation 0", "deviation is not positive",
       [](auto& f) { f.replace(kMeta, meta_with("\"deviation\":[]", "\"deviation\":[0]")); }},
      {"class names", "3 class names, the network has 2 outputs",
       [](auto& f) {
         f.replace(kMeta, meta_with("\"classes\":[]", "\"classes\":[\"a\",\"b\",\"c\"]"));
       }},
      {"unknown op", "relux",
       [](auto& f) {
         f.rebuild([](auto& s) {
           std::string text(reinterpret_cast<const char*>(s[kGraph].own.data()),
                            s[kGraph].own.size());
           text.replace(text.find("\"op\":\"relu\""), 11, "\"op\":\"relux\"");
           const auto bytes = std::as_bytes(std::span(text));
           s[kGraph].own.assign(bytes.begin(), bytes.end());
         });
       }},
  };
  check_refused(kCases);
}

TEST_CASE("meta text of the cases above is right but for its damage") {
  FileSurgery surgery(serialize_model_file(golden_model()));
  surgery.replace(kMeta, kMetaText);
  CHECK(parse_model_file(surgery.bytes(), "meta").activation_bits == 8);
}

}  // namespace
}  // namespace winnow
