// Errors become winnow.Error, with the code that a program would end with.
#include <nanobind/stl/string.h>

#include "python/binding/binding.h"
#include "runtime/base/error.h"
#include "runtime/base/suggest.h"
#include "runtime/base/version.h"

namespace nb = nanobind;

NB_MODULE(_winnow, module) {
  nb::register_exception_translator([](const std::exception_ptr& thrown, void*) {
    try {
      std::rethrow_exception(thrown);
    } catch (const winnow::Error& error) {
      const nb::object type = nb::module_::import_("winnow.errors").attr("Error");
      const nb::object value = type(winnow::one_line(error.what()), static_cast<int>(error.code()));
      PyErr_SetObject(type.ptr(), value.ptr());
    }
  });
  module.def("version", &winnow::full_version_text);
  winnow::python::bind_engine(module);
  winnow::python::bind_files(module);
}
