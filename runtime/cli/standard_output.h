// Standard output that tells when it could not be written.
#pragma once

namespace winnow {

// To be called before anything else of a program. Takes care that
//   - no file that is opened later becomes standard output, where that was closed by the caller;
//   - a reader that goes away does not end the process, which may have results to save.
void prepare_standard_streams();

// Writes what is buffered of std::cout and stdout. Throws Error{bad_file} if that, or anything
// written before, did not reach its place: "standard output: cannot write: No space left on
// device". A pipe whose reader has gone is no error: it did not want the rest.
void flush_standard_output();

}  // namespace winnow
