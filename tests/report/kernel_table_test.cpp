#include "runtime/report/kernel_table.h"

#include <doctest/doctest.h>

#include "tests/report/svg.h"

namespace winnow {
namespace {

using Cells = std::vector<std::string>;

// The cells of the row that begins with `name`.
Cells row_called(const std::string& html, const std::string& name) {
  const std::size_t begin = html.find("<tr><th scope='row'>" + name + "</th>");
  REQUIRE(begin != std::string::npos);
  const std::string row = html.substr(begin, html.find("</tr>", begin) - begin);
  Cells cells;
  for (const std::smatch& m : matches(row, std::regex("<td[^>]*>([^<]*)</td>"))) {
    cells.push_back(m[1]);
  }
  return cells;
}

}  // namespace

TEST_CASE("the table of kernels has what could run, what runs and what that takes") {
  RunFacts facts;
  BatchFacts& batch = facts.batches.emplace_back();
  batch = {"cpu", "f32", 10, 8.0, std::nullopt, 2.0, {}};
  LayerTime conv{"conv1", 3.0, 0.5, 0.5, "direct 8x4"};
  conv.op = "conv2d";
  conv.dense_macs = 2e7;  // of ten images
  conv.weight_sparsity = 0.75;
  conv.eligible = {{"direct", 0.5, ""},
                   {"dense", 3.0, ""},
                   {"gathered", std::nullopt, ""},
                   {"jit", std::nullopt, "wrong result"}};
  LayerTime pool{"pool", 1.0, 1.0, 1.0, "max_pool"};
  pool.op = "max_pool";
  pool.dense_macs = 0;
  pool.weight_sparsity = 0;
  batch.layers = {conv, pool};
  const std::string html = kernel_tables(facts);
  CHECK(html.find("<caption>Kernels, batch 10, f32, cpu</caption>") != std::string::npos);
  CHECK(row_called(html, "conv1") == Cells{"conv2d", "2 M", "500 k", "75.00 %",
                                           "direct 0.5000, dense 3.0000, gathered -, jit rejected",
                                           "direct 8x4", "3.0000", "0.5000", "0.5000", "6.00x"});
  CHECK(row_called(html, "pool") ==
        Cells{"max_pool", "-", "-", "-", "-", "max_pool", "1.0000", "1.0000", "1.0000", "1.00x"});
  CHECK(row_called(html, "network") ==
        Cells{"", "2 M", "500 k", "", "", "", "8.0000", "-", "2.0000", "4.00x"});
  CHECK(kernel_tables({}).empty());
}

}  // namespace winnow
