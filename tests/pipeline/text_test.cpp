// The four programs on sentences.
#include <doctest/doctest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "runtime/base/file.h"
#include "tests/pipeline/shell.h"
#include "tests/temporary_directory.h"
#include "tests/text/sample_sentences.h"

namespace winnow {
namespace {

nlohmann::json json_of(const std::string& path) {
  return nlohmann::json::parse(read_text_file(path));
}

Outcome done(const Outcome& outcome) {
  INFO(outcome.output);
  REQUIRE(outcome.status == 0);
  return outcome;
}

bool says(const Outcome& outcome, const std::string& part) {
  return outcome.output.find(part) != std::string::npos;
}

TEST_CASE("sentences go through prune, quantize, export and runtime") {
  const TemporaryDirectory folder;
  const std::string reviews = folder / "reviews", run = folder / "run";
  write_reviews(reviews, 150, 1);
  std::ofstream(folder / "tiny.yaml")
      << "name: tiny\ndevice: cpu\nthreads: 1\noutput: " << run << "\n"
      << "data: {format: text, path: " << reviews << ", validation: 40, folds: 5}\n"
      << "model: {architecture: textcnn, dropout: 0.5, embedding: 8}\n"
      << "train: {epochs: 6, batch_size: 16, learning_rate: 0.1}\n"
      << "prune: {start: dense, iter_nr: 6, batch_nr: 4, pool_size: 3, target_sparsity: 0.7, "
      << "learning_rate: 0.05}\n";
  done(shell(program("prune") + " --config " + folder / "tiny.yaml"));
  done(shell(program("quantize") + " --in " + run + "/pruned.safetensors --scheme 4b/16b " +
             "--device cpu"));
  const std::string model = run + "/tiny.wnw", dense = run + "/dense.wnw";
  done(shell(program("export") + " --in " + run + "/quantized.safetensors -o " + model));
  done(shell(program("export") + " --in " + run + "/dense.safetensors -o " + dense));
  const std::string command = program("runtime") + " run " + model + " --device cpu ";

  // Accuracies are those that prune and quantize measured, on the same fold.
  done(shell(command + "--data text:" + reviews + " --against " + dense + " --json " + run +
             "/run.json"));
  const auto result = json_of(run + "/run.json");
  CHECK(result["samples"] == 60);
  CHECK(result["accuracy"] >= 90.0);
  CHECK(result["against"]["accuracy"].get<double>() ==
        doctest::Approx(100 * json_of(run + "/prune.json")["dense_accuracy"].get<double>()));
  CHECK(json_of(run + "/quantize.json")["samples"] == 60);

  done(shell(command + "'A moving story!' 'dull xyzzy' --json " + run + "/two.json"));
  const auto two = json_of(run + "/two.json")["sentences"];
  CHECK(two[0]["top"][0]["class"] == "pos");
  CHECK(two[1]["top"][0]["class"] == "neg");
  CHECK(two[1]["top"][0]["probability"] > 0.5);
  CHECK(two[1]["words"] == 2);
  CHECK(two[1]["unknown"] == 1);
  CHECK(says(done(shell(command + "'dull xyzzy'")), "(1 of 2 words unknown)"));
  done(shell(program("runtime") + " verify " + model + " --device cpu"));

  CHECK(json_of(run + "/run.json")["data"] == "text:" + reviews);
  const Outcome no_words = shell(command + "' . '");
  CHECK(no_words.status == 2);
  CHECK(says(no_words, "run: found ' . ', expected a sentence"));
  write_reviews(folder / "other", 20, 2);
  const Outcome other = shell(command + "--data text:" + folder / "other");
  CHECK(other.status == 2);
  CHECK(says(other, "40 sentences that are not split"));
  CHECK(says(other, "give --split all"));
  done(shell(command + "--split all --data text:" + folder / "other --min-accuracy 90"));
  std::ofstream(folder / "bad.tsv") << "pos\tfine\nno tab\n";
  const Outcome bad = shell(command + "--split all --data text:" + folder / "bad.tsv");
  CHECK(bad.status == 3);
  CHECK(says(bad, "bad.tsv:2: found no tab"));
  std::ofstream(folder / "classes.tsv") << "pos\tfine\nmixed\tso so\n";
  CHECK(shell(command + "--split all --data text:" + folder / "classes.tsv").status == 2);
}

}  // namespace
}  // namespace winnow
