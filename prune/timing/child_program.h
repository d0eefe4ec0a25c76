// Runs another program of the pipeline.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace winnow {

// Runs command[0], the path of a program, with the arguments behind it to its end. What it prints
// is dropped. `should_stop` (may be empty) is asked ten times a second.
//
// Throws Error{interrupted} if it says so (the program is told to end, and has ended),
// Error{device} if the program cannot be started or a signal ends it, and otherwise, if its exit
// status is not 0, an Error of that status with the last line that it wrote to stderr.
void run_child(const std::vector<std::string>& command, const std::function<bool()>& should_stop);

// The folder of the program that runs now, where the others of the pipeline lie.
std::string own_folder();

}  // namespace winnow
