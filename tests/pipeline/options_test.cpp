// Options of prune and quantize that cannot be meant, as a user meets them.
#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "runtime/base/file.h"
#include "tests/pipeline/shell.h"
#include "tests/pipeline/workshop.h"

namespace winnow {
namespace {

namespace fs = std::filesystem;

void check_line(const Outcome& outcome, const std::string& line) {
  CHECK(outcome.status == 2);
  CHECK(outcome.output == line + "\n");
}

TEST_CASE("prune refuses a place of its summary that cannot be, before it trains") {
  const Workshop shop;
  const std::string run = shop.run();
  const auto json = [&](const std::string& place) { return shop.prune("--json '" + place + "'"); };
  const std::string shares = ": two results cannot share one file";
  check_line(json(run),
             "prune: " + run + ": cannot be a file, " + run + "/config.yaml shall lie in it");
  check_line(json(run + "/"),
             "prune: " + run + "/: cannot be a file, " + run + "/config.yaml shall lie in it");
  for (const char* name : {"pruned.safetensors", "config.yaml", "report.html", "run.lock"}) {
    check_line(json(shop.file(name)), "prune: " + shop.file(name) + shares);
  }
  check_line(json(run + "/../run/prune.json"),
             "prune: " + run + "/../run/prune.json and " + shop.file("prune.json") + shares);
  check_line(json(shop.config()), "prune: " + shop.config() + ": would replace the input " +
                                      shop.config() + "; choose another name");
  const std::string name(300, 'x');
  check_line(json(shop.file(name)), "prune: " + shop.file(name) +
                                        ": cannot be written: a name of 300 bytes, at most 231 "
                                        "are possible");
  check_line(json(shop.file("sub/x.json")), "prune: " + shop.file("sub/x.json") +
                                                ": cannot be written: " + shop.file("sub") +
                                                " is not there");
  CHECK_FALSE(fs::exists(run));
}

TEST_CASE("a folder in the run folder is no place for the summary") {
  const Workshop shop;
  fs::create_directories(shop.file("sub"));
  check_line(shop.prune("--json " + shop.file("sub")),
             "prune: " + shop.file("sub") + ": cannot be written: is no regular file");
}

TEST_CASE("prune refuses options without a value and those that would be ignored") {
  const Workshop shop;
  for (const char* option : {"--output", "--device", "--json"}) {
    check_line(shop.prune(std::string(option) + " ''"),
               std::string("prune: ") + option + ": found nothing, expected a value");
  }
  const Outcome dry = shop.prune("--dry-run --json -");
  CHECK(dry.status == 2);
  CHECK(dry.output.find("--json excludes --dry-run") != std::string::npos);
  check_line(shop.prune("--seed -1"),
             "prune: --seed: found -1, expected a whole number of at least 0; see --help");
  CHECK_FALSE(fs::exists(shop.run()));
}

TEST_CASE("with the summary on stdout people read the results on stderr") {
  const Workshop shop;
  const std::string out = shop.data() + "/out", err = shop.data() + "/err";
  const std::string missed = "prune.max_layer_sparsity=0.5 --quiet --json - ";
  REQUIRE(shop.prune(missed + ">" + out + " 2>" + err).status == 0);
  const auto json = nlohmann::json::parse(read_text_file(out));
  CHECK(json["target_met"] == false);
  CHECK(read_text_file(err).find("prune: target not met: ") != std::string::npos);
  CHECK(read_text_file(err).find("written:         " + shop.file("pruned.safetensors")) !=
        std::string::npos);
}

TEST_CASE("a pipe behind a link in the run folder does not hold --overwrite up") {
  const Workshop shop;
  REQUIRE(shop.prune("--quiet").status == 0);
  REQUIRE(shell("mkfifo " + shop.data() + "/pipe && ln -s ../pipe " + shop.file("x.wnw")).status ==
          0);
  const Outcome outcome = shell("timeout 60 " + shop.prune_command("--quiet --overwrite"));
  CHECK(outcome.status == 0);
  CHECK(fs::is_symlink(shop.file("x.wnw")));
}

TEST_CASE("quantize refuses outputs that would replace something, and gates that are none") {
  const Workshop shop;
  REQUIRE(shop.prune("--quiet").status == 0);
  const std::string in = shop.file("pruned.safetensors"), before = read_text_file(in, 1 << 26);
  const auto quantize = [&](const std::string& more) {
    return shell(program("quantize") + " --in " + in + " --device cpu " + more);
  };
  const std::string result = shop.file("quantized.safetensors");
  const std::string summary = shop.file("quantize.json");
  check_line(quantize("--json " + in),
             "quantize: " + in + ": would replace the input " + in + "; choose another name");
  check_line(quantize("--json " + result),
             "quantize: " + result + ": two results cannot share one file");
  check_line(quantize("-o " + summary),
             "quantize: " + summary + ": two results cannot share one file");
  for (const char* name : {"config.yaml", "dense.safetensors", "prune.json"}) {
    check_line(quantize("-o " + shop.file(name)),
               "quantize: " + shop.file(name) + ": would replace a file of the run in " +
                   fs::canonical(shop.run()).string() + "; choose another name");
  }
  for (const char* gate : {"nan", "inf", "-1", "101"}) {
    check_line(quantize(std::string("--max-drop=") + gate),
               std::string("quantize: --max-drop: found ") + gate +
                   ", expected a number from 0 to 100; see --help");
  }
  CHECK(read_text_file(in, 1 << 26) == before);
  CHECK_FALSE(fs::exists(result));
}

TEST_CASE("what programs say they wrote is fit for a terminal") {
  const Workshop shop;
  const std::string odd = shop.data() + "/a\x1b[2J";
  const Outcome refused = shop.prune("--quiet --output 'a\x1b[2J'");
  check_line(refused, "prune: --output: 'a\\x1b[2J': a text with a control character");
  REQUIRE(shop.prune("--quiet").status == 0);
  const Outcome quantized = shell(program("quantize") + " --quiet --device cpu --in " +
                                  shop.file("pruned.safetensors") + " -o '" + odd + "'");
  CHECK(quantized.status == 0);
  CHECK(quantized.output.find("written: " + shop.data() + "/a\\x1b[2J\n") != std::string::npos);
  CHECK(quantized.output.find('\x1b') == std::string::npos);
}

}  // namespace
}  // namespace winnow
