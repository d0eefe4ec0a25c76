// Whether labels of a data set mean the outputs of a network.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace winnow {

// "class 'bee' has number 1 in 'm.wnw', 0 in the data" for the first name that `network` (the names
// of its outputs; none are known if it is empty) and `data` both have, with different numbers;
// empty if there is none. Names that only one of them has may be two names of one class: ImageNet's
// folders are called n01440764.
std::string order_mismatch(const std::vector<std::string>& network, const std::string& file,
                           const std::vector<std::string>& data);

// Throws Error{usage} that begins with `subject` if labels of classes `data` are not those of the
// network in `file`, with so many `outputs` and these names of classes (or none): by
// order_mismatch(), or by their number, which may be smaller only for classes called "0", "1", ...,
// which are counted up to the largest label.
void require_classes(const std::string& subject, const std::vector<std::string>& data,
                     const std::string& file, const std::vector<std::string>& network,
                     std::int64_t outputs);

}  // namespace winnow
