// One damaged file per rule of docs/model-file.md. Checksums are right unless the case says so.
#include <doctest/doctest.h>

#include <limits>

#include "runtime/model/model_file.h"
#include "tests/model/bad_files.h"
#include "tests/model/sample_models.h"
#include "tests/throws.h"

namespace winnow {
namespace {

using u8 = std::uint8_t;
using u16 = std::uint16_t;
using u32 = std::uint32_t;
using u64 = std::uint64_t;

// Sections of the golden file.
constexpr std::size_t kGraph = 0, kWeights = 2, kIndex = 4, kCodebook = 5, kSparseValues = 6,
                      kLast = 8;
// Its weights.
constexpr std::size_t kConvBias = 0, kConvWeight = 1, kFcWeight = 3;

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

TEST_CASE("an untouched file passes the surgery") {
  for (const DeployedModel& model : {golden_model(), golden_scaled_model(), text_model()}) {
    const std::vector<std::byte> golden = serialize_model_file(model);
    FileSurgery surgery(golden);
    surgery.rebuild([](auto&) {}).announce().seal();
    CHECK(surgery.bytes() == golden);
  }
}

TEST_CASE("a damaged header is refused") {
  static constexpr BadFile kCases[] = {
      {"magic", "no Winnow model file", [](auto& f) { f.put(0, 'x').seal(); }},
      {"magic after a transfer as text", "transfer as text",
       [](auto& f) { f.put(4, u8{'\n'}).seal(); }},
      {"later major version", "format version 2.0, this program reads 1.x",
       [](auto& f) { f.put(8, u16{2}).seal(); }},
      {"major version 0", "format version 0.0", [](auto& f) { f.put(8, u16{0}).seal(); }},
      {"byte order", "byte order tag", [](auto& f) { f.put(12, u32{0x04030201}).seal(); }},
      {"no sections", "0 sections", [](auto& f) { f.put(16, u32{0}).seal(); }},
      {"table beyond the file", "room for", [](auto& f) { f.put(16, ~u32{0}).seal(); }},
      {"no weights", "weights): 292 bytes, 0 records and their names take 0",
       [](auto& f) { f.put(20, u32{0}).seal(); }},
      {"fewer weights than sections", "292 bytes, 3 records",
       [](auto& f) { f.put(20, u32{3}).seal(); }},
      {"more weights than fit", "too few for 4294967295 records",
       [](auto& f) { f.put(20, ~u32{0}).seal(); }},
      {"table elsewhere", "section table at 128", [](auto& f) { f.put(24, u64{128}).seal(); }},
      {"file announced as longer", "should be 1681 bytes long, it has 1680",
       [](auto& f) { f.put(32, u64{1681}).seal(); }},
      {"file announced as shorter", "should be 1679 bytes long",
       [](auto& f) { f.put(32, u64{1679}).seal(); }},
      {"unknown feature", "needs features 0x80000000",
       [](auto& f) { f.put(40, u32{0x80000000}).seal(); }},
      {"announced memory", "announces 67 bytes of decoded weights, the records add up to 66",
       [](auto& f) { f.put(48, u64{67}).seal(); }},
      {"reserved bytes", "reserved bytes are not 0", [](auto& f) { f.put(56, u32{1}).seal(); }},
      {"checksum", "header: checksum does not match", [](auto& f) { f.put(56, u32{1}); }},
      {"bytes after the last section", "64 bytes follow the last section",
       [](auto& f) { f.grow(64).seal(); }},
  };
  check_refused(kCases);
}

TEST_CASE("a damaged section table is refused") {
  static constexpr BadFile kCases[] = {
      {"unknown kind", "section 4 (conv.weight index): found kind 7",
       [](auto& f) { f.put_entry(kIndex, 0, u32{7}).seal(); }},
      {"kinds swapped", "section 0 (graph): found kind 2",
       [](auto& f) { f.put_entry(0, 0, u32{2}).put_entry(1, 0, u32{1}).seal(); }},
      {"section of another weight", "expected kind 4 of weight 1",
       [](auto& f) { f.put_entry(kIndex, 4, u32{2}).seal(); }},
      {"gap", "section 4: begins at 1472, expected 1408",
       [](auto& f) { f.put_entry(kIndex, 8, u64{1472}).seal(); }},
      {"overlap", "section 4: begins at 1344",
       [](auto& f) { f.put_entry(kIndex, 8, u64{1344}).seal(); }},
      {"not aligned", "section 4: begins at 1409",
       [](auto& f) { f.put_entry(kIndex, 8, u64{1409}).seal(); }},
      {"offset near 2^64", "section 4: begins at 18446744073709551552",
       [](auto& f) { f.put_entry(kIndex, 8, ~u64{0} - 63).seal(); }},
      {"longer than the file", "section 8: 17 bytes at 1664 reach beyond",
       [](auto& f) { f.put_entry(kLast, 16, u64{17}).seal(); }},
      {"length near 2^64", "section 8: 18446744073709551615 bytes",
       [](auto& f) { f.put_entry(kLast, 16, ~u64{0}).seal(); }},
      {"shorter, so that padding is not 0", "section 1: the bytes before it are not 0",
       [](auto& f) { f.put_entry(kGraph, 16, u64{438}).seal(); }},
      {"last section ends early", "1 bytes follow the last section",
       [](auto& f) { f.put_entry(kLast, 16, u64{15}).seal(); }},
      {"padding", "section 5: the bytes before it are not 0",
       [](auto& f) { f.put_byte(kIndex, 7, 1).seal(); }},
      {"reserved bytes", "section 3: reserved bytes",
       [](auto& f) { f.put_entry(3, 28, u32{1}).seal(); }},
      {"checksum", "section 6: checksum does not match",
       [](auto& f) { f.put_byte(kSparseValues, 0, 0x22); }},
      {"section missing at the end", "section 8 (fc.weight values): is missing",
       [](auto& f) { f.rebuild([](auto& s) { s.pop_back(); }); }},
      {"section missing in the middle", "section 5 (conv.weight codebook): found kind 6",
       [](auto& f) { f.rebuild([](auto& s) { s.erase(s.begin() + kCodebook); }); }},
      {"section too many", "section 9: kind 6 is not expected here",
       [](auto& f) { f.rebuild([](auto& s) { s.push_back(s.back()); }); }},
  };
  check_refused(kCases);
}

TEST_CASE("a damaged weight record is refused") {
  static constexpr BadFile kCases[] = {
      {"empty name", "record 1: length of the name is 0",
       [](auto& f) { f.put_record(1, 0, u32{0}).seal(); }},
      {"long name", "length of the name is 1025",
       [](auto& f) { f.put_record(1, 0, u32{1025}).seal(); }},
      {"names and section differ", "4 records and their names take 293",
       [](auto& f) { f.put_record(1, 0, u32{12}).seal(); }},
      {"names out of order", "follows 'conv.bias', expected rising order",
       [](auto& f) { f.put_byte(kWeights, 265, 'a').seal(); }},
      {"form", "form is 3", [](auto& f) { f.put_record(kConvWeight, 4, u8{3}).seal(); }},
      {"encoding 0", "encoding is 0", [](auto& f) { f.put_record(kConvBias, 5, u8{0}).seal(); }},
      {"encoding 7", "encoding is 7", [](auto& f) { f.put_record(kConvBias, 5, u8{7}).seal(); }},
      {"index form 0", "index form is 0",
       [](auto& f) { f.put_record(kConvWeight, 6, u8{0}).seal(); }},
      {"index form 4", "index form is 4",
       [](auto& f) { f.put_record(kConvWeight, 6, u8{4}).seal(); }},
      {"u16 for wide rows", "index form u16 for 65537 columns",
       [](auto& f) {
         f.put_record(kConvWeight, 6, u8{2}).put_record(kConvWeight, 36, u32{65537}).seal();
       }},
      {"size of counts", "size of a count is 4, expected 2",
       [](auto& f) { f.put_record(kConvWeight, 7, u8{4}).seal(); }},
      {"rank of a sparse weight", "rank is 3",
       [](auto& f) { f.put_record(kConvWeight, 8, u8{3}).seal(); }},
      {"rank of a dense weight", "rank is 9",
       [](auto& f) { f.put_record(kConvBias, 8, u8{9}).seal(); }},
      {"flags", "flags is 4, expected 0 to 3",
       [](auto& f) { f.put_record(kConvWeight, 9, u8{4}).seal(); }},
      {"flags of a dense weight", "flags is 4, expected 0 or 2",
       [](auto& f) { f.put_record(kConvBias, 9, u8{4}).seal(); }},
      {"kept counts of a dense weight", "field of sparse weights",
       [](auto& f) { f.put_record(kConvBias, 9, u8{1}).seal(); }},
      {"vector", "vector is 3", [](auto& f) { f.put_record(kConvWeight, 10, u16{3}).seal(); }},
      {"vector 0", "vector is 0", [](auto& f) { f.put_record(kConvWeight, 10, u16{0}).seal(); }},
      {"sparse fields of a dense weight", "field of sparse weights",
       [](auto& f) { f.put_record(kConvBias, 10, u16{1}).seal(); }},
      {"scale that is no number", "scale is not finite",
       [](auto& f) { f.put_record(kFcWeight, 12, kNan).seal(); }},
      {"negative scale", "expected a positive number",
       [](auto& f) { f.put_record(kFcWeight, 12, -1.0f).seal(); }},
      {"scale of floats", "expected 1", [](auto& f) { f.put_record(kConvBias, 12, 2.0f).seal(); }},
      {"codebook too large", "codebook entries is 17",
       [](auto& f) { f.put_record(kConvWeight, 16, u32{17}).seal(); }},
      {"codebook of floats", "codebook entries is 1",
       [](auto& f) { f.put_record(kConvBias, 16, u32{1}).seal(); }},
      {"codebook of another size", "section 5 (conv.weight codebook): 8 bytes, 3 entries take 6",
       [](auto& f) { f.put_record(kConvWeight, 16, u32{3}).announce().seal(); }},
      {"row longer than the columns", "rows of 5 blocks in 4 columns",
       [](auto& f) { f.put_record(kConvWeight, 20, u32{5}).seal(); }},
      {"row length that no row has", "no row stores all blocks",
       [](auto& f) { f.put_record(kConvWeight, 20, u32{3}).announce().seal(); }},
      {"row length below a row's", "2 blocks stored in a row of 1",
       [](auto& f) { f.put_record(kConvWeight, 20, u32{1}).announce().seal(); }},
      {"number of sparse values", "4 values, 3 stored blocks have 3",
       [](auto& f) { f.put_record(kConvWeight, 24, u64{4}).seal(); }},
      {"number of dense values", "17 values, shape [2, 8] has 16",
       [](auto& f) { f.put_record(kFcWeight, 24, u64{17}).seal(); }},
      {"size 0", "a size is 0", [](auto& f) { f.put_record(kFcWeight, 32, u32{0}).seal(); }},
      {"size beyond the rank", "beyond the rank",
       [](auto& f) { f.put_record(kFcWeight, 40, u32{1}).seal(); }},
      {"more rows than the index has", "the counts of 3000 rows take 6000",
       [](auto& f) { f.put_record(kConvWeight, 32, u32{3000}).announce().seal(); }},
      {"dense weight of another shape", "shape is [8, 2], expected [2, 8]",
       [](auto& f) {
         f.put_record(kFcWeight, 32, u32{8}).put_record(kFcWeight, 36, u32{2}).seal();
       }},
      {"sparse weight of another size", "size is [2, 5], expected [2, 4]",
       [](auto& f) { f.put_record(kConvWeight, 36, u32{5}).seal(); }},
      {"memory that no machine has", "are allowed",
       [](auto& f) {
         f.put_record(kFcWeight, 32, ~u32{0}).put_record(kFcWeight, 36, ~u32{0}).announce().seal();
       }},
      {"product of sizes beyond 2^64", "are allowed",
       [](auto& f) {
         f.put_record(kFcWeight, 8, u8{3}).put_record(kFcWeight, 32, ~u32{0});
         f.put_record(kFcWeight, 36, ~u32{0}).put_record(kFcWeight, 40, ~u32{0});
         f.announce().seal();
       }},
      {"pads that no machine holds", "are allowed",
       [](auto& f) {
         f.put_record(kConvWeight, 7, u8{4}).put_record(kConvWeight, 20, ~u32{0});
         f.put_record(kConvWeight, 32, ~u32{0}).put_record(kConvWeight, 36, ~u32{0});
         f.announce().seal();
       }},
  };
  check_refused(kCases);
}

TEST_CASE("damaged sparse rows are refused") {
  static constexpr BadFile kCases[] = {
      {"column beyond the last", "row 0: a column is out of range",
       [](auto& f) { f.put_byte(kIndex, 5, 4).seal(); }},
      {"index cut short", "section 4 (conv.weight index): row 1: the index is cut short",
       [](auto& f) { f.rebuild([](auto& s) { s[kIndex].own.pop_back(); }); }},
      {"index too long", "1 bytes follow the last row",
       [](auto& f) { f.rebuild([](auto& s) { s[kIndex].own.push_back(std::byte{1}); }); }},
      {"needless escape", "an escape stands where a delta fits",
       [](auto& f) {
         f.rebuild([](auto& s) {
           s[kIndex].own.pop_back();
           for (const int b : {0, 1, 0}) s[kIndex].own.push_back(static_cast<std::byte>(b));
         });
       }},
      {"count beyond the row length", "5 blocks stored in a row of 2",
       [](auto& f) { f.put_byte(kIndex, 2, 5).put_record(kConvWeight, 24, u64{7}).seal(); }},
      {"too few values", "1 bytes of values, 3 stored blocks take 2",
       [](auto& f) { f.rebuild([](auto& s) { s[kSparseValues].own.pop_back(); }); }},
      {"code without an entry", "has code 5, the codebook has 4 entries",
       [](auto& f) { f.put_byte(kSparseValues, 0, 0x51).seal(); }},
      {"unused nibble", "the unused nibble is not 0",
       [](auto& f) { f.put_byte(kSparseValues, 1, 0x13).seal(); }},
      {"pads without a zero", "rows are padded, but code 0 does not stand for 0",
       [](auto& f) { f.put_byte(kCodebook, 1, 0x3c).seal(); }},
      {"codebook entry that is no number", "codebook entry 1 is not finite",
       [](auto& f) { f.put_byte(kCodebook, 2, 0).put_byte(kCodebook, 3, 0x7c).seal(); }},
      {"kept counts that say nothing new", "the kept counts repeat the stored counts",
       [](auto& f) {
         f.rebuild([](auto& s) {
           auto& index = s[kIndex].own;
           const std::vector<std::byte> counts(index.begin(), index.begin() + 4);
           index.insert(index.begin() + 4, counts.begin(), counts.end());
         });
         f.put_record(kConvWeight, 9, u8{1}).seal();
       }},
      {"fewer blocks kept than are not 0", "2 blocks are not 0, but only 1 are kept",
       [](auto& f) {
         f.rebuild([](auto& s) {
           auto& index = s[kIndex].own;
           const std::byte counts[] = {std::byte{1}, std::byte{0}, std::byte{2}, std::byte{0}};
           index.insert(index.begin() + 4, std::begin(counts), std::end(counts));
         });
         f.put_record(kConvWeight, 9, u8{1}).seal();
       }},
      {"more blocks kept than a row has", "3 blocks kept of 2",
       [](auto& f) {
         f.rebuild([](auto& s) {
           auto& index = s[kIndex].own;
           const std::byte counts[] = {std::byte{3}, std::byte{0}, std::byte{1}, std::byte{0}};
           index.insert(index.begin() + 4, std::begin(counts), std::end(counts));
         });
         f.put_record(kConvWeight, 9, u8{1}).seal();
       }},
      {"dense values cut short", "15 bytes, 16 values take 16",
       [](auto& f) { f.rebuild([](auto& s) { s[kLast].own.pop_back(); }); }},
  };
  check_refused(kCases);
}

// Of golden_scaled_model: weight 0 is sparse, section 4 its codebook.
TEST_CASE("damaged channel scales are refused") {
  constexpr std::size_t kScaledCodebook = 4;
  static constexpr BadFile kCases[] = {
      {"feature not announced", "byte 40: announces features 0x0, the weights need 0x1",
       [](auto& f) { f.put(40, u32{0}).seal(); }},
      {"unknown feature beside it", "needs features 0x5 that this program does not know",
       [](auto& f) { f.put(40, u32{5}).seal(); }},
      {"feature of a later version", "needs features 0x1 that format 1.0 does not have",
       [](auto& f) { f.put(10, u16{0}).seal(); }},
      {"flag missing", "announces features 0x1, the weights need 0x0",
       [](auto& f) { f.put_record(0, 9, u8{0}).seal(); }},
      {"scales cut short", "codebook): 10 bytes, 4 entries and 2 channel scales take 12",
       [](auto& f) { f.rebuild([](auto& s) { s[kScaledCodebook].own.resize(10); }); }},
      {"scales too long", "codebook): 14 bytes, 4 entries and 2 channel scales take 12",
       [](auto& f) { f.rebuild([](auto& s) { s[kScaledCodebook].own.resize(14); }); }},
      {"memory not announced", "announces 34 bytes of decoded weights, the records add up to 38",
       [](auto& f) { f.put(48, u64{34}).seal(); }},
      {"infinite scale", "channel scale 0 is not finite",
       [](auto& f) {
         f.put_byte(kScaledCodebook, 8, 0x00).put_byte(kScaledCodebook, 9, 0x7c).seal();
       }},
      {"scale that is no number", "channel scale 1 is not finite",
       [](auto& f) {
         f.put_byte(kScaledCodebook, 11, 0x7e).put_byte(kScaledCodebook, 10, 1).seal();
       }},
      {"scales of floats", "channel scales without a codebook",
       [](auto& f) { f.put_record(0, 5, u8{1}).put_record(0, 16, u32{0}).announce().seal(); }},
      {"scales for more channels than there are", "4 entries and 3000 channel scales take 6008",
       [](auto& f) { f.put_record(0, 32, u32{3000}).announce().seal(); }},
      {"scales of a weight without channels", "channel scales of a weight without channels",
       [](auto& f) {
         f.put_record(0, 4, u8{1}).put_record(0, 6, u16{0}).put_record(0, 8, u8{0});
         f.put_record(0, 10, u16{0}).put_record(0, 20, u32{0}).put_record(0, 32, u64{0}).seal();
       }},
  };
  check_refused(golden_scaled_model(), kCases);
}

TEST_CASE("a file of 1.0 that claims a feature of 1.1 is refused") {
  static constexpr BadFile kCases[] = {
      {"announced, but no weight needs it", "announces features 0x1, the weights need 0x0",
       [](auto& f) { f.put(10, u16{1}).put(40, u32{1}).seal(); }},
      {"flag alone", "announces features 0x0, the weights need 0x1",
       [](auto& f) { f.put_record(kConvWeight, 9, u8{2}).seal(); }},
      {"flag of floats", "record 0: channel scales without a codebook",
       [](auto& f) { f.put_record(kConvBias, 9, u8{2}).seal(); }},
  };
  check_refused(kCases);
}

// Of text_model: section 3 is the vocabulary, "film\n" and "n't\n" behind two numbers of 32 bits.
TEST_CASE("a damaged vocabulary is refused") {
  constexpr std::size_t kWords = 3;
  static constexpr BadFile kCases[] = {
      {"feature not announced", "section 3 (fc.weight values): found kind 7",
       [](auto& f) { f.put(10, u16{0}).put(40, u32{0}).put(48, u64{48}).seal(); }},
      {"feature of a later version", "needs features 0x2 that format 1.1 does not have",
       [](auto& f) { f.put(10, u16{1}).seal(); }},
      {"no section", "section 3 (vocabulary): found kind 6",
       [](auto& f) { f.rebuild([](auto& s) { s.erase(s.begin() + 3); }); }},
      {"memory not announced", "announces 48 bytes of decoded weights, the records add up to 193",
       [](auto& f) { f.put(48, u64{48}).seal(); }},
      {"empty section", "section 3 (vocabulary): 7 bytes are too few for a vocabulary",
       [](auto& f) { f.rebuild([](auto& s) { s[kWords].own.resize(7); }); }},
      {"unknown tokenizer", "section 3 (vocabulary): tokenizer 2, this program knows 1",
       [](auto& f) { f.put_byte(kWords, 0, 2).seal(); }},
      {"more words than fit", "17 bytes are too few for 4294967295 words",
       [](auto& f) {
         for (std::size_t i = 4; i < 8; ++i) f.put_byte(kWords, i, 0xff);
         f.announce().seal();
       }},
      {"another number of words", "section 3 (vocabulary): 2 words, expected 3",
       [](auto& f) { f.put_byte(kWords, 4, 3).announce().seal(); }},
      {"last word without an end", "section 3 (vocabulary): the last word has no end",
       [](auto& f) {
         f.rebuild([](auto& s) { s[kWords].own.push_back(std::byte{'x'}); }).announce().seal();
       }},
      {"empty word", "'' is no word of 1 to 255 bytes of UTF-8 without spaces",
       [](auto& f) {
         f.replace(kWords, std::string_view("\1\0\0\0\2\0\0\0film\n\n", 14)).announce().seal();
       }},
      {"word with a space", "'f lm' is no word",
       [](auto& f) { f.put_byte(kWords, 9, ' ').seal(); }},
      {"word with a control character", "'f\\x00lm' is no word",
       [](auto& f) { f.put_byte(kWords, 9, 0).seal(); }},
      {"word that is not UTF-8", "'f\\xfflm' is no word",
       [](auto& f) { f.put_byte(kWords, 9, 0xff).seal(); }},
      {"word that occurs twice", "'a' occurs twice",
       [](auto& f) {
         f.replace(kWords, std::string_view("\1\0\0\0\2\0\0\0a\na\n", 12)).announce().seal();
       }},
      {"no word", "0 words, expected 1 to 16777214",
       [](auto& f) {
         f.replace(kWords, std::string_view("\1\0\0\0\0\0\0\0", 8)).announce().seal();
       }},
      {"fewer words than rows", "vocabulary of 1 words: the embedding has 4 rows, expected 3",
       [](auto& f) {
         f.replace(kWords, std::string_view("\1\0\0\0\1\0\0\0a\n", 10)).announce().seal();
       }},
  };
  check_refused(text_model(), kCases);
}

TEST_CASE("a vocabulary may not ask for more memory than is granted") {
  const std::vector<std::byte> bytes = serialize_model_file(text_model());
  CHECK_NOTHROW(parse_model_file(bytes, "m", {193}));  // 32 + 16 of weights, 17 + 2 x 64 of words
  CHECK(message_of([&] { parse_model_file(bytes, "m", {192}); }) ==
        "m: decoded weights take 193 bytes, at most 192 are allowed");
}

TEST_CASE("a vocabulary without tokens is refused before it is written") {
  DeployedModel model = golden_model();
  model.preprocessing.vocabulary = {"film"};
  CHECK(error_of([&] { serialize_model_file(model); }) == ErrorCode::bad_file);
}

TEST_CASE("optional features and sections of later versions are skipped") {
  FileSurgery surgery(serialize_model_file(golden_model()));
  surgery.rebuild([](auto& sections) {
    sections.push_back({static_cast<SectionKind>(0x80000001), kNoOwner, {std::byte{1}}, {}});
  });
  surgery.put(10, u16{3}).put(44, u32{1}).seal();
  CHECK(parse_model_file(surgery.bytes(), "later") == golden_model());
  surgery = FileSurgery(serialize_model_file(golden_scaled_model()));
  surgery.put(10, u16{3}).seal();
  CHECK(parse_model_file(surgery.bytes(), "later") == golden_scaled_model());
}

}  // namespace
}  // namespace winnow
