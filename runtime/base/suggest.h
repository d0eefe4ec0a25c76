// Words in messages: the nearest of the known names, and names that are fit to print.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace winnow {

// The candidate nearest to `name` by edit distance (insert, delete, replace, swap of neighbours),
// or nothing if none lies within a third of the name's length (at least 2). The first wins a tie.
std::string nearest_name(std::string_view name, std::span<const std::string> candidates);

// "; did you mean 'x'?" or, if none is near, "; known: a, b, c".
std::string suggestion(std::string_view name, std::span<const std::string> candidates);

// 'name' in single quotes, fit for a one-line message whatever bytes it has: what is not printable
// ASCII stands as \xNN, and a long name is cut.
std::string in_quotes(std::string_view name);

// The text fit for one line of a terminal: control characters stand as \xNN, and nothing is cut.
// Letters beyond ASCII stay as they are.
std::string one_line(std::string_view text);

}  // namespace winnow
