#include "tests/model/sample_models.h"

#include <vector>

#include "tests/model/graphs.h"

namespace winnow {
namespace {

constexpr Encoding kEncodings[] = {Encoding::f32,    Encoding::f16,       Encoding::fixed16,
                                   Encoding::fixed8, Encoding::codebook8, Encoding::codebook4};
constexpr int kVectors[] = {1, 8, 16, 32};

template <typename Item, std::size_t count>
Item one_of(const Item (&items)[count], Random& random) {
  return items[random.below(count)];
}

// A number from 1 to `most` where nonzero, else 0.
template <typename Code>
std::vector<Code> codes(std::span<const std::uint8_t> nonzero, std::int64_t most, Random& random) {
  std::vector<Code> result;
  for (const std::uint8_t is_set : nonzero) {
    result.push_back(is_set ? static_cast<Code>(random.between(1, most)) : Code{0});
  }
  return result;
}

std::vector<Half> codebook(std::size_t entries, Random& random) {
  std::vector<Half> result(entries);
  for (std::size_t i = 1; i < entries; ++i) {
    result[i] = to_half(static_cast<float>(random.uniform(0.01, 1)));
  }
  return result;
}

// Half of the codebooks get a factor per channel, of any sign and now and then 0.
void scale_some(Values& values, std::int64_t channels, int lanes, Random& random) {
  if (values.codebook.empty() || random.chance(0.5)) return;
  std::vector<Half> scales;
  for (std::int64_t i = 0; i < channels; ++i) {
    scales.push_back(to_half(random.chance(0.1) ? 0.0f : static_cast<float>(random.normal())));
  }
  values = with_channel_scale(std::move(values), std::move(scales), lanes);
}

DenseWeight dense(Shape shape, Encoding encoding, Random& random) {
  const std::vector<std::uint8_t> all(static_cast<std::size_t>(element_count(shape)), 1);
  const std::int64_t channels = shape[0];
  DenseWeight weight{std::move(shape), random_values(encoding, all, random)};
  scale_some(weight.values, channels, 1, random);
  return weight;
}

Weight random_weight(const Shape& shape, Random& random) {
  const Encoding encoding = one_of(kEncodings, random);
  if (random.chance(0.25)) return dense(shape, encoding, random);
  const std::int64_t cols = element_count(shape) / shape[0];
  CsrWeight weight =
      random_csr({shape[0], cols, one_of(kVectors, random)}, encoding, random.chance(0.3), random);
  scale_some(weight.values, weight.channels, weight.vector, random);
  return weight;
}

}  // namespace

DeployedModel golden_model() {
  DeployedModel model;
  Conv window = conv(1, 2, 2);
  model.graph = graph_of({1, 3, 3}, {{"conv", window, {}},
                                     {"relu", Relu{}, {}},
                                     {"flat", Flatten{}, {}},
                                     {"fc", Linear{8, 2, true}, {}}});
  // Row 0 keeps columns 0 and 3, row 1 keeps column 1 and is padded with column 0.
  const std::vector<std::uint8_t> mask = {1, 0, 0, 1, 0, 1, 0, 0};
  const std::vector<std::uint8_t> sparse_codes = {1, 2, 0, 3};
  const std::vector<Half> entries = {to_half(0), to_half(0.5f), to_half(-1), to_half(2)};
  model.weights["conv.weight"] =
      csr_weight(build_csr_pattern(mask, 2, 4, 1),
                 encode_codebook(Encoding::codebook4, sparse_codes, entries));
  model.weights["conv.bias"] = DenseWeight{{2}, encode_f32(std::vector{0.25f, -0.5f})};
  std::vector<std::int8_t> dense_codes;
  for (int i = 0; i < 16; ++i) dense_codes.push_back(static_cast<std::int8_t>(i - 8));
  model.weights["fc.weight"] = DenseWeight{{2, 8}, encode_fixed8(dense_codes, 0.03125f)};
  model.weights["fc.bias"] = DenseWeight{{2}, encode_f32(std::vector{1.0f, 2.0f})};
  model.activation_bits = 8;
  model.activation_frac = {{"conv", 5}, {"input", 7}};
  model.preprocessing = {{0.5f}, {0.25f}};
  model.classes = {"no", "yes"};
  model.metadata = {{"seed", "7"}};
  return model;
}

DeployedModel golden_scaled_model() {
  DeployedModel model;
  model.graph = graph_of({4}, {{"fc", Linear{4, 2, false}, {}}});
  // As conv.weight of golden_model, times 2 and -0.25.
  const std::vector<std::uint8_t> mask = {1, 0, 0, 1, 0, 1, 0, 0};
  const std::vector<std::uint8_t> sparse_codes = {1, 2, 0, 3};
  const std::vector<Half> entries = {to_half(0), to_half(0.5f), to_half(-1), to_half(2)};
  Values values = encode_codebook(Encoding::codebook4, sparse_codes, entries);
  model.weights["fc.weight"] =
      csr_weight(build_csr_pattern(mask, 2, 4, 1),
                 with_channel_scale(std::move(values), {to_half(2), to_half(-0.25f)}, 1));
  return model;
}

DeployedModel text_model() {
  DeployedModel model;
  model.graph = graph_of({3},
                         {{"words", Embedding{4, 2}, {}},
                          {"pool", GlobalPool{PoolKind::max}, {}},
                          {"fc", Linear{2, 2, false}, {}}},
                         true);
  model.weights["words.weight"] =
      DenseWeight{{4, 2}, encode_f32(std::vector<float>{0, 0, 0, 0, 1, -1, -2, 3})};
  model.weights["fc.weight"] = DenseWeight{{2, 2}, encode_f32(std::vector<float>{1, 0, 0, 1})};
  model.preprocessing.vocabulary = {"film", "n't"};
  model.classes = {"neg", "pos"};
  return model;
}

Values random_values(Encoding encoding, std::span<const std::uint8_t> nonzero, Random& random) {
  std::vector<float> floats;
  switch (encoding) {
    case Encoding::f32:
    case Encoding::f16:
      for (const std::uint8_t is_set : nonzero) {
        floats.push_back(is_set ? static_cast<float>(random.uniform(0.1, 1)) : 0.0f);
      }
      return encoding == Encoding::f32 ? encode_f32(floats) : encode_f16(floats);
    case Encoding::fixed16:
      return encode_fixed16(codes<std::int16_t>(nonzero, 32767, random), 0x1p-12f);
    case Encoding::fixed8:
      return encode_fixed8(codes<std::int8_t>(nonzero, 127, random), 0x1p-7f);
    case Encoding::codebook8:
    case Encoding::codebook4:
      break;
  }
  const std::int64_t most = encoding == Encoding::codebook8 ? 199 : 12;
  return encode_codebook(encoding, codes<std::uint8_t>(nonzero, most, random),
                         codebook(static_cast<std::size_t>(most) + 1, random));
}

CsrWeight random_csr(const SparseShape& shape, Encoding encoding, bool has_kept_zeros,
                     Random& random) {
  const std::int64_t rows = (shape.channels + shape.vector - 1) / shape.vector;
  std::vector<std::uint8_t> mask;
  for (std::int64_t row = 0; row < rows; ++row) {
    const double density = random.uniform() * random.uniform();  // skewed, often nearly empty
    for (std::int64_t i = 0; i < shape.cols; ++i) mask.push_back(random.chance(density));
  }
  CsrPattern pattern = build_csr_pattern(mask, shape.channels, shape.cols, shape.vector);
  std::vector<std::uint8_t> nonzero;
  for (const std::int64_t at : dense_positions(pattern)) {
    const std::int64_t channel = at / shape.cols;
    const std::int64_t block = channel / shape.vector * shape.cols + at % shape.cols;
    const bool is_kept = at >= 0 && mask[static_cast<std::size_t>(block)] != 0;
    nonzero.push_back(is_kept && !(has_kept_zeros && random.chance(0.3)));
  }
  Values values = random_values(encoding, nonzero, random);
  return csr_weight(std::move(pattern), std::move(values));
}

DeployedModel random_deployed_model(std::uint64_t seed) {
  Random random(seed);
  const std::int64_t groups = random.between(1, 2);
  Conv op =
      conv(groups * random.between(1, 20), groups * random.between(1, 40), random.between(1, 3), 1);
  op.groups = groups;
  op.has_bias = random.chance(0.5);
  DeployedModel model;
  model.graph = graph_of({op.in_channels, 4, 5}, {{"conv", op, {}}, {"pool", GlobalPool{}, {}}});
  const std::int64_t outputs = random.between(1, 70);
  model.graph.nodes.push_back({"fc", Linear{op.out_channels, outputs, true}, {"pool"}});
  for (const Node& node : model.graph.nodes) {
    for (const Parameter& parameter : parameters_of(node)) {
      const bool is_bias = parameter.name.ends_with(".bias");
      model.weights[parameter.name] = is_bias ? dense(parameter.shape, Encoding::f32, random)
                                              : random_weight(parameter.shape, random);
    }
  }
  const auto channels = static_cast<std::size_t>(op.in_channels);
  if (random.chance(0.5)) model.preprocessing.mean.assign(channels, 0.1f);
  if (random.chance(0.5)) model.preprocessing.deviation.assign(channels, 1 / 3.0f);
  model.metadata["seed"] = std::to_string(seed);
  return model;
}

}  // namespace winnow
