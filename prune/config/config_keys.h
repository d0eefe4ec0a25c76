// The keys of a configuration.
#pragma once

#include <string>
#include <vector>

#include "prune/config/fields.h"

namespace winnow {

// Collects keys without touching values: "seed", "train.batch_size", ... in the order of the visit.
class KeyList : public Fields {
 public:
  // With is_deep, sections contribute their own keys too, after a dot.
  explicit KeyList(bool is_deep = false, std::string prefix = "")
      : is_deep_(is_deep), prefix_(std::move(prefix)) {}

  const std::vector<std::string>& keys() const { return keys_; }

  void boolean(const std::string& key, bool&) override { add(key); }
  void integer(const std::string& key, std::int64_t&, const Range&) override { add(key); }
  void real(const std::string& key, double&, const Range&) override { add(key); }
  void count_or_fraction(const std::string& key, double&, double) override { add(key); }
  void reals(const std::string& key, std::vector<double>&, const Range&) override { add(key); }
  void text(const std::string& key, std::string&) override { add(key); }
  void file_name(const std::string& key, std::string&) override { add(key); }
  void texts(const std::string& key, std::vector<std::string>&) override { add(key); }
  void choice(const std::string& key, std::string&, Choices) override { add(key); }
  void intervals(const std::string& key, Intervals&, const Range&) override { add(key); }
  void graph(const std::string& key, std::optional<Graph>&) override { add(key); }
  void section(const std::string& key, const Body& body) override;

 private:
  void add(const std::string& key) { keys_.push_back(prefix_ + key); }

  bool is_deep_;
  std::string prefix_;
  std::vector<std::string> keys_;
};

}  // namespace winnow
