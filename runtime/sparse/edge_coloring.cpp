#include "runtime/sparse/edge_coloring.h"

namespace winnow {

EdgeColoring::EdgeColoring(std::uint32_t left, std::uint32_t right, std::uint32_t colors)
    : colors_(colors),
      at_left_(std::size_t{left} * colors),
      at_right_(std::size_t{right} * colors),
      left_edges_(left),
      right_edges_(right) {}

bool EdgeColoring::has_room(std::uint32_t left, std::uint32_t right) const {
  return left_edges_[left] < colors_ && right_edges_[right] < colors_;
}

void EdgeColoring::add(std::uint32_t left, std::uint32_t right, std::uint32_t edge) {
  const std::uint32_t color = free_color(at_left_, left);
  if (at_right_[right * colors_ + color].edge != kNone) {
    exchange(right, color, free_color(at_right_, right));
  }
  set({left, right, edge, color});
  ++left_edges_[left];
  ++right_edges_[right];
}

std::uint32_t EdgeColoring::free_color(const std::vector<End>& side, std::uint32_t node) const {
  std::uint32_t color = 0;
  while (side[node * colors_ + color].edge != kNone) ++color;
  return color;
}

// Frees `color` at a right node by exchanging it with `free`, which is free there, along the path
// of these two colours that begins at the node.
void EdgeColoring::exchange(std::uint32_t right, std::uint32_t color, std::uint32_t free) {
  path_.clear();
  while (true) {
    const End& first = at_right_[right * colors_ + color];
    if (first.edge == kNone) break;
    path_.push_back({first.other, right, first.edge, free});
    const End& second = at_left_[first.other * colors_ + free];
    if (second.edge == kNone) break;
    path_.push_back({first.other, second.other, second.edge, color});
    right = second.other;
  }
  for (const Colored& edge : path_) {
    const std::uint32_t old = edge.color == color ? free : color;
    at_left_[edge.left * colors_ + old] = {};
    at_right_[edge.right * colors_ + old] = {};
  }
  for (const Colored& edge : path_) set(edge);
}

void EdgeColoring::set(const Colored& edge) {
  at_left_[edge.left * colors_ + edge.color] = {edge.right, edge.edge};
  at_right_[edge.right * colors_ + edge.color] = {edge.left, edge.edge};
}

}  // namespace winnow
