#include "prune/layer_search.h"

#include <doctest/doctest.h>

#include "prune/training/trainability.h"
#include "tests/throws.h"
#include "tests/training/graphs.h"
#include "tests/training/time_run.h"

namespace winnow {
namespace {

// A trained network of kConfig's with a layer more, and a search for 1.5 times its speed.
class Search {
 public:
  Search() {
    RunConfig config = bench.config("whole");
    add_middle(*config.model.graph);
    run_prune(config, {.is_quiet = true});
  }

  RunConfig config(const std::string& run) const {
    nlohmann::json table = table_of_times();
    table["batches"][0]["layers"].push_back(time_layer("middle", 576, 3.0));
    RunConfig config = time_run(bench, run, table);
    config.method = {.method = Method::magnitude, .allocation = Allocation::least_loss};
    config.model.weights = bench.folder("whole") + "/dense.safetensors";
    config.model.graph.reset();
    config.train.epochs = 0;
    config.stage.start = Start::weights;
    return config;
  }

  Bench bench;
};

nlohmann::json found(const RunConfig& config, const LayerSearchOptions& options) {
  return nlohmann::json::parse(search_layers(config, options).json);
}

}  // namespace

TEST_CASE("a search prunes sets of layers to the target, and a run takes the best") {
  const Search search;
  RunConfig config = search.config("run");
  const LayerSearchOptions options{.trials = 8, .batches = 12, .sets = {}, .is_quiet = true};
  const nlohmann::json result = found(config, options);
  CAPTURE(result.dump());
  CHECK(result["layers"] == nlohmann::json{"middle"});
  const auto& trials = result["trials"];
  REQUIRE(trials.size() == 2);  // all sets of one layer
  CHECK(trials[0]["removed"].empty());
  CHECK(trials[1]["removed"] == nlohmann::json{"middle"});
  const double target = 3.25 / 1.5;
  for (const auto& trial : trials) {
    CHECK(trial["predicted_ms"].get<double>() <= target);
    CHECK(trial["accuracy"].get<double>() > 0.25);  // of four classes
  }
  const bool is_without = trials[1]["accuracy"].get<double>() > trials[0]["accuracy"].get<double>();
  CHECK(result["remove_layers"].size() == (is_without ? 1 : 0));
  CHECK(found(config, options) == result);
}

// With three layers that can go, so that eight sets follow each other's fitness.
RunConfig many_layers(const Search& search) {
  RunConfig config = search.config("run");
  config.model.weights.clear();
  config.model.graph = search.bench.config("whole").model.graph;
  for (const char* name : {"middle", "second", "third"}) add_middle(*config.model.graph, name);
  config.stage.start = Start::scratch;
  config.time_table.clear();
  config.evolution.target_speedup = 0;
  config.evolution.budget = Budget::parameters;
  config.evolution.target_sparsity = 0.8;
  return config;
}

TEST_CASE("a search that is stopped goes on to the same end") {
  const Search search;
  const RunConfig config = many_layers(search);
  const std::string file = search.bench.folder("search.json");
  LayerSearchOptions options{.trials = 6, .batches = 4, .sets = {}, .is_quiet = true};
  const std::string expected = search_layers(config, options).json;
  options.file = file;
  int left = 3 * 4 + 2;  // in the fourth trial
  options.should_stop = [&] { return --left <= 0; };
  const auto stopped = [&] { search_layers(config, options); };
  CHECK(error_of(stopped) == ErrorCode::interrupted);
  const auto partial = nlohmann::json::parse(read_text_file(file));
  const std::size_t done = partial["trials"].size();
  CHECK(done > 0);
  CHECK(done < 6);
  CHECK_FALSE(partial.contains("remove_layers"));

  options.should_stop = {};
  options.resumes = true;
  int begun = 0;
  options.on_begin = [&] { ++begun; };
  CHECK(search_layers(config, options).json == expected);
  CHECK(begun == 1);
  options.should_stop = [] { return true; };  // all trials are there: nothing is trained
  CHECK(search_layers(config, options).json == expected);
}

TEST_CASE("a search goes on with trials of its own settings alone") {
  const Search search;
  RunConfig config = many_layers(search);
  LayerSearchOptions options{.trials = 2, .batches = 4, .sets = {}, .is_quiet = true};
  options.file = search.bench.folder("search.json");
  search_layers(config, options);
  const auto again = [&] { search_layers(config, options); };
  const std::string trials = read_text_file(options.file);
  CHECK(error_of(again) == ErrorCode::usage);
  CHECK(message_of(again).find(options.file + ": has trials of a search") == 0);
  CHECK(read_text_file(options.file) == trials);
  options.overwrites = true;
  CHECK_FALSE(error_of(again));
  options.overwrites = false;
  options.resumes = true;
  options.batches = 8;
  CHECK(error_of(again) == ErrorCode::usage);
  CHECK(message_of(again).find("other settings: ") != std::string::npos);
  CHECK(message_of(again).find("trial-batches: 4") != std::string::npos);
  options.batches = 4;

  auto json = nlohmann::json::parse(read_text_file(options.file));
  json["trials"][1]["removed"] = {"middle", "third"};
  write_file_atomically(options.file, json.dump());
  CHECK(error_of(again) == ErrorCode::bad_file);
  for (const char* text : {"", "{", "[]", R"({"trials": []})"}) {
    write_file_atomically(options.file, std::string_view(text));
    CHECK(error_of(again) == ErrorCode::bad_file);
    CHECK(message_of(again).find(options.file) == 0);
  }
}

TEST_CASE("without a file trials begin with random weights") {
  const Search search;
  RunConfig config = search.config("run");
  const LayerSearchOptions options{.trials = 8, .batches = 12, .sets = {}, .is_quiet = true};
  const nlohmann::json given = found(config, options);
  config.model.weights.clear();
  config.model.graph = search.bench.config("whole").model.graph;
  add_middle(*config.model.graph);
  config.stage.start = Start::scratch;
  const nlohmann::json result = found(config, options);
  CHECK(result["weights"] == "");
  REQUIRE(result["trials"].size() == 2);
  CHECK(result["trials"] != given["trials"]);
  CHECK(found(config, options) == result);
}

TEST_CASE("sets that meet the target without masks are not trained") {
  const Search search;
  RunConfig config = search.config("run");
  config.evolution.target_speedup = 0;
  config.evolution.target_ms = 3.5;  // the network without its middle takes 3.25
  const LayerSearchResult result =
      search_layers(config, {.trials = 8, .batches = 4, .sets = {}, .is_quiet = true});
  const auto trials = nlohmann::json::parse(result.json)["trials"];
  REQUIRE(trials.size() == 2);
  CHECK(trials[0].contains("accuracy"));
  CHECK(trials[1]["not_trained"].get<std::string>().find("are reached without pruning") !=
        std::string::npos);
  CHECK(result.table.find("middle: target_ms: 3.5 ms are reached without pruning") !=
        std::string::npos);
  CHECK(result.table.find("best: model.remove_layers=[]\n") != std::string::npos);
}

TEST_CASE("a share of the weights is one of the whole network's, and a run keeps as many") {
  const Search search;
  RunConfig config = search.config("run");
  config.time_table.clear();
  config.evolution.target_speedup = 0;
  config.evolution.budget = Budget::parameters;
  config.evolution.target_sparsity = 0.8;
  const LayerSearchOptions options{.trials = 8, .batches = 12, .sets = {}, .is_quiet = true};
  const LayerSearchResult search_result = search_layers(config, options);
  const nlohmann::json result = nlohmann::json::parse(search_result.json);
  CAPTURE(result.dump());
  const std::int64_t most = 232;  // of 72 + 576 + 512
  CHECK(result["target_kept"] == most);
  REQUIRE(result["trials"].size() == 2);
  for (const auto& trial : result["trials"]) {
    CHECK(trial["kept"].get<std::int64_t>() <= most);
    CHECK(trial["kept"].get<std::int64_t>() > most - 8);
  }
  CHECK(search_result.table.find("] prune.target_kept=232\n") != std::string::npos);
  config.model.removed_layers = {"middle"};
  config.evolution.target_kept = most;
  const PruneSummary summary = run_prune(config, {.is_quiet = true});
  CHECK(summary.target_met);
  const auto json =
      nlohmann::json::parse(read_text_file(search.bench.folder("run") + "/prune.json"));
  CHECK(json["target_kept"] == most);
  CHECK(json["sparsity"].get<double>() == doctest::Approx(1 - most / 584.0).epsilon(0.01));
}

TEST_CASE("a search that cannot be is refused with the reason") {
  const Search search;
  const auto odd = [&] {
    search_layers(search.config("run"), {.trials = 4, .batches = 6, .sets = {}, .is_quiet = true});
  };
  CHECK(error_of(odd) == ErrorCode::usage);
  CHECK(message_of(odd) == "--trial-batches: found 6, expected a multiple of 4");
  const auto refusal = [&](const auto& change) {
    RunConfig config = search.config("run");
    change(config);
    const auto run = [&] {
      search_layers(config, {.trials = 4, .batches = 4, .sets = {}, .is_quiet = true});
    };
    CHECK(error_of(run) == ErrorCode::usage);
    return message_of(run);
  };
  CHECK(refusal([](RunConfig& c) { c.stage.vector = kMixed; }).find("found mixed") !=
        std::string::npos);
  CHECK(refusal([](RunConfig& c) {
          c.evolution.exclude = {"linaer"};
        }).find("did you mean 'linear'?") != std::string::npos);
  CHECK(refusal([](RunConfig& c) {
          c.model.removed_layers = {"middle"};
        }).find("no layer that model.remove_layers can remove") != std::string::npos);
  CHECK(refusal([&](RunConfig& c) {
          c.model.weights.clear();
          c.model.graph = search.bench.config("whole").model.graph;
          add_middle(*c.model.graph);
          c.model.removed_layers = {"middle"};
        }).find("model: the network has no layer") != std::string::npos);
}

}  // namespace winnow
