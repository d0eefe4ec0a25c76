#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>

#include <utility>

#include "python/binding/binding.h"

namespace nb = nanobind;

namespace winnow::python {

nb::tuple facts_of_form(const PictureForm& form) {
  const auto pair = [](const Sides& sides) { return std::pair(sides.height, sides.width); };
  return nb::make_tuple(pair(form.resize), pair(form.crop),
                        std::string(to_string(form.interpolation)));
}

}  // namespace winnow::python
