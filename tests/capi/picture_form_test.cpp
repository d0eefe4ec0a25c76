// What an engine says of pictures, through the C ABI.
#include <doctest/doctest.h>

#include <array>
#include <string>

#include "runtime/model/model_file.h"
#include "tests/temporary_directory.h"
#include "winnow.h"

using namespace winnow;

namespace {

using Sizes = std::array<std::int64_t, 2>;

struct Said {
  std::int32_t is_given = -1;
  Sizes resize = {-1, -1};
  Sizes crop = {-1, -1};
  std::string interpolation;
};

// Of the model of docs/model-file.md, whose input is 3 x 3 pixels, with this form.
Said said_of(const PictureForm& form) {
  const TemporaryDirectory directory;
  DeployedModel model = read_model_file(WINNOW_GOLDEN_MODEL);
  model.preprocessing.pictures = form;
  write_model_file(directory / "pictures.wnw", model);
  winnow_options options = {};
  options.struct_size = sizeof options;
  options.device = "cpu";
  options.threads = 1;
  winnow_engine* engine = nullptr;
  REQUIRE(winnow_load((directory / "pictures.wnw").c_str(), &options, &engine) == WINNOW_OK);
  Said said;
  said.is_given = winnow_picture_form(engine, said.resize.data(), said.crop.data());
  said.interpolation = winnow_interpolation(engine);
  CHECK(winnow_picture_form(engine, nullptr, nullptr) == said.is_given);
  winnow_free(engine);
  return said;
}

}  // namespace

TEST_CASE("an engine of the C ABI says how pictures are resized and cropped") {
  const Said shorter = said_of({{5, 0}, {3, 3}, Interpolation::bicubic});
  CHECK(shorter.is_given == 1);
  CHECK(shorter.resize == Sizes{5, 0});
  CHECK(shorter.crop == Sizes{3, 3});
  CHECK(shorter.interpolation == "bicubic");

  const Said resized = said_of({{3, 3}, {}, Interpolation::nearest});
  CHECK(resized.is_given == 1);
  CHECK(resized.resize == Sizes{3, 3});
  CHECK(resized.crop == Sizes{0, 0});
  CHECK(resized.interpolation == "nearest");

  const Said silent = said_of({});
  CHECK(silent.is_given == 0);
  CHECK(silent.resize == Sizes{0, 0});
  CHECK(silent.crop == Sizes{0, 0});
  CHECK(silent.interpolation == "bilinear");
}

TEST_CASE("no engine says nothing of pictures") {
  Sizes resize = {-1, -1};
  CHECK(winnow_picture_form(nullptr, resize.data(), nullptr) == 0);
  CHECK(resize == Sizes{0, 0});
  CHECK(std::string(winnow_interpolation(nullptr)).empty());
}
