#include "runtime/report/agreement.h"

#include <doctest/doctest.h>

#include "tests/report/svg.h"

namespace winnow {
namespace {

AgreementFacts three_classes() {
  AgreementFacts facts;
  facts.against = "dense.wnw";
  facts.samples = 10;
  facts.agreeing = 9;
  facts.accuracy = 0.8;
  facts.against_accuracy = 0.9;
  facts.classes = {{"c<t", 4, 3, 4, 3}, {"dog", 6, 5, 5, 6}, {"bird", 0, 0, 0, 0}};
  facts.answers = {{0, 0, 3}, {0, 1, 1}, {1, 1, 6}};
  return facts;
}

}  // namespace

TEST_CASE("agreement has both accuracies, a row a class and the matrix of answers") {
  RunFacts facts;
  facts.agreement = three_classes();
  const std::string html = agreement_tables(facts);
  CHECK(html.find("right about 80.00 %, the dense one (dense.wnw) about 90.00 %") !=
        std::string::npos);
  CHECK(html.find("the same of 9: 90.00 %") != std::string::npos);
  CHECK(html.find("<th scope='row'>c&lt;t</th><td class='number'>4</td><td class='number'>100.00 %"
                  "</td><td class='number'>75.00 %</td><td class='number'>75.00 %</td>") !=
        std::string::npos);
  CHECK(html.find("<th scope='row'>bird</th><td class='number'>0</td><td class='number'>-</td>") !=
        std::string::npos);
  // Of four that the dense model calls c<t the deployed one calls one dog.
  CHECK(html.find("<th scope='row'>c&lt;t</th><td class='number' style='--shade:0.750'>3</td>"
                  "<td class='number' style='--shade:0.250'>1</td><td class='number'>0</td>") !=
        std::string::npos);
  CHECK(agreement_tables({}).empty());
}

TEST_CASE("many classes have a list of changes, the most frequent first, in place of a matrix") {
  RunFacts facts;
  facts.agreement = three_classes();
  AgreementFacts& agreement = *facts.agreement;
  while (agreement.classes.size() < 21) agreement.classes.push_back({"more", 0, 0, 0, 0});
  agreement.answers = {{0, 0, 30}, {0, 1, 1}, {1, 2, 7}};
  const std::string html = agreement_tables(facts);
  const std::size_t first = html.find(
      "<th scope='row'>dog</th><td>bird</td>"
      "<td class='number'>7</td>");
  const std::size_t second = html.find(
      "<th scope='row'>c&lt;t</th><td>dog</td>"
      "<td class='number'>1</td>");
  CHECK(first < second);
  CHECK(second != std::string::npos);
  CHECK(html.find(">30<") == std::string::npos);
}

}  // namespace winnow
