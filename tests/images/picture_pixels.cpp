// For pillow_test.py: what this program reads of pictures and folders.
//
//   picture_pixels classes DIRECTORY                                  a class of `train` a line
//   picture_pixels pixels FILE CHANNELS RESIZE CROP INTERPOLATION     PGM or PPM on stdout
#include <cstdio>
#include <string>

#include "runtime/base/error.h"
#include "runtime/images/folder.h"
#include "runtime/images/resize.h"

namespace winnow {
namespace {

void print_classes(const std::string& directory) {
  for (const std::string& name : list_folder(directory, Split::train).classes) {
    std::printf("%s\n", name.c_str());
  }
}

void print_pixels(const std::string& file, const std::string& channels, const PictureForm& form) {
  const Picture picture =
      formed(with_channels(decode_picture(file), std::stoi(channels)), form, file);
  std::printf("%s %d %d 255\n", picture.channels == 1 ? "P5" : "P6",
              static_cast<int>(picture.width), static_cast<int>(picture.height));
  std::fwrite(picture.pixels.data(), 1, picture.pixels.size(), stdout);
}

int run(int count, char** arguments) {
  const std::string what = count > 1 ? arguments[1] : "";
  try {
    if (what == "classes" && count == 3) {
      print_classes(arguments[2]);
      return 0;
    }
    if (what == "pixels" && count == 7) {
      print_pixels(arguments[2], arguments[3],
                   {resize_from(arguments[4], "resize"), crop_from(arguments[5], "crop"),
                    interpolation_from(arguments[6])});
      return 0;
    }
  } catch (const Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
  }
  return 2;
}

}  // namespace
}  // namespace winnow

int main(int count, char** arguments) {
  return winnow::run(count, arguments);
}
