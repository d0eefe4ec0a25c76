// Files and options that are refused: one line, the exit status, the file's name.
#include <sys/stat.h>

#include <fstream>

#include "tests/commands/desk.h"

namespace winnow {
namespace {

Outcome inspect(const std::string& path) {
  return shell(program("runtime") + " inspect '" + path + "'");
}

}  // namespace

TEST_CASE("mistakes on the command line take one line") {
  const Desk desk;
  check_refusal(shell(program("runtime")), 2, {"runtime: ", "subcommand"});
  check_refusal(desk.run("verify", "--tolerence 1"), 2, {"--tolerence", "see --help"});
  check_refusal(desk.run("verify", "--device gpu"), 2, {"did you mean 'cuda'?"});
  check_refusal(desk.run("run", "x.png --device gpu:1"), 2, {"did you mean 'cuda:1'?"});
  check_refusal(desk.run("bench", "--device GPU"), 2, {"did you mean 'cuda'?"});
  check_refusal(desk.run("verify", "--seed -1"), 2, {"--seed"});
  check_refusal(desk.run("inspect", "--max-model-bytes -1GB"), 2, {"--max-model-bytes"});
  check_refusal(shell(program("runtime") + " challenge run x --weight-memory -1GB"), 2,
                {"--weight-memory"});
}

TEST_CASE("options of GPUs are refused where a CPU runs the model") {
  const Desk desk;
  struct Option {
    std::string text;
    const char* refusal;
  };
  const Option options[] = {{"--sub-batch 4", "a sub-batch (4) is for GPUs"},
                            {"--all-plans", "trying all plans is for GPUs"},
                            {"--tf32", "TF32 is for GPUs"}};
  for (const std::string command : {"verify", "bench"}) {
    for (const Option& option : options) {
      CAPTURE(option.text);
      check_refusal(desk.run(command, "--quiet --device cpu " + option.text), 2, {option.refusal});
    }
  }
}

TEST_CASE("files of other programs are refused by what they are") {
  const TemporaryDirectory directory;
  const std::string path = directory / "model";
  struct Case {
    std::string bytes;
    const char* kind;
  };
  const Case cases[] = {
      {{"PK\x03\x04\x14\0\0\0", 8}, "a ZIP archive"}, {"\x08\x07\x12\x07pytorch", "an ONNX model"},
      {"\x89PNG\r\n\x1a\n", "a PNG picture"},         {"\x1f\x8b\x08", "a gzip-packed file"},
      {"\x89HDF\r\n\x1a\n", "an HDF5 file"},          {"", "an empty file"}};
  for (const Case& one : cases) {
    CAPTURE(one.kind);
    write_file_atomically(path, std::string_view(one.bytes));
    check_refusal(inspect(path), 3, {path, "no Winnow model file, but ", one.kind});
    if (one.bytes.size() < 8) continue;
    check_refusal(shell(program("export") + " --in " + path + " -o " + (directory / "out.wnw")), 3,
                  {path, "no safetensors file, but ", one.kind});
  }
  const std::string header = R"({"w":{"dtype":"F32","shape":[0],"data_offsets":[0,0]}})";
  const std::string length = {static_cast<char>(header.size()), 0, 0, 0, 0, 0, 0, 0};
  write_file_atomically(path, std::string_view(length + header));
  check_refusal(inspect(path), 3, {"no Winnow model file, but a safetensors file"});
  check_refusal(shell(program("export") + " --in " + path + " -o " + (directory / "out.wnw")), 3,
                {"no Winnow checkpoint, but a safetensors file of another program"});
}

TEST_CASE("a model file given to export is named") {
  const Desk desk;
  check_refusal(shell(program("export") + " --in " + desk.model() + " -o " + desk.file("o.wnw")), 3,
                {"no safetensors file, but a Winnow model file"});
}

TEST_CASE("a pipe in place of a file is refused, not waited for") {
  const Desk desk;
  const std::string pipe = desk.file("pipe");
  REQUIRE(mkfifo(pipe.c_str(), 0600) == 0);
  for (const std::string command : {"inspect ", "verify ", "bench "}) {
    check_refusal(shell("timeout 20 " + program("runtime") + " " + command + pipe), 3,
                  {pipe, "not a regular file"});
  }
  check_refusal(desk.run("run", pipe + " --quiet --device cpu"), 3, {pipe, "not a regular file"});
}

TEST_CASE("control characters of a path do not reach the terminal") {
  const TemporaryDirectory directory;
  const std::string path = directory / "a\x1b[2J\nb.wnw";
  const Outcome outcome = inspect(path);
  check_refusal(outcome, 3, {"a\\x1b[2J\\x0ab.wnw"});
  CHECK(outcome.output.find('\x1b') == std::string::npos);
}

}  // namespace winnow
