#include "runtime/report/evolution_drawings.h"

#include <doctest/doctest.h>

#include "tests/report/svg.h"

namespace winnow {
namespace {

RunFacts three_iterations() {
  RunFacts facts;
  for (int i = 1; i <= 3; ++i) {
    IterationPoint point;
    point.iteration = i;
    point.accuracy = 0.9 + 0.01 * i;
    point.sparsity = 0.2 * i;
    point.is_accepted = i != 2;
    point.action = i == 2 ? "mutation" : "written";
    point.sparsities = {{"conv1", 0.1 * i}, {"fc", 0.3 * i}};
    point.sensitivities = {{"conv1", 0.02}, {"fc", 0.005}};
    facts.iterations.push_back(point);
  }
  facts.population = {{"1", 0.91, 0.2, false, {{"conv1", 0.1}, {"fc", 0.3}}},
                      {"3", 0.93, 0.6, true, {{"conv1", 0.3}, {"fc", 0.9}}, 0.9123},
                      {"2", 0.95, 0.5, false, {{"conv1", 0.2}, {"fc", 0.6}}}};
  return facts;
}

// The drawing whose title begins so.
std::string drawing(const std::string& html, const std::string& title) {
  const std::size_t found = html.find("<title>" + title);
  REQUIRE(found != std::string::npos);
  const std::size_t begin = html.rfind("<svg", found);
  return html.substr(begin, html.find("</svg>", found) - begin);
}

TEST_CASE("solutions, layers by iteration, the population and sensitivities are drawn") {
  const std::string html = evolution_drawings(three_iterations());
  CHECK(html.find("Iterations accepted: 2 of 3; by outcome: written 2, mutation 1.") !=
        std::string::npos);
  const std::string solutions = drawing(html, "Trained solutions");
  CHECK(solutions.find("accepted: 20, 91<") != std::string::npos);
  CHECK(solutions.find("rejected: 40, 92<") != std::string::npos);
  const std::string layers = drawing(html, "Sparsity of layers");
  CHECK(layers.find("fc, 3: 90<") != std::string::npos);
  CHECK(layers.find("conv1, 1: 10<") != std::string::npos);
  const std::string population = drawing(html, "Population at the end");
  const std::size_t answer = population.find("answer 3");
  CHECK(answer < population.find("solution 2"));
  CHECK(population.find("solution 2") < population.find("solution 1"));
  CHECK(population.find("93.00 % at 60.00 %, fitness 0.9123") != std::string::npos);
  CHECK(population.find("answer 3, fc: 90<") != std::string::npos);
  using Bar = std::pair<std::string, double>;
  const std::vector<Bar> bars = bars_in(drawing(html, "Learned sensitivity"));
  REQUIRE(bars.size() == 2);
  CHECK(bars[0].first == "conv1: sensitivity 2");
  CHECK(bars[0].second == doctest::Approx(2.0).epsilon(0.02));
}

TEST_CASE("what a method does not know is not drawn") {
  RunFacts facts = three_iterations();
  facts.population.clear();
  for (IterationPoint& point : facts.iterations) point.sensitivities = {{"conv1", 0}, {"fc", 0}};
  const std::string html = evolution_drawings(facts);
  CHECK(html.find("Population") == std::string::npos);
  CHECK(html.find("Learned") == std::string::npos);
  CHECK(evolution_drawings({}) == "");
}

TEST_CASE("of many iterations of many layers some are drawn, with the last") {
  RunFacts facts;
  for (int i = 1; i <= 500; ++i) {
    IterationPoint point;
    point.iteration = i;
    for (int layer = 0; layer < 160; ++layer) {
      point.sparsities.emplace_back("layer" + std::to_string(layer), 0.5);
    }
    facts.iterations.push_back(point);
  }
  const std::string html = evolution_drawings(facts);
  CHECK(html.find("layer159, 500: 50<") != std::string::npos);
  CHECK(html.size() < 3'000'000);
}

}  // namespace
}  // namespace winnow
