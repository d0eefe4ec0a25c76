#include "runtime/model/safetensors.h"

#include <algorithm>
#include <string_view>
#include <vector>

#include "runtime/base/error.h"
#include "runtime/base/file.h"
#include "runtime/base/file_kind.h"
#include "runtime/base/suggest.h"
#include "runtime/model/little_endian.h"
#include "runtime/model/safetensors_header.h"

namespace winnow {
namespace {

constexpr std::size_t kLengthBytes = 8;
constexpr std::size_t kDataAlignment = 8;

using NamedEntry = std::pair<const std::string, TensorEntry>;

std::string_view header_text(std::span<const std::byte> bytes, const std::string& path) {
  if (bytes.size() < kLengthBytes) {
    fail(ErrorCode::bad_file, path, ": ", bytes.size(), " bytes are too few for safetensors",
         but_file_kind(bytes));
  }
  const bool begins_with_header =
      bytes.size() > kLengthBytes && bytes[kLengthBytes] == std::byte{'{'};
  if (const std::string kind = file_kind(bytes); !begins_with_header && !kind.empty()) {
    fail(ErrorCode::bad_file, path, ": byte 0: no safetensors file, but ", kind);
  }
  const auto length = load<std::uint64_t>(bytes.data());
  if (length > kMaxSafetensorsHeader) {
    fail(ErrorCode::bad_file, path, ": byte 0: header is ", length, " bytes long, at most ",
         kMaxSafetensorsHeader, " are allowed");
  }
  if (length > bytes.size() - kLengthBytes) {
    fail(ErrorCode::bad_file, path, ": byte 0: header is ", length, " bytes long, the file has ",
         bytes.size() - kLengthBytes);
  }
  return {reinterpret_cast<const char*>(bytes.data()) + kLengthBytes, length};
}

void check_span(const NamedEntry& named, std::uint64_t expected_begin, std::uint64_t data_bytes,
                const std::string& path) {
  const auto& [name, entry] = named;
  if (entry.begin != expected_begin || entry.end < entry.begin || entry.end > data_bytes) {
    fail(ErrorCode::bad_file, path, ": tensor ", in_quotes(name), ": data_offsets [", entry.begin,
         ", ", entry.end, "], expected to begin at ", expected_begin, " and end within ",
         data_bytes);
  }
  std::uint64_t needed = size_of(entry.type);
  for (const std::int64_t dimension : entry.shape) {
    needed = saturating_product({needed, static_cast<std::uint64_t>(dimension)});
  }
  if (needed != entry.end - entry.begin) {
    fail(ErrorCode::bad_file, path, ": tensor ", in_quotes(name), ": data_offsets span ",
         entry.end - entry.begin, " bytes, ", to_string(entry.type), " ", to_string(entry.shape),
         " takes ", needed);
  }
}

// The spans, in order of place, cover the data without gap or overlap to its last byte.
void check_spans(const SafetensorsHeader& header, std::uint64_t data_bytes,
                 const std::string& path) {
  std::vector<const NamedEntry*> in_place;
  for (const NamedEntry& named : header.tensors) in_place.push_back(&named);
  std::stable_sort(in_place.begin(), in_place.end(), [](auto* left, auto* right) {
    return std::pair(left->second.begin, left->second.end) <
           std::pair(right->second.begin, right->second.end);
  });
  std::uint64_t end = 0;
  for (const NamedEntry* named : in_place) {
    check_span(*named, end, data_bytes, path);
    end = named->second.end;
  }
  if (end != data_bytes) {
    fail(ErrorCode::bad_file, path, ": tensors end at byte ", end, " of the data, the file has ",
         data_bytes);
  }
}

// Names in the order of their data: widest elements first.
std::vector<std::string> data_order(const SafetensorsFile& file) {
  std::vector<std::string> names;
  for (const auto& [name, tensor] : file.tensors) names.push_back(name);
  std::stable_sort(names.begin(), names.end(), [&](const auto& left, const auto& right) {
    return size_of(file.tensors.at(left).type()) > size_of(file.tensors.at(right).type());
  });
  return names;
}

}  // namespace

SafetensorsFile read_safetensors(const std::string& path) {
  const MappedFile mapped(path);
  const std::string_view text = header_text(mapped.bytes(), path);
  SafetensorsHeader header = parse_safetensors_header(text, path);
  const auto data = mapped.bytes().subspan(kLengthBytes + text.size());
  check_spans(header, data.size(), path);

  SafetensorsFile file;
  file.metadata = std::move(header.metadata);
  for (const auto& [name, entry] : header.tensors) {
    Tensor& tensor = file.tensors.emplace(name, Tensor(entry.type, entry.shape)).first->second;
    const auto span = data.subspan(entry.begin, entry.end - entry.begin);
    std::copy(span.begin(), span.end(), tensor.bytes().begin());
  }
  return file;
}

void write_safetensors(const std::string& path, const SafetensorsFile& file) {
  const std::vector<std::string> order = data_order(file);
  SafetensorsHeader header;
  header.metadata = file.metadata;
  std::uint64_t end = 0;
  for (const std::string& name : order) {
    const Tensor& tensor = file.tensors.at(name);
    const std::uint64_t begin = end;
    end += tensor.bytes().size();
    header.tensors[name] = {tensor.type(), tensor.shape(), begin, end};
  }
  std::string text = format_safetensors_header(header, path);
  text.resize((text.size() + kDataAlignment - 1) / kDataAlignment * kDataAlignment, ' ');
  if (text.size() > kMaxSafetensorsHeader) {
    fail(ErrorCode::usage, path, ": header is ", text.size(), " bytes long, at most ",
         kMaxSafetensorsHeader, " are allowed");
  }

  AtomicFile out(path);
  std::vector<std::byte> length;
  append<std::uint64_t>(length, text.size());
  out.write(length);
  out.write(std::as_bytes(std::span(text)));
  for (const std::string& name : order) out.write(file.tensors.at(name).bytes());
  out.commit();
}

}  // namespace winnow
