// The subcommands of `runtime challenge`. Each adds its options to `app` and returns what runs it.
#pragma once

#include <optional>

#include "runtime/commands/commands.h"

namespace winnow {

Command add_challenge_convert_command(CLI::App& app);   // the data in another form of files
Command add_challenge_generate_command(CLI::App& app);  // the published data, or other networks
Command add_challenge_run_command(CLI::App& app);       // an engine on the data

// What the user has to say when text files are read that were just written; nothing if there is
// nothing to say.
void print_bias_to_give(std::optional<float> bias);

}  // namespace winnow
