#include "runtime/report/card.h"

#include <doctest/doctest.h>

#include "runtime/base/file.h"
#include "tests/temporary_directory.h"

namespace winnow {
namespace {

class RunFolder {
 public:
  void put(const std::string& name, const std::string& text) const {
    write_file_atomically(directory_ / name, text);
  }
  std::string card() const { return model_card(read_run_facts(directory_.path())); }

 private:
  TemporaryDirectory directory_;
};

// A run with all of its stages.
void put_run(const RunFolder& folder) {
  folder.put("prune.json", R"_({"command":"prune","version":"0.1.0","name":"small",
      "network":"lenet5","data":"idx in d","seed":7,"device":"cpu (1 threads)",
      "libtorch":"2.11.0","dense_accuracy":0.915,"accuracy":0.912,"sparsity":0.93,
      "granularity":"element","layers":[{"name":"conv1","weights":150,"sparsity":0.5},
                                        {"name":"fc","weights":400,"sparsity":0.95}]})_");
  folder.put("quantize.json", R"_({"command":"quantize","version":"0.1.1",
      "in":"r/pruned.safetensors","out":"r/my net.safetensors","scheme":"4b/16b",
      "requested_scheme":"4b/16b","calibration":1024,"activation_range":"mse","device":"cpu",
      "accuracy_after":91.1})_");
  folder.put("export.json", R"_({"command":"export","version":"0.1.1",
      "in":"r/my net.safetensors","values":"auto","file":"r/small.wnw","bytes":4000,
      "dense_f32_bytes":100000,
      "layers":[{"name":"conv1","dense_f32_bytes":600,"index_bytes":30,"value_bytes":40}]})_");
  folder.put("run.json", R"_({"command":"run","version":"0.1.1","model":"r/small.wnw",
      "device":"cpu (x)","precision":"f32","batch":128,"data":"idx:d","samples":10000,
      "accuracy":90.9})_");
  folder.put("bench.json", R"_([{"command":"bench","version":"0.1.1","device":"cpu (x)",
      "batch":1,"precision":"f32","dense":{"network_ms":{"median":0.5}},
      "sparse":{"error":"none"},"chosen":{"network_ms":{"median":0.25},"layers":[]}},
     {"command":"bench","version":"0.1.1","device":"cpu (x)","batch":128,"precision":"f32",
      "dense":{"network_ms":{"median":12.8}},"sparse":{"network_ms":{"median":6.4}},
      "chosen":{"network_ms":{"median":6.4},"layers":[]}}])_");
  folder.put("config.yaml", "name: small\nseed: 7\n");
}

bool has(const std::string& card, const std::string& text) {
  return card.find(text) != std::string::npos;
}

}  // namespace

TEST_CASE("the card of a whole run has what its files say") {
  const RunFolder folder;
  put_run(folder);
  const std::string card = folder.card();
  CHECK(card.starts_with("# small\n\n"));
  for (const std::string line :
       {"| network | lenet5 |",
        "| trained and tested on | idx in d |",
        "| weight sparsity | 93.00 % |",
        "| granularity of masks | element |",
        "| quantization | 4b/16b (weights/activations) |",
        "| model file | r/small.wnw |",
        "| dense | 91.50 % |",
        "| pruned | 91.20 % |",
        "| quantized | 91.10 % |",
        "| deployed, on cpu (x), 10000 images | 90.90 % |",
        "| all parameters, dense fp32 | 100000 bytes |",
        "| model file | 4000 bytes (25.0x smaller) |",
        "| cpu (x) | f32 | 1 | 0.5000 ms | - | 0.2500 ms | 2.00 |",
        "| cpu (x) | f32 | 128 | 0.1000 ms | 0.0500 ms | 0.0500 ms | 2.00 |",
        "| conv1 | 150 | 50.00 % | 600 bytes | 70 bytes |",
        "| fc | 400 | 95.00 % | - | - |",
        "| prune | 0.1.0 | cpu (1 threads) |",
        "| quantize | 0.1.1 | cpu |",
        "| export | 0.1.1 | - |",
        "| run | 0.1.1 | cpu (x) |",
        "| bench | 0.1.1 | cpu (x) |",
        "Seed 7, LibTorch 2.11.0."}) {
    CAPTURE(line);
    CHECK(has(card, line + "\n"));
  }
  CHECK(has(card,
            "```sh\n"
            "prune --config config.yaml\n"
            "quantize --in r/pruned.safetensors -o 'r/my net.safetensors' --scheme 4b/16b "
            "--activation-range mse --calibration 1024\n"
            "export --in 'r/my net.safetensors' -o r/small.wnw --values auto\n"
            "runtime run r/small.wnw --data idx:d --precision f32 --batch 128\n"
            "runtime bench r/small.wnw --batch 1,128 --precision f32\n"
            "```\n"));
  CHECK(has(card, "```yaml\nname: small\nseed: 7\n```\n"));
  CHECK(
      card.ends_with("## Missing\n\n- no run knows them: what the network is meant for, what it "
                     "must not be used for, the licences of data and weights\n"));
}

TEST_CASE("what a run lacks is listed as missing, with the file that would have it") {
  const RunFolder folder;
  folder.put("metrics.jsonl", "{}\n");
  const std::string card = folder.card();
  const std::string missing = card.substr(card.find("## Missing"));
  for (const std::string line :
       {"- which network was trained on which data: no prune.json",
        "- quantization: no quantize.json, so weights may be fp32",
        "- accuracy before and after pruning: no prune.json",
        "- accuracy after quantization: quantize did not measure it",
        "- accuracy of the deployed model: no run.json of runtime run --data",
        "- size of the model file: no export.json", "- speed: no bench.json of runtime bench",
        "- seed of the training: no prune.json",
        "- configuration of the training: no config.yaml"}) {
    CAPTURE(line);
    CHECK(has(missing, line + "\n"));
  }
  CHECK(!has(card, "## Speed"));
  CHECK(!has(card, "## Layers"));
  CHECK(!has(card, "```"));
  CHECK(has(card, "| dense | - |"));
}

TEST_CASE("an export that does not name its checkpoint has no command") {
  const RunFolder folder;
  put_run(folder);
  folder.put("export.json", R"_({"file":"a.wnw","bytes":10,"layers":[]})_");
  const std::string card = folder.card();
  CHECK(!has(card, "\nexport --in"));
  CHECK(has(card, "- the checkpoint that export read: export.json does not tell it\n"));
}

TEST_CASE("texts from files stay in their cells and blocks") {
  const RunFolder folder;
  put_run(folder);
  folder.put("prune.json", R"_({"name":"a|b\n# <c>","network":"[x](y)","data":"`d`",
                                "layers":[]})_");
  folder.put("quantize.json", R"_({"in":"a'b;\nc","out":"```"})_");
  folder.put("config.yaml", "name: a\n```\n# not a heading\n");
  const std::string card = folder.card();
  CHECK(card.starts_with("# a\\|b\\\\x0a\\# \\<c\\>\n"));
  CHECK(has(card, "| network | \\[x\\](y) |"));
  CHECK(has(card, "| trained and tested on | \\`d\\` |"));
  CHECK(has(card, "quantize --in 'a'\\''b;\\x0ac' -o '```'\n"));
  CHECK(has(card, "````yaml\nname: a\n```\n# not a heading\n````\n"));
}

}  // namespace winnow
