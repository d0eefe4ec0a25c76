#include "runtime/report/report.h"

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>

#include "runtime/base/file.h"
#include "runtime/report/html.h"
#include "tests/report/svg.h"
#include "tests/temporary_directory.h"
#include "tests/throws.h"

namespace winnow {
namespace {

void put(const TemporaryDirectory& folder, const std::string& name, const std::string& text) {
  std::ofstream(folder / name) << text;
}

constexpr char kDevice[] = "cpu (x, 2 threads)";
constexpr char kPrune[] =
    R"({"name":"a<b","network":"lenet5","data":"idx in d","dense_accuracy":0.915,"accuracy":0.912,
        "sparsity":0.93,"layers":[{"name":"conv1","weights":150,"sparsity":0.5},
                                  {"name":"fc","weights":400,"sparsity":0.95}]})";
constexpr char kQuantize[] = R"({"scheme":"4b/16b","accuracy_after":91.1})";
constexpr char kExport[] =
    R"({"file":"a.wnw","bytes":4000,"dense_f32_bytes":100000,
        "layers":[{"name":"conv1","dense_f32_bytes":600,"index_bytes":30,"value_bytes":40}]})";
constexpr char kRun[] =
    R"({"accuracy":90.9,"device":"DEVICE","samples":11,
        "against":{"model":"d<.wnw","accuracy":91.5,"agreeing":10,
                   "classes":[{"class":"cat","samples":11,"correct":10,"against_correct":10,
                               "agreeing":10}],
                   "answers":[{"against":0,"model":0,"count":11}]}})";
constexpr char kBench[] =
    R"([{"device":"DEVICE","batch":128,"precision":"f32",
         "dense":{"network_ms":{"median":12.8},"layers":[{"name":"conv1","ms":{"median":4}}]},
         "sparse":{"error":"none"},
         "chosen":{"network_ms":{"median":6.4},
                   "layers":[{"name":"conv1","op":"conv2d","kernel":"direct","ms":{"median":2},
                              "dense_macs":11059200,"weight_sparsity":0.5,
                              "candidates":[{"family":"dense","kernel":"cudnn, in the launch of sum","ms":0},
                                            {"family":"gathered","kernel":"gathered, in the launch of sum","ms":0},
                                            {"family":"direct","ms":2},{"family":"direct","ms":3},
                                            {"family":"dense","ms":4},
                                            {"family":"jit","rejected":"wrong"}]}]}}])";
constexpr char kInspect[] =
    R"({"nodes":[{"name":"image","op":"input","inputs":[],"output_shape":[1,28,28],"dense_macs":0},
                 {"name":"conv1","op":"conv2d","inputs":["image"],"output_shape":[6,24,24],
                  "dense_macs":86400,"weight_sparsity":0.5}]})";
// Three epochs, three iterations; the loss of the second iteration is no number.
constexpr char kMetrics[] =
    R"({"stage":"run","command":"prune","version":"0.1.0"}
{"stage":"dense","epoch":1,"loss":1.5,"accuracy":0.8}
{"stage":"dense","epoch":2,"loss":0.75}
{"stage":"dense","epoch":3,"loss":0.5,"accuracy":0.9}
{"stage":"prune","iteration":1,"loss":0.5,"accuracy":0.9,"weight_sparsity":0.3,"alpha":0.1,"accepted":true,"action":"written","migration":{"rate":0.02},"pool":{"best_accuracy":0.91}}
{"stage":"prune","iteration":2,"loss":null,"accuracy":0.5,"weight_sparsity":0.4,"alpha":0.12,"accepted":false,"action":"mutation","migration":{"rate":0.04},"pool":{"best_accuracy":0.91}}
{"stage":"prune","iteration":3,"loss":0.25,"accuracy":0.92,"weight_sparsity":0.6,"alpha":0.1,"accepted":true,"action":"written","migration":{"rate":0.01},"pool":{"best_accuracy":0.92}}
)";

std::string with_device(std::string json) {
  return json.replace(json.find("DEVICE"), 6, kDevice);
}

void put_run(const TemporaryDirectory& folder) {
  put(folder, "prune.json", kPrune);
  put(folder, "quantize.json", kQuantize);
  put(folder, "export.json", kExport);
  put(folder, "run.json", with_device(kRun));
  put(folder, "bench.json", with_device(kBench));
  put(folder, "metrics.jsonl", kMetrics);
  put(folder, "inspect.json", kInspect);
  put(folder, "config.yaml", "name: a<b\n");
}

using Rows = std::vector<std::pair<std::string, std::string>>;

// As the files above say it.
const Rows kRows = {{"run", "a<b, lenet5 on idx in d"},
                    {"accuracy, dense", "91.50 %"},
                    {"accuracy, pruned", "91.20 %"},
                    {"accuracy, quantized 4b/16b", "91.10 %"},
                    {"accuracy, deployed on cpu (x, 2 threads)", "90.90 %"},
                    {"weight sparsity", "93.00 %"},
                    {"weights as dense fp32", "100000 bytes"},
                    {"model file", "4000 bytes (25.0x smaller)"},
                    {"time per image, dense (batch 128, f32)", "0.1000 ms"},  // 12.8 ms / 128
                    {"time per image, sparse (batch 128, f32)", "-"},
                    {"time per image, chosen (batch 128, f32)", "0.0500 ms (2.00x dense)"},
                    {"timed on", "cpu (x, 2 threads)"}};

// Lines of the terminal's table: a label, two spaces or more, a value.
Rows rows_of_table(const std::string& table) {
  static const std::regex row("([^\n]*?)  +([^ \n][^\n]*)\n");
  Rows rows;
  for (const std::smatch& m : matches(table, row)) rows.emplace_back(m[1], m[2]);
  return rows;
}

Rows rows_of_page(const std::string& page) {
  static const std::regex row("<tr><th scope='row'>([^<]*)</th><td>([^<]*)</td></tr>");
  Rows rows;
  for (const std::smatch& m : matches(page, row)) rows.emplace_back(m[1], m[2]);
  return rows;
}

// The chart with this title.
std::string chart(const std::string& page, const std::string& title) {
  const std::size_t begin = page.find("<title>" + escape_html(title) + "</title>\n<g");
  REQUIRE(begin != std::string::npos);
  return page.substr(begin, page.find("</svg>", begin) - begin);
}

void check_line(const std::string& page, const std::string& title, std::size_t line,
                const Points& expected) {
  CAPTURE(title);
  const std::vector<Points> lines = lines_in(chart(page, title));
  REQUIRE(lines.size() > line);
  REQUIRE(lines[line].size() == expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    CAPTURE(i);
    CHECK(lines[line][i].first == doctest::Approx(expected[i].first).epsilon(0.002));
    CHECK(lines[line][i].second == doctest::Approx(expected[i].second).epsilon(0.002));
  }
}

TEST_CASE("the table of a run has every number of its files") {
  const TemporaryDirectory folder;
  put_run(folder);
  CHECK(rows_of_table(summary_table(read_run_facts(folder.path()))) == kRows);
}

TEST_CASE("what is not known yet is a dash, not a number") {
  const TemporaryDirectory folder;
  put(folder, "prune.json", kPrune);
  const Rows rows = rows_of_table(summary_table(read_run_facts(folder.path())));
  REQUIRE(rows.size() == 8);
  for (std::size_t i = 3; i < 8; ++i) {
    if (i != 5) CHECK(rows[i].second == "-");
  }
  CHECK(rows[5].second == "93.00 %");
}

TEST_CASE("nothing is known of a run but its training") {
  const TemporaryDirectory folder;
  put(folder, "metrics.jsonl", "{}\n");
  const Rows rows = rows_of_table(summary_table(read_run_facts(folder.path())));
  REQUIRE(rows.size() == 8);
  CHECK(rows[0] == Rows::value_type{"run", "-"});
  CHECK(rows[3] == Rows::value_type{"accuracy, quantized", "-"});
  CHECK(rows[4] == Rows::value_type{"accuracy, deployed", "-"});
}

TEST_CASE("numbers that are no results take little room, and texts one line") {
  const TemporaryDirectory folder;
  put(folder, "prune.json", R"({"name":"a\u001b[2J\nb","sparsity":1e308,"layers":[]})");
  put(folder, "export.json",
      R"({"bytes":1e300,"layers":[{"name":"a","dense_f32_bytes":1.5e308,"index_bytes":3}]})");
  const std::string table = summary_table(read_run_facts(folder.path()));
  CHECK(table.find("a\\x1b[2J\\x0ab\n") != std::string::npos);
  CHECK(table.find("1e+300 bytes\n") != std::string::npos);
  const std::string page = report_page(read_run_facts(folder.path()));
  CHECK(page.size() < 12000);
  CHECK(page.find("nan") == std::string::npos);
}

TEST_CASE("counts that are none are refused with file, key and value") {
  const TemporaryDirectory folder;
  for (const char* batch : {"0", "-1", "1e+300", "1.5", "18446744073709551615", "\"1\""}) {
    CAPTURE(batch);
    put(folder, "bench.json",
        std::string(R"([{"dense":{},"sparse":{},"chosen":{"layers":[]},"batch":)") + batch + "}]");
    CHECK(message_of([&] { read_run_facts(folder.path()); }) ==
          folder / "bench.json" + ": 'batch': found " + batch +
              ", expected a whole number of at least 1");
  }
}

TEST_CASE("what is no JSON is refused with file and place") {
  const TemporaryDirectory folder;
  const auto read = [&] { read_run_facts(folder.path()); };
  put(folder, "prune.json", "{\"config\": ");
  CHECK(error_of(read) == ErrorCode::bad_file);
  CHECK(message_of(read) == folder / "prune.json" + ": byte 12: no valid JSON");
  put(folder, "prune.json", kPrune);
  put(folder, "metrics.jsonl", "{\"stage\":\"run\"}\n{\"a\"\n");
  CHECK(message_of(read) == folder / "metrics.jsonl" + ":2: byte 5: no valid JSON");
}

TEST_CASE("what cannot be looked at is a bad file") {
  const TemporaryDirectory folder;
  std::filesystem::create_symlink("prune.json", folder / "prune.json");
  CHECK(error_of([&] { read_run_facts(folder.path()); }) == ErrorCode::bad_file);
  CHECK(message_of([&] { read_run_facts(folder.path()); }).find("prune.json: cannot read: ") !=
        std::string::npos);
  const std::string long_name = folder / std::string(300, 'a');
  CHECK(error_of([&] { read_run_facts(long_name); }) == ErrorCode::bad_file);
}

TEST_CASE("the page has the same table and every point of the metrics") {
  const TemporaryDirectory folder;
  put_run(folder);
  const std::string page = read_text_file(write_report(folder.path()));
  Rows escaped = kRows;
  for (auto& [label, value] : escaped) value = escape_html(value);
  CHECK(rows_of_page(page) == escaped);

  check_line(page, "Dense training: loss", 0, {{1, 1.5}, {2, 0.75}, {3, 0.5}});
  check_line(page, "Dense training: accuracy", 0, {{1, 80}, {3, 90}});
  check_line(page, "Pruning: validation accuracy", 0, {{1, 90}, {2, 50}, {3, 92}});
  check_line(page, "Pruning: validation accuracy", 1, {{1, 91}, {2, 91}, {3, 92}});
  check_line(page, "Pruning: weight sparsity", 0, {{1, 30}, {2, 40}, {3, 60}});
  check_line(page, "Pruning: loss", 0, {{1, 0.5}, {3, 0.25}});  // the second is no number
  const std::string statistics = "Pruning: alpha of eq 2 and share of migrated weights";
  check_line(page, statistics, 0, {{1, 0.1}, {2, 0.12}, {3, 0.1}});
  check_line(page, statistics, 1, {{1, 0.02}, {2, 0.04}, {3, 0.01}});
  CHECK(page.find("Iterations accepted: 2 of 3; by outcome: written 2, mutation 1.") !=
        std::string::npos);
}

TEST_CASE("the page has a bar for every layer's sparsity, size and time") {
  const TemporaryDirectory folder;
  put_run(folder);
  const std::string page = read_text_file(write_report(folder.path()));
  const auto names = [&](const std::string& title) {
    std::vector<std::string> all;
    for (const auto& [name, height] : bars_in(chart(page, title))) all.push_back(name);
    return all;
  };
  using Names = std::vector<std::string>;
  CHECK(names("Sparsity by layer") == Names{"conv1: sparsity 50", "fc: sparsity 95"});
  CHECK(page.find("90 %: sparse convolutions of paper 003 pay above it") != std::string::npos);
  CHECK(names("Size by layer") == Names{"conv1: dense fp32 600", "conv1: stored 70"});
  CHECK(names("Time by layer, batch 128, f32, cpu (x, 2 threads)") ==
        Names{"conv1: dense 4", "conv1: chosen 2"});
}

TEST_CASE("the page draws the network and has tables of kernels and of agreement") {
  const TemporaryDirectory folder;
  put_run(folder);
  const std::string page = read_text_file(write_report(folder.path()));
  CHECK(page.find("<title>lenet5: 2 nodes, 1 with weights</title>") != std::string::npos);
  CHECK(page.find(">50.0 %<") != std::string::npos);
  CHECK(page.find("<td>gathered -, direct 2.0000, dense 4.0000, jit rejected</td>") !=
        std::string::npos);
  CHECK(page.find("<td class='number'>86.4 k</td><td class='number'>43.2 k</td>") !=
        std::string::npos);
  CHECK(page.find("the dense one (d&lt;.wnw) about 91.50 %") != std::string::npos);
  CHECK(page.find("Not there yet") == std::string::npos);
}

TEST_CASE("a part that is missing names the command that makes it") {
  const TemporaryDirectory folder;
  put(folder, "export.json", kExport);
  const std::string page = report_page(read_run_facts(folder.path()));
  for (const char* command : {"prune --config FILE", "runtime inspect MODEL --json",
                              "runtime bench MODEL --json", "--against DENSE_MODEL --json"}) {
    CAPTURE(command);
    CHECK(page.find(command) != std::string::npos);
  }
  CHECK(matches(page, std::regex("Not there yet")).size() == 5);  // all but the layers' bytes
}

TEST_CASE("names from files cannot break out of the page, which has no scripts and no links") {
  const TemporaryDirectory folder;
  put_run(folder);
  const std::string page = read_text_file(write_report(folder.path()));
  CHECK(page.find("a<b") == std::string::npos);
  CHECK(page.find("d<.wnw") == std::string::npos);
  for (const char* part : {"<script", "://", "url(", "@import", "<link", "<img", "<iframe",
                           " src=", " href=", "nan"}) {
    CAPTURE(part);
    CHECK(page.find(part) == std::string::npos);
  }
  CHECK(page.find("content=\"default-src 'none'; style-src 'unsafe-inline'\"") !=
        std::string::npos);
}

TEST_CASE("answers of unknown classes and nodes out of order are refused with file and value") {
  const TemporaryDirectory folder;
  put(folder, "run.json",
      R"({"samples":2,"against":{"agreeing":1,"classes":[],
          "answers":[{"against":0,"model":0,"count":2}]}})");
  CHECK(message_of([&] { read_run_facts(folder.path()); }) ==
        folder / "run.json" + ": 'against': found 0, expected one of 0 classes");
  put(folder, "run.json", R"({"accuracy":1})");
  put(folder, "inspect.json",
      R"({"nodes":[{"name":"a","op":"relu","inputs":["b"],"output_shape":[1]}]})");
  CHECK(message_of([&] { read_run_facts(folder.path()); }) ==
        folder / "inspect.json" + ": node 'a': input 'b' is no node before it");
}

TEST_CASE("a folder without a run and damaged files are refused by file and line") {
  const TemporaryDirectory folder;
  CHECK(error_of([&] { read_run_facts(folder.path()); }) == ErrorCode::bad_file);
  put(folder, "prune.json", "{\"name\":");
  CHECK(error_of([&] { read_run_facts(folder.path()); }) == ErrorCode::bad_file);
  put(folder, "prune.json", kPrune);
  put(folder, "metrics.jsonl", "{}\nnot json\n");
  CHECK(message_of([&] { read_run_facts(folder.path()); }).find("metrics.jsonl:2:") !=
        std::string::npos);
}

TEST_CASE("a line that a run is writing is left for later") {
  const TemporaryDirectory folder;
  const std::string metrics = kMetrics;
  put(folder, "metrics.jsonl", metrics + "{\"stage\":\"prune\",\"itera");
  CHECK(read_run_facts(folder.path()).iterations.size() == 3);
  put(folder, "metrics.jsonl", "{\"stage\"");
  CHECK(read_run_facts(folder.path()).epochs.empty());
}

}  // namespace
}  // namespace winnow
