#include "runtime/plan/channel_classes.h"

#include <doctest/doctest.h>

#include <map>

#include "tests/model/graphs.h"

namespace winnow {
namespace {

// Class, first channel and channels of the class, by name of the value.
struct Found {
  std::size_t group;
  std::int64_t first, channels;
};
std::map<std::string, Found> classes_of(const Graph& graph) {
  const Program program = build_program(graph, 2);
  const ChannelClasses classes = channel_classes(program);
  std::map<std::string, Found> found;
  for (std::size_t v = 0; v < program.values.size(); ++v) {
    const std::size_t group = classes.class_of[v];
    found[program.values[v].name] = {group, classes.first[v], classes.channels[group]};
    CHECK(classes.first[v] >= 0);
    CHECK(classes.first[v] + program.values[v].shape[1] <= classes.channels[group]);
  }
  return found;
}

}  // namespace

TEST_CASE("pooling, addition and relu keep channels in a class, convolutions do not") {
  const auto found = classes_of(graph_of({4, 8, 8}, {{"a", conv(4, 4, 1), {}},
                                                     {"pool", Pool{}, {}},
                                                     {"relu", Relu{}, {}},
                                                     {"b", conv(4, 4, 1), {}},
                                                     {"sum", Add{}, {"b", "relu"}},
                                                     {"out", conv(4, 6, 1), {"sum"}}}));
  for (const std::string name : {"pool", "relu", "b", "sum"}) {
    CHECK(found.at(name).group == found.at("a").group);
    CHECK(found.at(name).first == 0);
  }
  CHECK(found.at("a").channels == 4);
  CHECK(found.at("out").group != found.at("a").group);
  CHECK(found.at("input").group != found.at("a").group);
}

TEST_CASE("parts of a concatenation join it where they begin at a whole block") {
  const auto found = classes_of(graph_of({8, 4, 4}, {{"a", conv(8, 64, 1), {}},
                                                     {"b", conv(8, 40, 1), {"input"}},
                                                     {"c", conv(8, 32, 1), {"input"}},
                                                     {"ab", Concat{}, {"a", "b"}},
                                                     {"relu", Relu{}, {"b"}},
                                                     {"ca", Concat{}, {"c", "ab"}},
                                                     {"other", conv(8, 40, 1), {"input"}},
                                                     {"all", Concat{}, {"ca", "relu", "other"}},
                                                     {"out", conv(216, 2, 1), {"all"}}}));
  // Channels of the class: c 0-31, ab 32-135, of which a 32-95 and b 96-135; all reaches beyond.
  for (const std::string name : {"a", "b", "c", "ab", "relu", "ca", "all"}) {
    CAPTURE(name);
    CHECK(found.at(name).group == found.at("ca").group);
    CHECK(found.at(name).channels == 216);
  }
  CHECK(found.at("other").group != found.at("all").group);  // it begins at channel 176
  CHECK(found.at("c").first == 0);
  CHECK(found.at("a").first == 32);
  CHECK(found.at("b").first == 96);
  CHECK(found.at("relu").first == 96);
  CHECK(found.at("all").first == 0);
}

TEST_CASE("a value in one place stays there") {
  const auto found = classes_of(graph_of(
      {32, 4, 4},
      {{"a", conv(32, 32, 1), {}}, {"aa", Concat{}, {"a", "a"}}, {"out", conv(64, 2, 1), {}}}));
  CHECK(found.at("a").first == 0);
  CHECK(found.at("aa").first == 0);
  CHECK(found.at("aa").channels == 64);
}

}  // namespace winnow
