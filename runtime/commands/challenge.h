// The subcommands of `runtime challenge`. Each adds its options to `app` and returns what runs it.
#pragma once

#include "runtime/commands/commands.h"

namespace winnow {

Command add_challenge_convert_command(CLI::App& app);  // the data in another form of files

}  // namespace winnow
