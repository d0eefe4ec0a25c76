// What LibTorch's ProcessGroupGloo.hpp names of Gloo. LibTorch has Gloo in its library, but not its
// headers; a class that is only pointed to need not be known. Declarations alone: nothing here is
// defined or called by us, so that what Gloo's classes are like inside does not matter.
#pragma once

#include <chrono>
#include <memory>

namespace gloo {

class Context {
 public:
  void setTimeout(std::chrono::milliseconds timeout);
};

}  // namespace gloo
