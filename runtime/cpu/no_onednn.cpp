#include "runtime/cpu/dense_layer.h"

namespace winnow {

std::unique_ptr<CpuLayer> make_onednn_layer(const ConvWork&, int, int) {
  return nullptr;
}

int onednn_algorithms(const ConvWork&) {
  return 0;
}

int onednn_saving(const ConvWork&, int) {
  return 1;
}

LibraryFacts onednn_facts() {
  return {"oneDNN", "", "", "built without it"};
}

}  // namespace winnow
