// For builds without yaml-cpp.
#include "import/yaml_files.h"
#include "runtime/base/error.h"

namespace winnow {
namespace {

[[noreturn]] void refuse(const std::string& file) {
  fail(ErrorCode::usage, file, ": this build reads no YAML; it needs yaml-cpp (libyaml-cpp-dev)");
}

}  // namespace

Graph read_graph_yaml(const std::string& file) {
  refuse(file);
}
NameMap read_names_yaml(const std::string& file) {
  refuse(file);
}

}  // namespace winnow
