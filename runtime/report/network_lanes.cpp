#include "runtime/report/network_lanes.h"

#include <algorithm>
#include <array>
#include <map>
#include <string_view>

namespace winnow {
namespace {

bool may_follow(const std::string& op) {
  constexpr std::array<std::string_view, 5> kOps = {"relu", "batch_norm", "dropout", "flatten",
                                                    "softmax"};
  return std::ranges::find(kOps, op) != kOps.end();
}

std::size_t last_node(const NetworkRow& row) {
  return row.followers.empty() ? row.node : row.followers.back();
}

std::vector<NetworkRow> rows_of(const std::vector<NodeFacts>& nodes) {
  std::map<std::string, int> readers;
  for (const NodeFacts& node : nodes) {
    for (const std::string& input : node.inputs) ++readers[input];
  }
  std::vector<NetworkRow> rows;
  std::map<std::string, std::size_t> row_of;  // by name of the node
  for (std::size_t n = 0; n < nodes.size(); ++n) {
    const NodeFacts& node = nodes[n];
    const bool is_follower = may_follow(node.op) && !rows.empty() && node.inputs.size() == 1 &&
                             node.inputs[0] == nodes[last_node(rows.back())].name &&
                             readers[node.inputs[0]] == 1;
    if (is_follower) {
      rows.back().followers.push_back(n);
    } else {
      NetworkRow row{n, {}, {}, 0};
      for (const std::string& input : node.inputs) row.inputs.push_back(row_of.at(input));
      rows.push_back(std::move(row));
    }
    row_of[node.name] = rows.size() - 1;
  }
  return rows;
}

// The row that reads each row's value last; itself where none does.
std::vector<std::size_t> last_readers(const std::vector<NetworkRow>& rows) {
  std::vector<std::size_t> last(rows.size());
  for (std::size_t r = 0; r < rows.size(); ++r) {
    last[r] = r;
    for (const std::size_t input : rows[r].inputs) last[input] = r;
  }
  return last;
}

}  // namespace

NetworkLanes lanes_of(const std::vector<NodeFacts>& nodes) {
  NetworkLanes drawing{rows_of(nodes), 0};
  const std::vector<std::size_t> last = last_readers(drawing.rows);
  std::vector<std::size_t> free_from;  // by lane: the first row that may take it
  for (std::size_t r = 0; r < drawing.rows.size(); ++r) {
    NetworkRow& row = drawing.rows[r];
    row.lane = free_from.size();
    for (std::size_t lane = free_from.size(); lane-- > 0;) {
      if (free_from[lane] <= r) row.lane = lane;
    }
    for (const std::size_t input : row.inputs) {  // better: straight on
      if (last[input] == r) row.lane = std::min(row.lane, drawing.rows[input].lane);
    }
    if (row.lane == free_from.size()) free_from.push_back(0);
    free_from[row.lane] = last[r];
  }
  drawing.lanes = free_from.size();
  return drawing;
}

}  // namespace winnow
