// The parts of the module. They hold no logic: what is run and read is the runtime's.
#pragma once

#include <nanobind/nanobind.h>

#include "runtime/base/picture_form.h"

namespace winnow::python {

// ((height, width), (height, width), interpolation) of resize and crop; winnow/pictures.py reads
// it.
nanobind::tuple facts_of_form(const PictureForm& form);

void bind_engine(nanobind::module_& module);
void bind_files(nanobind::module_& module);

}  // namespace winnow::python
