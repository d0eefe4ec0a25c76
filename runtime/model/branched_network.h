// Builds graphs that branch and join, for the built-in networks.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "runtime/model/architectures.h"

namespace winnow {

// Throws Error{usage} unless the input is [C, H, W] with H and W of at least `smallest`, and there
// are classes.
void require_images(const char* name, const ArchitectureOptions& options, std::int64_t smallest);

// All functions append a node called `name` that reads `from`, and return its name.
class BranchedNetwork {
 public:
  BranchedNetwork(std::string name, const ArchitectureOptions& options);

  std::string add(const std::string& name, Op op, std::vector<std::string> from);

  // Without bias, padded by half of the kernel.
  std::string conv(const std::string& name, const std::string& from, std::int64_t channels,
                   std::int64_t kernel, std::int64_t stride = 1);
  // The stem that the options ask for, behind the input.
  struct StemNames {
    std::string conv, norm, relu, pool;
  };
  std::string stem(const StemNames& names, std::int64_t channels);

  std::string norm(const std::string& name, const std::string& from);
  std::string relu(const std::string& name, const std::string& from);
  std::string pool(const std::string& name, const std::string& from, const Pool& op);

  // The global average and a linear layer with a row for each class; then the graph is complete.
  Graph finish(const std::string& classifier, const std::string& from);

 private:
  ArchitectureOptions options_;
  Graph graph_;
};

}  // namespace winnow
