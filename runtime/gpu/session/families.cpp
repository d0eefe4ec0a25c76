// The one table of kernel families. A new one is one more line here.
#include <vector>

#include "runtime/base/error.h"
#include "runtime/base/suggest.h"
#include "runtime/gpu/layer/family.h"
#include "runtime/gpu/layer/family_list.h"

namespace winnow {

const std::vector<const Family*>& families() {
  static const std::vector<const Family*> all = {
      &dense_family(),          // cuDNN and cuBLASLt
      &direct_family(),         // the paper's direct sparse convolution,
      &direct_ell_family(),     // on rows padded to one length
      &gathered_family(),       // sparse convolution on tensor cores
      &stem_family(),           // the first convolution, on the network's input as it is given
      &linear_family(),         // sparse linear layers of few images,
      &linear_gather_family(),  // of many,
      &linear_stack_family(),   // and several in one launch
      &narrow_linear_family(),  // dense linear layers of few outputs
      &pool_family(),           // and every operation without weights
      &add_family(),            //
      &concat_family(),         //
      &flatten_family(),        //
      &embedding_family(),      //
      &softmax_family(),
  };
  return all;
}

const Family& family_named(const std::string& name) {
  std::vector<std::string> names;
  for (const Family* family : families()) {
    if (family->name() == name) return *family;
    names.push_back(family->name());
  }
  fail(ErrorCode::usage, "unknown kernel family ", in_quotes(name), suggestion(name, names));
}

}  // namespace winnow
