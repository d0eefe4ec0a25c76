// What a small file can make huge: refused before it is allocated, or one line where memory ends.
#include "tests/commands/desk.h"
#include "tests/model/graphs.h"

namespace winnow {
namespace {

// A few weights and an activation of [channels, side, side].
DeployedModel wide_model(std::int64_t channels, std::int64_t side) {
  DeployedModel model;
  model.graph =
      graph_of({1, side, side}, {{"conv", conv(1, channels, 1), {}}, {"pool", GlobalPool{}, {}}});
  const auto count = static_cast<std::size_t>(channels);
  model.weights["conv.weight"] =
      DenseWeight{{channels, 1, 1, 1}, encode_f32(std::vector<float>(count, 1.0f))};
  model.weights["conv.bias"] = DenseWeight{{channels}, encode_f32(std::vector<float>(count, 0.0f))};
  return model;
}

// A small input and output, and a plane between them that is padding almost everywhere.
DeployedModel far_padded_model() {
  Conv op = conv(1, 1, 1);
  op.stride = {65536, 1};
  op.padding = {32768, 0};
  DeployedModel model;
  model.graph = graph_of({1, 1, 2000}, {{"conv", op, {}}, {"pool", GlobalPool{}, {}}});
  model.weights["conv.weight"] = DenseWeight{{1, 1, 1, 1}, encode_f32(std::vector<float>{1.0f})};
  model.weights["conv.bias"] = DenseWeight{{1}, encode_f32(std::vector<float>{0.0f})};
  return model;
}

// `rows` rows of units as long as the first, which alone keeps anything: a small file.
DeployedModel padded_model(std::int64_t rows, std::int64_t cols) {
  constexpr int kVector = 32;
  std::vector<std::uint8_t> mask(static_cast<std::size_t>(rows * cols), 0);
  std::fill_n(mask.begin(), cols, std::uint8_t{1});
  CsrPattern pattern = build_csr_pattern(mask, rows * kVector, cols, kVector);
  std::vector<std::uint8_t> codes(pattern.column.size() * kVector, 0);
  std::fill_n(codes.begin(), cols * kVector, std::uint8_t{1});
  DeployedModel model;
  model.graph = graph_of({cols}, {{"fc", Linear{cols, rows * kVector, false}, {}}});
  model.weights["fc.weight"] = csr_weight(
      std::move(pattern), encode_codebook(Encoding::codebook4, codes, {to_half(0), to_half(1)}));
  return model;
}

}  // namespace

TEST_CASE("activations beyond the limit are refused with the file's name") {
  const Desk desk(wide_model(64, 4096));  // 4 GiB a sample
  struct Command {
    const char* name;
    std::string options;
  };
  const Command commands[] = {
      {"verify", "--batch 2"}, {"bench", "--batch 1,2"}, {"run", "x.png --batch 2"}};
  for (const Command& command : commands) {
    CAPTURE(command.name);
    check_refusal(desk.run(command.name, command.options + " --quiet --device cpu"), 3,
                  {"m.wnw: weights and activations of batches of 2 take about 87",
                   "at most 8589934592 are allowed"});
  }
  check_refusal(desk.run("verify", "--quiet --device cpu --batch 1 --max-model-bytes 1GB"), 3,
                {"at most 1073741824 are allowed (--max-model-bytes)"});
}

TEST_CASE("padding beyond the limit is refused with the file's name") {
  const Desk desk(far_padded_model());
  // 2 images of 65537 rows of 2000 columns in 16 lanes.
  check_refusal(desk.run("verify", "--quiet --device cpu"), 3,
                {"m.wnw: weights and activations of batches of 2 take about 16777",
                 "at most 8589934592 are allowed"});
}

TEST_CASE("the limit on memory holds for weights too, and can be raised and lowered") {
  const Desk desk(padded_model(64, 256));
  // Each of 64 rows: 256 columns of 4 bytes, 256 * 32 codes of 4 bits, a kept count; a codebook.
  const std::uint64_t decoded = 64 * (256 * 4 + 256 * 16 + 4) + 4;
  const std::string bytes = std::to_string(decoded);
  check_refusal(desk.run("inspect", "--quiet --max-model-bytes " + std::to_string(decoded - 1)), 3,
                {"m.wnw: decoded weights take " + bytes + " bytes"});
  CHECK(desk.run("inspect", "--quiet --max-model-bytes " + bytes).status == 0);
  CHECK(desk.run("verify", "--quiet --device cpu --max-model-bytes 1GB").status == 0);
}

#ifndef WINNOW_SANITIZE
TEST_CASE("inspect takes no more memory than the weights as the file has them") {
  const Desk desk(padded_model(1024, 1024));  // 21 MB; as floats 134 MB more
  const std::string limit = "ulimit -v 150000; ";
  const Outcome outcome = shell(limit + program("runtime") + " inspect --quiet " + desk.model());
  INFO(outcome.output);
  CHECK(outcome.status == 0);
}

TEST_CASE("where memory ends, one line says what was asked for") {
  const Desk desk(wide_model(64, 1024));  // 272 MB a sample
  const Outcome outcome = shell("ulimit -v 800000; " + program("runtime") + " verify " +
                                desk.model() + " --quiet --device cpu --threads 1 --batch 8");
  check_refusal(outcome, 4, {"out of memory", "of net in batches of 8 take about 2181"});
}
#endif

}  // namespace winnow
