// The table of ops: what each is called in files, which keys it has and what they may hold.
//
// Every reader of graphs (JSON in graph_json.cpp, YAML in prune/config) turns a node's keys into
// OpSettings, without knowing any op, and calls build_op. What build_op refuses comes back as an
// OpDefect that names the key, so that a reader can add its own place (line and column).
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "runtime/model/graph.h"

namespace winnow {

// A value as a file spells it. A reader gives a number without point or exponent as an integer.
using OpValue = std::variant<bool, std::int64_t, double, std::vector<std::int64_t>>;
using OpSettings = std::map<std::string, OpValue>;

enum class KeyKind {
  boolean,
  integer,
  number,  // real; an integer is taken too
  extent,  // one integer per spatial dimension: n, for a 2D op also [vertical, horizontal]
  sizes,   // a list of one to three integers
};

enum class KeyPresence {
  required,
  inferable,  // absent: 0, which fill_input_sizes() replaces by what the node's input gives
  optional,   // absent: default_value, or the value of the key default_from
  seldom,  // absent: what the op does without it; files have it only where it says something else
};

struct OpKey {
  std::string name;
  KeyKind kind = KeyKind::integer;
  KeyPresence presence = KeyPresence::required;
  double lowest = 0;   // inclusive; of every element of an extent or of sizes
  double highest = 0;  // inclusive
  OpValue default_value = false;
  std::string default_from;
};

struct OpSchema {
  std::string op;
  std::vector<OpKey> keys;  // in the order in which files write them
};

// All ops, in the order of graph.h.
const std::vector<OpSchema>& op_schemas();
std::vector<std::string> op_names();

// Why settings make no op. `key` is the key to point at; empty if it is the op's name or a missing
// key. `message` is complete: "key 'strid' is unknown; did you mean 'stride'?".
struct OpDefect {
  std::string key;
  std::string message;
};

// The op called `op` with these keys. `settings` holds what a node says beside its name, op and
// inputs. Checks names, types and ranges, not whether shapes meet (infer_shapes does).
std::variant<Op, OpDefect> build_op(std::string_view op, const OpSettings& settings);

// The opposite: every key of `op` with its value, defaults included, seldom keys only where they
// differ from what the op does without them.
// build_op(op_name(op), settings_of(op)) gives `op` again if it has no defect.
OpSettings settings_of(const Op& op);

// Names the first setting of `op` that is out of range; empty if none. Safe on any op.
std::string find_defect(const Op& op);

}  // namespace winnow
