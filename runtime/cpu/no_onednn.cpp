#include "runtime/cpu/dense_layer.h"

namespace winnow {

std::vector<std::unique_ptr<CpuLayer>> make_onednn_layers(const ConvWork&, int) {
  return {};
}

LibraryFacts onednn_facts() {
  return {"oneDNN", "", "", "built without it"};
}

}  // namespace winnow
