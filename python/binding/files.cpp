#include <nanobind/ndarray.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <memory>
#include <utility>

#include "python/binding/binding.h"
#include "runtime/model/graph_json.h"
#include "runtime/model/model.h"
#include "runtime/model/model_file.h"
#include "runtime/model/safetensors.h"

namespace nb = nanobind;

namespace winnow::python {
namespace {

template <typename T>
nb::object array_of(std::vector<T> values, const Shape& shape) {
  auto owned = std::make_unique<std::vector<T>>(std::move(values));
  const std::vector<std::size_t> sizes(shape.begin(), shape.end());
  T* const data = owned->data();
  const nb::capsule owner(owned.release(),
                          [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
  return nb::cast(nb::ndarray<nb::numpy, T>(data, sizes.size(), sizes.data(), owner));
}

// What both kinds of file have.
template <typename Read>
nb::dict facts_of(const Read& model) {
  nb::dict facts;
  facts["graph"] = graph_to_json(model.graph);
  facts["classes"] = nb::cast(model.classes);
  facts["mean"] = nb::cast(model.preprocessing.mean);
  facts["deviation"] = nb::cast(model.preprocessing.deviation);
  facts["picture_form"] = facts_of_form(model.preprocessing.pictures);
  facts["metadata"] = nb::cast(model.metadata);
  return facts;
}

nb::dict read_deployed(const std::string& path) {
  const DeployedModel model = read_model_file(path);
  nb::dict facts = facts_of(model), parameters;
  nb::list sparse;
  for (const Node& node : model.graph.nodes) {
    for (const Parameter& parameter : parameters_of(node)) {
      const auto found = model.weights.find(parameter.name);
      if (found == model.weights.end()) continue;
      parameters[parameter.name.c_str()] = array_of(dense_floats(found->second), parameter.shape);
      if (!std::holds_alternative<DenseWeight>(found->second)) sparse.append(parameter.name);
    }
  }
  facts["parameters"] = parameters;
  facts["sparse"] = sparse;
  return facts;
}

nb::dict read_checkpoint(const std::string& path) {
  const Model model = load_model(path);
  nb::dict facts = facts_of(model), parameters, masks;
  for (const Node& node : model.graph.nodes) {
    for (const Parameter& parameter : parameters_of(node)) {
      const Tensor tensor = parameter_of(model, node, parameter);
      parameters[parameter.name.c_str()] = array_of(to_floats(tensor), parameter.shape);
    }
    const auto mask = model.tensors.find(node.name + ".weight.mask");
    if (mask == model.tensors.end()) continue;
    const auto kept = mask->second.values<std::uint8_t>();
    masks[node.name.c_str()] =
        nb::make_tuple(array_of(std::vector(kept.begin(), kept.end()), mask->second.shape()),
                       model.mask_vector.at(node.name));
  }
  facts["parameters"] = parameters;
  facts["masks"] = masks;
  return facts;
}

}  // namespace

void bind_files(nb::module_& module) {
  module.def("read_deployed", &read_deployed);
  module.def("read_checkpoint", &read_checkpoint);
}

}  // namespace winnow::python
