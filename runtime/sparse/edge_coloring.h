// Colours for the edges of a bipartite graph so that no two edges of a node have the same one.
#pragma once

#include <cstdint>
#include <vector>

namespace winnow {

// A graph whose edges are added one after the other; there may be several between two nodes.
// Koenig's theorem: as many colours suffice as the busiest node has edges. add() keeps to that by
// exchanging two colours along a path where it has to.
class EdgeColoring {
 public:
  static constexpr std::uint32_t kNone = 0xffffffffu;

  EdgeColoring(std::uint32_t left, std::uint32_t right, std::uint32_t colors);

  // Whether both nodes have fewer edges than there are colours.
  bool has_room(std::uint32_t left, std::uint32_t right) const;

  // Adds an edge under a name of the caller's. Requires has_room().
  void add(std::uint32_t left, std::uint32_t right, std::uint32_t edge);

  // The edge of a left node that has the colour, or kNone.
  std::uint32_t edge(std::uint32_t left, std::uint32_t color) const {
    return at_left_[left * colors_ + color].edge;
  }

 private:
  struct End {
    std::uint32_t other = kNone;  // the node at the edge's other end
    std::uint32_t edge = kNone;
  };
  struct Colored {
    std::uint32_t left, right, edge, color;
  };

  std::uint32_t free_color(const std::vector<End>& side, std::uint32_t node) const;
  void exchange(std::uint32_t right, std::uint32_t color, std::uint32_t free);
  void set(const Colored& edge);

  std::uint32_t colors_;
  std::vector<End> at_left_, at_right_;  // [node][color]
  std::vector<std::uint32_t> left_edges_, right_edges_;
  std::vector<Colored> path_;
};

}  // namespace winnow
