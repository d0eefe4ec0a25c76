#include "runtime/model/safetensors_header.h"

#include <limits>

#include <nlohmann/json.hpp>

#include "runtime/base/error.h"
#include "runtime/base/suggest.h"

namespace winnow {
namespace {

using Json = nlohmann::json;

constexpr std::string_view kMetadataKey = "__metadata__";
constexpr std::size_t kMaxRank = 64;  // bounds the memory of a shape; torch itself stops at 64

// Follows the one grammar that a header may have:
//   { "__metadata__": {name: text, ...}, name: {dtype, shape, data_offsets}, ... }
class HeaderParser final : public Json::json_sax_t {
 public:
  explicit HeaderParser(const std::string& place) : place_(place) {}

  SafetensorsHeader take() { return std::move(header_); }

  bool null() override { unexpected("null"); }
  bool boolean(bool) override { unexpected("a boolean"); }
  bool number_integer(number_integer_t) override { unexpected("a negative number"); }
  bool number_float(number_float_t, const string_t&) override { unexpected("a fraction"); }
  bool binary(binary_t&) override { unexpected("binary data"); }

  bool number_unsigned(number_unsigned_t value) override {
    if (where_ == Where::shape) {
      add_dimension(value);
    } else if (where_ == Where::offsets && offset_count_ < 2) {
      (offset_count_++ == 0 ? entry_.begin : entry_.end) = value;
    } else {
      unexpected("a number");
    }
    return true;
  }

  bool string(string_t& text) override {
    if (where_ == Where::metadata) {
      header_.metadata[field_] = std::move(text);
    } else if (where_ == Where::tensor && field_ == "dtype") {
      entry_.type = data_type(text);
    } else {
      unexpected("a string");
    }
    return true;
  }

  bool start_object(std::size_t) override {
    if (where_ == Where::outside) {
      where_ = Where::top;
    } else if (where_ == Where::top) {
      where_ = name_ == kMetadataKey ? Where::metadata : Where::tensor;
      entry_ = {};
      seen_ = 0;
    } else {
      unexpected("an object");
    }
    return true;
  }

  bool key(string_t& text) override {
    if (where_ == Where::top) {
      name_ = std::move(text);
      const bool again = name_ == kMetadataKey ? has_metadata_ : header_.tensors.contains(name_);
      if (again) bad(in_quotes(name_) + " appears twice");
      has_metadata_ = has_metadata_ || name_ == kMetadataKey;
    } else {
      field_ = std::move(text);
      if (where_ == Where::tensor) see(field_);
      if (where_ == Where::metadata && header_.metadata.contains(field_)) {
        bad("metadata " + in_quotes(field_) + " appears twice");
      }
    }
    return true;
  }

  bool end_object() override {
    if (where_ == Where::tensor) {
      if (seen_ != kAllFields) bad(tensor() + " needs dtype, shape and data_offsets");
      header_.tensors.emplace(name_, std::move(entry_));
    }
    where_ = where_ == Where::top ? Where::outside : Where::top;
    return true;
  }

  bool start_array(std::size_t) override {
    if (where_ != Where::tensor || field_ == "dtype") unexpected("an array");
    where_ = field_ == "shape" ? Where::shape : Where::offsets;
    offset_count_ = 0;
    return true;
  }

  bool end_array() override {
    if (where_ == Where::offsets && offset_count_ != 2) bad(tensor() + " needs two data_offsets");
    where_ = Where::tensor;
    return true;
  }

  bool parse_error(std::size_t position, const std::string&, const Json::exception&) override {
    bad("not valid JSON at byte " + std::to_string(position));
  }

 private:
  enum class Where { outside, top, metadata, tensor, shape, offsets };
  static constexpr unsigned kAllFields = 7;

  std::string tensor() const { return "tensor " + in_quotes(name_); }

  [[noreturn]] void bad(const std::string& what) const {
    fail(ErrorCode::bad_file, place_, ": header: ", what);
  }
  [[noreturn]] void unexpected(const char* found) const {
    const std::string field = field_.empty() ? "" : ", field " + in_quotes(field_);
    bad("unexpected " + std::string(found) +
        (name_.empty() ? "" : " in " + in_quotes(name_) + field));
  }

  // Remembers that a tensor has the field.
  void see(const std::string& field) {
    const unsigned bit = field == "dtype"          ? 1
                         : field == "shape"        ? 2
                         : field == "data_offsets" ? 4
                                                   : 0;
    if (bit == 0) bad(tensor() + " has an unknown field " + in_quotes(field));
    if (seen_ & bit) bad(tensor() + " has field " + in_quotes(field) + " twice");
    seen_ |= bit;
  }

  void add_dimension(std::uint64_t value) {
    if (value > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) {
      bad(tensor() + " has dimension " + std::to_string(value));
    }
    if (entry_.shape.size() == kMaxRank) bad(tensor() + " has more than 64 dimensions");
    entry_.shape.push_back(static_cast<std::int64_t>(value));
  }

  DataType data_type(const std::string& text) const {
    try {
      return data_type_from(text);
    } catch (const Error& error) {
      bad(tensor() + ": " + error.what());
    }
  }

  const std::string& place_;
  Where where_ = Where::outside;
  std::string name_;   // the key at the top
  std::string field_;  // the key within it
  bool has_metadata_ = false;
  TensorEntry entry_;
  unsigned seen_ = 0;
  int offset_count_ = 0;
  SafetensorsHeader header_;
};

}  // namespace

SafetensorsHeader parse_safetensors_header(std::string_view json, const std::string& place) {
  if (json.empty() || json.front() != '{') {
    fail(ErrorCode::bad_file, place, ": header: must begin with '{'");
  }
  HeaderParser parser(place);
  Json::sax_parse(json.begin(), json.end(), &parser);
  return parser.take();
}

std::string format_safetensors_header(const SafetensorsHeader& header, const std::string& place) {
  if (header.tensors.contains(std::string(kMetadataKey))) {
    fail(ErrorCode::usage, place, ": no tensor can be called ", kMetadataKey);
  }
  Json json = Json::object();
  if (!header.metadata.empty()) json[std::string(kMetadataKey)] = header.metadata;
  for (const auto& [name, entry] : header.tensors) {
    json[name] = {{"dtype", std::string(to_string(entry.type))},
                  {"shape", entry.shape},
                  {"data_offsets", {entry.begin, entry.end}}};
  }
  try {
    return json.dump();
  } catch (const Json::type_error&) {
    fail(ErrorCode::usage, place, ": a tensor's name or the metadata is not valid UTF-8");
  }
}

}  // namespace winnow
