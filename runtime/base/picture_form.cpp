#include "runtime/base/picture_form.h"

#include <array>
#include <charconv>
#include <optional>
#include <vector>

#include "runtime/base/error.h"
#include "runtime/base/suggest.h"

namespace winnow {
namespace {

struct InterpolationName {
  Interpolation interpolation;
  const char* name;
};
constexpr std::array<InterpolationName, 5> kInterpolations = {
    {{Interpolation::nearest, "nearest"},
     {Interpolation::box, "box"},
     {Interpolation::bilinear, "bilinear"},
     {Interpolation::bicubic, "bicubic"},
     {Interpolation::lanczos, "lanczos"}}};

std::optional<std::int64_t> side_from(std::string_view text) {
  std::int64_t side = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), side);
  const bool is_number = error == std::errc() && end == text.data() + text.size();
  if (!is_number || side < 1 || side > kMostPixelsOfASide) return std::nullopt;
  return side;
}

Sides sides_from(const std::string& text, const std::string& name, const char* what) {
  if (text.empty()) return {};
  const std::size_t middle = text.find('x');
  const auto first = side_from(std::string_view(text).substr(0, middle));
  if (first && middle == std::string::npos) return {*first, 0};
  const auto second =
      middle == std::string::npos ? first : side_from(std::string_view(text).substr(middle + 1));
  if (first && second) return {*first, *second};
  fail(ErrorCode::usage, name, ": found ", in_quotes(text), ", expected ", what,
       " or HEIGHTxWIDTH, each from 1 to ", kMostPixelsOfASide);
}

}  // namespace

Interpolation interpolation_from(std::string_view name) {
  std::vector<std::string> known;
  for (const InterpolationName& entry : kInterpolations) {
    if (name == entry.name) return entry.interpolation;
    known.emplace_back(entry.name);
  }
  fail(ErrorCode::usage, "interpolation ", in_quotes(name), " is not known",
       suggestion(name, known));
}

std::string_view to_string(Interpolation interpolation) {
  for (const InterpolationName& entry : kInterpolations) {
    if (interpolation == entry.interpolation) return entry.name;
  }
  fail(ErrorCode::internal, "unknown interpolation");
}

std::string text_of(const Sides& sides) {
  if (!sides.is_given()) return "";
  const std::string height = std::to_string(sides.height);
  return sides.width == 0 ? height : height + "x" + std::to_string(sides.width);
}

Sides resize_from(const std::string& text, const std::string& name) {
  return sides_from(text, name, "the shorter side");
}

Sides crop_from(const std::string& text, const std::string& name) {
  Sides sides = sides_from(text, name, "the side of a square");
  if (sides.width == 0) sides.width = sides.height;
  return sides;
}

void check_picture_form(const PictureForm& form, const std::string& place) {
  if (!form.resize.is_given() || !form.crop.is_given()) return;
  const std::int64_t width = form.resize.width > 0 ? form.resize.width : form.resize.height;
  if (form.crop.height <= form.resize.height && form.crop.width <= width) return;
  fail(ErrorCode::usage, place, ": a crop of ", form.crop.height, " x ", form.crop.width,
       " does not fit pictures resized to ", form.resize.height, " x ", width,
       form.resize.width > 0 ? "" : " or more");
}

}  // namespace winnow
