#include "prune/config/config_keys.h"

namespace winnow {

void KeyList::section(const std::string& key, const Body& body) {
  add(key);
  if (!is_deep_) return;
  KeyList inner(true, prefix_ + key + ".");
  body(inner);
  keys_.insert(keys_.end(), inner.keys_.begin(), inner.keys_.end());
}

}  // namespace winnow
