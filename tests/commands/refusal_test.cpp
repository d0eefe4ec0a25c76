// Files and options that are refused: one line, the exit status, the file's name.
#include <sys/stat.h>

#include <fstream>

#include "runtime/base/folder_lock.h"
#include "runtime/model/safetensors.h"
#include "tests/commands/desk.h"
#include "tests/export/random_model.h"
#include "tests/model/graphs.h"

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
  check_refusal(shell(program("runtime") + " inpsect m.wnw"), 2,
                {"'inpsect' is no command; did you mean 'inspect'?"});
  check_refusal(shell(program("runtime") + " train"), 2,
                {"'train' is no command; known: run, bench, inspect"});
}

TEST_CASE("numbers of options are refused with what was found and what was expected") {
  const Desk desk;
  struct Case {
    const char* command;
    const char* option;
    const char* value;
    const char* expected;
  };
  const Case cases[] = {
      {"run", "--limit", "-1", "a whole number of at least 0"},
      {"run", "--limit", "99999999999999999999", "a whole number of at least 0"},
      {"run", "--batch", "x", "a whole number from 0 to 1048576"},
      {"run", "--min-accuracy", "nan", "a number from 0 to 100"},
      {"run", "--min-accuracy", "101", "a number from 0 to 100"},
      {"run", "--threads", "1025", "a whole number from 0 to 1024"},
      {"bench", "--batch", "0", "a whole number from 1 to 1048576"},
      {"verify", "--seed", "-1", "a whole number from 0 to 18446744073709551615"},
      {"verify", "--seed", "99999999999999999999999", "a whole number from 0 to 1844674407370955"},
      {"inspect", "--max-model-bytes", "-1GB", "a size of at least 1 bytes, for example 20GB"},
      {"inspect", "--max-model-bytes", "18446744073709551616", "a size of at least 1 bytes"},
      {"challenge run", "--weight-memory", "-1GB", "a size of at least 1 bytes"},
      {"challenge run", "--layers", "4294967296", "a whole number from 1 to 4294967295"},
      {"challenge run", "--gpu", "-1", "a whole number from 0 to 1024"},
      {"challenge run", "--bias", "inf", "a finite number"}};
  for (const Case& one : cases) {
    CAPTURE(one.option);
    const std::string option = std::string(one.option) + " " + one.value;
    check_refusal(desk.run(one.command, option), 2,
                  {std::string("runtime: ") + one.option + ": found " + one.value + ", expected " +
                   one.expected});
  }
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
    const char* refusal = one.bytes.size() < 8 ? " bytes are too few for safetensors, but "
                                               : "no safetensors file, but ";
    check_refusal(shell(program("export") + " --in " + path + " -o " + (directory / "out.wnw")), 3,
                  {path, refusal, one.kind});
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

TEST_CASE("a model or an archive given as a picture is named") {
  DeployedModel model;
  model.graph = graph_of({1, 2, 2}, {{"flat", Flatten{}, {}}, {"fc", Linear{4, 2, false}, {}}});
  model.weights["fc.weight"] = DenseWeight{{2, 4}, encode_f32(std::vector<float>(8, 0.5f))};
  const Desk desk(model);
  check_refusal(desk.run("run", desk.model() + " --device cpu --quiet"), 3,
                {"m.wnw: expected a PNG or a JPEG picture, but a Winnow model file"});
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

TEST_CASE(
    "results that cannot be written, or would replace something, are refused before the work") {
  const Desk desk;
  const std::string data = " --data idx:/nowhere";
  const std::string before = read_text_file(desk.model());
  for (const std::string command : {"run", "verify", "bench", "inspect"}) {
    CAPTURE(command);
    const std::string more = command == "run" ? data : "";
    check_refusal(desk.run(command, more + " --json /nowhere/x.json"), 2,
                  {"/nowhere/x.json: cannot be written: /nowhere is not there"});
    check_refusal(desk.run(command, more + " --json " + desk.file("./m.wnw")), 2,
                  {"would replace the input"});
    check_refusal(desk.run(command, more + " --json " + desk.file(std::string(250, 'a'))), 2,
                  {"a name of 250 bytes"});
  }
  CHECK(read_text_file(desk.model()) == before);
  check_refusal(shell(program("runtime") + " doctor --json /nowhere/x"), 2, {"/nowhere/x"});
  for (const std::string option : {"--json", "--categories"}) {
    check_refusal(shell(program("runtime") + " challenge run x " + option + " /nowhere/x"), 2,
                  {"/nowhere/x: cannot be written"});
  }
  const std::string same = desk.file("same");
  check_refusal(
      shell(program("runtime") + " challenge run x --json " + same + " --categories " + same), 2,
      {"two results cannot share one file"});
}

TEST_CASE("data sets are looked at before the model") {
  const Desk desk;
  check_refusal(shell(program("runtime") + " run none.wnw --data x:y"), 2,
                {"unknown data format 'x'"});
  check_refusal(shell(program("runtime") + " run none.wnw --data cifar10"), 2,
                {"found 'cifar10', expected FORMAT:DIRECTORY"});
}

TEST_CASE("paths that JSON cannot name are refused") {
  const Desk desk;
  const std::string bad = "$(printf 'b\\377')";
  const std::string message = "'b\\xff': the path is not UTF-8";
  check_refusal(shell(program("runtime") + " run " + bad + " a.png"), 2, {message});
  check_refusal(desk.run("run", bad), 2, {message});
  check_refusal(desk.run("run", "--data idx:" + bad), 2, {"'idx:b\\xff': the path is not UTF-8"});
  check_refusal(shell(program("runtime") + " challenge run " + bad), 2, {message});
  check_refusal(shell(program("export") + " --in " + bad + " -o x"), 2, {message});
  check_refusal(shell(program("export") + " --in x -o " + bad), 2, {message});
}

TEST_CASE("export refuses results that would replace something, and a folder that is in use") {
  const TemporaryDirectory directory;
  const std::string in = directory / "q.safetensors";
  write_file_atomically(in, std::string_view("not a checkpoint"));
  write_file_atomically(directory / "config.yaml", std::string_view("name: x\n"));
  const std::string call = program("export") + " --in " + in + " -o ";
  check_refusal(shell(call + in), 2, {"would replace the input"});
  check_refusal(shell(call + (directory / "export.json")), 2,
                {"two results cannot share one file"});
  check_refusal(shell(call + (directory / "config.yaml")), 2, {"would replace a file of the run"});
  check_refusal(shell(call + (directory / "m.wnw") + " --json /nowhere/x"), 2, {"/nowhere/x"});
  CHECK(read_text_file(in) == "not a checkpoint");
  CHECK(read_text_file(directory / "config.yaml") == "name: x\n");
  const FolderLock lock(directory.path(), "prune");
  const std::string good = directory / "good.safetensors";
  Random random(3);
  save_model(good, random_model(graph_of({4}, {{"fc", Linear{4, 2, true}, {}}}), random));
  check_refusal(shell(program("export") + " --in " + good + " -o " + (directory / "m.wnw")), 2,
                {"in use by prune, process"});
  CHECK(!std::ifstream(directory / "m.wnw").good());
}

TEST_CASE("options that an engine does not read are refused") {
  for (const std::string option : {"--gpu 3", "--images-at-once 3", "--weight-memory 1GB",
                                   "--no-half", "--full-precision-layers 2"}) {
    check_refusal(
        shell(program("runtime") + " challenge run x --engine cpu " + option), 2,
        {option.substr(0, option.find(' ')) + " has no effect: engine cpu runs on no GPU"});
  }
}

TEST_CASE("control characters of a path do not reach the terminal") {
  const TemporaryDirectory directory;
  const std::string path = directory / "a\x1b[2J\nb.wnw";
  const Outcome outcome = inspect(path);
  check_refusal(outcome, 3, {"a\\x1b[2J\\x0ab.wnw"});
  CHECK(outcome.output.find('\x1b') == std::string::npos);
}

}  // namespace winnow
