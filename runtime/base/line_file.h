// Text files to which several processes append lines at the same time.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

namespace winnow {

// Whether `path` names the file that `descriptor` has open: another may have taken its place since.
bool is_file_at(int descriptor, const std::string& path);

// Adds `line` with a line end by one write, so that no other line gets between; makes the file
// where there is none. A last line without an end, which a writer that crashed has left, is ended
// first. Waits for a rewrite of the file, but not for longer than a second.
//
// Requires a line without line ends. Throws Error{bad_file} with path and reason, also if `path` is
// no regular file but, for example, a link.
void append_line(const std::string& path, std::string_view line);

// Makes the file where there is none. Throws Error{bad_file} as append_line does.
void require_appendable(const std::string& path);

// Replaces the text of the file by what `rewrite` makes of it, as a whole (AtomicFile). Lines that
// are appended meanwhile wait and go to the new file.
//
// Throws Error{bad_file} as append_line does, and if the file is longer than `limit_bytes`.
void rewrite_lines(const std::string& path, std::size_t limit_bytes,
                   const std::function<std::string(const std::string& text)>& rewrite);

}  // namespace winnow
