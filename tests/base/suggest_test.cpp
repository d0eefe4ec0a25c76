#include "runtime/base/suggest.h"

#include <doctest/doctest.h>

#include <vector>

namespace winnow {
namespace {

const std::vector<std::string> kOps = {"conv1d", "conv2d", "linear", "relu", "batch_norm"};

}  // namespace

TEST_CASE("nearest_name finds names one slip away") {
  CHECK(nearest_name("linaer", kOps) == "linear");         // two neighbours swapped
  CHECK(nearest_name("batchnorm", kOps) == "batch_norm");  // one letter missing
  CHECK(nearest_name("rellu", kOps) == "relu");            // one too many
  CHECK(nearest_name("conv2x", kOps) == "conv2d");         // one wrong
  CHECK(nearest_name("relu", kOps) == "relu");
}

TEST_CASE("nearest_name takes the first of equally near names") {
  CHECK(nearest_name("conv", kOps) == "conv1d");
  CHECK(nearest_name("conv3d", kOps) == "conv1d");
}

TEST_CASE("nearest_name gives nothing beyond a third of the name or two letters") {
  CHECK(nearest_name("ru", kOps) == "relu");               // two inserted
  CHECK(nearest_name("r", kOps) == "");                    // three would be needed
  CHECK(nearest_name("bat_nrom", kOps) == "");             // 3 of 8 letters: a third is 2
  CHECK(nearest_name("bach_nrms", kOps) == "batch_norm");  // 3 of 9
  CHECK(nearest_name("softmax", kOps) == "");
  CHECK(nearest_name("", {}) == "");
}

TEST_CASE("a swap counts once, not as two replacements") {
  const std::vector<std::string> known = {"abcd", "badcxy"};
  CHECK(nearest_name("badc", known) == "abcd");  // two swaps; the other needs two inserts, later
  CHECK(nearest_name("bcad", {}) == "");
}

TEST_CASE("very long names are not compared") {
  const std::vector<std::string> known = {std::string(100'000, 'a')};
  CHECK(nearest_name(std::string(100'000, 'a'), known) == "");
  CHECK(nearest_name("aaa", known) == "");
}

TEST_CASE("suggestion names the nearest or lists what is known") {
  CHECK(suggestion("linaer", kOps) == "; did you mean 'linear'?");
  const std::vector<std::string> two = {"lenet5", "vgg16"};
  CHECK(suggestion("transformer", two) == "; known: lenet5, vgg16");
  CHECK(suggestion("transformer", {}) == "");
}

TEST_CASE("in_quotes makes any bytes fit for one line") {
  CHECK(in_quotes("conv1") == "'conv1'");
  CHECK(in_quotes("") == "''");
  CHECK(in_quotes("a\nb\x1b\xff") == "'a\\x0ab\\x1b\\xff'");
  CHECK(in_quotes(std::string(100, 'x')) == "'" + std::string(64, 'x') + "...'");
}

TEST_CASE("one_line escapes control characters and keeps letters") {
  CHECK(one_line("a.wnw: is bad") == "a.wnw: is bad");
  CHECK(one_line("a\n\x1b[2J\x7f") == "a\\x0a\\x1b[2J\\x7f");
  CHECK(one_line("gr\u00fc\u00df") == "gr\u00fc\u00df");
  CHECK(one_line("\u009b2J") == "\\xc2\\x9b2J");  // a terminal's other way to say ESC [
  CHECK(one_line(std::string(500, 'x')) == std::string(500, 'x'));
}

}  // namespace winnow
