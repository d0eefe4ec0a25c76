// `runtime challenge generate` as a user calls it, on pictures of its own.
#include <doctest/doctest.h>

#include <filesystem>

#include "runtime/base/file.h"
#include "runtime/challenge/files/dataset.h"
#include "runtime/challenge/generate/fft.h"
#include "runtime/challenge/generate/image_generator.h"
#include "runtime/challenge/generate/network_generator.h"
#include "runtime/images/idx.h"
#include "tests/pipeline/shell.h"
#include "tests/pipeline/synthetic_idx.h"
#include "tests/temporary_directory.h"

namespace winnow::challenge {
namespace {

class Place {
 public:
  Place() { write_synthetic_idx(directory_.path(), "train", 40, 1); }

  std::string pictures() const { return directory_ / "train-images-idx3-ubyte"; }
  std::string folder() const { return directory_ / "data"; }

  Outcome generate(const std::string& options) const {
    return shell(program("runtime") + " challenge generate -o " + folder() + " " + options);
  }
  Outcome generate_all(const std::string& options) const {
    return generate("--mnist " + pictures() + " " + options);
  }

 private:
  TemporaryDirectory directory_;
};

void check_network(const Network& network, const NetworkRecipe& recipe) {
  const auto expected = make_network(recipe);
  REQUIRE(network.layers() == expected->layers());
  for (std::uint32_t l = 0; l < network.layers(); ++l)
    CHECK(network.layer(l) == expected->layer(l));
}

void check_refusal(const Outcome& outcome, int status, const std::string& message) {
  INFO(outcome.output);
  CHECK(outcome.status == status);
  CHECK(outcome.output.find(message) != std::string::npos);
}

}  // namespace

TEST_CASE("challenge generate writes the published network and images in every form") {
  if (!missing_fft().empty()) {
    MESSAGE("skipped: ", missing_fft());
    return;
  }
  for (const std::string form : {"binary", "tsv", "tsv.gz"}) {
    CAPTURE(form);
    const Place place;
    const Outcome outcome = place.generate_all("--published --layers 8 --form " + form);
    INFO(outcome.output);
    REQUIRE(outcome.status == 0);
    const Dataset dataset = open_dataset(place.folder());
    check_network(*dataset.network, {.neurons = 1024, .layers = 8});
    CHECK(dataset.images == make_images(read_idx_images(place.pictures()), 1024, 40));
  }
}

TEST_CASE("challenge generate follows the options of other networks") {
  const Place place;
  const Outcome outcome = place.generate(
      "--neurons 90 --layers 5 --connections 7 --seed 4 --shuffle --weights random --bias -0.5 "
      "--only network");
  INFO(outcome.output);
  REQUIRE(outcome.status == 0);
  check_network(*open_network(find_dataset(place.folder(), 0, 0), {}), {.neurons = 90,
                                                                        .layers = 5,
                                                                        .seed = 4,
                                                                        .connections = 7,
                                                                        .is_shuffled = true,
                                                                        .weights = Weights::random,
                                                                        .bias = -0.5f});
}

TEST_CASE("challenge generate makes each kind of weights with a bias of its own") {
  const std::pair<const char*, Weights> kinds[] = {{"constant", Weights::constant},
                                                   {"positive", Weights::positive},
                                                   {"random", Weights::random}};
  for (const auto& kind : kinds) {
    const std::string name = kind.first;
    for (const bool is_shuffled : {false, true}) {
      CAPTURE(name);
      const Place place;
      const Outcome outcome =
          place.generate(std::string("--neurons 96 --layers 2 --seed 4 --only network --weights ") +
                         name + (is_shuffled ? " --shuffle" : ""));
      INFO(outcome.output);
      REQUIRE(outcome.status == 0);
      check_network(*open_network(find_dataset(place.folder(), 0, 0), {}),
                    {.neurons = 96,
                     .layers = 2,
                     .seed = 4,
                     .is_shuffled = is_shuffled,
                     .weights = kind.second});
    }
  }
  CHECK(default_bias({.seed = 1, .is_shuffled = true, .weights = Weights::positive}) == -0.19f);
  CHECK(default_bias({.seed = 1, .weights = Weights::positive}) == -0.3f);
}

TEST_CASE("challenge generate says which bias text files leave out") {
  const Place place;
  const Outcome outcome =
      place.generate("--neurons 90 --layers 2 --seed 4 --shuffle --only network --form tsv");
  REQUIRE(outcome.status == 0);
  CHECK(outcome.output.find("give --bias -0.18 when") != std::string::npos);
  check_network(*open_network(find_dataset(place.folder(), 0, 0), -0.18f),
                {.neurons = 90, .layers = 2, .seed = 4, .is_shuffled = true});
}

TEST_CASE("challenge generate makes the first images alone") {
  if (!missing_fft().empty()) {
    MESSAGE("skipped: ", missing_fft());
    return;
  }
  const Place place;
  REQUIRE(place.generate_all("--published --only images --images 3").status == 0);
  const auto files = std::filesystem::directory_iterator(place.folder());
  CHECK(std::distance(begin(files), end(files)) == 1);
  REQUIRE(place.generate("--published --only network --layers 1").status == 0);
  CHECK(open_dataset(place.folder()).images ==
        make_images(read_idx_images(place.pictures()), 1024, 3));
}

TEST_CASE("challenge generate writes over nothing") {
  const Place place;
  const std::string options = "--published --layers 1 --only network";
  REQUIRE(place.generate(options + " --form tsv").status == 0);
  check_refusal(place.generate(options), 2, "n1024-l1.tsv: is there already");
  CHECK(find_dataset(place.folder(), 0, 0).network.empty());
}

TEST_CASE("layers of a broken-off generation are neither read nor mixed with others") {
  const Place place;
  const std::string options = "--published --layers 3 --only network --form tsv";
  REQUIRE(place.generate(options).status == 0);
  const std::string layers = place.folder() + "/neuron1024/";
  CHECK(!std::filesystem::exists(layers + unfinished_file_name()));
  // As if a signal had come when layers 2 and 3 were there.
  write_file_atomically(layers + unfinished_file_name(), std::string_view("x"));
  std::filesystem::remove(layers + "n1024-l1.tsv");
  check_refusal(place.generate(options), 2, "neuron1024/unfinished: is there already");
  check_refusal(shell(program("runtime") + " challenge convert " + place.folder() + " -o " +
                      place.folder() + "/other"),
                3, "neuron1024/unfinished: the layers beside it were not all written");
}

TEST_CASE("challenge generate refuses what it cannot do and writes nothing") {
  const Place place;
  check_refusal(place.generate("--only network"), 2, "expected --published");
  check_refusal(place.generate("--published --seed 1 --only network"), 2, "excludes");
  check_refusal(place.generate("--published"), 2, "images are made from --mnist FILE");
  check_refusal(place.generate("--published --only netwrok"), 2, "did you mean 'network'?");
  check_refusal(place.generate("--seed 1 --weights randm --only network"), 2,
                "unknown weights 'randm'; did you mean 'random'?");
  check_refusal(place.generate("--published --only network --form text"), 2, "unknown form");
  check_refusal(place.generate("--published --only network --neurons 1000"), 2,
                "found 1000 neurons");
  if (missing_fft().empty()) {
    check_refusal(place.generate("--published --mnist /nowhere"), 3, "/nowhere");
    check_refusal(place.generate_all("--published --images 41"), 2, "found 41 images asked for");
  }
  CHECK(!std::filesystem::exists(place.folder() + "/neuron1024.wsn"));
  CHECK(!std::filesystem::exists(place.folder() + "/sparse-images-1024.wsi"));
}

}  // namespace winnow::challenge
