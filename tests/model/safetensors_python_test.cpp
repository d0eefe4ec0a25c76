// Our checkpoints and Python's safetensors package read each other's files.
#include <doctest/doctest.h>

#include <array>
#include <cstdlib>
#include <string>

#include "runtime/base/file.h"
#include "runtime/model/safetensors.h"
#include "tests/temporary_directory.h"

namespace winnow {
namespace {

bool runs(const std::string& command) {
  return std::system((command + " > /dev/null 2>&1").c_str()) == 0;
}

// A Python that has the package; empty if there is none.
std::string python() {
  for (std::string candidate : {"python3", "'" WINNOW_SOURCE_DIR "/.venv/bin/python3'"}) {
    if (runs(candidate + " -c 'import safetensors.numpy'")) return candidate;
  }
  return "";
}

bool run_script(const std::string& interpreter, const TemporaryDirectory& directory,
                const std::string& script) {
  write_file_atomically(directory / "script.py", script);
  const std::string command =
      "cd '" + directory.path() + "' && " + interpreter + " script.py > output.txt 2>&1";
  const bool has_succeeded = std::system(command.c_str()) == 0;
  INFO(read_text_file(directory / "output.txt"));
  CHECK(has_succeeded);
  return has_succeeded;
}

TEST_CASE("Python's safetensors package reads our files") {
  const std::string interpreter = python();
  if (interpreter.empty()) {
    MESSAGE("skipped: no Python with the safetensors package");
    return;
  }
  const TemporaryDirectory directory;
  SafetensorsFile file;
  file.tensors["mask"] = Tensor::from<std::uint8_t>({3}, std::array<std::uint8_t, 3>{1, 0, 1});
  file.tensors["w"] = Tensor::from<float>({2, 2}, std::array{1.5f, 0.0f, -2.0f, 3.0f});
  file.tensors["codes"] = Tensor::from<std::int16_t>({2}, std::array<std::int16_t, 2>{-7, 300});
  file.tensors["half"] = Tensor::from<Half>({1}, std::array{to_half(0.5f)});
  file.tensors["none"] = Tensor(DataType::f32, {0});
  file.metadata["winnow.graph"] = "{\"name\":\"\xc3\xa4\"}";
  write_safetensors(directory / "x.safetensors", file);
  run_script(interpreter, directory, R"(
import safetensors
from safetensors.numpy import load_file
t = load_file('x.safetensors')
assert sorted(t) == ['codes', 'half', 'mask', 'none', 'w'], t
assert t['w'].dtype == 'float32' and t['w'].tolist() == [[1.5, 0.0], [-2.0, 3.0]], t
assert t['codes'].dtype == 'int16' and t['codes'].tolist() == [-7, 300], t
assert t['half'].dtype == 'float16' and t['half'].tolist() == [0.5], t
assert t['mask'].dtype == 'uint8' and t['mask'].tolist() == [1, 0, 1], t
assert t['none'].shape == (0,), t
with safetensors.safe_open('x.safetensors', framework='np') as f:
    assert f.metadata() == {'winnow.graph': '{"name":"\u00e4"}'}, f.metadata()
)");
}

TEST_CASE("we read the files of Python's safetensors package") {
  const std::string interpreter = python();
  if (interpreter.empty()) {
    MESSAGE("skipped: no Python with the safetensors package");
    return;
  }
  const TemporaryDirectory directory;
  const bool is_written = run_script(interpreter, directory, R"(
import numpy
from safetensors.numpy import save_file
save_file({'z': numpy.arange(6, dtype='float32').reshape(2, 3), 'a': numpy.array([True, False]),
           'k': numpy.array([[5]], dtype='int64')}, 'y.safetensors', metadata={'who': 'numpy'})
)");
  REQUIRE(is_written);
  const SafetensorsFile file = read_safetensors(directory / "y.safetensors");
  CHECK(file.metadata.at("who") == "numpy");
  REQUIRE(file.tensors.size() == 3);
  CHECK(file.tensors.at("z") ==
        Tensor::from<float>({2, 3}, std::array{0.0f, 1.0f, 2.0f, 3.0f, 4.0f, 5.0f}));
  CHECK(file.tensors.at("k") == Tensor::from<std::int64_t>({1, 1}, std::array<std::int64_t, 1>{5}));
  CHECK(file.tensors.at("a").type() == DataType::boolean);
  CHECK(to_floats(file.tensors.at("a")) == std::vector{1.0f, 0.0f});
}

}  // namespace
}  // namespace winnow
