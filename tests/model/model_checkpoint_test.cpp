#include <doctest/doctest.h>

#include <filesystem>
#include <functional>
#include <limits>

#include "runtime/model/safetensors.h"
#include "tests/model/graphs.h"
#include "tests/temporary_directory.h"
#include "tests/throws.h"

namespace winnow {
namespace {

template <typename T>
Tensor tensor(Shape shape, const std::vector<T>& values) {
  return Tensor::from<T>(std::move(shape), std::span<const T>(values));
}

// conv [10, 2, 1, 2] masked in vectors of 8 channels, batch norm, fc [2, 10] masked by element.
Model small_model() {
  Conv op = conv(2, 10, 1);
  op.kernel = {1, 2};
  op.has_bias = false;
  Model model;
  model.graph = graph_of({2, 1, 2}, {{"conv", op, {}},
                                     {"norm", BatchNorm{10}, {}},
                                     {"flat", Flatten{}, {}},
                                     {"fc", Linear{10, 2, true}, {}}});
  for (const Node& node : model.graph.nodes) {
    for (const Parameter& parameter : parameters_of(node)) {
      Tensor weight(DataType::f32, parameter.shape);
      float value = 0;
      for (float& w : weight.values<float>()) w = ++value;
      model.tensors[parameter.name] = std::move(weight);
    }
  }
  // Channels 0-7 lose (c 0, s 1), channels 8-9 lose (c 1, s 0).
  model.tensors["conv.weight.mask"] = tensor<std::uint8_t>({2, 2, 1, 2}, {1, 0, 1, 1, 1, 1, 0, 1});
  std::vector<std::uint8_t> fc_mask(20, 1);
  fc_mask[3] = 0;
  model.tensors["fc.weight.mask"] = tensor<std::uint8_t>({2, 10}, fc_mask);
  model.mask_vector = {{"conv", 8}, {"fc", 1}};
  model.activation_bits = 16;
  model.activation_frac = {{"conv", -3}, {"fc", 12}};
  model.preprocessing = {{0.1f, 0.2f}, {0.3f, 1 / 3.0f}, {}};
  model.classes = {"a", "b"};
  model.metadata = {{"seed", "1"}, {"note", "\xc3\xa4 \"quoted\"\n"}};
  return model;
}

// small_model with weights that obey the masks.
Model masked_model() {
  const TemporaryDirectory directory;
  save_model(directory / "m", small_model());
  return load_model(directory / "m");
}

// The tensors of an embedding that reads tokens, and a vocabulary that fits it.
Model sentence_model() {
  Model model;
  model.graph = graph_of({3},
                         {{"words", Embedding{4, 2}, {}},
                          {"pool", GlobalPool{PoolKind::max}, {}},
                          {"fc", Linear{2, 2, false}, {}}},
                         true);
  model.tensors["words.weight"] = Tensor(DataType::f32, {4, 2});
  model.tensors["fc.weight"] = Tensor(DataType::f32, {2, 2});
  model.preprocessing.vocabulary = {"film", "n't"};
  return model;
}

void quantize_fc(Model& model, bool with_codebook) {
  model.tensors.erase("fc.weight");
  std::vector<std::uint8_t> codes(20, 2);
  codes[3] = 0;
  if (with_codebook) {
    model.tensors["fc.weight.codes"] = tensor<std::uint8_t>({2, 10}, codes);
    model.tensors["fc.weight.codebook"] =
        tensor<Half>({3}, {to_half(0), to_half(0.5f), to_half(-1)});
  } else {
    model.tensors["fc.weight.codes"] =
        tensor<std::int8_t>({2, 10}, std::vector<std::int8_t>(codes.begin(), codes.end()));
    model.tensors["fc.weight.scale"] = tensor<float>({1}, {0.25f});
  }
}

std::string refusal(const std::function<void(Model&)>& damage) {
  Model model = masked_model();
  damage(model);
  const auto check = [&] { check_model(model, "here"); };
  CHECK(error_of(check) == ErrorCode::bad_file);
  return message_of(check);
}

bool has(const std::string& text, const std::string& part) {
  INFO(text);
  return text.starts_with("here: ") && text.find(part) != std::string::npos;
}

TEST_CASE("a checkpoint comes back equal") {
  const TemporaryDirectory directory;
  const Model model = masked_model();
  save_model(directory / "again", model);
  CHECK(load_model(directory / "again") == model);
  for (const bool with_codebook : {false, true}) {
    Model quantized = model;
    quantize_fc(quantized, with_codebook);
    save_model(directory / "quantized", quantized);
    CHECK(load_model(directory / "quantized") == quantized);
  }
}

TEST_CASE("saving sets masked weights to 0 and nothing else") {
  const Model before = small_model();
  const Model after = masked_model();
  const auto old_weight = before.tensors.at("conv.weight").values<float>();
  const auto weight = after.tensors.at("conv.weight").values<float>();
  for (std::size_t i = 0; i < weight.size(); ++i) {
    const std::size_t masked_position = i / 4 < 8 ? 1 : 2;  // within a channel
    CHECK(weight[i] == (i % 4 == masked_position ? 0.0f : old_weight[i]));
  }
  CHECK(after.tensors.at("fc.weight").values<float>()[3] == 0.0f);
  CHECK(after.tensors.at("norm.weight") == before.tensors.at("norm.weight"));
}

TEST_CASE("saving sets masked codes to the entry that is 0") {
  for (const bool with_codebook : {false, true}) {
    const TemporaryDirectory directory;
    Model model = masked_model();
    quantize_fc(model, with_codebook);
    model.tensors.at("fc.weight.codes").bytes()[3] = std::byte{1};
    save_model(directory / "m", model);
    CHECK(load_model(directory / "m").tensors.at("fc.weight.codes").bytes()[3] == std::byte{0});
  }
}

TEST_CASE("sparsity counts masked weights of existing channels") {
  CHECK(sparsity(masked_model()) == doctest::Approx(11.0 / 60));  // 8 + 2 of 40, 1 of 20
  Model model = masked_model();
  model.mask_vector.clear();
  model.tensors.erase("conv.weight.mask");
  model.tensors.erase("fc.weight.mask");
  CHECK(sparsity(model) == 0.0);
}

TEST_CASE("weight_of gives floats whatever the form") {
  Model model = masked_model();
  CHECK(weight_of(model, "fc") == model.tensors.at("fc.weight"));
  quantize_fc(model, false);
  CHECK(weight_of(model, "fc").shape() == Shape{2, 10});
  CHECK(weight_of(model, "fc").values<float>()[0] == 0.5f);
  CHECK(weight_of(model, "fc").values<float>()[3] == 0.0f);
  Model clustered = masked_model();
  quantize_fc(clustered, true);
  CHECK(weight_of(clustered, "fc").values<float>()[0] == -1.0f);
  Model wide = masked_model();
  wide.tensors.erase("fc.weight");
  wide.tensors["fc.weight.codes"] =
      tensor<std::int16_t>({2, 10}, std::vector<std::int16_t>(20, -300));
  wide.tensors["fc.weight.scale"] = tensor<float>({1}, {0x1p-10f});
  CHECK(weight_of(wide, "fc").values<float>()[7] == -300 * 0x1p-10f);
  CHECK(error_of([&] { weight_of(model, "fcc"); }) == ErrorCode::bad_file);
  CHECK(error_of([&] { weight_of(model, "flat"); }) == ErrorCode::bad_file);
  model.tensors.erase("fc.weight.scale");
  CHECK(error_of([&] { weight_of(model, "fc"); }) == ErrorCode::bad_file);
}

TEST_CASE("channel scales multiply the codebook's values and come back from a file") {
  Model model = masked_model();
  quantize_fc(model, true);
  model.tensors["fc.weight.channel_scale"] = tensor<Half>({2}, {to_half(3), to_half(-0.25f)});
  const Tensor weight = weight_of(model, "fc");
  CHECK(weight.values<float>()[0] == -3.0f);
  CHECK(weight.values<float>()[3] == 0.0f);
  CHECK(weight.values<float>()[10] == 0.25f);
  const TemporaryDirectory directory;
  save_model(directory / "scaled", model);
  CHECK(load_model(directory / "scaled") == model);
}

TEST_CASE("damaged channel scales are refused") {
  const auto damaged = [](bool with_codebook, const Tensor& scales) {
    return refusal([&](Model& m) {
      quantize_fc(m, with_codebook);
      m.tensors["fc.weight.channel_scale"] = scales;
    });
  };
  const Tensor sound = tensor<Half>({2}, {to_half(1), to_half(1)});
  CHECK(
      has(damaged(false, sound), "'fc.weight.channel_scale': scales a weight without a codebook"));
  CHECK(has(refusal([&](Model& m) { m.tensors["fc.weight.channel_scale"] = sound; }),
            "scales a weight without a codebook"));
  CHECK(has(damaged(true, Tensor(DataType::f16, {3})), "found F16 [3], expected F16 [2]"));
  CHECK(has(damaged(true, Tensor(DataType::f32, {2})), "found F32 [2], expected F16 [2]"));
  CHECK(has(damaged(true, tensor<Half>({2}, {to_half(1), Half{0x7c00}})), "scale 1 is not finite"));
  CHECK(has(refusal([&](Model& m) { m.tensors["norm.weight.channel_scale"] = sound; }),
            "unknown tensor 'norm.weight.channel_scale'"));
}

TEST_CASE("a masked weight of -0 counts as 0") {
  Model model = masked_model();
  model.tensors.at("fc.weight").values<float>()[3] = -0.0f;
  CHECK_NOTHROW(check_model(model, "here"));
}

TEST_CASE("tensors of other programs may lie beside the model's") {
  Model model = masked_model();
  model.tensors["optimizer.step"] = Tensor(DataType::i64, {1});
  CHECK_NOTHROW(check_model(model, "here"));
}

TEST_CASE("damaged parameters are refused") {
  CHECK(has(refusal([](Model& m) { m.tensors.erase("norm.running_var"); }),
            "tensor 'norm.running_var' is missing"));
  CHECK(has(refusal([](Model& m) { m.tensors.erase("fc.weight"); }),
            "tensor 'fc.weight' is missing"));
  CHECK(has(refusal([](Model& m) { m.tensors["fc.bias"] = Tensor(DataType::f32, {3}); }),
            "'fc.bias': found F32 [3], expected F32 [2]"));
  CHECK(has(refusal([](Model& m) {
              m.tensors["fc.weight"] = Tensor(DataType::f16, {2, 10});
            }),
            "'fc.weight': found F16 [2, 10], expected F32 [2, 10]"));
  CHECK(has(refusal([](Model& m) {
              m.tensors["fc.wieght"] = Tensor(DataType::f32, {2, 10});
            }),
            "unknown tensor 'fc.wieght'; did you mean 'fc.weight'?"));
  CHECK(has(refusal([](Model& m) { m.graph.nodes.back().inputs = {"nowhere"}; }), "nowhere"));
}

TEST_CASE("damaged masks are refused") {
  CHECK(has(refusal([](Model& m) { m.tensors.at("fc.weight").values<float>()[3] = 1; }),
            "'fc.weight': element 3 is masked, but not 0"));
  CHECK(has(refusal([](Model& m) { m.tensors.at("fc.weight.mask").bytes()[0] = std::byte{2}; }),
            "a block is neither 0 nor 1"));
  CHECK(has(refusal([](Model& m) { m.mask_vector["conv"] = 16; }),
            "found U8 [2, 2, 1, 2], expected U8 [1, 2, 1, 2]"));
  CHECK(has(refusal([](Model& m) { m.mask_vector["conv"] = 4; }), "mask vector is 4"));
  CHECK(has(refusal([](Model& m) { m.mask_vector.erase("conv"); }),
            "'conv' has a mask, but no mask vector"));
  CHECK(has(refusal([](Model& m) { m.tensors.erase("fc.weight.mask"); }),
            "'fc' has a mask vector, but no mask"));
  CHECK(has(refusal([](Model& m) { m.mask_vector["norm"] = 1; }), "no conv or linear node"));
}

TEST_CASE("damaged codes are refused") {
  CHECK(has(refusal([](Model& m) {
              const Tensor weight = m.tensors.at("fc.weight");
              quantize_fc(m, false);
              m.tensors["fc.weight"] = weight;
            }),
            "both values and codes"));
  CHECK(has(refusal([](Model& m) {
              quantize_fc(m, false);
              m.tensors.erase("fc.weight.scale");
            }),
            "'fc.weight.scale' is missing"));
  CHECK(has(refusal([](Model& m) {
              quantize_fc(m, false);
              m.tensors["fc.weight.scale"] = Tensor(DataType::f32, {1});
            }),
            "scale is 0, expected a positive number"));
  CHECK(refusal([](Model& m) {
          quantize_fc(m, false);
          m.tensors["fc.weight.scale"] = tensor<float>({1}, {3e38f});
        }) ==
        "here: tensor 'fc.weight.scale': scale is 3e+38, so that codes stand for no finite "
        "numbers");
  CHECK(has(refusal([](Model& m) {
              quantize_fc(m, true);
              m.tensors.at("fc.weight.codes").bytes()[0] = std::byte{3};
            }),
            "code 3 of a codebook with 3 entries"));
  CHECK(has(refusal([](Model& m) {
              quantize_fc(m, true);
              m.tensors.at("fc.weight.codebook").values<Half>()[0] = to_half(1);
            }),
            "entry 0 is not 0"));
  CHECK(has(refusal([](Model& m) {
              quantize_fc(m, true);
              m.tensors["fc.weight.codebook"] = Tensor(DataType::f16, {257});
            }),
            "expected F16 of 1 to 256 entries"));
}

TEST_CASE("numbers that are not finite are refused by tensor and element") {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  CHECK(has(refusal([&](Model& m) { m.tensors.at("fc.weight").values<float>()[0] = nan; }),
            "tensor 'fc.weight': element 0 is nan, expected a finite number"));
  CHECK(has(refusal([&](Model& m) { m.tensors.at("fc.bias").values<float>()[1] = -1 / 0.0f; }),
            "tensor 'fc.bias': element 1 is -inf, expected a finite number"));
}

TEST_CASE("what pictures are brought to comes back, and is left out where nothing is said") {
  const TemporaryDirectory directory;
  Model model;
  model.graph = {"n", {{"input", Input{{1, 4, 6}}, {}}, {"out", Relu{}, {"input"}}}};
  const auto state = [&] {
    save_model(directory / "m", model);
    return read_safetensors(directory / "m").metadata.at("winnow.state");
  };
  const auto contains = [](const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
  };
  CHECK(!contains(state(), "pictures"));
  model.preprocessing.pictures = {{5, 0}, {4, 6}, Interpolation::lanczos};
  CHECK(contains(state(), R"("pictures":{"crop":"4x6","interpolation":"lanczos","resize":"5"})"));
  CHECK(load_model(directory / "m") == model);
  model.preprocessing.pictures = {{4, 0}, {}, Interpolation::bicubic};
  state();
  CHECK(load_model(directory / "m") == model);
  model.preprocessing.pictures = {{6, 0}, {}, Interpolation::bicubic};
  CHECK(
      contains(message_of([&] { state(); }), "pictures are brought to 6, the network's input is"));
}

TEST_CASE("damaged state is refused") {
  CHECK(has(refusal([](Model& m) { m.activation_bits = 1; }), "activation bits are 1"));
  CHECK(has(refusal([](Model& m) { m.activation_frac["con"] = 1; }), "did you mean 'conv'?"));
  CHECK(has(refusal([](Model& m) { m.activation_frac["conv"] = 127; }), "127 fractional bits"));
  CHECK(has(refusal([](Model& m) { m.preprocessing.mean = {1}; }), "mean of 1 channels"));
  CHECK(has(refusal([](Model& m) { m.preprocessing.deviation[0] = 0; }), "is not positive"));
  CHECK(has(refusal([](Model& m) { m.preprocessing.deviation[0] = 1e-45f; }),
            "of channel 0 makes inputs infinite"));
  CHECK(has(refusal([](Model& m) { m.classes.pop_back(); }), "1 class names"));
}

TEST_CASE("files of other programs and other formats are no checkpoints") {
  const TemporaryDirectory directory;
  const std::string path = directory / "x.safetensors";
  const auto message = [&] { return message_of([&] { load_model(path); }); };
  write_safetensors(path, {});
  CHECK(message() == path +
                         ": no Winnow checkpoint, but a safetensors file of another program: "
                         "metadata 'winnow.format' is missing");
  save_model(path, masked_model());
  const SafetensorsFile good = read_safetensors(path);
  SafetensorsFile later = good;
  later.metadata["winnow.format"] = "22";
  write_safetensors(path, later);
  CHECK(message() == path + ": checkpoint format '22', this program reads 1");
  SafetensorsFile strange = good;
  strange.metadata["winnow.extra"] = "x";
  write_safetensors(path, strange);
  CHECK(message().find("'winnow.' are reserved") != std::string::npos);
  SafetensorsFile broken = good;
  broken.metadata["winnow.state"] = "{}";
  write_safetensors(path, broken);
  CHECK(message().find("state: field 'activation_bits' is missing") != std::string::npos);
}

TEST_CASE("a model that could not be loaded is not saved") {
  const TemporaryDirectory directory;
  Model model = masked_model();
  model.tensors.erase("fc.bias");
  CHECK(error_of([&] { save_model(directory / "x", model); }) == ErrorCode::bad_file);
  model = masked_model();
  model.metadata["winnow.mine"] = "x";
  CHECK(error_of([&] { save_model(directory / "x", model); }) == ErrorCode::usage);
  CHECK(std::filesystem::is_empty(directory.path()));
}

TEST_CASE("a vocabulary is kept as a tensor of its text") {
  const TemporaryDirectory directory;
  const std::string path = directory / "m";
  save_model(path, sentence_model());
  CHECK(load_model(path) == sentence_model());
  SafetensorsFile file = read_safetensors(path);
  const auto bytes = file.tensors.at("winnow.vocabulary").values<std::uint8_t>();
  CHECK(std::string(bytes.begin(), bytes.end()) == "film\nn't\n");

  const auto refusal = [&](Tensor words) {
    file.tensors.insert_or_assign("winnow.vocabulary", std::move(words));
    write_safetensors(path, file);
    CHECK(error_of([&] { load_model(path); }) == ErrorCode::bad_file);
    return message_of([&] { load_model(path); });
  };
  CHECK(refusal(tensor<float>({1}, {1})) ==
        path + ": tensor 'winnow.vocabulary': found F32, expected U8");
  CHECK(refusal(tensor<std::uint8_t>({3}, {'a', '\n', 'b'})) ==
        path + ": tensor 'winnow.vocabulary': the last word has no end");
  CHECK(refusal(tensor<std::uint8_t>({2}, {'a', '\n'})) ==
        path + ": vocabulary of 1 words: the embedding has 4 rows, expected 3");
  CHECK(refusal(tensor<std::uint8_t>({4}, {'a', '\n', 'a', '\n'})) ==
        path + ": vocabulary: 'a' occurs twice");

  Model images = small_model();
  images.preprocessing.vocabulary = {"film"};
  CHECK(error_of([&] { save_model(path, images); }) == ErrorCode::bad_file);
}

}  // namespace
}  // namespace winnow
