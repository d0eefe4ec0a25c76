#include "runtime/challenge/files/text/tsv.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cfloat>
#include <cmath>

#include "runtime/base/file.h"
#include "runtime/base/gzip.h"
#include "runtime/base/random.h"
#include "tests/challenge/sample_data.h"
#include "tests/temporary_directory.h"
#include "tests/throws.h"

namespace winnow::challenge {
namespace {

const std::string kLayerForm =
    ", expected 'input<TAB>output<TAB>weight' with an input from 1 to 4, an output from 1 to 3 and "
    "a finite weight";

SparseLayer read_layer(const TemporaryDirectory& directory, std::string_view text) {
  write_text(directory / "l.tsv", text);
  return read_layer_tsv(directory / "l.tsv", 4, 3, -0.3f);
}

std::string layer_message(const TemporaryDirectory& directory, std::string_view text) {
  CHECK(error_of([&] { read_layer(directory, text); }) == ErrorCode::bad_file);
  return message_of([&] { read_layer(directory, text); });
}

}  // namespace

TEST_CASE("a TSV layer is read whatever the order of its lines") {
  const TemporaryDirectory directory;
  const SparseLayer expected{.inputs = 4,
                             .row_begin = {0, 2, 2, 4},
                             .input = {0, 3, 1, 2},
                             .value = {0.0625f, -1, 2, 0},
                             .bias = {-0.3f, -0.3f, -0.3f}};
  CHECK(read_layer(directory, "1\t1\t0.0625\n4\t1\t-1\n2\t3\t2\n3\t3\t0\n") == expected);
  CHECK(read_layer(directory, "3\t3\t0e5\n4\t1\t-1.0\n2\t3\t20e-1\n1\t1\t6.25e-02\n") == expected);
  CHECK(read_layer(directory, "2\t3\t2\r\n1\t1\t.0625\r\n3\t3\t0\r\n4\t1\t-1\r\n") == expected);
  CHECK(read_layer(directory, "").connections() == 0);
}

TEST_CASE("malformed lines of a TSV layer are named with what was expected") {
  const TemporaryDirectory directory;
  const std::string path = directory / "l.tsv";
  for (const char* bad : {"",
                          "1",
                          "1\t2",
                          "1\t2\t",
                          "1 2 0.5",
                          "0\t1\t0.5",
                          "5\t1\t0.5",
                          "1\t4\t0.5",
                          "-1\t1\t0.5",
                          "1\t1\t0.5x",
                          "1\t1\tnan",
                          "1\t1\tinf",
                          "1\t1\t1e39",
                          "1\t1\t0.5\t",
                          "1\t1\t 0.5",
                          "1.0\t1\t0.5",
                          "4294967297\t1\t0.5",
                          "18446744073709551617\t1\t1",
                          "x\t1\t1",
                          "\t\t"}) {
    CAPTURE(bad);
    std::string found;
    for (const char* c = bad; *c != '\0'; ++c) found += *c == '\t' ? "<TAB>" : std::string(1, *c);
    CHECK(layer_message(directory, "2\t2\t1\n" + std::string(bad) + "\n3\t3\t1\n") ==
          path + ":2: found '" + found + "'" + kLayerForm);
  }
  CHECK(layer_message(directory, std::string(80, '1') + "\n") ==
        path + ":1: found '" + std::string(60, '1') + "...'" + kLayerForm);
  CHECK(layer_message(directory, std::string("\0\x01\x80", 3) + "\n") ==
        path + ":1: found '" + std::string(3, '?') + "'" + kLayerForm);
}

TEST_CASE("two lines for one connection are named") {
  const TemporaryDirectory directory;
  CHECK(layer_message(directory, "1\t1\t1\n4\t2\t1\n1\t3\t1\n4\t2\t0.5\n") ==
        directory / "l.tsv" +
            ":4: found '4<TAB>2<TAB>0.5', expected no second line for what line 2 says");
}

TEST_CASE("randomly damaged TSV layers are refused or give sound layers") {
  const TemporaryDirectory directory;
  const std::string path = directory / "l.tsv";
  write_layer_tsv(path, random_layer(6, 5, 1));
  const std::string text = read_text(path);
  int accepted = 0;
  constexpr int kRounds = 3000;
  for (int round = 0; round < kRounds; ++round) {
    CAPTURE(round);
    Random random(static_cast<std::uint64_t>(round));
    std::string damaged = text;
    for (std::uint64_t left = 1 + random.below(3); left > 0; --left) {
      constexpr std::string_view kUsual = "0123456789\t\n.e-";
      const std::size_t at = random.below(damaged.size());
      const char c = random.chance(0.8) ? kUsual[random.below(kUsual.size())]
                                        : static_cast<char>(random.below(256));
      damaged.replace(at, random.below(3), random.below(2), c);
    }
    write_text(path, damaged);
    SparseLayer layer;
    if (const auto code = error_of([&] { layer = read_layer_tsv(path, 6, 5, 0); })) {
      REQUIRE(*code == ErrorCode::bad_file);
    } else {
      REQUIRE_NOTHROW(check_layer(layer, "damaged"));
      ++accepted;
    }
  }
  CHECK(accepted > kRounds / 10);  // other digits of a weight are no damage
  CHECK(accepted < kRounds * 9 / 10);
}

TEST_CASE("a last line without an end is refused, because the file may be cut short") {
  const TemporaryDirectory directory;
  CHECK(layer_message(directory, "1\t1\t1\n4\t2\t0.0625")
            .find(":2: found '4<TAB>2<TAB>0.0625' "
                  "without an end of line") != std::string::npos);
}

TEST_CASE("missing TSV files and impossible sizes are refused") {
  const TemporaryDirectory directory;
  const std::string path = directory / "l.tsv";
  CHECK(message_of([&] { read_layer_tsv(path, 4, 3, 0); }) ==
        path + ": cannot open: No such file or directory");
  write_text(path, "1\t1\t1\n");
  CHECK(error_of([&] { read_layer_tsv(path, 0, 3, 0); }) == ErrorCode::usage);
  CHECK(error_of([&] { read_layer_tsv(path, 4, 1u << 31, 0); }) == ErrorCode::usage);
  CHECK(error_of([&] { read_layer_tsv(path, 4, 3, NAN); }) == ErrorCode::usage);
  CHECK(error_of([&] { read_images_tsv(path, 0); }) == ErrorCode::usage);
}

TEST_CASE("a layer is written as the published files are") {
  const TemporaryDirectory directory;
  const SparseLayer layer{.inputs = 1024,
                          .row_begin = {0, 2, 4},
                          .input = {33, 1023, 9, 58},
                          .value = {0.0625f, 0.0625f, 0.1f, -1},
                          .bias = {0, 0}};
  write_layer_tsv(directory / "l.tsv", layer);
  CHECK(read_text(directory / "l.tsv") ==
        "34\t1\t6.250000e-02\n1024\t1\t6.250000e-02\n10\t2\t1.000000e-01\n59\t2\t-1.000000e+00\n");
}

TEST_CASE("layers come back from TSV exactly, plain and packed") {
  const TemporaryDirectory directory;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    CAPTURE(seed);
    SparseLayer layer = random_layer(1 + static_cast<std::uint32_t>(seed * 7), 50, seed);
    layer.bias.assign(50, -0.45f);
    for (const char* name : {"l.tsv", "l.tsv.gz"}) {
      write_layer_tsv(directory / name, layer);
      CHECK(read_layer_tsv(directory / name, layer.inputs, 50, -0.45f) == layer);
    }
    CHECK(is_gzip(MappedFile(directory / "l.tsv.gz").bytes()));
  }
}

TEST_CASE("weights at the ends of the float range come back exactly") {
  const TemporaryDirectory directory;
  const std::vector<float> weights = {FLT_MAX,     -FLT_MAX, FLT_MIN,    FLT_TRUE_MIN,
                                      0.0f,        -0.0f,    1 / 3.0f,   1e-40f,
                                      16777217.0f, 0.3f,     FLT_MIN / 3};
  SparseLayer layer{.inputs = static_cast<std::uint32_t>(weights.size()),
                    .row_begin = {0, static_cast<std::uint32_t>(weights.size())},
                    .input = {},
                    .value = weights,
                    .bias = {0}};
  for (std::uint32_t i = 0; i < layer.inputs; ++i) layer.input.push_back(i);
  write_layer_tsv(directory / "l.tsv", layer);
  const SparseLayer read = read_layer_tsv(directory / "l.tsv", layer.inputs, 1, 0);
  CHECK(read == layer);
  CHECK(std::signbit(read.value[5]));
}

TEST_CASE("shuffled lines give the same layer") {
  const TemporaryDirectory directory;
  SparseLayer layer = random_layer(60, 40, 3);
  layer.bias.assign(40, 0);
  write_layer_tsv(directory / "l.tsv", layer);
  std::vector<std::string> lines;
  const std::string text = read_text(directory / "l.tsv");
  for (std::size_t at = 0, end; at < text.size(); at = end) {
    end = text.find('\n', at) + 1;
    lines.push_back(text.substr(at, end - at));
  }
  Random random(5);
  shuffle(lines, random);
  std::string shuffled;
  for (const std::string& line : lines) shuffled += line;
  write_text(directory / "l.tsv", shuffled);
  CHECK(read_layer_tsv(directory / "l.tsv", 60, 40, 0) == layer);
}

TEST_CASE("packed text is read across the borders of its pieces") {
  const TemporaryDirectory directory;
  const SparseLayer layer = regular_layer(1024, 6000, 32, 1);  // 4 MB of text, pieces of 1 MiB
  write_layer_tsv(directory / "l.tsv.gz", layer);
  CHECK(read_layer_tsv(directory / "l.tsv.gz", 1024, 6000, -0.3f) == layer);
}

TEST_CASE("packed files that are cut or have no lines are refused") {
  const TemporaryDirectory directory;
  const std::string path = directory / "l.tsv.gz";
  write_layer_tsv(path, random_layer(9, 5, 1));
  std::string bytes = read_text(path);
  write_text(path, std::string_view(bytes).substr(0, bytes.size() - 9));
  CHECK(error_of([&] { read_layer_tsv(path, 9, 5, 0); }) == ErrorCode::bad_file);
  AtomicFile file(path);
  GzipWriter packed([&](auto part) { file.write(part); });
  packed.write(std::vector<std::byte>(std::size_t{3} << 20, std::byte{'1'}));
  packed.finish();
  file.commit();
  CHECK(message_of([&] { read_layer_tsv(path, 9, 5, 0); }) ==
        path + ": a line is longer than 1048576 characters");
}

TEST_CASE("images come back from TSV, with empty ones at the end") {
  const TemporaryDirectory directory;
  for (const std::uint32_t count : {1, 3, 10, 12}) {  // every third is empty
    CAPTURE(count);
    const SparseImages images = random_images(100, count, 0.2, count);
    for (const char* name : {"i.tsv", "i.tsv.gz"}) {
      write_images_tsv(directory / name, images);
      CHECK(read_images_tsv(directory / name, 100) == images);
    }
  }
  write_images_tsv(directory / "i.tsv",
                   {.neurons = 9, .row_begin = {0, 2, 3, 3}, .neuron = {0, 8, 4}});
  CHECK(read_text(directory / "i.tsv") == "1\t1\t1\n1\t9\t1\n2\t5\t1\n3\t1\t0\n");
}

TEST_CASE("malformed lines of TSV images are named") {
  const TemporaryDirectory directory;
  const std::string path = directory / "i.tsv";
  const std::string form =
      ", expected 'image<TAB>neuron<TAB>1' with an image from 1 to 16777216 and a neuron from 1 to "
      "9";
  const auto message = [&](std::string_view text) {
    write_text(path, text);
    CHECK(error_of([&] { read_images_tsv(path, 9); }) == ErrorCode::bad_file);
    return message_of([&] { read_images_tsv(path, 9); });
  };
  CHECK(message("1\t2\t1\n1\t10\t1\n") == path + ":2: found '1<TAB>10<TAB>1'" + form);
  CHECK(message("1\t2\t0.5\n") == path + ":1: found '1<TAB>2<TAB>0.5'" + form);
  CHECK(message("4294967295\t2\t1\n") == path + ":1: found '4294967295<TAB>2<TAB>1'" + form);
  CHECK(message("") == path + ":1: found no line" + form);
  CHECK(message("2\t2\t1\n1\t2\t1\n2\t2\t1\n") ==
        path + ":3: found '2<TAB>2<TAB>1', expected no second line for what line 1 says");
  // A 0 says something about its place too.
  CHECK(message("1\t1\t0\n1\t1\t1\n") ==
        path + ":2: found '1<TAB>1<TAB>1', expected no second line for what line 1 says");
  CHECK(message("1\t2\t1\n1\t1\t1\n1\t2\t0\n") ==
        path + ":3: found '1<TAB>2<TAB>0', expected no second line for what line 1 says");
}

TEST_CASE("entries of value 0 leave no trace but the number of images") {
  const TemporaryDirectory directory;
  write_text(directory / "i.tsv", "3\t9\t1\n1\t2\t0\n1\t3\t1\n3\t1\t1\n4\t7\t0\n2\t5\t0\n");
  CHECK(read_images_tsv(directory / "i.tsv", 9) ==
        SparseImages{.neurons = 9, .row_begin = {0, 1, 1, 3, 3}, .neuron = {2, 0, 8}});
}

TEST_CASE("images in any order and with any way to write 1 are read") {
  const TemporaryDirectory directory;
  write_text(directory / "i.tsv", "3\t9\t1.000000e+00\n1\t2\t1\n3\t1\t1.0\n");
  CHECK(read_images_tsv(directory / "i.tsv", 9) ==
        SparseImages{.neurons = 9, .row_begin = {0, 1, 1, 3}, .neuron = {1, 0, 8}});
}

TEST_CASE("categories are read, sorted and written") {
  const TemporaryDirectory directory;
  const std::string path = directory / "c.tsv";
  write_categories_tsv(path, {286, 294, 385});
  CHECK(read_text(path) == "287\n295\n386\n");
  CHECK(read_categories_tsv(path) == Categories{286, 294, 385});
  write_text(path, "9\n2\n");
  CHECK(read_categories_tsv(path) == Categories{1, 8});
  write_categories_tsv(path, {});
  CHECK(read_categories_tsv(path).empty());
  write_text(path, "9\n2 \n");
  CHECK(message_of([&] { read_categories_tsv(path); }) ==
        path + ":2: found '2 ', expected an image number from 1 to 16777216");
  write_text(path, "9\n2\n9\n");
  CHECK(message_of([&] { read_categories_tsv(path); }) ==
        path + ":3: found '9' again, expected each image once");
  CHECK(error_of([&] { write_categories_tsv(path, {3, 3}); }) == ErrorCode::usage);
}

}  // namespace winnow::challenge
