#include "runtime/report/agreement.h"

#include <algorithm>

#include "runtime/report/fact_text.h"
#include "runtime/report/html.h"

namespace winnow {
namespace {

constexpr std::size_t kLargestMatrix = 20;  // classes
constexpr std::size_t kMostChanges = 20;

double share(std::int64_t part, std::int64_t whole) {
  return static_cast<double>(part) / static_cast<double>(whole);
}

std::string share_text(std::int64_t part, std::int64_t whole) {
  return whole > 0 ? percent(share(part, whole)) : "-";
}

std::string summary(const AgreementFacts& facts) {
  return "<p>Of " + std::to_string(facts.samples) + " images the deployed model is right about " +
         percent(facts.accuracy) + ", the dense one (" + escape_html(facts.against) + ") about " +
         percent(facts.against_accuracy) + ". Both say the same of " +
         std::to_string(facts.agreeing) + ": " + share_text(facts.agreeing, facts.samples) +
         ".</p>\n";
}

std::string class_table(const AgreementFacts& facts) {
  HtmlTable table{"By class of the image",
                  {{"class"},
                   {"images", true},
                   {"dense right", true},
                   {"deployed right", true},
                   {"same answer", true}},
                  {},
                  {}};
  for (const AgreementFacts::Class& one : facts.classes) {
    table.rows.push_back(
        {one.name, std::to_string(one.samples), share_text(one.against_correct, one.samples),
         share_text(one.correct, one.samples), share_text(one.agreeing, one.samples)});
  }
  return scroll_box(table.caption, html_table(table));
}

// Rows are what the dense model says, columns what the deployed one says of the same images.
std::string matrix(const AgreementFacts& facts) {
  const std::size_t n = facts.classes.size();
  HtmlTable table{
      "Answers: a row for what the dense model says, a column for the deployed one", {}, {}, {}};
  table.columns.push_back({"dense says"});
  for (const AgreementFacts::Class& one : facts.classes) table.columns.push_back({one.name, true});
  std::vector<std::vector<std::int64_t>> counts(n, std::vector<std::int64_t>(n));
  for (const auto& answer : facts.answers) counts[answer.against][answer.model] += answer.count;
  for (std::size_t r = 0; r < n; ++r) {
    std::int64_t all = 0;
    for (const std::int64_t count : counts[r]) all += count;
    std::vector<std::string>& cells = table.rows.emplace_back();
    std::vector<double>& shades = table.shades.emplace_back();
    cells.push_back(facts.classes[r].name);
    shades.push_back(0);
    for (const std::int64_t count : counts[r]) {
      cells.push_back(std::to_string(count));
      shades.push_back(all > 0 ? share(count, all) : 0);
    }
  }
  return scroll_box(table.caption, html_table(table));
}

std::string change_table(const AgreementFacts& facts) {
  std::vector<AgreementFacts::Answer> changes;
  std::ranges::copy_if(facts.answers, std::back_inserter(changes),
                       [](const auto& answer) { return answer.against != answer.model; });
  std::ranges::stable_sort(changes, std::ranges::greater{}, &AgreementFacts::Answer::count);
  HtmlTable table{"Most frequent changes of an answer",
                  {{"dense says"}, {"deployed says"}, {"images", true}},
                  {},
                  {}};
  for (std::size_t i = 0; i < std::min(changes.size(), kMostChanges); ++i) {
    table.rows.push_back({facts.classes[changes[i].against].name,
                          facts.classes[changes[i].model].name, std::to_string(changes[i].count)});
  }
  return scroll_box(table.caption, html_table(table));
}

}  // namespace

std::string agreement_tables(const RunFacts& facts) {
  if (!facts.agreement) return "";
  const AgreementFacts& agreement = *facts.agreement;
  return summary(agreement) + class_table(agreement) +
         (agreement.classes.size() <= kLargestMatrix ? matrix(agreement) : change_table(agreement));
}

}  // namespace winnow
