// The parts of the module. They hold no logic: what is run and read is the runtime's.
#pragma once

#include <nanobind/nanobind.h>

namespace winnow::python {

void bind_engine(nanobind::module_& module);
void bind_files(nanobind::module_& module);

}  // namespace winnow::python
