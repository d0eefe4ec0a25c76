#include "runtime/images/picture.h"

#include <algorithm>
#include <array>
#include <utility>

#include "runtime/base/error.h"
#include "runtime/base/file.h"
#include "runtime/base/file_kind.h"
#include "runtime/images/image_set.h"
#include "runtime/images/resize.h"

namespace winnow {
namespace {

constexpr std::array<unsigned char, 8> kPngSignature = {0x89, 'P',  'N',  'G',
                                                        0x0d, 0x0a, 0x1a, 0x0a};
constexpr std::array<unsigned char, 3> kJpegSignature = {0xff, 0xd8, 0xff};

bool starts_with(std::span<const std::byte> bytes, std::span<const unsigned char> signature) {
  return bytes.size() >= signature.size() &&
         std::equal(signature.begin(), signature.end(), bytes.begin(),
                    [](unsigned char a, std::byte b) { return std::byte{a} == b; });
}

std::uint8_t luma(const std::uint8_t* rgb) {
  return static_cast<std::uint8_t>((299 * rgb[0] + 587 * rgb[1] + 114 * rgb[2] + 500) / 1000);
}

void require_sides(const Picture& picture, std::int64_t height, std::int64_t width,
                   const std::string& path) {
  if (picture.height == height && picture.width == width) return;
  fail(ErrorCode::bad_file, path, ": found ", picture.height, " x ", picture.width,
       " pixels, expected ", height, " x ", width,
       "; give a size, or resize and crop, to bring pictures to");
}

}  // namespace

Picture blank_picture(const std::string& path, std::uint64_t height, std::uint64_t width,
                      std::int64_t channels) {
  if (height == 0 || width == 0 || width > kMaxPicturePixels / height) {
    fail(ErrorCode::bad_file, path, ": found a picture of ", height, " x ", width,
         " pixels, expected 1 to ", kMaxPicturePixels);
  }
  Picture picture{
      static_cast<std::int64_t>(height), static_cast<std::int64_t>(width), channels, {}};
  picture.pixels.resize(height * width * static_cast<std::size_t>(channels));
  return picture;
}

Picture decode_picture(const std::string& path) {
  const MappedFile file(path);
  if (starts_with(file.bytes(), kPngSignature)) return decode_png(path, file.bytes());
  if (starts_with(file.bytes(), kJpegSignature)) return decode_jpeg(path, file.bytes());
  fail(ErrorCode::bad_file, path, ": expected a PNG or a JPEG picture",
       but_file_kind(file.bytes()));
}

Picture with_channels(Picture picture, std::int64_t channels) {
  if (picture.channels == channels) return picture;
  const auto count = static_cast<std::size_t>(picture.height * picture.width);
  std::vector<std::uint8_t> converted(count * static_cast<std::size_t>(channels));
  for (std::size_t i = 0; i < count; ++i) {
    if (channels == 1) {
      converted[i] = luma(&picture.pixels[3 * i]);
    } else {
      std::fill_n(&converted[3 * i], 3, picture.pixels[i]);
    }
  }
  picture.channels = channels;
  picture.pixels = std::move(converted);
  return picture;
}

void write_planes(const Picture& picture, std::span<std::uint8_t> planes) {
  const auto channels = static_cast<std::size_t>(picture.channels);
  const std::size_t plane = picture.pixels.size() / channels;
  for (std::size_t c = 0; c < channels; ++c) {
    for (std::size_t i = 0; i < plane; ++i) {
      planes[c * plane + i] = picture.pixels[i * channels + c];
    }
  }
}

void read_picture_into(const std::string& path, std::int64_t channels, std::int64_t height,
                       std::int64_t width, const PictureForm& form,
                       std::span<std::uint8_t> planes) {
  const Picture decoded = with_channels(decode_picture(path), channels);
  const Picture picture = form.is_given() ? formed(decoded, form, path)
                                          : cover(decoded, height, width, form.interpolation);
  require_sides(picture, height, width, path);
  write_planes(picture, planes);
}

void read_file_of(const ImageSet& set, std::size_t index, std::span<std::uint8_t> planes) {
  const std::string& path = set.files[index];
  if (set.folder.size > 0 || set.folder.form.is_given()) {
    read_picture_into(path, set.channels, set.height, set.width, set.folder.form, planes);
    return;
  }
  const Picture picture = decode_picture(path);
  require_sides(picture, set.height, set.width, path);
  write_planes(with_channels(picture, set.channels), planes);
}

std::vector<std::uint8_t> read_picture(const std::string& path, std::int64_t channels,
                                       std::int64_t height, std::int64_t width,
                                       const PictureForm& form) {
  const auto largest = static_cast<std::int64_t>(kMaxPicturePixels);
  if ((channels != 1 && channels != 3) || height < 1 || width < 1 || width > largest / height) {
    fail(ErrorCode::usage, path, ": cannot bring a picture to ", channels, " x ", height, " x ",
         width, ", expected 1 or 3 channels and 1 to ", kMaxPicturePixels, " pixels");
  }
  std::vector<std::uint8_t> planes(static_cast<std::size_t>(channels * height * width));
  read_picture_into(path, channels, height, width, form, planes);
  return planes;
}

std::string picture_support() {
  const std::string jpeg = missing_jpeg(), png = missing_png();
  if (jpeg.empty() && png.empty()) return "png, jpeg";
  if (jpeg.empty()) return "jpeg; no png: " + png;
  if (png.empty()) return "png; no jpeg: " + jpeg;
  return "none; no png: " + png + "; no jpeg: " + jpeg;
}

}  // namespace winnow
