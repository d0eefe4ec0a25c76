#include "export/sparse_weight.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "runtime/base/error.h"
#include "runtime/base/suggest.h"
#include "runtime/model/checked_values.h"
#include "runtime/model/csr_packing.h"
#include "runtime/model/weight_parts.h"

namespace winnow {
namespace {

// Picks `positions` out of `all`, 0 for -1.
template <typename T>
std::vector<T> gather(std::span<const T> all, const std::vector<std::int64_t>& positions) {
  std::vector<T> picked(positions.size(), T{});
  for (std::size_t i = 0; i < positions.size(); ++i) {
    if (positions[i] >= 0) picked[i] = all[static_cast<std::size_t>(positions[i])];
  }
  return picked;
}

// Where the values to write lie in the dense weight; -1 writes a 0.
struct Places {
  std::vector<std::int64_t> positions;
  int lanes = 1;  // neighbouring channels that alternate
};

// The codes of the dense weight. One whose value is 0 becomes code 0, the code of pads.
std::vector<std::uint8_t> zeroed_codes(const WeightParts& parts) {
  const auto codebook = parts.codebook->values<Half>();
  const auto stored = parts.codes->values<std::uint8_t>();
  std::vector<std::uint8_t> codes(stored.begin(), stored.end());
  const std::size_t inner = codes.size() / static_cast<std::size_t>(parts.shape[0]);
  for (std::size_t i = 0; i < codes.size(); ++i) {
    const bool is_dead =
        parts.channel_scale && to_float(parts.channel_scale->values<Half>()[i / inner]) == 0;
    if (is_dead || to_float(codebook[codes[i]]) == 0) codes[i] = 0;
  }
  return codes;
}

Values encode_codebook_codes(const WeightParts& parts, const Places& places) {
  const auto codebook = parts.codebook->values<Half>();
  const Encoding encoding = codebook.size() <= 16 ? Encoding::codebook4 : Encoding::codebook8;
  const std::vector<std::uint8_t> codes =
      gather(std::span<const std::uint8_t>(zeroed_codes(parts)), places.positions);
  Values values = encode_codebook(encoding, codes, {codebook.begin(), codebook.end()});
  if (!parts.channel_scale) return values;
  const auto scale = parts.channel_scale->values<Half>();
  return with_channel_scale(std::move(values), {scale.begin(), scale.end()}, places.lanes);
}

Values encode_codes(const WeightParts& parts, const Places& places) {
  if (parts.codebook) return encode_codebook_codes(parts, places);
  const std::vector<std::int64_t>& positions = places.positions;
  const float scale = parts.scale->values<float>()[0];
  if (parts.codes->type() == DataType::i16) {
    return encode_fixed16(gather(parts.codes->values<std::int16_t>(), positions), scale);
  }
  return encode_fixed8(gather(parts.codes->values<std::int8_t>(), positions), scale);
}

// The weights at `places` of the dense tensor, in the wanted form.
Values encode(const Model& model, const Node& node, const WeightParts& parts, ValueForm form,
              const Places& places) {
  if (form == ValueForm::automatic && parts.codes) return encode_codes(parts, places);
  const Tensor dense = weight_of(model, node.name);
  const std::vector<float> values = gather(dense.values<float>(), places.positions);
  return form == ValueForm::f16 ? encode_f16(values) : encode_f32(values);
}

DenseWeight dense_weight(const Model& model, const Node& node, const WeightParts& parts,
                         ValueForm form) {
  std::vector<std::int64_t> positions(static_cast<std::size_t>(element_count(parts.shape)));
  for (std::size_t i = 0; i < positions.size(); ++i) positions[i] = static_cast<std::int64_t>(i);
  return {parts.shape, encode(model, node, parts, form, {std::move(positions), 1})};
}

// The mask without blocks of which every value is 0, as small weights are in 8 bits: leaving them
// out changes nothing and makes rows shorter.
//
//   values  [channels, inner] as deployed
std::vector<std::uint8_t> nonzero_blocks(const WeightParts& parts,
                                         const std::vector<float>& values) {
  const auto mask = parts.mask->values<std::uint8_t>();
  const std::size_t inner = values.size() / static_cast<std::size_t>(parts.shape[0]);
  std::vector<std::uint8_t> blocks(mask.size(), 0);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::size_t row = i / inner / static_cast<std::size_t>(parts.vector);
    const std::size_t block = row * inner + i % inner;
    if (values[i] != 0) blocks[block] = mask[block];
  }
  return blocks;
}

CsrWeight csr_weight(const Model& model, const Node& node, const WeightParts& parts, ValueForm form,
                     const std::vector<float>& values) {
  const std::int64_t channels = parts.shape[0];
  CsrPattern pattern = build_csr_pattern(nonzero_blocks(parts, values), channels,
                                         element_count(parts.shape) / channels, parts.vector);
  Values encoded = encode(model, node, parts, form, {dense_positions(pattern), pattern.vector});
  return csr_weight(std::move(pattern), std::move(encoded));
}

// Bytes of the index and the values in the model file.
std::int64_t file_bytes(const CsrWeight& weight) {
  const StoredRows rows = pack_rows(weight);
  const IndexForm form = smallest_form(weight.cols, rows.length, rows.column);
  std::int64_t bytes = static_cast<std::int64_t>(rows.values.size());
  std::size_t first = 0;
  for (const std::uint32_t length : rows.length) {
    bytes += row_bytes(form, weight.cols, std::span(rows.column).subspan(first, length));
    first += length;
  }
  return bytes;
}

}  // namespace

ValueForm value_form_from(std::string_view text) {
  if (text == "auto") return ValueForm::automatic;
  if (text == "f32") return ValueForm::f32;
  if (text == "f16") return ValueForm::f16;
  const std::vector<std::string> known = {"auto", "f32", "f16"};
  fail(ErrorCode::usage, "--values '", text, "' is not known", suggestion(text, known));
}

Weight deployed_weight(const Model& model, const Node& node, ValueForm form,
                       const std::string& place) {
  const WeightParts parts = weight_parts(model, node, place);
  if (form == ValueForm::f16) {
    require_half_range(weight_of(model, node.name).values<float>(), parts.name, place,
                       "export it with --values f32");
  }
  DenseWeight dense = dense_weight(model, node, parts, form);
  if (!parts.mask) return dense;
  CsrWeight sparse = csr_weight(model, node, parts, form, decode(dense.values));
  const auto dense_bytes = static_cast<std::int64_t>(dense.values.data.size());
  if (file_bytes(sparse) >= dense_bytes) return dense;
  return sparse;
}

}  // namespace winnow
