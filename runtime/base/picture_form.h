// How a picture file is brought to the size that a network takes. Plain data, which data sets,
// checkpoints and deployed files share; runtime/images does it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace winnow {

// By Pillow's names, and with Pillow's pixels.
enum class Interpolation { nearest, box, bilinear, bicubic, lanczos };

// Throws Error{usage} with a did-you-mean.
Interpolation interpolation_from(std::string_view name);
std::string_view to_string(Interpolation interpolation);

// Pixels of a picture's sides.
struct Sides {
  std::int64_t height = 0;
  std::int64_t width = 0;

  bool is_given() const { return height > 0; }
  friend bool operator==(const Sides&, const Sides&) = default;
};
inline constexpr std::int64_t kMostPixelsOfASide = 8192;

// First resized, then cropped, as torchvision's Resize and CenterCrop do. Where neither is given
// pictures are scaled, their aspect kept, to cover the network's input, and its centre is cut out.
struct PictureForm {
  Sides resize = {};  // width 0: the shorter side becomes `height`, the other one keeps the aspect
  Sides crop = {};    // the centre
  Interpolation interpolation = Interpolation::bilinear;

  // Whether resize and crop alone say what becomes of a picture.
  bool is_given() const { return resize.is_given() || crop.is_given(); }

  friend bool operator==(const PictureForm&, const PictureForm&) = default;
};

// "256", "224x320"; "" if not given. resize_from() and crop_from() read it.
std::string text_of(const Sides& sides);

// "256" as the shorter side, "224x320" as height and width; empty: not given. `name` begins
// messages ("data.resize"). Throws Error{usage}.
Sides resize_from(const std::string& text, const std::string& name);

// The same, but "224" stands for a square.
Sides crop_from(const std::string& text, const std::string& name);

// Throws Error{usage} if the crop is larger than what pictures are resized to.
void check_picture_form(const PictureForm& form, const std::string& place);

}  // namespace winnow
